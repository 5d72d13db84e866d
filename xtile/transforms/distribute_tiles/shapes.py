"""Tiles in other shapes: the same registers where every subgroup has what it needs, else memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from xtile.layouts.intel import vector_layout
from xtile.layouts.layout import Layout
from xtile.layouts.local_memory import padding_of_rows
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.distribute_tiles.distribution import (
    Computed,
    Distribution,
    Held,
    Parts,
    Tile,
    Uniform,
)
from xtile.transforms.distribute_tiles.elements import chosen
from xtile.transforms.distribute_tiles.elementwise import define_by_index
from xtile.transforms.distribute_tiles.exchange import (
    bits_of,
    fetched,
    load_number,
    scatter,
    stage,
    write,
)
from xtile.transforms.distribute_tiles.spreads import (
    Box,
    Spread,
    box_of,
    part_of,
    strides_of,
    strides_of_box,
)

# --- other shapes of the same elements ---


def reshaped(distribution: Distribution, tile: Tile, shape: Sequence[int]) -> Tile:
    """The elements of a tile in row-major order in another shape."""
    shape = tuple(shape)
    if isinstance(tile, Uniform):
        return Uniform(shape, tile.element, tile.number)
    if box_of(shape) == tile.box:
        return distribution.reshaped(tile, shape)
    (staged,) = stage(distribution, tile)
    return fetched(distribution, staged, shape, strides_of(shape))


def transposed(distribution: Distribution, tile: Tile, order: Sequence[int]) -> Tile:
    """A tile with its dimensions in another order."""
    shape = tuple(tile.shape[i] for i in order)
    if isinstance(tile, Uniform):
        return Uniform(shape, tile.element, tile.number)
    moved = [i for i in order if tile.shape[i] != 1]
    if moved == sorted(moved):
        return distribution.reshaped(tile, shape)
    if len(tile.box) != len(moved) or moved[-1] == max(moved):
        (staged,) = stage(distribution, tile)
        strides = strides_of(tile.shape)
        return fetched(distribution, staged, shape, [strides[i] for i in order])
    padding = _padding(distribution, tile, shape)
    (staged,) = stage(distribution, tile, padding=padding)
    own = dict(zip(sorted(moved), strides_of(tile.box, padding), strict=True))
    return fetched(distribution, staged, shape, [own.get(i, 1) for i in order])


def _padding(distribution: Distribution, tile: Tile, shape: Sequence[int]) -> int:
    """How many elements lie between rows that are written, and read as columns."""
    lanes = distribution.layouts.lanes

    def layout(box: Box, spread: Spread) -> Layout:
        return vector_layout(*part_of(box, spread)[-2:], lanes).layout

    accesses = [(layout(tile.box, distribution.preferred(tile)), (0, 1))]
    box = box_of(shape)
    if len(box) == len(tile.box):
        accesses.append((layout(box, distribution.spread_of_shape(shape)), (1, 0)))
    return padding_of_rows(accesses, tile.box[-1], bits_of(tile.element))


def _shape_cast(operation: Operation, distribution: Distribution) -> None:
    (source,), (result,) = operation.operands, operation.results
    tile = reshaped(distribution, distribution.tile(source), shape_of(result.type))
    _define(distribution, result, tile)


def _transpose(operation: Operation, distribution: Distribution) -> None:
    order = cast(Any, operation.properties["permutation"]).get_values()
    tile = transposed(distribution, distribution.tile(operation.operands[0]), order)
    _define(distribution, operation.results[0], tile)


def _define(distribution: Distribution, result: SSAValue, tile: Tile) -> None:
    """Records a tile, or the number that one without dimensions is."""
    if shape_of(result.type):
        distribution.define(result, tile)
    else:
        distribution.define_number(result, tile.parts(distribution, ())[0])


# --- repetition ---


def broadcast(
    distribution: Distribution, tile: Tile, shape: Sequence[int], wanted: Spread | None = None
) -> Tile:
    """A tile repeated along leading dimensions, and along those in which it has a size of 1.

    Args:
        distribution: Where to emit.
        tile: The tile.
        shape: The shape of the result.
        wanted: How the result is spread; None for how its shape says.
    """
    shape = tuple(shape)
    if not tile.box:
        return Uniform(shape, tile.element, tile.parts(distribution, ())[0])
    if isinstance(tile, Uniform):
        return Uniform(shape, tile.element, tile.number)
    own = (1,) * (len(shape) - len(tile.shape)) + tile.shape
    if box_of(own) == box_of(shape):
        return distribution.reshaped(tile, shape)
    spread = wanted or distribution.spread_of_shape(shape)
    sizes = [size for size, whole in zip(own, shape, strict=True) if whole != 1]
    axes = [i for i, size in enumerate(sizes) if size != 1]
    if len(box_of(shape)) == 2 and len(axes) == 1:
        return _repeated_line(distribution, tile, shape, axes[0], spread)
    (staged,) = stage(distribution, tile)
    strides = [
        0 if size == 1 else stride for size, stride in zip(own, strides_of(own), strict=True)
    ]
    return fetched(distribution, staged, shape, strides, spread)


def _repeated_line(
    distribution: Distribution, tile: Tile, shape: tuple[int, ...], axis: int, spread: Spread
) -> Tile:
    """A line as every row, or every column, of a matrix."""

    def make(spread: Spread) -> Parts:
        (line,) = tile.parts(distribution, (spread[axis],))
        sizes = part_of(box_of(shape), spread)
        unit = [size if i == axis else 1 for i, size in enumerate(sizes)]
        return [distribution.spread(distribution.reshape(line, unit), sizes)]

    if isinstance(tile, Computed):
        return Computed(shape, tile.element, make)
    return Held(shape, tile.element, spread, make(spread))


def _broadcast(operation: Operation, distribution: Distribution) -> None:
    (source,), (result,) = operation.operands, operation.results
    wanted, shape = distribution.table_of(result), shape_of(result.type)
    made = broadcast(distribution, distribution.tile(source), shape, wanted)
    distribution.define(result, made)


# --- parts ---


def _strided_slice(operation: Operation, distribution: Distribution) -> None:
    offsets, steps = (_integers(operation.properties[name]) for name in ("offsets", "strides"))
    tile = distribution.tile(operation.operands[0])
    shape = shape_of(operation.results[0].type)
    if isinstance(tile, Uniform):
        distribution.define(operation.results[0], Uniform(shape, tile.element, tile.number))
        return
    (staged,) = stage(distribution, tile)
    strides = strides_of(tile.shape)
    steps = [*steps, *[1] * (len(strides) - len(steps))]
    offset = sum(a * b for a, b in zip(offsets, strides, strict=False))
    made = [stride * step for stride, step in zip(strides, steps, strict=True)]
    distribution.define(
        operation.results[0], fetched(distribution, staged, shape, made, offset=offset)
    )


def _inserted_slice(operation: Operation, distribution: Distribution) -> None:
    offsets, steps = (_integers(operation.properties[name]) for name in ("offsets", "strides"))
    part, whole = (distribution.tile(operand) for operand in operation.operands)
    strides = strides_of(whole.shape)
    inner = len(strides) - len(part.shape)
    own = [stride * step for stride, step in zip(strides[inner:], steps, strict=True)]
    offset = sum(a * b for a, b in zip(offsets, strides, strict=True))
    _overwrite(operation, distribution, whole, part, own, offset)


def _overwrite(
    operation: Operation,
    distribution: Distribution,
    whole: Tile,
    part: Tile,
    strides: Sequence[int],
    offset: Index,
) -> None:
    """A tile of which some elements are replaced by those of another one."""
    spread = distribution.preferred(part)
    parts = part.parts(distribution, spread)
    (staged,) = stage(distribution, whole)
    first = distribution.add(staged.offset, offset)
    kept = strides_of_box(part.shape, strides)
    if kept is None:
        scatter(distribution, staged, part.shape, strides, first, spread, parts)
    else:
        write(distribution, staged, part.box, kept, first, spread, parts)
    distribution.barrier()
    wanted = distribution.spread_of(operation.results[0])
    shape = whole.shape
    made = fetched(distribution, staged, shape, strides_of(shape), wanted)
    distribution.define(operation.results[0], made)


def _position(
    operation: Operation, dynamic: Sequence[SSAValue], distribution: Distribution
) -> list[Index]:
    """The indices at which a part is."""
    given = iter(distribution.numbers(dynamic))
    static: Sequence[int] = cast(Any, operation.properties["static_position"]).get_values()
    return [next(given) if n == DYNAMIC_INDEX else n for n in static]


def _extract(operation: Operation, distribution: Distribution) -> None:
    source, *dynamic = operation.operands
    (result,) = operation.results
    tile, at = distribution.tile(source), _position(operation, dynamic, distribution)
    shape = shape_of(result.type)
    if isinstance(tile, Uniform):
        _define(distribution, result, Uniform(shape, tile.element, tile.number))
        return
    if all(size == 1 for size in tile.shape[: len(at)]):
        _define(distribution, result, reshaped(distribution, tile, shape))
        return
    if (
        len(at) == len(tile.box) - 2
        and len(tile.box) == len(tile.shape)
        and all(isinstance(n, int) for n in at)
        and isinstance(tile, Held)
    ):
        number = sum(
            cast(int, n) * stride for n, stride in zip(at, strides_of(tile.box[:-2]), strict=True)
        )
        made = Held(shape, tile.element, tile.spread[-2:], [tile.values[number]])
        distribution.define(result, made)
        return
    (staged,) = stage(distribution, tile)
    strides = strides_of(tile.shape)
    offset = distribution.sum_of_products(at, strides[: len(at)])
    if not shape:
        distribution.define_number(result, load_number(distribution, staged, offset))
        return
    made = fetched(distribution, staged, shape, strides[len(at) :], offset=offset)
    distribution.define(result, made)


def _insert(operation: Operation, distribution: Distribution) -> None:
    source, dest, *dynamic = operation.operands
    at = _position(operation, dynamic, distribution)
    part, whole = distribution.tile(source), distribution.tile(dest)
    if part.box == whole.box:
        distribution.define(operation.results[0], reshaped(distribution, part, whole.shape))
        return
    strides = strides_of(whole.shape)
    offset = distribution.sum_of_products(at, strides[: len(at)])
    _overwrite(operation, distribution, whole, part, strides[len(at) :], offset)


def _interleave(operation: Operation, distribution: Distribution) -> None:
    """Two tiles whose elements alternate along the last dimension."""
    tiles = [distribution.tile(operand) for operand in operation.operands]
    first, second = stage(distribution, *tiles)
    *outer, size = shape_of(operation.operands[0].type)
    pairs = (*outer, size, 2)
    strides = (*strides_of((*outer, size)), second.offset)
    whole = fetched(distribution, first, pairs, strides)
    result = operation.results[0]
    distribution.define(result, reshaped(distribution, whole, shape_of(result.type)))


def _deinterleave(operation: Operation, distribution: Distribution) -> None:
    (staged,) = stage(distribution, distribution.tile(operation.operands[0]))
    strides = strides_of(staged.shape)
    for number, result in enumerate(operation.results):
        shape, own = shape_of(result.type), (*strides[:-1], 2)
        distribution.define(result, fetched(distribution, staged, shape, own, offset=number))


def _from_elements(operation: Operation, distribution: Distribution) -> None:
    """A tile of numbers that all work-items have."""
    (result,) = operation.results
    shape, numbers = shape_of(result.type), distribution.values(operation.operands)
    if len(set(numbers)) == 1:
        distribution.define(result, Uniform(shape, numbers[0].type, numbers[0]))
        return

    def choose(at: list[Index], _: list[SSAValue]) -> list[SSAValue]:
        index = distribution.sum_of_products(at, strides_of(shape))
        made = numbers[0]
        for position, number in enumerate(numbers[1:], 1):
            here = distribution.compare("eq", index, position)
            made = chosen(distribution, here, number, made)
        return [made]

    define_by_index(distribution, result, choose)


def _to_elements(operation: Operation, distribution: Distribution) -> None:
    (staged,) = stage(distribution, distribution.tile(operation.operands[0]))
    for number, result in enumerate(operation.results):
        distribution.define_number(result, load_number(distribution, staged, number))


def _integers(attribute: object) -> list[int]:
    return [cast("IntegerAttr[Any]", each).value.data for each in cast("ArrayAttr[Any]", attribute)]


RULES: dict[str, Rule] = {
    "vector.broadcast": _broadcast,
    "vector.deinterleave": _deinterleave,
    "vector.extract": _extract,
    "vector.extract_strided_slice": _strided_slice,
    "vector.from_elements": _from_elements,
    "vector.insert": _insert,
    "vector.insert_strided_slice": _inserted_slice,
    "vector.interleave": _interleave,
    "vector.shape_cast": _shape_cast,
    "vector.splat": _broadcast,
    "vector.to_elements": _to_elements,
    "vector.transpose": _transpose,
}
"""The rule of each operation, by name."""
