"""Products: contractions of matrices, of which the right one may have been packed."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerType, Signedness, VectorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_core.blocks import unpacked
from xtile.translate.xegpu_to_core.raising import Raising


def _dpas(operation: DpasOp, raising: Raising) -> None:
    if operation.is_for_lane:
        raise raising.error(
            "xegpu.dpas multiplies the parts of one lane, but the kernel is one of whole matrices"
        )
    type_ = cast("VectorType[Attribute]", operation.result.type)
    for each in (operation.lhs.type, operation.rhs.type, type_):
        _check_sign(raising, cast("VectorType[Attribute]", each).element_type)
    if operation.acc is None:
        total = raising.splat(0, type_.element_type, type_.get_shape())
    else:
        total = raising.value(operation.acc)
    lhs, rhs = raising.value(operation.lhs), unpacked(raising, operation.rhs)
    raising.define(operation.result, raising.product(lhs, rhs, total))


def _check_sign(raising: Raising, element: Attribute) -> None:
    """Raises a DiagnosticError for integers that `arith` and `vector` do not have."""
    if isa(element, IntegerType) and element.signedness.data is not Signedness.SIGNLESS:
        raise raising.error(
            f"the core form has no {element}; use i{element.width.data}, whose products have signs"
        )


RULES: dict[str, Rule] = {DpasOp.name: _dpas}
