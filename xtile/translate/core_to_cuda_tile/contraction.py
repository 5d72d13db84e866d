"""Products and sums of f32 that are rounded once, as Triton compiles them for NVIDIA's GPUs.

Kernels of other languages round as they say. Source: Triton 3.9, option `enable_fp_fusion`, which
is on by default.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.ops import floating_point
from xtile.dialects.number_attributes import says_how_to_round
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering

_SUMS = frozenset({"arith.addf", "arith.subf"})


def contracted(rule: Rule) -> Rule:
    """The rule of a product, a sum or a difference, of which two may become one operation."""

    def chosen(operation: Operation, lowering: Lowering) -> None:
        product = _product_of(operation) if lowering.computes_as_triton else None
        if product is None:
            rule(operation, lowering)
        elif product is not operation:
            lowering.define(operation.results[0], _fused(operation, product, lowering))

    return chosen


def _product_of(operation: Operation) -> Operation | None:
    """The product that is rounded together with a sum, which the operation is one of."""
    if operation.name == "arith.mulf":
        user = operation.results[0].get_user_of_unique_use()
        if user is None or user.name not in _SUMS:
            return None
        return operation if _product_of(user) is operation else None
    if not _is_plain(operation):
        return None
    products = (operand.owner for operand in operation.operands if _is_summed_once(operand))
    return next((each for each in products if isinstance(each, Operation)), None)


def _is_summed_once(value: SSAValue) -> bool:
    """Whether a value is a product that nobody else looks at, in the block of its sum."""
    product, user = value.owner, value.get_user_of_unique_use()
    if not isinstance(product, Operation) or user is None or product.name != "arith.mulf":
        return False
    return _is_plain(product) and product.parent is user.parent


def _is_plain(operation: Operation) -> bool:
    return value_type(operation.results[0].type) == f32 and not says_how_to_round(operation)


def _fused(operation: Operation, product: Operation, lowering: Lowering) -> SSAValue:
    """The product plus, minus or from the other operand."""
    is_first = operation.operands[0].owner is product
    other = lowering.value(operation.operands[1 if is_first else 0])
    lhs, rhs = lowering.values(product.operands)
    if operation.name == "arith.subf" and is_first:
        other = lowering.compute(floating_point.NegFOp, other)
    elif operation.name == "arith.subf":
        lhs = lowering.compute(floating_point.NegFOp, lhs)
    return lowering.compute(floating_point.FmaOp, lhs, rhs, other)
