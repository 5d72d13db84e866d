"""Reductions, scans and products of vectors.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.combining import combine, narrowed, neutral, widened
from xtile.translate.xegpu_to_spirv.conversions import resize
from xtile.translate.xegpu_to_spirv.elementwise import like
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.mathematics import fma
from xtile.translate.xegpu_to_spirv.types import (
    element_type,
    integer_width,
    is_vector,
    length_of,
    piece_lengths,
)
from xtile.translate.xegpu_to_spirv.vectors.entries import (
    Entry,
    assemble,
    entries,
    entries_of,
    flat,
    numbers_in,
    shape_of,
)

Mask = Sequence[Entry] | None
"""For each element whether it counts; None: all do."""


def kind_of(operation: Operation) -> str:
    """How a reduction combines numbers, by upstream's name."""
    return str(cast(Any, operation.properties["kind"]).data)


# --- reductions to a number ---


def _reduction(operation: Operation, lowering: Lowering) -> None:
    reduction(operation, lowering, None)


def reduction(operation: Operation, lowering: Lowering, mask: Mask) -> None:
    """All elements of a vector, combined with an accumulator if there is one."""
    source, *acc = operation.operands
    (result,) = operation.results
    kind, type_ = kind_of(operation), result.type
    pieces = [widened(lowering, piece, type_) for piece in lowering.pieces(source)]
    if mask is not None:
        pieces = _masked(lowering, kind, pieces, mask)
    total = reduced(lowering, kind, pieces)
    if acc:
        start = widened(lowering, lowering.value(acc[0]), type_)
        total = combine(lowering, kind, start, total)
    lowering.define(result, narrowed(lowering, total, type_))


def _masked(
    lowering: Lowering, kind: str, pieces: Sequence[SSAValue], mask: Sequence[Entry]
) -> list[SSAValue]:
    """The pieces, with what changes nothing where the mask is not set."""
    made: list[SSAValue] = []
    first = 0
    for piece in pieces:
        length = length_of(piece.type)
        condition = assemble(lowering, mask[first : first + length])
        nothing = neutral(lowering, kind, piece.type)
        made.append(lowering.select(condition, piece, nothing))
        first += length
    return made


def reduced(lowering: Lowering, kind: str, pieces: Sequence[SSAValue]) -> SSAValue:
    """All elements of pieces combined: whole pieces first, then halves of what remains."""
    by_length: dict[int, SSAValue] = {}
    for piece in pieces:
        length = length_of(piece.type)
        before = by_length.get(length)
        by_length[length] = piece if before is None else combine(lowering, kind, before, piece)
    length = max(by_length)
    total = by_length[length]
    while length > 1:
        length //= 2
        own = entries_of([total])
        low, high = assemble(lowering, own[:length]), assemble(lowering, own[length:])
        total = combine(lowering, kind, low, high)
        other = by_length.get(length)
        if other is not None:
            total = combine(lowering, kind, total, other)
    return total


# --- reductions along dimensions ---


def _multi_reduction(operation: Operation, lowering: Lowering) -> None:
    multi_reduction(operation, lowering, None)


def multi_reduction(operation: Operation, lowering: Lowering, mask: Mask) -> None:
    """The elements along dimensions, combined with an accumulator."""
    source, acc = operation.operands
    (result,) = operation.results
    if not is_vector(result.type):
        reduction(operation, lowering, mask)
        return
    shape = shape_of(source.type)
    along = sorted(numbers_in(operation, "reduction_dims"))
    kept = [dimension for dimension in range(len(shape)) if dimension not in along]

    def location(outer: Sequence[int], inner: Sequence[int]) -> int:
        index = dict(zip(kept, outer, strict=True)) | dict(zip(along, inner, strict=True))
        return flat([index[dimension] for dimension in range(len(shape))], shape)

    own = entries(source, lowering)
    results = list(product(*(range(shape[dimension]) for dimension in kept)))
    rounds = [
        [location(outer, inner) for outer in results]
        for inner in product(*(range(shape[dimension]) for dimension in along))
    ]
    _combine_rounds(
        lowering,
        operation,
        [[own[number] for number in numbers] for numbers in rounds],
        None if mask is None else [[mask[number] for number in numbers] for numbers in rounds],
        acc,
    )


def _combine_rounds(
    lowering: Lowering,
    operation: Operation,
    rounds: Sequence[Sequence[Entry]],
    masks: Sequence[Sequence[Entry]] | None,
    acc: SSAValue,
) -> None:
    """Combines an accumulator with several vectors, one after the other."""
    (result,) = operation.results
    type_, kind = element_type(result.type), kind_of(operation)
    pieces: list[SSAValue] = []
    first = 0
    for start in lowering.pieces(acc):
        length = length_of(start.type)
        total = widened(lowering, start, type_)
        for number, chosen in enumerate(rounds):
            piece = widened(lowering, assemble(lowering, chosen[first : first + length]), type_)
            both = combine(lowering, kind, total, piece)
            if masks is not None:
                counts = assemble(lowering, masks[number][first : first + length])
                both = lowering.select(counts, both, total)
            total = both
        pieces.append(narrowed(lowering, total, type_))
        first += length
    lowering.define_pieces(result, pieces)


