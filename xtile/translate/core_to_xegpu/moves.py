"""Vectors whose elements move between lanes: other shapes, transposes, parts.

Each entry is fetched from the lane that holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, VectorType
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_xegpu.components import Components, shape_of
from xtile.translate.core_to_xegpu.fragments import build
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.pieces import from_scalars
from xtile.translate.core_to_xegpu.scattered import indices_of, position

_At = Sequence[Index]
"""The indices of an element."""


def define_moved(lowering: Lowering, result: SSAValue, make: Callable[[_At], SSAValue]) -> None:
    """Records a vector whose elements are what `make` makes of their indices."""
    layout, rank = lowering.layout(result.type), len(shape_of(result))

    def piece(block: int, first: int, length: int) -> SSAValue:
        located = (position(lowering, layout, block, first + i) for i in range(length))
        return from_scalars(lowering, [make(indices_of(rank, each)) for each in located])

    lowering.define(result, build(layout, piece))


def reshaped(operation: Operation, lowering: Lowering) -> None:
    """The elements in row-major order in another shape."""
    (source,), (result,) = operation.operands, operation.results
    components, before, after = Components(lowering, source), shape_of(source), shape_of(result)

    def make(at: _At) -> SSAValue:
        strides = [prod(after[i + 1 :]) for i in range(len(after))]
        number = lowering.sum_of_products(at, strides)
        if len(before) == 1:
            return components.at([number])
        columns = before[1]
        return components.at(
            [lowering.divide(number, columns), lowering.remainder(number, columns)]
        )

    define_moved(lowering, result, make)


def _transpose(operation: Operation, lowering: Lowering) -> None:
    (source,), (result,) = operation.operands, operation.results
    order: Sequence[int] = cast(Any, operation.properties["permutation"]).get_values()
    components = Components(lowering, source)
    back = [order.index(i) for i in range(len(order))]
    define_moved(lowering, result, lambda at: components.at([at[i] for i in back]))


def _slice(operation: Operation, lowering: Lowering) -> None:
    """Some of a vector's elements along each dimension."""
    (source,), (result,) = operation.operands, operation.results
    components, rank = Components(lowering, source), len(shape_of(source))
    offsets, steps = (_numbers(operation, name, rank) for name in ("offsets", "strides"))

    def make(at: _At) -> SSAValue:
        scaled = [
            lowering.multiply(index, step or 1) for index, step in zip(at, steps, strict=True)
        ]
        return components.at(
            [lowering.add(index, offset) for index, offset in zip(scaled, offsets, strict=True)]
        )

    define_moved(lowering, result, make)


def _numbers(operation: Operation, name: str, rank: int) -> list[int]:
    given = cast("Sequence[IntegerAttr[Any]]", operation.properties[name])
    numbers = [each.value.data for each in given]
    return numbers + [0] * (rank - len(numbers))


def _insert_slice(operation: Operation, lowering: Lowering) -> None:
    """A vector with other elements from an offset on along each dimension."""
    (part, whole), (result,) = operation.operands, operation.results
    sizes = shape_of(part)
    if len(sizes) != len(shape_of(whole)) or any(
        step != 1 for step in _numbers(operation, "strides", len(sizes))
    ):
        raise lowering.error("a part of a subgroup's vector has its dimensions, and no steps")
    offsets = _numbers(operation, "offsets", len(sizes))
    old, new = Components(lowering, whole), Components(lowering, part)

    def make(at: _At) -> SSAValue:
        own = [lowering.add(index, -offset) for index, offset in zip(at, offsets, strict=True)]
        inside: SSAValue | None = None
        for index, size, whole_size in zip(own, sizes, shape_of(whole), strict=True):
            if size != whole_size:
                inside = lowering.both(inside, lowering.is_below(index, size))
        if inside is None:
            return new.at(own)
        # Of what is not there any element of the part may be fetched.
        nearest = [
            lowering.remainder(index, size) if size > 1 else 0
            for index, size in zip(own, sizes, strict=True)
        ]
        return lowering.select(inside, new.at(nearest), old.at(at))

    define_moved(lowering, result, make)


def _extract(operation: Operation, lowering: Lowering) -> None:
    """A number, or a row, of a vector."""
    source, *given = operation.operands
    (result,) = operation.results
    left = iter(lowering.numbers(given))
    static = cast(Any, operation.properties["static_position"]).get_values()
    first = [next(left) if number == DYNAMIC_INDEX else number for number in static]
    components = Components(lowering, source)
    if not isinstance(result.type, VectorType):
        lowering.define(result, components.at(first))
    else:
        define_moved(lowering, result, lambda at: components.at([*first, *at]))


RULES: dict[str, Rule] = {
    "vector.extract": _extract,
    "vector.extract_strided_slice": _slice,
    "vector.insert_strided_slice": _insert_slice,
    "vector.transpose": _transpose,
}
"""The rule of each operation, by name."""
