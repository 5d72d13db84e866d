"""Words that are swapped atomically, and the elements of 8 to 64 bits in them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.dialects.builtin import IntegerType, i1, i32
from xdsl.ir import Attribute, SSAValue

from xtile.translate.tiles.casts import bits_of, width_of
from xtile.translate.tiles.lowering import TileLowering

_WORD = 32


def word_of(
    lowering: TileLowering, pointers: SSAValue, value: SSAValue, least: int = _WORD
) -> Word:
    """The words that hold elements like those of a tile.

    Args:
        lowering: Where to emit.
        pointers: Points to the elements.
        value: A tile of such elements.
        least: The bits of the smallest elements that are swapped as they are; of smaller ones the
            word around them is, which may end behind the memory.
    """
    if width_of(lowering.element(value)) >= least:
        return _WholeWord(lowering, pointers, value)
    return _PartOfWord(lowering, pointers, value)


def have_equal_bits(lowering: TileLowering, a: SSAValue, b: SSAValue) -> SSAValue:
    """Where the bits of two tiles of numbers are equal."""
    return lowering.cmpi("eq", bits_of(lowering, a), bits_of(lowering, b))


class Word(ABC):
    """Words that are swapped, and the elements in them.

    Attributes:
        pointers: Points to the words.
        type: The type of a tile of words.
    """

    pointers: SSAValue
    type: Attribute

    @abstractmethod
    def element(self, word: SSAValue) -> SSAValue:
        """The elements in words."""

    @abstractmethod
    def with_element(self, word: SSAValue, new: SSAValue) -> SSAValue:
        """Words with other elements."""


class _WholeWord(Word):
    """Elements that are swapped as their bits."""

    def __init__(self, lowering: TileLowering, pointers: SSAValue, value: SSAValue) -> None:
        self._lowering = lowering
        self._element = lowering.element(value)
        self._bits = IntegerType(width_of(self._element))
        self.type = lowering.tile(self._bits, lowering.shape(value))
        self.pointers = lowering.pointer_cast(pointers, self._bits)

    def element(self, word: SSAValue) -> SSAValue:
        return self._lowering.bitcast(word, self._element)

    def with_element(self, word: SSAValue, new: SSAValue) -> SSAValue:
        return self._lowering.bitcast(new, self._bits)


class _PartOfWord(Word):
    """Elements of less than 32 bits, which are swapped with their neighbours."""

    def __init__(self, lowering: TileLowering, pointers: SSAValue, value: SSAValue) -> None:
        self._lowering = lowering
        self._element = lowering.element(value)
        self._bits = IntegerType(max(8, width_of(self._element)))
        self.type = lowering.tile(i32, lowering.shape(value))
        address = lowering.address(pointers)
        start = lowering.arith("andi", address, lowering.like(~3, address))
        self.pointers = lowering.pointer_at(start, i32)
        byte = lowering.resize(lowering.arith("andi", address, lowering.like(3, address)), i32)
        self._shift = lowering.arith("shli", byte, lowering.like(3, byte))
        ones = lowering.like(2**self._bits.width.data - 1, byte)
        self._mask = lowering.arith("shli", ones, self._shift)

    def element(self, word: SSAValue) -> SSAValue:
        lowering = self._lowering
        shifted = lowering.arith("shrui", word, self._shift)
        narrow = lowering.resize(shifted, self._bits)
        if self._element == i1:
            return lowering.cmpi("ne", narrow, lowering.like(0, narrow))
        return lowering.bitcast(narrow, self._element)

    def with_element(self, word: SSAValue, new: SSAValue) -> SSAValue:
        lowering = self._lowering
        bits = new if self._element == i1 else lowering.bitcast(new, self._bits)
        moved = lowering.arith("shli", lowering.resize(bits, i32, is_signed=False), self._shift)
        others = lowering.arith("xori", self._mask, lowering.like(-1, self._mask))
        return lowering.arith("ori", lowering.arith("andi", word, others), moved)
