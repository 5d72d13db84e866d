"""Vectors of a lane's elements as vectors of words, and back: the same bits."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    LEGAL_LENGTHS,
    bit_width,
    element_type,
    legal_lengths,
    of_length,
)
from xtile.translate.xegpu_to_spirv.vectors.entries import assemble, entries_of


def as_bits_of(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """The same bits in another type; where they were in that type before, what they were."""
    if value.type == type_:
        return value
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "spirv.Bitcast":
        source = owner.operands[0]
        if source.type == type_:
            return source
    return lowering.shared_compute("Bitcast", type_, value)


def as_words(lowering: Lowering, pieces: Sequence[SSAValue], word: Attribute) -> list[SSAValue]:
    """Vectors of legal lengths, as long as they can be, with the bits of some vectors.

    Args:
        lowering: Where to emit.
        pieces: The vectors.
        word: The type of the new elements, of which a whole number fills each vector.
    """
    width = bit_width(word)
    words: list[SSAValue] = []
    for piece in _of_most(lowering, pieces, LEGAL_LENGTHS[0] * width):
        length = bit_width(piece.type) // width
        words.append(as_bits_of(lowering, piece, of_length(word, length)))
    return _cut(lowering, words, LEGAL_LENGTHS[0])


def _of_most(lowering: Lowering, pieces: Sequence[SSAValue], bits: int) -> Sequence[SSAValue]:
    """The same elements in vectors of so many bits at most."""
    if all(bit_width(piece.type) <= bits for piece in pieces):
        return pieces
    return _cut(lowering, pieces, bits // bit_width(element_type(pieces[0].type)))


def _cut(lowering: Lowering, pieces: Sequence[SSAValue], most: int) -> list[SSAValue]:
    """The same elements in vectors of legal lengths up to `most`."""
    entries = entries_of(pieces)
    result: list[SSAValue] = []
    while entries:
        length = min(most, legal_lengths(len(entries))[0])
        result.append(assemble(lowering, entries[:length]))
        entries = entries[length:]
    return result
