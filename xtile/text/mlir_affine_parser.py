"""Reads affine maps and sets as MLIR does, with symbols as factors and divisors."""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import override
from xdsl.ir.affine import (
    AffineConstantExpr,
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
)
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.mlir_lexer import MLIRToken, MLIRTokenKind

from xtile.text.mlir_affine_arithmetic import (
    add,
    ceil_divide,
    floor_divide,
    is_symbolic,
    modulo,
    multiply,
    negate,
    subtract,
)

_OPERATIONS: dict[str, Callable[[AffineExpr, AffineExpr], AffineExpr]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "ceildiv": ceil_divide,
    "floordiv": floor_divide,
    "mod": modulo,
}
_ZERO = AffineConstantExpr(0)


class MlirAffineParser(AffineParser):
    """xDSL's parser of affine maps and sets with MLIR's simplifications.

    The constraints of sets are brought to the form that compares with 0.
    """

    @override
    def _parse_primary(self, parse_optional_bare_id: Callable[[], AffineExpr | None]) -> AffineExpr:
        if self._parse_optional_token(MLIRTokenKind.MINUS) is not None:
            return negate(self._parse_primary(parse_optional_bare_id))
        return super()._parse_primary(parse_optional_bare_id)

    @override
    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        operator = binop.text
        if operator == "*" and not is_symbolic(lhs) and not is_symbolic(rhs):
            message = "a product of two dimensions is not affine; one factor must be without them"
            raise ParseError(binop.span, message)
        if operator in ("ceildiv", "floordiv", "mod") and not is_symbolic(rhs):
            message = f"'{operator}' by a dimension is not affine; the right side must be without"
            raise ParseError(binop.span, message)
        return _OPERATIONS[operator](lhs, rhs)

    @override
    def _parse_affine_constraint(
        self, parse_optional_bare_id: Callable[[], AffineExpr | None]
    ) -> AffineConstraintExpr:
        left = self._parse_affine_expr(parse_optional_bare_id)
        span = self._current_token.span
        comparison = self._consume_token().text + self._consume_token().text
        if comparison not in ("==", ">=", "<="):
            message = f"expected '==', '>=' or '<=' in a constraint, got '{comparison}'"
            raise ParseError(span, message)
        right = self._parse_affine_expr(parse_optional_bare_id)
        if comparison == "<=":
            left, right = right, left
        kind = AffineConstraintKind.eq if comparison == "==" else AffineConstraintKind.ge
        return AffineConstraintExpr(kind, subtract(left, right), _ZERO, canonicalize=False)
