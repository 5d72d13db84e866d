"""Dimensions of iterations that are cut into tiles, and what is known of their sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.core.arguments import SHAPE_GCD_ATTRIBUTE, promises_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.memref.layouts import kept_dimensions
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.facts import Facts, constant_of
from xtile.rewrite.indices import Index

_MOST_PADDING = 1.5
"""How much more than a size its tiles may cover together, if smaller tiles cover less."""


@dataclass(frozen=True)
class Span:
    """The numbers from 0 to a size, in tiles.

    Attributes:
        size: How many there are.
        tile: The numbers in a tile, a power of two.
        is_even: Whether tiles end with the size.
        is_single: Whether one tile has them all.
    """

    size: Index
    tile: int
    is_even: bool
    is_single: bool

    @property
    def is_one(self) -> bool:
        """Whether there is a tile for sure: a size known only to be small may be zero."""
        return self.is_single and isinstance(self.size, int)


def power_of_two(size: int) -> int:
    """The least power of two that is not smaller."""
    return 1 << (max(size, 1) - 1).bit_length()


def span_of(size: Index, most: int, facts: Facts) -> Span:
    """Cuts a size into tiles of at most so many numbers."""
    if isinstance(size, int):
        tile = _tile_of(size, most)
        return Span(size, tile, size % tile == 0, 0 < size <= tile)
    limit = upper_bound(size)
    if limit is not None and power_of_two(limit) <= most:
        return Span(size, power_of_two(limit), is_even=False, is_single=True)
    divisor = facts.divisor(size)
    return Span(size, most, is_even=divisor % most == 0, is_single=False)


def _tile_of(size: int, most: int) -> int:
    """The largest tile that does not cover much more than a size, or one for all of it."""
    tile = power_of_two(size)
    if tile <= most:
        return tile
    tile = most
    while tile > 1 and -(-size // tile) * tile > _MOST_PADDING * size:
        tile //= 2
    return tile


def upper_bound(value: SSAValue) -> int | None:
    """A number that a value is not larger than, if one is known."""
    known = constant_of(value)
    if known is not None:
        return known
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if owner.name in ("arith.minsi", "arith.minui"):
        return _least(upper_bound(operand) for operand in owner.operands)
    if owner.name == "arith.maxsi":
        bounds = [upper_bound(operand) for operand in owner.operands]
        return None if None in bounds else max(cast("list[int]", bounds))
    if owner.name == "memref.dim":
        dimension = constant_of(owner.operands[1])
        size = None if dimension is None else known_size(owner.operands[0], dimension)
        return size if isinstance(size, int | None) else upper_bound(size)
    return None


def _least(bounds: Iterable[int | None]) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def known_size(memory: SSAValue, dimension: int) -> Index | None:
    """The size of a memref: a number, or the value that a view was given; None otherwise."""
    size = cast("AnyMemRef", memory.type).get_shape()[dimension]
    if size != DYNAMIC_INDEX:
        return size
    owner = memory.owner
    if isinstance(owner, SubviewOp):
        sizes: Sequence[int] = owner.static_sizes.get_values()
        kept = kept_dimensions(sizes, cast("AnyMemRef", memory.type).get_shape())
        return owner.sizes[list(sizes[: kept[dimension]]).count(DYNAMIC_INDEX)]
    return None


def best_known(sizes: Iterable[Index | None]) -> Index | None:
    """Of sizes that are equal a number, or a value with a limit, or any value."""
    known = [size for size in sizes if size is not None]
    return min(known, key=_rank, default=None)


def _rank(size: Index) -> int:
    if isinstance(size, int):
        return 0
    return 1 if upper_bound(size) is not None else 2


class SizeFacts(Facts):
    """What is known of integers, with the promises that a kernel makes about its arguments."""

    def __init__(self, function: FuncOp) -> None:
        super().__init__()
        self._promises: dict[tuple[SSAValue, int], int] = {}
        self._function = function

    def add_promises(self, body: Block) -> None:
        """Records what the function promises about the arguments of its new body."""
        for argument in body.args[: len(self._function.arguments)]:
            divisors = promises_of(self._function, argument.index).get(SHAPE_GCD_ATTRIBUTE)
            if isinstance(divisors, DenseArrayBase):
                numbers = cast("DenseArrayBase[IntegerType]", divisors).get_values()
                for dimension, divisor in enumerate(numbers):
                    self._promises[argument, dimension] = int(divisor)

    def divisor(self, value: SSAValue | int) -> int:
        """A number that divides the value; that of a promised size is the promise."""
        if not isinstance(value, int) and isinstance(value.owner, Operation):
            owner = value.owner
            if owner.name == "memref.dim":
                dimension = constant_of(owner.operands[1])
                return self._promises.get((owner.operands[0], dimension or 0), 1)
        return super().divisor(value)
