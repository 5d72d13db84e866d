"""The elements of vectors, and pieces that are put together of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.translate.xegpu_to_spirv.lowering import Lowering, Pieces
from xtile.translate.xegpu_to_spirv.types import (
    element_type,
    is_vector,
    length_of,
    of_length,
    piece_lengths,
)

Entry = tuple[SSAValue, int]
"""One element: the piece that holds it, and its number there."""

_NOTHING = 0xFFFFFFFF
"""What a shuffle calls an element that may be anything."""


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The shape of a vector type; () for a number."""
    return type_.get_shape() if is_vector(type_) else ()


def entries_of(pieces: Iterable[SSAValue]) -> list[Entry]:
    """The elements of pieces, in order."""
    return [(piece, i) for piece in pieces for i in range(length_of(piece.type))]


def entry_at(pieces: Iterable[SSAValue], number: int) -> Entry | None:
    """The element of pieces with a number; None if there is none."""
    for piece in pieces:
        length = length_of(piece.type)
        if number < length:
            return None if number < 0 else (piece, number)
        number -= length
    return None


def entries(old: SSAValue, lowering: Lowering) -> list[Entry]:
    """The elements of a vector in row-major order; a number is one."""
    if is_vector(old.type):
        return entries_of(lowering.pieces(old))
    return [(lowering.value(old), 0)]


def element(lowering: Lowering, entry: Entry) -> SSAValue:
    """An element as a number."""
    piece, index = entry
    type_ = element_type(piece.type)
    if type_ == piece.type:
        return piece
    return lowering.shared(
        entry, (piece,), lambda: lowering.compute("CompositeExtract", type_, piece, index)
    )


def assemble(lowering: Lowering, chosen: Sequence[Entry]) -> SSAValue:
    """A piece with these elements, which all have one type."""
    if len(chosen) == 1:
        return element(lowering, chosen[0])
    first, _ = chosen[0]
    if list(chosen) == entries_of([first]):
        return first
    sources = list(dict.fromkeys(piece for piece, _ in chosen))
    key = tuple(chosen)
    return lowering.shared(("assemble", key), sources, lambda: _assemble(lowering, chosen, sources))


def _assemble(lowering: Lowering, chosen: Sequence[Entry], sources: Sequence[SSAValue]) -> SSAValue:
    type_ = of_length(element_type(sources[0].type), len(chosen))
    if len(sources) == 1 and length_of(sources[0].type) == 1:
        return lowering.splat(sources[0], len(chosen))
    # Drivers do not join vectors by CompositeConstruct, though SPIR-V allows it.
    vectors = [piece for piece in sources if length_of(piece.type) > 1]
    made = lowering.constants.undefined(type_)
    if vectors:
        made = _shuffle_all(lowering, type_, chosen, vectors)
    elif len(sources) == len(chosen):
        return lowering.compute("CompositeConstruct", type_, *(piece for piece, _ in chosen))
    for position, (piece, _) in enumerate(chosen):
        if length_of(piece.type) == 1:
            made = lowering.compute("CompositeInsert", type_, piece, made, position)
    return made


def _shuffle_all(
    lowering: Lowering, type_: Attribute, chosen: Sequence[Entry], vectors: Sequence[SSAValue]
) -> SSAValue:
    """The elements that are in vectors, two of them at first and then one by one."""
    first, second = vectors[0], vectors[min(1, len(vectors) - 1)]
    offset = length_of(first.type)
    numbers = [
        i if piece is first else offset + i if piece is second else _NOTHING for piece, i in chosen
    ]
    made = lowering.compute("VectorShuffle", type_, first, second, *numbers)
    for piece in vectors[2:]:
        numbers = [
            len(chosen) + i if source is piece else position
            for position, (source, i) in enumerate(chosen)
        ]
        made = lowering.compute("VectorShuffle", type_, made, piece, *numbers)
    return made


def arranged(lowering: Lowering, chosen: Sequence[Entry], type_: VectorType[Attribute]) -> Pieces:
    """The pieces of a vector with these elements in row-major order."""
    pieces: list[SSAValue] = []
    first = 0
    for length in piece_lengths(type_):
        pieces.append(assemble(lowering, chosen[first : first + length]))
        first += length
    return tuple(pieces)


def define_entries(lowering: Lowering, result: SSAValue, chosen: Sequence[Entry]) -> None:
    """Records the elements of a vector, or the only one of a number."""
    if is_vector(result.type):
        lowering.define(result, arranged(lowering, chosen, result.type))
    else:
        lowering.define(result, element(lowering, chosen[0]))


def numbers_in(operation: Operation, name: str) -> list[int]:
    """The numbers in an array attribute."""
    value = cast(Any, operation.properties[name])
    if hasattr(value, "get_values"):
        return list(value.get_values())
    return [entry.value.data for entry in value.data]


def flat(index: Sequence[int], shape: Sequence[int]) -> int:
    """The number of an element in row-major order."""
    number = 0
    for position, size in zip(index, shape, strict=True):
        number = number * size + position
    return number
