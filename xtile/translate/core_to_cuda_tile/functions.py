"""Modules and kernels: entries with the arguments of the calling convention, and promises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects.builtin import (
    ComplexType,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.arguments.calling_convention import KernelArgument, keep_signature, kernel_arguments
from xtile.dialects.core.arguments import (
    ALIGNMENT_ATTRIBUTE,
    SHAPE_GCD_ATTRIBUTE,
    STRIDE_GCD_ATTRIBUTE,
    promises_of,
)
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.signature import Role
from xtile.dialects.cuda_tile.ops import control_flow
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.modules import ModuleOp
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import Rule
from xtile.targets.nvidia import GREATEST_SIZE, GREATEST_STRIDE
from xtile.text.value_names import give_name
from xtile.translate.core_to_cuda_tile.descriptors import Complex, Descriptor, Group
from xtile.translate.core_to_cuda_tile.hints import hints_of
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import (
    memref_type,
    part_of,
    parts_per_element,
    pointer_tile,
    scalar_tile,
    size_in_bytes,
)

Given = Sequence[tuple[KernelArgument, SSAValue]]
"""The arguments of an entry that a parameter has become."""


def _module(operation: ModuleOp, lowering: Lowering) -> None:
    lowering.translate_block(operation.body.block)


def _function(function: FuncOp, lowering: Lowering) -> None:
    name = function.sym_name.data
    _check(function, lowering)
    parameters = [_arguments(argument.type) for argument in function.arguments]
    block = Block(arg_types=[_type(own) for several in parameters for own in several])
    lowering.start_function(function)
    _tell_of_promises(function, parameters, lowering)
    with lowering.in_function(block):
        given = iter(block.args)
        for index, (old, own) in enumerate(zip(function.arguments, parameters, strict=True)):
            values = [(argument, next(given)) for argument in own]
            lowering.define(old, _parameter(old, values, promises_of(function, index), lowering))
        lowering.translate_block(function.body.block)
    types = [argument.type for argument in block.args]
    hints = hints_of(function, lowering.target)
    entry = EntryOp(name, types, Region(block), optimization_hints=hints)
    keep_signature(function, entry, splits_complex=True)
    lowering.emit(entry)


def _check(function: FuncOp, lowering: Lowering) -> None:
    """Checks that a function can become an entry.

    Raises:
        DiagnosticError: It cannot.
    """
    name = function.sym_name.data
    if not function.is_kernel:
        raise lowering.error(f"@{name} is never launched: write 'kernel'")
    if function.workgroup_buffers or function.private_buffers:
        raise lowering.error(f"@{name} must allocate its local memory with memref.alloca")


def _arguments(type_: Attribute) -> tuple[KernelArgument, ...]:
    """The arguments of an entry that a parameter becomes: a complex number becomes two."""
    own = kernel_arguments(type_)
    return own * 2 if isinstance(type_, ComplexType) else own


def _type(argument: KernelArgument) -> Attribute:
    """The type of an argument; groups are addresses."""
    if argument.pointer_depth == 0:
        return scalar_tile(part_of(argument.type))
    return pointer_tile(i64 if argument.role is not Role.POINTER else part_of(argument.type))


# --- what is promised of arguments ---


def _tell_of_promises(
    function: FuncOp, parameters: Iterable[Iterable[KernelArgument]], lowering: Lowering
) -> None:
    """Tells what the code takes for granted of sizes and strides."""
    roles = {argument.role for own in parameters for argument in own}
    assumed = [words for words, about in _ASSUMED.items() if roles & about]
    if assumed:
        lowering.remark(
            f"relies on {' and '.join(assumed)} of arguments, which a launch checks", function
        )


_ASSUMED = {
    f"sizes from 0 to 2^{GREATEST_SIZE.bit_length()} - 1": {Role.SIZE, Role.SIZES},
    f"strides from 1 to 2^{GREATEST_STRIDE.bit_length()} - 1": {Role.STRIDE, Role.STRIDES},
}
"""What is assumed of the arguments with some roles, in words."""


def _divisors(promises: Mapping[str, Attribute], name: str, rank: int) -> Sequence[int]:
    """A divisor for each dimension."""
    given = promises.get(name)
    if not isa(given, DenseArrayBase):
        return (1,) * rank
    numbers = [max(1, int(number)) for number in cast(Any, given).get_values()]
    return [*numbers, *[1] * (rank - len(numbers))][:rank]


def _alignment(promises: Mapping[str, Attribute], element: Attribute) -> int:
    """Bytes that the address of memory is a multiple of."""
    promised = promises.get(ALIGNMENT_ATTRIBUTE)
    natural = size_in_bytes(element)
    if isa(promised, IntegerAttr):
        return max(natural, promised.value.data)
    return natural


def _aligned(pointer: SSAValue, alignment: int, element: Attribute, lowering: Lowering) -> SSAValue:
    """A pointer with the promise of its alignment, if that is more than an element's."""
    if alignment <= size_in_bytes(element):
        return pointer
    return _named(pointer, lowering.promise_divisor(pointer, alignment))


