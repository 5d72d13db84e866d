"""What the texts of `affine` operations have in common: maps, and expressions of values.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr, IndexType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.text.mlir_affine_parser import MlirAffineParser

_INDEX = IndexType()
_SUM, _PRODUCT = 1, 2
_STRENGTH = {AffineBinaryOpKind.Add: _SUM}
"""How strongly operators bind; all others bind as products do."""


def parse_values(parser: Parser) -> list[SSAValue]:
    """Reads `(%a, %b)[%c]`, the values of a map's dimensions and symbols."""
    dims = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parser.parse_operand(_INDEX)
    )
    symbols = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_operand(_INDEX)
    )
    return [*dims, *(symbols or ())]


def print_values(printer: Printer, values: Sequence[SSAValue], dims: int) -> None:
    """Writes `(%a, %b)[%c]`."""
    with printer.in_parens():
        printer.print_list(values[:dims], printer.print_ssa_value)
    if len(values) > dims:
        with printer.in_square_brackets():
            printer.print_list(values[dims:], printer.print_ssa_value)


def verify_values(
    what: str, given: AffineMapAttr | AffineSetAttr, values: Sequence[Attribute | SSAValue]
) -> None:
    """Checks that there is a value for each dimension and symbol of a map or set.

    Raises:
        VerifyException: There is not.
    """
    expected = given.data.num_dims + given.data.num_symbols
    if len(values) != expected:
        raise VerifyException(f"{what} needs {expected} values, got {len(values)}")


class ExpressionParser:
    """Reads expressions of values, as `%i + 1`; `symbol(%n)` is a symbol, others are dimensions.

    Args:
        parser: What reads the operation.
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._affine = MlirAffineParser(parser._parser_state)  # pyright: ignore[reportPrivateUsage]
        self._dims: dict[str, Span] = {}
        self._symbols: dict[str, Span] = {}

    def expression(self) -> AffineExpr:
        """Reads an expression."""
        return self._affine._parse_affine_expr(self._value)  # pyright: ignore[reportPrivateUsage]

    def _value(self) -> AffineExpr | None:
        if self._parser.parse_optional_keyword("symbol") is not None:
            with self._parser.in_parens():
                symbol = self._position(self._symbols)
            return None if symbol is None else AffineSymExpr(symbol)
        dim = self._position(self._dims)
        return None if dim is None else AffineDimExpr(dim)

    def _position(self, known: dict[str, Span]) -> int | None:
        """Reads the name of a value, and returns its number."""
        token = self._affine._parse_optional_token(  # pyright: ignore[reportPrivateUsage]
            MLIRTokenKind.PERCENT_IDENT
        )
        if token is None:
            return None
        known.setdefault(token.text, token.span)
        return list(known).index(token.text)

    def map_of(self, results: Sequence[AffineExpr]) -> AffineMapAttr:
        """The map of expressions that were read."""
        return AffineMapAttr(AffineMap(len(self._dims), len(self._symbols), tuple(results)))

    def values(self) -> list[SSAValue]:
        """The values of the dimensions, and then those of the symbols."""
        unresolved = [
            UnresolvedOperand(position, 0)
            for position in (*self._dims.values(), *self._symbols.values())
        ]
        return [self._parser.resolve_operand(operand, _INDEX) for operand in unresolved]


def print_expression(
    printer: Printer,
    expression: AffineExpr,
    values: Sequence[SSAValue],
    dims: int,
    strength: int = 0,
) -> None:
    """Writes an expression with values in the place of dimensions and symbols.

    Args:
        printer: Where it goes.
        expression: The expression.
        values: The values of the dimensions, and then those of the symbols.
        dims: The number of dimensions.
        strength: How strongly the operator around it binds.
    """
    match expression:
        case AffineConstantExpr():
            printer.print_string(str(expression.value))
        case AffineDimExpr():
            printer.print_ssa_value(values[expression.position])
        case AffineSymExpr():
            printer.print_string("symbol(")
            printer.print_ssa_value(values[dims + expression.position])
            printer.print_string(")")
        case AffineBinaryOpExpr():
            _print_operation(printer, expression, values, dims, strength)
        case _:
            raise AssertionError(f"{expression} is no affine expression")


def _print_operation(
    printer: Printer,
    expression: AffineBinaryOpExpr,
    values: Sequence[SSAValue],
    dims: int,
    strength: int,
) -> None:
    left, right, own = expression.lhs, expression.rhs, _STRENGTH.get(expression.kind, _PRODUCT)
    negated = _negated(right) if own == _SUM else None
    is_sum = own == _SUM
    with printer.in_parens() if own < strength else nullcontext():
        if expression.kind is AffineBinaryOpKind.Mul and right == AffineConstantExpr(-1):
            printer.print_string("-")
            print_expression(printer, left, values, dims, _PRODUCT + 1)
            return
        print_expression(printer, left, values, dims, own)
        if negated is not None:
            printer.print_string(" - ")
            print_expression(printer, negated, values, dims, own + 1)
            return
        token = " + " if is_sum else f" {expression.kind.get_token()} "
        printer.print_string(token)
        print_expression(printer, right, values, dims, own if is_sum else own + 1)


def _negated(expression: AffineExpr) -> AffineExpr | None:
    """What `a - b` subtracts, of `a + expression`; None if it adds."""
    if isinstance(expression, AffineConstantExpr):
        return AffineConstantExpr(-expression.value) if expression.value < 0 else None
    if isinstance(expression, AffineBinaryOpExpr) and expression.kind is AffineBinaryOpKind.Mul:
        factor = expression.rhs
        if isinstance(factor, AffineConstantExpr) and factor.value < 0:
            if factor.value == -1:
                return expression.lhs
            return AffineBinaryOpExpr(
                AffineBinaryOpKind.Mul, expression.lhs, AffineConstantExpr(-factor.value)
            )
    return None
