"""Elements and parts of vectors at positions.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv import literals
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    element_type,
    is_vector,
    length_of,
    of_length,
    piece_lengths,
    piece_types,
)
from xtile.translate.xegpu_to_spirv.vectors.entries import (
    Entry,
    arranged,
    assemble,
    define_entries,
    element,
    entries,
    entry_at,
    flat,
    numbers_in,
    shape_of,
)


def _positions(operation: Operation, lowering: Lowering) -> list[SSAValue | int]:
    """Where a part is in a vector; what is known is a number."""
    static = numbers_in(operation, "static_position")
    first = len(operation.operands) - static.count(DYNAMIC_INDEX)
    dynamic = iter(lowering.numbers(operation.operands[first:]))
    return [next(dynamic) if n == DYNAMIC_INDEX else n for n in static]


def _extract(operation: Operation, lowering: Lowering) -> None:
    source, result = operation.operands[0], operation.results[0]
    positions = _positions(operation, lowering)
    if len(positions) == 1 and not is_vector(result.type) and isinstance(positions[0], int):
        # What is done most often is done without listing all elements.
        entry = entry_at(lowering.pieces(source), positions[0])
        if entry is not None:
            lowering.define(result, element(lowering, entry))
            return
    all_entries, shape = entries(source, lowering), shape_of(source.type)
    if -1 in positions:
        literals.define_poison(result, lowering)
        return
    size = prod(shape[len(positions) :])
    *outer, last = positions or [0]
    if size == 1 and not isinstance(last, int) and all(isinstance(n, int) for n in outer):
        first = flat(cast("list[int]", outer), shape[: len(outer)]) * shape[-1]
        row = all_entries[first : first + shape[-1]]
        lowering.define_pieces(result, [extract_dynamic(lowering, row, last)])
        return
    types = piece_types(result.type)
    parts = [
        all_entries[number * size : (number + 1) * size] for number in _candidates(positions, shape)
    ]
    pieces = [_arranged_as(lowering, part, result.type) for part in parts]
    chosen = pieces[-1]
    for condition, part in zip(_is_chosen(lowering, positions, shape), pieces[:-1], strict=False):
        chosen = [lowering.select(condition, a, b) for a, b in zip(part, chosen, strict=True)]
    assert len(chosen) == len(types)
    lowering.define_pieces(result, chosen)


def _arranged_as(lowering: Lowering, chosen: Sequence[Entry], type_: Attribute) -> list[SSAValue]:
    if is_vector(type_):
        return list(arranged(lowering, chosen, type_))
    return [element(lowering, chosen[0])]


def _candidates(positions: Sequence[SSAValue | int], shape: Sequence[int]) -> list[int]:
    """The numbers of all parts that positions may lead to."""
    ranges = [
        [position] if isinstance(position, int) else range(size)
        for position, size in zip(positions, shape, strict=False)
    ]
    return [flat(index, shape[: len(positions)]) for index in product(*ranges)]


def _is_chosen(
    lowering: Lowering, positions: Sequence[SSAValue | int], shape: Sequence[int]
) -> list[SSAValue]:
    """For each part that positions may lead to, whether they do."""
    dynamic = [
        (position, size)
        for position, size in zip(positions, shape, strict=False)
        if not isinstance(position, int)
    ]
    conditions: list[SSAValue] = []
    for index in product(*(range(size) for _, size in dynamic)):
        condition = lowering.true()
        for (position, _), number in zip(dynamic, index, strict=True):
            is_equal = lowering.shared_compute(
                "IEqual", i1, position, lowering.integer(number, i64)
            )
            if condition is lowering.true():
                condition = is_equal
            else:
                condition = lowering.compute("LogicalAnd", i1, condition, is_equal)
        conditions.append(condition)
    return conditions


def extract_dynamic(lowering: Lowering, row: Sequence[Entry], position: SSAValue) -> SSAValue:
    """An element of a row at a position that is known at run time."""
    pieces = list(dict.fromkeys(piece for piece, _ in row))
    chosen: SSAValue | None = None
    first = 0
    for piece in pieces:
        length = length_of(piece.type)
        found = piece
        if length > 1:
            index = _within(lowering, position, first, length, len(row))
            type_ = element_type(piece.type)
            found = lowering.compute("VectorExtractDynamic", type_, piece, index)
        if chosen is not None:
            start = lowering.integer(first, i64)
            is_behind = lowering.compute("UGreaterThanEqual", i1, position, start)
            found = lowering.select(is_behind, found, chosen)
        chosen = found
        first += length
    assert chosen is not None
    return chosen


def _within(
    lowering: Lowering, position: SSAValue, first: int, length: int, total: int
) -> SSAValue:
    """A position in a piece, which is one of the piece's even where it leads to another one."""
    if length == total:
        return position
    index = lowering.add(position, -first)
    mask = lowering.integer(length - 1, i64)
    return lowering.compute("BitwiseAnd", i64, lowering.as_value(index), mask)


