"""Tiles of the same bits, as elements of other types."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, IntegerType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.casts import ExtUIOp, TruncIOp
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.shapes import BitCastOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.text.source import spelling_of
from xtile.transforms.distribute_tiles.distribution import (
    Computed,
    Distribution,
    Held,
    Parts,
    Tile,
    Uniform,
)
from xtile.transforms.distribute_tiles.elements import each_element
from xtile.transforms.distribute_tiles.exchange import Staged, from_memory, stage
from xtile.transforms.distribute_tiles.spreads import Spread, box_of, strides_of

_Indices: TypeAlias = list[Index]


def _bitcast(operation: BitCastOp, distribution: Distribution) -> None:
    """Elements of the same size stay where they are; others are put together from local memory.

    Raises:
        DiagnosticError: Elements are of another size, and some are no whole bytes.
    """
    tile = distribution.tile(operation.source)
    element = value_type(operation.result.type)
    before, after = _bits(tile.element), _bits(element)
    if before == after:
        distribution.define(operation.result, _same_size(distribution, tile, element))
        return
    if before % 8 or after % 8:
        name = spelling_of(operation)
        raise distribution.error(f"{name} on a tile cannot be dealt out to subgroups")
    (staged,) = stage(distribution, tile)
    shape = shape_of(operation.result.type)
    bits = IntegerType(after)
    seed = Uniform(shape, bits, distribution.constant(0, bits))
    spread = distribution.spread_of(operation.result)

    def load(at: _Indices, _: list[SSAValue]) -> list[SSAValue]:
        number = distribution.sum_of_products(at, strides_of(shape))
        if after < before:
            return [_piece(distribution, staged, number, before, bits)]
        return [_whole(distribution, staged, number, before, bits)]

    sources = [seed.parts(distribution, spread)]
    (parts,) = each_element(distribution, shape, box_of(shape), spread, sources, [bits], load)
    made = [from_memory(distribution, part, element) for part in parts]
    distribution.held(operation.result, spread, made)


def _bits(element: Attribute) -> int:
    assert isinstance(element, FixedBitwidthType)
    return element.bitwidth


def _same_size(distribution: Distribution, tile: Tile, element: Attribute) -> Tile:
    """The elements of a tile as numbers of another type."""

    def cast(part: SSAValue) -> SSAValue:
        return distribution.compute(arith.BitcastOp, [part], with_element(part.type, element))

    def make(spread: Spread) -> Parts:
        return [cast(part) for part in tile.parts(distribution, spread)]

    if isinstance(tile, Uniform):
        return Uniform(tile.shape, element, cast(tile.number))
    if isinstance(tile, Held):
        return Held(tile.shape, element, tile.spread, make(tile.spread))
    return Computed(tile.shape, element, make)


def _piece(
    distribution: Distribution, staged: Staged, number: Index, width: int, type_: IntegerType
) -> SSAValue:
    """A part of an integer in local memory, whose lowest bits are the first part.

    Args:
        distribution: Where to emit.
        staged: The memory.
        number: The number of the part.
        width: The bits of what is in memory.
        type_: The type of the part.
    """
    count = width // type_.width.data
    at = distribution.add(staged.offset, distribution.divide(number, count))
    whole = distribution.load(staged.arena, [at])
    shift = distribution.multiply(distribution.remainder(number, count), type_.width.data)
    shifted = distribution.pure(arith.ShRUIOp, whole, distribution.from_index(shift, whole.type))
    return distribution.compute(TruncIOp, [shifted], type_)


def _whole(
    distribution: Distribution, staged: Staged, number: Index, width: int, type_: IntegerType
) -> SSAValue:
    """An integer of which local memory has the parts, the lowest bits first."""
    count = type_.width.data // width
    first = distribution.add(staged.offset, distribution.multiply(number, count))
    made: SSAValue | None = None
    for part in range(count):
        loaded = distribution.load(staged.arena, [distribution.add(first, part)])
        bits = distribution.compute(ExtUIOp, [loaded], type_)
        shift = distribution.constant(part * width, type_)
        moved = distribution.pure(arith.ShLIOp, bits, shift) if part else bits
        made = moved if made is None else distribution.pure(arith.OrIOp, made, moved)
    assert made is not None
    return made


RULES: dict[str, Rule] = {"vector.bitcast": _bitcast}
"""The rule of each operation, by name."""
