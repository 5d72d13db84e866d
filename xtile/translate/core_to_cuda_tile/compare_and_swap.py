"""Atomic updates that there are no instructions for, as loops of compare-and-swap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects.builtin import IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from xtile.dialects.cuda_tile.enumerations import (
    ComparisonPredicate,
    Signedness,
)
from xtile.dialects.cuda_tile.ops import (
    atomics,
    bitwise,
    control_flow,
    conversions,
    integer,
    loops,
    memory,
)
from xtile.dialects.cuda_tile.types import PointerType, TokenType
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.orderings import RELAXED, Ordering
from xtile.translate.core_to_cuda_tile.reductions import holds_anywhere
from xtile.translate.core_to_cuda_tile.types import element_type, tile_type

_WORD = 32


def swapped(
    lowering: Lowering,
    change: Callable[[SSAValue], SSAValue],
    pointers: SSAValue,
    value: SSAValue,
    mask: SSAValue | None,
    token: SSAValue | None,
    how: Ordering = RELAXED,
) -> tuple[SSAValue, SSAValue]:
    """Tries to replace elements until nobody else did meanwhile.

    Args:
        lowering: Where to emit.
        change: What elements become.
        pointers: Points to the elements.
        value: The operands, which have the elements' type.
        mask: Which elements are updated; None: all.
        token: What is waited for.
        how: What the exchange orders, and for whom.

    Returns:
        What the elements were before, where the mask holds, and a token.
    """
    word = _word(lowering, pointers, value)
    shape = tile_type(value).get_shape()
    pending = mask
    if pending is None:
        pending = lowering.constant(1, tile_type(value).with_element_type(i1))
    padding = lowering.constant(0, word.type)
    first = lowering.emit(
        memory.LoadPtrTkoOp(
            word.pointers, pending, padding, token, ordering=RELAXED.ordering, scope=how.scope
        )
    )
    expected, before = first.results
    block = Block(arg_types=[pending.type, expected.type, TokenType()])
    with lowering.at_end_of(block):
        left, known, last = block.args
        new = change(word.element(known))
        exchange = atomics.AtomicCASTkoOp(
            word.pointers,
            known,
            word.with_element(known, new),
            left,
            last,
            ordering=how.ordering,
            scope=how.scope,
        )
        found, done = lowering.emit(exchange).results
        failed = lowering.compare(ComparisonPredicate.NOT_EQUAL, found, known)
        left = lowering.compute(bitwise.AndIOp, left, failed)
        known = lowering.select(left, found, known)
        goes_on, ends = Block(), Block()
        with lowering.at_end_of(goes_on):
            lowering.emit(control_flow.YieldOp([]))
        with lowering.at_end_of(ends):
            lowering.emit(control_flow.BreakOp([known, done]))
        any_left = holds_anywhere(lowering, lowering.reshape(left, _line(shape)))
        branch = control_flow.IfOp(any_left, [], _region(goes_on), _region(ends))
        lowering.emit(branch)
        lowering.emit(control_flow.ContinueOp([left, known, done]))
    loop = loops.LoopOp([pending, expected, before], [expected.type, TokenType()], _region(block))
    final, done = lowering.emit(loop).results
    return word.element(final), done


def have_equal_bits(lowering: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    """Where the bits of two tiles of numbers are equal."""
    bits = tile_type(a).with_element_type(IntegerType(cast(Any, element_type(a)).bitwidth))
    first, second = (_as_type(lowering, each, bits) for each in (a, b))
    return lowering.compare(ComparisonPredicate.EQUAL, first, second)


def _region(block: Block) -> Any:
    from xdsl.ir import Region

    return Region(block)


def _line(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a tile's elements in a row."""
    count = 1
    for size in shape:
        count *= size
    return (count,) if shape else ()


def _word(lowering: Lowering, pointers: SSAValue, value: SSAValue) -> _Word:
    width = cast(Any, element_type(value)).bitwidth
    if width >= _WORD:
        return _WholeWord(lowering, pointers, value)
    return _PartOfWord(lowering, pointers, value)


