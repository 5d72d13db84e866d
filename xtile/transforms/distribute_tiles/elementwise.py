"""Arithmetic on tiles.

It is done on the parts that a subgroup holds; what is made of numbers only, where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, i1
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.upstream import value_type
from xtile.dialects.vector.elements import StepOp
from xtile.dialects.vector.masks import ConstantMaskOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule, again, copy
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.text.source import spelling_of
from xtile.transforms.distribute_tiles.distribution import (
    Computed,
    Distribution,
    Held,
    Parts,
    Tile,
    Uniform,
)
from xtile.transforms.distribute_tiles.elements import Body, chosen, each_element
from xtile.transforms.distribute_tiles.spreads import Spread, strides_of

_ELEMENTWISE = frozenset({"arith", "math", "complex"})

_MOST_CONSTANTS = 256
"""The elements of a constant tile that are compared with an index one by one."""


def compute(operation: Operation, distribution: Distribution) -> None:
    """An operation on the elements of tiles, or one on numbers."""
    values = (*operation.operands, *operation.results)
    if not any(shape_of(value.type) for value in values):
        copy(operation, distribution)
        return
    if operation.dialect_name() not in _ELEMENTWISE or operation.regions:
        name = spelling_of(operation)
        raise distribution.error(f"{name} on a tile cannot be dealt out to subgroups")
    tiles = [distribution.tile(operand) for operand in operation.operands]
    on_each(distribution, operation, tiles)


def on_each(distribution: Distribution, operation: Operation, tiles: Sequence[Tile]) -> None:
    """Records what an operation makes of the elements of tiles."""
    shape = shape_of(operation.results[0].type)
    if all(isinstance(tile, Uniform) for tile in tiles):
        numbers = [tile.parts(distribution, ())[0] for tile in _numbers(tiles)]
        for result, number in zip(
            operation.results, emit_on(distribution, operation, numbers, ()), strict=True
        ):
            distribution.define(result, Uniform(shape, number.type, number))
        return
    held = next((tile for tile in tiles if isinstance(tile, Held)), None)
    if held is None:
        for number, result in enumerate(operation.results):
            _define_computed(distribution, operation, number, result, tiles)
        return
    result = operation.results[0]
    spread = distribution.table_of(result) or held.spread
    made = _parts(distribution, operation, tiles, spread)
    for each, parts in zip(operation.results, made, strict=True):
        distribution.held(each, spread, parts)


def _numbers(tiles: Sequence[Tile]) -> list[Tile]:
    """The numbers of tiles of equal elements, as tiles without dimensions."""
    return [Uniform((), tile.element, tile.number) for tile in tiles if isinstance(tile, Uniform)]


def _define_computed(
    distribution: Distribution,
    operation: Operation,
    number: int,
    result: SSAValue,
    tiles: Sequence[Tile],
) -> None:
    def make(spread: Spread) -> Parts:
        return _parts(distribution, operation, tiles, spread)[number]

    element = distribution.type_of(value_type(result.type))
    distribution.define(result, Computed(shape_of(result.type), element, make))


def _parts(
    distribution: Distribution, operation: Operation, tiles: Sequence[Tile], spread: Spread
) -> list[Parts]:
    """The parts of each result."""
    # A number beside tiles, such as the condition of `arith.select`, is the same for all.
    given = [
        tile.parts(distribution, spread) if tile.shape else [tile.parts(distribution, ())[0]]
        for tile in tiles
    ]
    count = max(len(each) for each in given)
    given = [[*each] * count if len(each) < count else each for each in given]
    made: list[list[SSAValue]] = [[] for _ in operation.results]
    for operands in zip(*given, strict=True):
        shape = next((shape for each in operands if (shape := shape_of(each.type))), ())
        for result, value in zip(
            made, emit_on(distribution, operation, operands, shape), strict=True
        ):
            result.append(value)
    return [*made]


def emit_on(
    distribution: Distribution,
    operation: Operation,
    operands: Sequence[SSAValue],
    shape: Sequence[int],
) -> list[SSAValue]:
    """The results of an operation on parts of a shape."""
    types: list[Attribute] = [
        with_shape(distribution.type_of(value_type(result.type)), shape)
        for result in operation.results
    ]
    made = again(operation, operands, types)
    return list(distribution.emit(made).results)


# --- tiles that are made of nothing ---


def _constant(operation: arith.ConstantOp, distribution: Distribution) -> None:
    value = operation.value
    if not isinstance(value, DenseIntOrFPElementsAttr):
        copy(operation, distribution)
        return
    result = operation.result
    numbers = cast("list[float]", list(value.get_values()))
    element = value_type(result.type)
    if len(set(map(repr, numbers))) == 1:
        number = distribution.constant(numbers[0], element)
        distribution.define(result, Uniform(shape_of(result.type), element, number))
        return
    if len(numbers) > _MOST_CONSTANTS:
        raise distribution.error(
            f"a constant tile of {len(numbers)} different numbers cannot be dealt out; "
            "compute it, or load it from memory"
        )
    shape = shape_of(result.type)

    def choose(at: list[Index], _: list[SSAValue]) -> list[SSAValue]:
        index = distribution.sum_of_products(at, strides_of(shape))
        made = distribution.constant(numbers[0], element)
        for position, number in enumerate(numbers[1:], 1):
            here = distribution.compare("eq", index, position)
            made = chosen(distribution, here, distribution.constant(number, element), made)
        return [made]

    define_by_index(distribution, result, choose)


def define_by_index(distribution: Distribution, result: SSAValue, body: Body) -> None:
    """Records a tile of which each element is computed of its indices."""
    shape = shape_of(result.type)
    element = distribution.type_of(value_type(result.type))
    seed = Uniform(shape, IndexType(), distribution.index(0))

    def make(spread: Spread) -> Parts:
        sources = [seed.parts(distribution, spread)]
        return each_element(distribution, shape, seed.box, spread, sources, [element], body)[0]

    distribution.define(result, Computed(shape, element, make))


def _step(operation: StepOp, distribution: Distribution) -> None:
    (result,) = operation.results
    define_by_index(distribution, result, lambda at, _: [distribution.as_value(at[0])])


def _create_mask(operation: Operation, distribution: Distribution) -> None:
    """A mask that is true up to a size along each dimension."""
    _mask(distribution, operation.results[0], distribution.numbers(operation.operands))


def _constant_mask(operation: ConstantMaskOp, distribution: Distribution) -> None:
    _mask(distribution, operation.results[0], operation.mask_dim_sizes.get_values())


def _mask(distribution: Distribution, result: SSAValue, sizes: Sequence[Index]) -> None:
    def inside(at: list[Index], _: list[SSAValue]) -> list[SSAValue]:
        made: SSAValue | None = None
        for index, size in zip(at, sizes, strict=True):
            made = distribution.both(made, distribution.compare("slt", index, size))
        return [distribution.constant(1, i1) if made is None else made]

    define_by_index(distribution, result, inside)


def _poison(operation: PoisonOp, distribution: Distribution) -> None:
    """Any number; of tiles 0."""
    type_ = operation.result.type
    shape, element = shape_of(type_), distribution.type_of(value_type(type_))
    if not shape:
        copy(operation, distribution)
        return
    distribution.define(
        operation.result, Uniform(shape, element, distribution.constant(0, element))
    )


RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "ub.poison": _poison,
    "vector.constant_mask": _constant_mask,
    "vector.create_mask": _create_mask,
    "vector.step": _step,
}
"""The rule of each operation, by name."""
