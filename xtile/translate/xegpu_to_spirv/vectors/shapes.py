"""The elements of vectors in other locations, and as other types.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import cast

from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute, Operation

from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv import literals
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    element_type,
    of_length,
    piece_types,
    register_type,
)
from xtile.translate.xegpu_to_spirv.vectors.entries import (
    Entry,
    assemble,
    define_entries,
    element,
    entries,
    entries_of,
    flat,
    numbers_in,
    shape_of,
)


def _broadcast(operation: Operation, lowering: Lowering) -> None:
    (source,), (result,) = operation.operands, operation.results
    given, shape = shape_of(source.type), shape_of(result.type)
    own = entries(source, lowering)
    padded = (1,) * (len(shape) - len(given)) + given
    chosen = [
        own[flat([i % n for i, n in zip(index, padded, strict=True)], padded)]
        for index in product(*map(range, shape))
    ]
    define_entries(lowering, result, chosen)


def _from_elements(operation: Operation, lowering: Lowering) -> None:
    chosen = [(lowering.value(operand), 0) for operand in operation.operands]
    define_entries(lowering, operation.results[0], chosen)


def _to_elements(operation: Operation, lowering: Lowering) -> None:
    own = entries(operation.operands[0], lowering)
    for result, entry in zip(operation.results, own, strict=True):
        lowering.define(result, element(lowering, entry))


def _step(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    type_ = cast("VectorType[Attribute]", result.type)
    lowering.define(result, literals.vector(lowering, range(type_.get_shape()[0]), type_))


def _shape_cast(operation: Operation, lowering: Lowering) -> None:
    define_entries(lowering, operation.results[0], entries(operation.operands[0], lowering))


def _transpose(operation: Operation, lowering: Lowering) -> None:
    (source,), (result,) = operation.operands, operation.results
    permutation = numbers_in(operation, "permutation")
    own, shape = entries(source, lowering), shape_of(source.type)
    chosen: list[Entry] = []
    for index in product(*map(range, shape_of(result.type))):
        location = [0] * len(shape)
        for position, dimension in zip(index, permutation, strict=True):
            location[dimension] = position
        chosen.append(own[flat(location, shape)])
    define_entries(lowering, result, chosen)


def _slice_locations(
    offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int], shape: Sequence[int]
) -> list[int]:
    """The numbers of the elements of a slice of a vector."""
    ranges = [
        range(offset, offset + size * stride, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    ]
    ranges += [range(size) for size in shape[len(ranges) :]]
    return [flat(index, shape) for index in product(*ranges)]


def _extract_strided_slice(operation: Operation, lowering: Lowering) -> None:
    (source,), (result,) = operation.operands, operation.results
    lists = [numbers_in(operation, name) for name in ("offsets", "sizes", "strides")]
    own = entries(source, lowering)
    locations = _slice_locations(lists[0], lists[1], lists[2], shape_of(source.type))
    define_entries(lowering, result, [own[location] for location in locations])


def _insert_strided_slice(operation: Operation, lowering: Lowering) -> None:
    value, dest = operation.operands
    offsets, strides = numbers_in(operation, "offsets"), numbers_in(operation, "strides")
    shape, sizes = shape_of(dest.type), shape_of(value.type)
    lead = len(offsets) - len(sizes)
    locations = _slice_locations(offsets, [1] * lead + [*sizes], [1] * lead + strides, shape)
    chosen = entries(dest, lowering)
    for location, entry in zip(locations, entries(value, lowering), strict=True):
        chosen[location] = entry
    define_entries(lowering, operation.results[0], chosen)


def _shuffle(operation: Operation, lowering: Lowering) -> None:
    """Rows of both operands; -1 is poison, all of whose bits are set."""
    (result,) = operation.results
    both = [entry for operand in operation.operands for entry in entries(operand, lowering)]
    size = prod(shape_of(operation.operands[0].type)[1:])
    poison = literals.poison(lowering, element_type(result.type))
    chosen: list[Entry] = []
    for row in numbers_in(operation, "mask"):
        chosen += [(poison, 0)] * size if row < 0 else both[row * size : (row + 1) * size]
    define_entries(lowering, result, chosen)


def _interleave(operation: Operation, lowering: Lowering) -> None:
    left, right = (entries(operand, lowering) for operand in operation.operands)
    chosen = [entry for pair in zip(left, right, strict=True) for entry in pair]
    define_entries(lowering, operation.results[0], chosen)


def _deinterleave(operation: Operation, lowering: Lowering) -> None:
    own = entries(operation.operands[0], lowering)
    for start, result in enumerate(operation.results):
        define_entries(lowering, result, own[start::2])


def _bitcast(operation: Operation, lowering: Lowering) -> None:
    """Elements as more or fewer ones of another type, the lowest bits first."""
    (source,), (result,) = operation.operands, operation.results
    old, new = (register_type(element_type(value.type)) for value in (source, result))
    if i1 in (old, new) and old != new:
        raise lowering.error("vectors of truth values cannot be cast to other types")
    own = entries(source, lowering)
    if bit_width(old) == bit_width(new):
        pieces = [assemble(lowering, entries_of([p])) for p in lowering.pieces(source)]
        types = piece_types(result.type)
        made = [
            p if p.type == t else lowering.compute("Bitcast", t, p)
            for p, t in zip(pieces, types, strict=True)
        ]
        lowering.define_pieces(result, made)
        return
    made_entries: list[Entry] = []
    ratio = max(1, bit_width(new) // bit_width(old))
    parts = max(1, bit_width(old) // bit_width(new))
    for first in range(0, len(own), ratio):
        unit = assemble(lowering, own[first : first + ratio])
        cast_ = lowering.compute("Bitcast", of_length(new, parts), unit)
        made_entries += entries_of([cast_])
    define_entries(lowering, result, made_entries)


RULES: dict[str, Rule] = {
    "vector.bitcast": _bitcast,
    "vector.broadcast": _broadcast,
    "vector.deinterleave": _deinterleave,
    "vector.extract_strided_slice": _extract_strided_slice,
    "vector.from_elements": _from_elements,
    "vector.insert_strided_slice": _insert_strided_slice,
    "vector.interleave": _interleave,
    "vector.shape_cast": _shape_cast,
    "vector.shuffle": _shuffle,
    "vector.step": _step,
    "vector.to_elements": _to_elements,
    "vector.transpose": _transpose,
}
"""The rule of each operation, by name."""