class _Word(ABC):
    """Words that are swapped, and the elements in them.

    Attributes:
        pointers: Points to the words.
        type: The type of the words.
    """

    pointers: SSAValue
    type: Attribute

    @abstractmethod
    def element(self, word: SSAValue) -> SSAValue:
        """The elements in words."""

    @abstractmethod
    def with_element(self, word: SSAValue, new: SSAValue) -> SSAValue:
        """Words with other elements."""


class _WholeWord(_Word):
    """Elements of 32 or 64 bits, which are swapped as their bits."""

    def __init__(self, lowering: Lowering, pointers: SSAValue, value: SSAValue) -> None:
        self._lowering = lowering
        self._value = tile_type(value)
        bits = IntegerType(cast(Any, element_type(value)).bitwidth)
        self.type = self._value.with_element_type(bits)
        self.pointers = _pointing_to(lowering, pointers, bits)

    def element(self, word: SSAValue) -> SSAValue:
        return _as_type(self._lowering, word, self._value)

    def with_element(self, word: SSAValue, new: SSAValue) -> SSAValue:
        return _as_type(self._lowering, new, self.type)


class _PartOfWord(_Word):
    """Elements of 8 or 16 bits, which are swapped with their neighbours."""

    def __init__(self, lowering: Lowering, pointers: SSAValue, value: SSAValue) -> None:
        self._lowering = lowering
        self._value = tile_type(value)
        self._bits = 8 * max(1, cast(Any, element_type(value)).bitwidth // 8)
        self.type = self._value.with_element_type(i32)
        longs = self._value.with_element_type(i64)
        address = lowering.compute(conversions.PtrToIntOp, pointers, longs)
        start = lowering.compute(bitwise.AndIOp, address, lowering.constant(~3, longs))
        pointer = self._value.with_element_type(PointerType(i32))
        self.pointers = lowering.compute(conversions.IntToPtrOp, start, pointer)
        byte = lowering.resize(self._bitwise_and(address, 3), i32)
        self._shift = lowering.compute(integer.ShLIOp, byte, lowering.constant(3, self.type))
        ones = lowering.constant(2**self._bits - 1, self.type)
        self._mask = lowering.compute(integer.ShLIOp, ones, self._shift)

    def _bitwise_and(self, value: SSAValue, number: int) -> SSAValue:
        lowering = self._lowering
        return lowering.compute(bitwise.AndIOp, value, lowering.like(number, value))

    def element(self, word: SSAValue) -> SSAValue:
        lowering = self._lowering
        shifted = lowering.compute(
            integer.ShRIOp, word, self._shift, signedness=Signedness.UNSIGNED
        )
        narrow = lowering.resize(shifted, IntegerType(self._bits))
        if self._value.element_type == i1:
            zero = lowering.like(0, narrow)
            return lowering.compare(ComparisonPredicate.NOT_EQUAL, narrow, zero)
        return _as_type(lowering, narrow, self._value)

    def with_element(self, word: SSAValue, new: SSAValue) -> SSAValue:
        lowering = self._lowering
        if self._value.element_type == i1:
            wide = lowering.resize(new, i32, is_signed=False)
        else:
            bits = self._value.with_element_type(IntegerType(self._bits))
            wide = lowering.resize(_as_type(lowering, new, bits), i32, is_signed=False)
        moved = lowering.compute(integer.ShLIOp, wide, self._shift)
        others = lowering.compute(bitwise.XOrIOp, self._mask, lowering.like(-1, self._mask))
        kept = lowering.compute(bitwise.AndIOp, word, others)
        return lowering.compute(bitwise.OrIOp, kept, moved)


def _pointing_to(lowering: Lowering, pointers: SSAValue, element: Attribute) -> SSAValue:
    """The same addresses, as those of numbers of another type."""
    target = tile_type(pointers).with_element_type(PointerType(element))
    if pointers.type == target:
        return pointers
    return lowering.compute(conversions.PtrToPtrOp, pointers, target)


def _as_type(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """The same bits as another type."""
    if value.type == type_:
        return value
    return lowering.compute(conversions.BitcastOp, value, type_)
