"""Memrefs that are made of others, and what is asked of them.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from typing import Any, cast

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xtile.dialects.core import ComplexPart, ComplexPartOp, ViewOp
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import kept_dimensions, layout_of, number_lists
from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.descriptors import Descriptor, Group, Window
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.types import memref_type, part_of, parts_per_element, size_in_bytes


def _subview(operation: Operation, lowering: TileLowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    numbers = lowering.numbers(operation.operands[1:])
    offsets, sizes, steps = number_lists(operation, numbers, "offsets", "sizes", "strides")
    offset = lowering.add(source.offset, lowering.sum_of_products(offsets, source.strides))
    strides = [lowering.multiply(s, step) for s, step in zip(source.strides, steps, strict=True)]
    kept = kept_dimensions(operation)
    view = source.moved(offset, (sizes[i] for i in kept), (strides[i] for i in kept))
    if all(step == 1 for step in steps):
        view = replace(view, window=Window(source, tuple(offsets), tuple(kept)))
    lowering.define(operation.results[0], view)


def _reinterpret_cast(operation: Operation, lowering: TileLowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    scale = parts_per_element(source.element)
    numbers = lowering.numbers(operation.operands[1:])
    (offset,), sizes, strides = number_lists(operation, numbers, "offsets", "sizes", "strides")
    scaled = [lowering.multiply(number, scale) for number in (offset, *strides)]
    lowering.define(operation.results[0], source.moved(scaled[0], sizes, scaled[1:]))


def _cast(operation: Operation, lowering: TileLowering) -> None:
    """The same memref; what its new type tells is true of it."""
    (result,) = operation.results
    meaning = lowering.meaning(operation.operands[0])
    if isinstance(meaning, Descriptor):
        layout, scale = layout_of(memref_type(result.type)), parts_per_element(meaning.element)
        own = (meaning.offset, *meaning.strides)
        told = (layout.offset, *layout.strides)
        known = [a if b is None else b * scale for a, b in zip(own, told, strict=True)]
        sizes = zip(meaning.sizes, layout.sizes, strict=True)
        meaning = replace(
            meaning.moved(known[0], (a if b is None else b for a, b in sizes), known[1:]),
            window=meaning.window,
            unbounded=meaning.unbounded,
        )
    lowering.define(result, meaning)


def _same(operation: Operation, lowering: TileLowering) -> None:
    lowering.define(operation.results[0], lowering.meaning(operation.operands[0]))


def _dim(operation: Operation, lowering: TileLowering) -> None:
    source, dimension = operation.operands
    memory, number = lowering.meaning(source), lowering.number(dimension)
    (result,) = operation.results
    if isinstance(memory, Group):
        lowering.define(result, lowering.as_value(memory.count))
        return
    sizes = lowering.descriptor(source).sizes
    if not isinstance(number, int):
        lowering.define(result, _chosen(lowering, sizes, number))
    elif 0 <= number < len(sizes):
        lowering.define(result, lowering.as_value(sizes[number]))
    else:
        raise lowering.error(
            f"there is no dimension {number}: the memref has {len(sizes)} dimensions"
        )


def _chosen(lowering: TileLowering, sizes: Sequence[Index], number: Index) -> Any:
    """The size of a dimension that is known at run time."""
    value = lowering.as_value(sizes[-1])
    for i, size in enumerate(sizes[:-1]):
        is_it = lowering.pure_cmpi("eq", number, i)
        value = lowering.select(is_it, lowering.as_value(size), value)
    return value


def _rank(operation: Operation, lowering: TileLowering) -> None:
    rank = memref_type(operation.operands[0].type).get_num_dims()
    lowering.define(operation.results[0], lowering.integer(rank))


def _extract_strided_metadata(operation: Operation, lowering: TileLowering) -> None:
    memory = lowering.descriptor(operation.operands[0])
    base, *numbers = operation.results
    lowering.define(base, memory.moved(0, (), ()))
    scale = parts_per_element(memory.element)
    offset, *strides = (
        lowering.divide_exactly(number, scale) for number in (memory.offset, *memory.strides)
    )
    for result, number in zip(numbers, (offset, *memory.sizes, *strides), strict=True):
        lowering.define(result, lowering.as_value(number))


def _pointer(operation: Operation, lowering: TileLowering) -> None:
    """The address of the memory's first element, whatever the memref's offset."""
    memory = lowering.meaning(operation.operands[0])
    pointer = memory.addresses if isinstance(memory, Group) else memory.pointer
    address = lowering.address(pointer)
    lowering.define(operation.results[0], address)


def _transpose(operation: Operation, lowering: TileLowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    map_ = cast(AffineMapAttr, operation.properties["permutation"]).data
    order = [cast(AffineDimExpr, result).position for result in map_.results]
    sizes, strides = ([numbers[i] for i in order] for numbers in (source.sizes, source.strides))
    unbounded = frozenset(i for i, dimension in enumerate(order) if dimension in source.unbounded)
    moved = source.moved(source.offset, sizes, strides)
    lowering.define(operation.results[0], replace(moved, unbounded=unbounded))


def _assume_alignment(operation: Operation, lowering: TileLowering) -> None:
    memory = lowering.descriptor(operation.operands[0])
    promised = cast(Any, operation.properties["alignment"]).value.data
    if memory.offset == 0 and promised > memory.alignment:
        pointer = lowering.promise_divisor(memory.pointer, promised)
        memory = replace(memory, alignment=promised, pointer=pointer)
    lowering.define((*operation.results, operation.operands[0])[0], memory)


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


RULES: dict[str, Rule] = {
    "core.complex_part": _complex_part,
    "core.view": _view,
    "memref.assume_alignment": _assume_alignment,
    "memref.cast": _cast,
    "memref.dim": _dim,
    "memref.extract_aligned_pointer_as_index": _pointer,
    "memref.extract_strided_metadata": _extract_strided_metadata,
    "memref.memory_space_cast": _same,
    "memref.rank": _rank,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
}
"""The rule of each operation, by name."""