def _named(old: SSAValue, new: SSAValue) -> SSAValue:
    give_name(new, old.name_hint)
    return new


# --- parameters ---


def _parameter(
    old: BlockArgument, given: Given, promises: Mapping[str, Attribute], lowering: Lowering
) -> Any:
    """What a parameter of the source has become."""
    for position, (argument, value) in enumerate(given):
        give_name(value, _name(old, argument, position))
    values = [value for _, value in given]
    if isinstance(old.type, ComplexType):
        return Complex(*values)
    pointer = pointer_of(old.type)
    if pointer is not None:
        alignment = _alignment(promises, pointer.pointee_type)
        return _aligned(values[0], alignment, pointer.pointee_type, lowering)
    if not isa(old.type, MemRefType):
        return values[0]
    type_ = memref_type(old.type)
    if isinstance(type_.element_type, MemRefType):
        return _group(type_, given, promises)
    memref = _memref(type_, given, promises, lowering)
    return replace(memref, alias_set=lowering.plan.alias_set_of(old))


_SUFFIXES = {Role.SIZE: "size", Role.SIZES: "sizes", Role.STRIDE: "stride", Role.STRIDES: "strides"}


def _name(old: BlockArgument, argument: KernelArgument, position: int) -> str | None:
    """What an argument is called: the parameter's name, and what it says of the parameter."""
    name = old.name_hint
    if name is None or argument.role in (Role.POINTER, Role.POINTERS):
        return name
    if argument.role is Role.VALUE:
        return f"{name}_im" if position else name
    suffix = _SUFFIXES.get(argument.role, argument.role.name.lower())
    return f"{name}_{suffix}{'' if argument.mode is None else argument.mode}"


def _of_role(given: Given, role: Role, known: Iterable[int | None]) -> tuple[Index, ...]:
    """What is known of each mode, and the arguments that say the rest."""
    of_mode = {argument.mode: value for argument, value in given if argument.role is role}
    return tuple(of_mode[mode] if n is None else n for mode, n in enumerate(known))


def _memref(
    type_: MemRefType[Attribute],
    given: Given,
    promises: Mapping[str, Attribute],
    lowering: Lowering,
) -> Descriptor:
    layout, element = layout_of(type_), type_.element_type
    rank, scale = len(layout.sizes), parts_per_element(element)
    shape_divisors = _divisors(promises, SHAPE_GCD_ATTRIBUTE, rank)
    stride_divisors = _divisors(promises, STRIDE_GCD_ATTRIBUTE, rank)
    sizes = [
        size if isinstance(size, int) else _named(size, lowering.promise_size(size, divisor))
        for size, divisor in zip(
            _of_role(given, Role.SIZE, layout.sizes), shape_divisors, strict=True
        )
    ]
    strides = [
        stride
        if isinstance(stride, int)
        else _named(stride, lowering.promise_stride(stride, divisor))
        for stride, divisor in zip(
            _of_role(given, Role.STRIDE, layout.strides), stride_divisors, strict=True
        )
    ]
    offsets = [value for argument, value in given if argument.role is Role.OFFSET]
    offset = offsets[0] if layout.offset is None else layout.offset
    alignment = _alignment(promises, element)
    pointer = _aligned(given[0][1], alignment, element, lowering)
    return Descriptor(
        pointer,
        element,
        lowering.multiply(offset, scale),
        tuple(sizes),
        tuple(lowering.multiply(stride, scale) for stride in strides),
        alignment,
    )


def _group(type_: MemRefType[Attribute], given: Given, promises: Mapping[str, Attribute]) -> Group:
    element = memref_type(type_.element_type)
    layout = layout_of(element)
    (size,) = layout_of(type_).sizes
    counts = [value for argument, value in given if argument.role is Role.COUNT]
    return Group(
        element,
        given[0][1],
        _of_role(given, Role.SIZES, layout.sizes),
        _of_role(given, Role.STRIDES, layout.strides),
        counts[0] if size is None else size,
        _alignment(promises, element.element_type),
    )


def _return(operation: Any, lowering: Lowering) -> None:
    if operation.operands:
        raise lowering.error("a kernel ends with gpu.return, without values")
    lowering.emit(control_flow.ReturnOp())


def _leave_out(operation: Any, lowering: Lowering) -> None:
    """A function of the host, of which a warning tells."""


RULES: dict[str, Rule] = {
    "func.func": _leave_out,
    "gpu.func": _function,
    "gpu.module": _module,
    "gpu.return": _return,
}
"""The rule of each operation, by name."""
