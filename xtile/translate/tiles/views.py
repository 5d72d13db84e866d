"""Memrefs and pointers that are made of others, and what is asked of them.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.attributes import ComplexPart
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.pointers import PointerAddOp, pointer_of
from xtile.dialects.core.views import ViewOp
from xtile.rewrite import descriptors
from xtile.rewrite.memref_layouts import kept_dimensions, number_lists
from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.descriptors import Descriptor, Window
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.types import memref_type, part_of, parts_per_element, size_in_bytes


def _subview(operation: Operation, lowering: TileLowering) -> None:
    """A view that is a window, unless it leaves elements out."""
    descriptors.RULES[operation.name](operation, lowering)
    numbers = lowering.numbers(operation.operands[1:])
    offsets, _, steps = number_lists(operation, numbers, "offsets", "sizes", "strides")
    if all(step == 1 for step in steps):
        (result,) = operation.results
        source = lowering.descriptor(operation.operands[0])
        window = Window(source, tuple(offsets), tuple(kept_dimensions(operation)))
        lowering.define(result, replace(lowering.descriptor(result), window=window))


def _complex_part(operation: ComplexPartOp, lowering: TileLowering) -> None:
    """The numbers of one part lie two apart."""
    source = lowering.descriptor(operation.source)
    first = int(operation.part.data is ComplexPart.IMAGINARY)
    lowering.define(operation.result, complex_part(lowering, source, first))


def complex_part(lowering: TileLowering, source: Descriptor, first: int) -> Descriptor:
    """The memory of the real parts of complex numbers, or if `first` is 1 of the others."""
    window = source.window
    if window is not None:
        window = replace(window, memory=complex_part(lowering, window.memory, first))
    offset = lowering.add(source.offset, first)
    return replace(source, element=part_of(source.element), offset=offset, window=window)


def _view(operation: ViewOp, lowering: TileLowering) -> None:
    """The memory that a pointer points to, of which the type or operands tell the layout."""
    element = memref_type(operation.result.type).element_type
    scale = parts_per_element(element)
    pointer = lowering.value(operation.pointer)
    numbers = lowering.numbers(operation.operands[1:])
    (offset,), sizes, strides = number_lists(operation, numbers, "offsets", "sizes", "strides")
    offset, *strides = (lowering.multiply(number, scale) for number in (offset, *strides))
    unknown = operation.unknown_extents
    lowering.define(
        operation.result,
        Descriptor(
            pointer,
            element,
            offset,
            tuple(_ANY_SIZE if i in unknown else size for i, size in enumerate(sizes)),
            tuple(strides),
            _alignment(lowering, pointer, size_in_bytes(element)),
            lowering.alias_set_of(operation.result),
            unbounded=unknown,
        ),
    )


_ANY_SIZE = 2**31 - 1
"""The size of a dimension of whose extent nothing is known, which nobody asks for."""

_LARGEST_ALIGNMENT = 2**20


def _alignment(lowering: TileLowering, pointer: SSAValue, natural: int) -> int:
    """Bytes that an address is known to be a multiple of."""
    return max(natural, gcd(lowering.facts.divisor(pointer), _LARGEST_ALIGNMENT))


def _pointer_add(operation: PointerAddOp, lowering: TileLowering) -> None:
    pointers, offsets = lowering.values((operation.pointers, operation.offsets))
    if lowering.element(offsets) not in (i32, i64):
        offsets = lowering.resize(offsets, i64)
    pointer = pointer_of(operation.pointers.type)
    assert pointer is not None
    parts = parts_per_element(pointer.pointee_type)
    if parts > 1:
        wide = lowering.resize(offsets, i64)
        offsets = lowering.arith("muli", wide, lowering.like(parts, wide))
    lowering.define(operation.result, lowering.offset(pointers, offsets))


RULES: dict[str, Rule] = {
    **descriptors.RULES,
    "core.complex_part": _complex_part,
    "core.pointer_add": _pointer_add,
    "core.view": _view,
    "memref.subview": _subview,
}
"""The rule of each operation, by name."""
