"""What parameters of kernels become, by the calling convention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects.builtin import ComplexType, DenseArrayBase, IntegerAttr, MemRefType
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.utils.hints import isa

from xtile.arguments.calling_convention import KernelArgument, kernel_arguments
from xtile.dialects.core.arguments import (
    ALIGNMENT_ATTRIBUTE,
    SHAPE_GCD_ATTRIBUTE,
    STRIDE_GCD_ATTRIBUTE,
)
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.signature import Role
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.text.value_names import copy_name, give_name
from xtile.translate.tiles.descriptors import Complex, Descriptor, Group
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.types import memref_type, parts_per_element, size_in_bytes

Given = Sequence[tuple[KernelArgument, SSAValue]]
"""The arguments that a parameter has become."""


def arguments_of(type_: Attribute) -> tuple[KernelArgument, ...]:
    """The arguments that a parameter becomes: a complex number becomes two."""
    own = kernel_arguments(type_)
    return own * 2 if isinstance(type_, ComplexType) else own


def divisors_of(promises: Mapping[str, Attribute], name: str, rank: int) -> Sequence[int]:
    """A divisor for each dimension."""
    given = promises.get(name)
    if not isa(given, DenseArrayBase):
        return (1,) * rank
    numbers = [max(1, int(number)) for number in cast(Any, given).get_values()]
    return [*numbers, *[1] * (rank - len(numbers))][:rank]


def alignment_of(promises: Mapping[str, Attribute], element: Attribute) -> int:
    """Bytes that the address of memory is a multiple of."""
    promised = promises.get(ALIGNMENT_ATTRIBUTE)
    natural = size_in_bytes(element)
    if isa(promised, IntegerAttr):
        return max(natural, promised.value.data)
    return natural


def _aligned(
    pointer: SSAValue, alignment: int, element: Attribute, lowering: TileLowering
) -> SSAValue:
    """A pointer with the promise of its alignment, if that is more than an element's."""
    if alignment <= size_in_bytes(element):
        return pointer
    return _named(pointer, lowering.promise_divisor(pointer, alignment))


def _named(old: SSAValue, new: SSAValue) -> SSAValue:
    copy_name(new, old)
    return new


def parameter(
    old: BlockArgument, given: Given, promises: Mapping[str, Attribute], lowering: TileLowering
) -> Any:
    """What a parameter of the source has become."""
    for position, (argument, value) in enumerate(given):
        give_name(value, _name(old, argument, position))
    values = [value for _, value in given]
    if isinstance(old.type, ComplexType):
        return Complex(*values)
    pointer = pointer_of(old.type)
    if pointer is not None:
        alignment = alignment_of(promises, pointer.pointee_type)
        return _aligned(values[0], alignment, pointer.pointee_type, lowering)
    if not isa(old.type, MemRefType):
        return values[0]
    type_ = memref_type(old.type)
    if isinstance(type_.element_type, MemRefType):
        return _group(type_, given, promises)
    memref = _memref(type_, given, promises, lowering)
    return replace(memref, alias_set=lowering.alias_set_of(old))


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
    lowering: TileLowering,
) -> Descriptor:
    layout, element = layout_of(type_), type_.element_type
    rank, scale = len(layout.sizes), parts_per_element(element)
    shape_divisors = divisors_of(promises, SHAPE_GCD_ATTRIBUTE, rank)
    stride_divisors = divisors_of(promises, STRIDE_GCD_ATTRIBUTE, rank)
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
    alignment = alignment_of(promises, element)
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
        alignment_of(promises, element.element_type),
    )
