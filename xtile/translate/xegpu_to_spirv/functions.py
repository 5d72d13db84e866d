"""Modules and functions: signatures by the calling convention, entry points, execution modes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from xtile.arguments.calling_convention import KernelArgument, keep_signature, kernel_arguments
from xtile.dialects.core.arguments import ALIGNMENT_ATTRIBUTE, promises_of
from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.core.signature import Role
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.modules import ModuleOp
from xtile.dialects.memref.allocation import GlobalOp
from xtile.dialects.spirv import FuncOp as SpirvFuncOp
from xtile.dialects.spirv import PointerType, operation
from xtile.rewrite.descriptors import Descriptor, Group
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import Rule
from xtile.text.value_names import give_name
from xtile.translate.xegpu_to_spirv.kernel import kernel_of
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.regions import translate_region
from xtile.translate.xegpu_to_spirv.types import (
    memory_type,
    memref_type,
    natural_alignment,
    register_type,
)

_VECTORS_OF_FLOATS = 16 << 16 | 5
"""An operand of VecTypeHint: 16 components of 32-bit floats.

Source: the SPIR-V Specification, section 3.6, "Execution Mode".
"""

_CALLED = "func.func"
"""Functions that are executed where kernels call them."""


def _module(operation: ModuleOp, lowering: Lowering) -> None:
    for inner in operation.body.block.ops:
        if isinstance(inner, GlobalOp):
            lowering.globals[inner.sym_name.data] = inner
        elif inner.name == _CALLED:
            lowering.callees[cast(StringAttr, inner.properties["sym_name"]).data] = inner
    lowering.translate_block(operation.body.block)


def _function(function: FuncOp, lowering: Lowering) -> None:
    if not function.is_kernel:
        raise lowering.error(
            f"@{function.sym_name.data} is neither launched nor called: write 'kernel', or make it "
            "a func.func that kernels call"
        )
    parameters = [kernel_arguments(argument.type) for argument in function.arguments]
    types = [_argument_type(argument) for own in parameters for argument in own]
    name = function.sym_name.data
    target = SpirvFuncOp(name, FunctionType.from_lists(types, []))
    lowering.kernel = kernel_of(function, lowering)
    with lowering.in_function(target.entry_block):
        given = iter(target.entry_block.args)
        for index, (old, own) in enumerate(zip(function.arguments, parameters, strict=True)):
            values = {argument: next(given) for argument in own}
            _define_parameter(old, values, _alignment(function, index, old), lowering)
        _define_buffers(function, lowering)
        last = translate_region(function.body, lowering)
        if last is None or last.operands:
            raise lowering.error("a kernel ends with gpu.return, without values")
        lowering.do("Return")
    keep_signature(function, target, own_language="xegpu")
    lowering.functions.append(target)
    lowering.entry_points += _entry_point(name, lowering)


def _entry_point(name: str, lowering: Lowering) -> Iterable[Operation]:
    """The entry point and the sizes that it asks for."""
    yield operation("EntryPoint", None, "Kernel", name, name)
    kernel = lowering.kernel
    if kernel.work_group_size is not None:
        yield operation("ExecutionMode", None, name, ("LocalSize", *kernel.work_group_size))
        if kernel.has_rows and kernel.subgroup_size is None and kernel.work_group_size[0] == 1:
            # Intel's driver for CPUs else makes a second version of the code, with vectors of
            # work-items along x, that never runs; for code with vectors that can take seconds.
            yield operation("ExecutionMode", None, name, ("VecTypeHint", _VECTORS_OF_FLOATS))
    if kernel.subgroup_size is not None:
        yield operation("ExecutionMode", None, name, ("SubgroupSize", kernel.subgroup_size))


def _argument_type(argument: KernelArgument) -> Attribute:
    """The type of a kernel's argument."""
    if argument.pointer_depth == 0:
        return register_type(argument.type)
    type_ = memory_type(argument.type)
    for _ in range(argument.pointer_depth):
        type_ = PointerType(type_, "CrossWorkgroup")
    return type_


