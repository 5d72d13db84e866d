"""Contractions, of which the factors say how they are multiplied."""

from __future__ import annotations

from xtile.dialects.triton.tt.enumerations import InputPrecision
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.core_to_triton.types import is_of_tf32
from xtile.translate.tiles.products import contract


def _contract(operation: ContractionOp, lowering: Lowering) -> None:
    """A contraction; the factors say whether fewer bits than f32 has are enough."""
    factors = (operation.lhs, operation.rhs)
    is_short = all(is_of_tf32(each.type) for each in factors)
    with lowering.multiplying(InputPrecision.TF32 if is_short else InputPrecision.IEEE):
        contract(operation, lowering)


RULES: dict[str, Rule] = {"vector.contract": _contract}
"""The rule of each operation, by name."""