def _scan(operation: Operation, lowering: Lowering) -> None:
    """Starts with the initial value if it is exclusive, which an inclusive scan does not use."""
    source, initial = operation.operands
    dest, accumulated = operation.results
    kind, type_ = kind_of(operation), element_type(dest.type)
    (along,) = numbers_in_one(operation, "reduction_dim")
    is_inclusive = bool(numbers_in_one(operation, "inclusive")[0])
    shape = shape_of(source.type)
    own = entries(source, lowering)
    outer = [range(size) for dimension, size in enumerate(shape) if dimension != along]
    made: dict[int, Entry] = {}
    last: list[Entry] = []
    starts = entries(initial, lowering)
    for line, index in enumerate(product(*outer)):
        locations = [flat([*index[:along], i, *index[along:]], shape) for i in range(shape[along])]
        values = [widened(lowering, assemble(lowering, [own[n]]), type_) for n in locations]
        start = widened(lowering, assemble(lowering, [starts[line]]), type_)
        totals = [values[0] if is_inclusive else start]
        for value in values[1:] if is_inclusive else values[:-1]:
            totals.append(combine(lowering, kind, totals[-1], value))
        rounded = [(narrowed(lowering, total, type_), 0) for total in totals]
        made.update(zip(locations, rounded, strict=True))
        last.append(rounded[-1])
    from xtile.translate.xegpu_to_spirv.vectors.entries import define_entries

    define_entries(lowering, dest, [made[number] for number in range(len(own))])
    define_entries(lowering, accumulated, last)


def numbers_in_one(operation: Operation, name: str) -> list[int]:
    """The number that an attribute holds, as a list."""
    return [int(cast(Any, operation.properties[name]).value.data)]


# --- products ---


def _contract(operation: Operation, lowering: Lowering) -> None:
    """Products, combined with an accumulator in its type or in f32 if that is narrower."""
    lhs, rhs, acc = operation.operands
    (result,) = operation.results
    maps = [
        [cast(AffineDimExpr, expression).position for expression in entry.data.results]
        for entry in cast("ArrayAttr[Any]", operation.properties["indexing_maps"]).data
    ]
    sizes = _iteration_sizes(maps[:2], (shape_of(lhs.type), shape_of(rhs.type)))
    kept = maps[2]
    along = [dimension for dimension in range(len(sizes)) if dimension not in kept]
    left, right = entries(lhs, lowering), entries(rhs, lowering)

    def entry(own: Sequence[Entry], map_: Sequence[int], index: dict[int, int]) -> Entry:
        shape = [sizes[dimension] for dimension in map_]
        return own[flat([index[dimension] for dimension in map_], shape)]

    outer = [
        dict(zip(kept, index, strict=True))
        for index in product(*(range(sizes[dimension]) for dimension in kept))
    ]
    inner = [
        dict(zip(along, index, strict=True))
        for index in product(*(range(sizes[dimension]) for dimension in along))
    ]
    type_ = element_type(result.type)
    pieces: list[SSAValue] = []
    first = 0
    for start in lowering.pieces(acc):
        length = length_of(start.type)
        own = outer[first : first + length]
        total = widened(lowering, start, type_)
        for reduced_index in inner:
            factors = [
                _factor(
                    lowering,
                    assemble(lowering, [entry(side, map_, o | reduced_index) for o in own]),
                    element_type(operand.type),
                    element_type(total.type),
                )
                for side, map_, operand in ((left, maps[0], lhs), (right, maps[1], rhs))
            ]
            total = _multiply_and_combine(lowering, kind_of(operation), factors, total)
        pieces.append(narrowed(lowering, total, type_))
        first += length
    lowering.define_pieces(result, pieces)


def _iteration_sizes(
    maps: Sequence[Sequence[int]], shapes: Sequence[Sequence[int]]
) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for map_, shape in zip(maps, shapes, strict=True):
        sizes.update(zip(map_, shape, strict=True))
    return sizes


def _factor(lowering: Lowering, value: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
    """A factor in the type in which products are combined; integers are extended with a sign."""
    if integer_width(target):
        return resize(lowering, value, target)
    wide = widened(lowering, value, source)
    if element_type(wide.type) == target:
        return wide
    return lowering.compute("FConvert", like(wide, target), wide)


def _multiply_and_combine(
    lowering: Lowering, kind: str, factors: Sequence[SSAValue], total: SSAValue
) -> SSAValue:
    if kind == "add" and not integer_width(element_type(total.type)):
        return fma(lowering, total.type, (*factors, total))
    return combine(lowering, kind, total, combine(lowering, "mul", *factors))


def _outer_product(operation: Operation, lowering: Lowering) -> None:
    outer_product(operation, lowering, None)


def outer_product(operation: Operation, lowering: Lowering, mask: Mask) -> None:
    """Each element of one vector times each of another, or times a number."""
    lhs, rhs, *acc = operation.operands
    (result,) = operation.results
    type_, kind = element_type(result.type), kind_of(operation)
    left, right = entries(lhs, lowering), entries(rhs, lowering)
    if is_vector(rhs.type):
        pairs = [(a, b) for a in left for b in right]
    else:
        pairs = [(a, right[0]) for a in left]
    starts = lowering.pieces(acc[0]) if acc else None
    pieces: list[SSAValue] = []
    first = 0
    for number, length in enumerate(piece_lengths(cast("VectorType[Any]", result.type))):
        own = pairs[first : first + length]
        factors = [
            widened(lowering, assemble(lowering, [pair[side] for pair in own]), type_)
            for side in (0, 1)
        ]
        if starts is None:
            total = combine(lowering, "mul", *factors)
        else:
            start = widened(lowering, starts[number], type_)
            total = _multiply_and_combine(lowering, kind, factors, start)
            if mask is not None:
                counts = assemble(lowering, mask[first : first + length])
                total = lowering.select(counts, total, start)
        pieces.append(narrowed(lowering, total, type_))
        first += length
    lowering.define_pieces(result, pieces)


RULES: dict[str, Rule] = {
    "vector.contract": _contract,
    "vector.multi_reduction": _multi_reduction,
    "vector.outerproduct": _outer_product,
    "vector.reduction": _reduction,
    "vector.scan": _scan,
}
"""The rule of each operation, by name."""
