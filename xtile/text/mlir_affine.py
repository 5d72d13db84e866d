"""Prints affine maps and sets as MLIR does.

Source: LLVM 22, `mlir/lib/IR/AsmPrinter.cpp`.
"""

from __future__ import annotations

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)

from xtile.text.mlir_affine_arithmetic import subtract


def map_text(affine_map: AffineMap) -> str:
    """Returns `(d0, d1)[s0] -> (d0 + s0)`."""
    results = ", ".join(expression_text(result) for result in affine_map.results)
    return f"{_space(affine_map.num_dims, affine_map.num_symbols)} -> ({results})"


def set_text(affine_set: AffineSet) -> str:
    """Returns `(d0)[s0] : (d0 - s0 >= 0)`."""
    constraints = ", ".join(_constraint_text(constraint) for constraint in affine_set.constraints)
    return f"{_space(affine_set.num_dims, affine_set.num_symbols)} : ({constraints})"


def _constraint_text(constraint: AffineConstraintExpr) -> str:
    """Returns `expression >= 0` or `expression == 0`."""
    left, right = constraint.lhs, constraint.rhs
    if constraint.kind is AffineConstraintKind.le:
        left, right = right, left
    comparison = "==" if constraint.kind is AffineConstraintKind.eq else ">="
    return f"{expression_text(subtract(left, right))} {comparison} 0"


def expression_text(expression: AffineExpr) -> str:
    """Returns an expression with the parentheses that it needs."""
    if isinstance(expression, AffineDimExpr):
        return f"d{expression.position}"
    if isinstance(expression, AffineSymExpr):
        return f"s{expression.position}"
    if isinstance(expression, AffineConstantExpr):
        return str(expression.value)
    assert isinstance(expression, AffineBinaryOpExpr)
    if expression.kind is AffineBinaryOpKind.Add:
        return _sum_text(expression.lhs, expression.rhs)
    if expression.kind is AffineBinaryOpKind.Mul and expression.rhs == AffineConstantExpr(-1):
        return f"-{_tight_text(expression.lhs)}"
    operator = expression.kind.get_token()
    return f"{_tight_text(expression.lhs)} {operator} {_tight_text(expression.rhs)}"


def _sum_text(left: AffineExpr, right: AffineExpr) -> str:
    """A sum, or a difference where the right side is negative."""
    head = expression_text(left)
    if isinstance(right, AffineConstantExpr) and right.value < 0:
        return f"{head} - {-right.value}"
    factor = _constant_factor(right)
    if factor is not None and factor < 0:
        assert isinstance(right, AffineBinaryOpExpr)
        if factor < -1:
            return f"{head} - {_tight_text(right.lhs)} * {-factor}"
        is_sum = _is_sum(right.lhs)
        return f"{head} - {_tight_text(right.lhs) if is_sum else expression_text(right.lhs)}"
    return f"{head} + {expression_text(right)}"


def _constant_factor(expression: AffineExpr) -> int | None:
    """The constant of a product with one, or None."""
    if isinstance(expression, AffineBinaryOpExpr) and expression.kind is AffineBinaryOpKind.Mul:
        factor = expression.rhs
        return factor.value if isinstance(factor, AffineConstantExpr) else None
    return None


def _is_sum(expression: AffineExpr) -> bool:
    return isinstance(expression, AffineBinaryOpExpr) and expression.kind is AffineBinaryOpKind.Add


def _tight_text(expression: AffineExpr) -> str:
    text = expression_text(expression)
    return f"({text})" if isinstance(expression, AffineBinaryOpExpr) else text


def _space(dimensions: int, symbols: int) -> str:
    text = f"({', '.join(f'd{i}' for i in range(dimensions))})"
    return f"{text}[{', '.join(f's{i}' for i in range(symbols))}]" if symbols else text
