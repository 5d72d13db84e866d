"""Constants of the source, and values of which nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    i8,
)
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.ops.conversions import TruncIOp
from xtile.dialects.cuda_tile.types import is_integer
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import TARGET, Lowering
from xtile.translate.core_to_cuda_tile.memory import from_memory, tile_in_memory
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
    """Any number will do; 0 is the one that leaves sums alone, and the null pointer."""
    (result,) = operation.results
    if isinstance(result.type, MemRefType):
        raise lowering.error(f"memory of which nothing is specified has no form in {TARGET}")
    type_ = tile_in_memory(result.type)
    if is_integer(type_.element_type, (4,)):
        # There are no constants of i4.
        wide = lowering.constant(0, type_.with_element_type(i8))
        lowering.define(result, lowering.compute(TruncIOp, wide, type_))
        return
    zero = lowering.constant(0, type_)
    lowering.define(result, from_memory(lowering, zero, result.type))


RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "ub.poison": _poison,
}
"""The rule of each operation, by name."""
