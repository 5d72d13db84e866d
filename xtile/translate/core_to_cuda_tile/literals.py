"""Constants of the source, and values of which nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation

from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import tile_of


def _constant(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    value, type_ = operation.properties["value"], tile_of(result.type)
    if isinstance(value, IntegerAttr | FloatAttr):
        number = cast("IntegerAttr[Any] | FloatAttr[Any]", value).value.data
        lowering.define(result, lowering.constant(number, type_))
    elif isinstance(value, DenseIntOrFPElementsAttr):
        numbers = cast("Sequence[float]", cast(Any, value).get_values())
        if len(set(map(repr, numbers))) == 1:
            lowering.define(result, lowering.constant(numbers[0], type_))
        else:
            lowering.define(result, lowering.constants(numbers, type_))
    else:
        raise lowering.error(f"{value} is no constant of numbers")


def _poison(operation: Operation, lowering: Lowering) -> None:
    """Any number will do; 0 is the one that leaves sums alone."""
    (result,) = operation.results
    lowering.define(result, lowering.constant(0, tile_of(result.type)))


RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "ub.poison": _poison,
}
"""The rule of each operation, by name."""
