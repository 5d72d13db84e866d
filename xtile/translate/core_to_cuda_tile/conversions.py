"""Conversions from floats to floats.

Source: CUDA Tile IR specification, "Conversions"; docs/semantics.md, 1.9 and 7.
"""

from __future__ import annotations

from xdsl.dialects.builtin import Float8E8M0FNUType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.ops import conversions
from xtile.dialects.number_attributes import Rounding, saturates
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_of, tile_type
from xtile.translate.tiles.casts import directed, direction_of, rounded_to


def _convert(operation: Operation, lowering: Lowering) -> None:
    (value,) = lowering.values(operation.operands)
    (result,) = operation.results
    element = element_of(result.type)
    direction = direction_of(operation, lowering)
    if saturates(operation):
        made = _saturated(lowering, value, element, direction)
    elif isinstance(element, Float8E8M0FNUType):
        raise lowering.error(
            "CUDA Tile IR rounds absolute values to f8E8M0FNU, and upwards; write core.saturate"
        )
    elif direction is None:
        made = rounded_to(lowering, value, element)
    else:
        made = directed(lowering, value, element, direction)
    lowering.define(result, made)


def _saturated(
    lowering: Lowering, value: SSAValue, element: Attribute, direction: Rounding | None
) -> SSAValue:
    """Floats in a type, limited to its largest number; powers of two are rounded up, or to zero."""
    if not isinstance(element, Float8E8M0FNUType):
        return lowering.converted(value, element)
    target = tile_type(value).with_element_type(element)
    mode = RoundingMode.POSITIVE_INF
    if direction is Rounding.TOWARD_ZERO:
        mode = RoundingMode.ZERO
    return lowering.compute(conversions.FToFOp, value, target, rounding_mode=mode)


RULES: dict[str, Rule] = {"arith.extf": _convert, "arith.truncf": _convert}
"""The rule of each operation, by name."""