def _alignment(function: FuncOp, index: int, parameter: BlockArgument) -> int:
    """Bytes that the memory of a parameter is sure to be aligned to."""
    promised = promises_of(function, index).get(ALIGNMENT_ATTRIBUTE)
    if isinstance(promised, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", promised).value.data
    return 0


def _define_parameter(
    old: BlockArgument,
    values: dict[KernelArgument, BlockArgument],
    alignment: int,
    lowering: Lowering,
) -> None:
    for argument, value in values.items():
        give_name(value, _name(old, argument))
    pointer = values.get(_first(values))
    assert pointer is not None
    role = _first(values).role
    if isinstance(old.type, CorePointerType):
        lowering.define(old, lowering.shared_compute("ConvertPtrToU", i64, pointer))
    elif role is Role.VALUE:
        lowering.define(old, pointer)
    elif role is Role.POINTER:
        lowering.define(old, _memref(memref_type(old.type), pointer, values, alignment))
    else:
        lowering.define(old, _group(memref_type(old.type), pointer, values, alignment))


def _first(values: dict[KernelArgument, BlockArgument]) -> KernelArgument:
    return next(iter(values))


_SUFFIXES = {Role.SIZE: "size", Role.SIZES: "sizes", Role.STRIDE: "stride", Role.STRIDES: "strides"}


def _name(old: BlockArgument, argument: KernelArgument) -> str | None:
    """What an argument is called: the parameter's name, and what it says of the parameter."""
    name = old.name_hint
    if name is None or argument.role in (Role.VALUE, Role.POINTER, Role.POINTERS):
        return name
    suffix = _SUFFIXES.get(argument.role, argument.role.name.lower())
    return f"{name}_{suffix}{'' if argument.mode is None else argument.mode}"


def _of_role(
    values: dict[KernelArgument, BlockArgument], role: Role, known: Iterable[int | None]
) -> tuple[Index, ...]:
    """What is known of each mode, and the arguments that say the rest."""
    of_mode = {argument.mode: value for argument, value in values.items() if argument.role is role}
    return tuple(of_mode[mode] if n is None else n for mode, n in enumerate(known))


def _memref(
    type_: MemRefType[Attribute],
    pointer: SSAValue,
    values: dict[KernelArgument, BlockArgument],
    alignment: int,
) -> Descriptor:
    layout = layout_of(type_)
    offsets = [value for argument, value in values.items() if argument.role is Role.OFFSET]
    return Descriptor(
        pointer,
        type_.element_type,
        offsets[0] if layout.offset is None else layout.offset,
        _of_role(values, Role.SIZE, layout.sizes),
        _of_role(values, Role.STRIDE, layout.strides),
        max(alignment, natural_alignment(type_.element_type)),
    )


def _group(
    type_: MemRefType[Attribute],
    pointers: SSAValue,
    values: dict[KernelArgument, BlockArgument],
    alignment: int,
) -> Group:
    element = memref_type(type_.element_type)
    layout = layout_of(element)
    (size,) = layout_of(type_).sizes
    counts = [value for argument, value in values.items() if argument.role is Role.COUNT]
    return Group(
        element,
        pointers,
        _of_role(values, Role.SIZES, layout.sizes),
        _of_role(values, Role.STRIDES, layout.strides),
        counts[0] if size is None else size,
        max(alignment, natural_alignment(element.element_type)),
    )


def _define_buffers(function: FuncOp, lowering: Lowering) -> None:
    """The memory that a function declares beside its parameters."""
    from xtile.translate.xegpu_to_spirv.allocation import allocate

    for storage_class, buffers in (
        ("Workgroup", function.workgroup_buffers),
        ("Function", function.private_buffers),
    ):
        for buffer in buffers:
            type_ = memref_type(buffer.type)
            lowering.define(buffer, allocate(lowering, type_, storage_class, buffer.name_hint))


RULES: dict[str, Rule] = {
    FuncOp.name: _function,
    _CALLED: lambda operation, lowering: None,
    ModuleOp.name: _module,
}
"""The rule of each operation, by name."""