def _insert(operation: Operation, lowering: Lowering) -> None:
    value, dest, *_ = operation.operands
    result = operation.results[0]
    positions = _positions(operation, lowering)
    if -1 in positions:
        literals.define_poison(result, lowering)
        return
    whole, part = entries(dest, lowering), entries(value, lowering)
    shape = shape_of(dest.type)
    size = len(part)
    if all(isinstance(position, int) for position in positions):
        first = flat(cast("list[int]", positions), shape[: len(positions)]) * size
        _define_with_part(lowering, result, whole, part, range(first, first + size))
        return
    if len(shape) == 1:
        (position,) = positions
        inserted = _insert_dynamic(lowering, lowering.pieces(dest), part[0], position)
        lowering.define_pieces(result, inserted)
        return
    made = [element(lowering, entry) for entry in whole]
    conditions = _is_chosen(lowering, positions, shape)
    for condition, number in zip(conditions, _candidates(positions, shape), strict=True):
        for i, entry in enumerate(part):
            location = number * size + i
            made[location] = lowering.select(condition, element(lowering, entry), made[location])
    define_entries(lowering, result, [(one, 0) for one in made])


def _define_with_part(
    lowering: Lowering,
    result: SSAValue,
    whole: Sequence[Entry],
    part: Sequence[Entry],
    locations: Iterable[int],
) -> None:
    """Records a vector some of whose elements are replaced."""
    chosen = list(whole)
    for location, entry in zip(locations, part, strict=True):
        chosen[location] = entry
    if len(part) == 1 and len(whole) > 1:
        _define_with_element(lowering, result, chosen, part[0])
    else:
        define_entries(lowering, result, chosen)


def _define_with_element(
    lowering: Lowering, result: SSAValue, chosen: Sequence[Entry], new: Entry
) -> None:
    """Inserts one element, where a shuffle would need two instructions."""
    value = element(lowering, new)
    pieces: list[SSAValue] = []
    first = 0
    for length in piece_lengths(cast("VectorType[Attribute]", result.type)):
        own = chosen[first : first + length]
        first += length
        if new not in own or length == 1:
            pieces.append(assemble(lowering, own))
            continue
        position = own.index(new)
        piece = next(source for i, (source, _) in enumerate(own) if i != position)
        type_ = of_length(value.type, length)
        if piece.type != type_ or new[0] is piece:
            pieces.append(assemble(lowering, own))
        else:
            pieces.append(lowering.compute("CompositeInsert", type_, value, piece, position))
    lowering.define(result, tuple(pieces))


def _insert_dynamic(
    lowering: Lowering, pieces: Sequence[SSAValue], new: Entry, position: SSAValue | int
) -> list[SSAValue]:
    """The pieces with an element replaced at a position that is known at run time."""
    value = element(lowering, new)
    total = sum(length_of(piece.type) for piece in pieces)
    where = lowering.as_value(position)
    made: list[SSAValue] = []
    first = 0
    for piece in pieces:
        length = length_of(piece.type)
        replaced = value
        if length > 1:
            index = _within(lowering, where, first, length, total)
            replaced = lowering.compute("VectorInsertDynamic", piece.type, piece, value, index)
        if length < total:
            start, count = lowering.integer(first, i64), lowering.integer(length, i64)
            offset = lowering.compute("ISub", i64, where, start)
            is_here = lowering.compute("ULessThan", i1, offset, count)
            replaced = lowering.select(is_here, replaced, piece)
        made.append(replaced)
        first += length
    return made


RULES: dict[str, Rule] = {
    "vector.extract": _extract,
    "vector.insert": _insert,
}
"""The rule of each operation, by name."""
