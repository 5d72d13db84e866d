"""Arithmetic on affine expressions with MLIR's simplifications.

xDSL has none with symbols as factors and divisors, and distributes products over sums.

Source: LLVM 22, `mlir/lib/IR/AffineExpr.cpp`.
"""

from __future__ import annotations

from math import gcd

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

_Kind = AffineBinaryOpKind


def add(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a sum; what is constant or symbolic stands on the right."""
    return _simple_sum(left, right) or _ordered(_Kind.Add, left, right)


def negate(expression: AffineExpr) -> AffineExpr:
    """Returns a product with -1."""
    return multiply(expression, AffineConstantExpr(-1))


def subtract(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a sum with a product with -1."""
    return add(left, negate(right))


def multiply(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a product; what is constant or symbolic stands on the right."""
    return _simple_product(left, right) or _ordered(_Kind.Mul, left, right)


def floor_divide(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a quotient that is rounded down."""
    return _simple_floor(left, right) or AffineBinaryOpExpr(_Kind.FloorDiv, left, right)


def ceil_divide(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a quotient that is rounded up."""
    return _simple_ceiling(left, right) or AffineBinaryOpExpr(_Kind.CeilDiv, left, right)


def modulo(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns the remainder of the quotient that is rounded down."""
    return _simple_remainder(left, right) or AffineBinaryOpExpr(_Kind.Mod, left, right)


def is_symbolic(expression: AffineExpr) -> bool:
    """Whether an expression is of constants and symbols only."""
    if isinstance(expression, AffineBinaryOpExpr):
        return is_symbolic(expression.lhs) and is_symbolic(expression.rhs)
    return not isinstance(expression, AffineDimExpr)


def _simple_sum(left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    if isinstance(left, AffineConstantExpr) and isinstance(right, AffineConstantExpr):
        return AffineConstantExpr(left.value + right.value)
    is_left_last = is_symbolic(left) and not is_symbolic(right)
    if isinstance(left, AffineConstantExpr) or is_left_last:
        return add(right, left)
    summands = _of_kind(left, _Kind.Add)
    last = None if summands is None else _constant(summands[1])
    if isinstance(right, AffineConstantExpr):
        if right.value == 0:
            return left
        if summands is not None and last is not None:
            return add(summands[0], AffineConstantExpr(last + right.value))
    (term, factor), (other, other_factor) = _term(left), _term(right)
    if term == other:
        return multiply(term, AffineConstantExpr(factor + other_factor))
    if summands is not None and last is not None:
        return add(add(summands[0], right), AffineConstantExpr(last))
    return _remainder_of_difference(left, right)


def _remainder_of_difference(left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    """Returns `x mod q` for `x - (x floordiv q) * q`."""
    product = _of_kind(right, _Kind.Mul)
    if product is None:
        return None
    factor = _constant(product[1])
    inner = _of_kind(product[0], _Kind.Mul)
    if inner is not None and factor == -1:
        is_remainder = _of_kind(inner[0], _Kind.FloorDiv) == (left, inner[1])
        return modulo(left, inner[1]) if is_remainder else None
    quotient = _of_kind(product[0], _Kind.FloorDiv)
    if quotient is None:
        return None
    divisor = _constant(quotient[1])
    is_remainder = divisor is not None and divisor > 0 and factor == -divisor
    if is_remainder and quotient[0] == left:
        return modulo(left, quotient[1])
    summands = _of_kind(left, _Kind.Add)
    simplified = None if summands is None else _simple_sum(summands[1], right)
    return None if summands is None or simplified is None else add(summands[0], simplified)


def _simple_product(left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    if isinstance(left, AffineConstantExpr) and isinstance(right, AffineConstantExpr):
        return AffineConstantExpr(left.value * right.value)
    if not is_symbolic(left) and not is_symbolic(right):
        return None
    if not is_symbolic(right) or isinstance(left, AffineConstantExpr):
        return multiply(right, left)
    factors = _of_kind(left, _Kind.Mul)
    last = None if factors is None else _constant(factors[1])
    if isinstance(right, AffineConstantExpr):
        if right.value == 1:
            return left
        if right.value == 0:
            return right
        if factors is not None and last is not None:
            return multiply(factors[0], AffineConstantExpr(last * right.value))
    if factors is not None and last is not None:
        return multiply(multiply(factors[0], right), AffineConstantExpr(last))
    return None


def _simple_floor(left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    divisor = _constant(right)
    if divisor is None or divisor == 0:
        return None
    if isinstance(left, AffineConstantExpr):
        return AffineConstantExpr(left.value // divisor)
    if (exact := _exact_quotient(left, divisor)) is not None:
        return exact
    summands = _of_kind(left, _Kind.Add)
    if summands is not None and any(_known_divisor(part) % divisor == 0 for part in summands):
        return add(floor_divide(summands[0], right), floor_divide(summands[1], right))
    return None


def _simple_ceiling(left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    divisor = _constant(right)
    if divisor is None or divisor == 0:
        return None
    if isinstance(left, AffineConstantExpr):
        return AffineConstantExpr(-(-left.value // divisor))
    return _exact_quotient(left, divisor)


def _exact_quotient(left: AffineExpr, divisor: int) -> AffineExpr | None:
    """Returns the quotient where the divisor is 1 or divides a constant factor."""
    if divisor == 1:
        return left
    factors = _of_kind(left, _Kind.Mul)
    last = None if factors is None else _constant(factors[1])
    if factors is None or last is None or last % divisor != 0:
        return None
    return multiply(factors[0], AffineConstantExpr(last // divisor))


def _simple_remainder(left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    divisor = _constant(right)
    if divisor is None or divisor < 1:
        return None
    if isinstance(left, AffineConstantExpr):
        return AffineConstantExpr(left.value % divisor)
    if _known_divisor(left) % divisor == 0:
        return AffineConstantExpr(0)
    if (summands := _of_kind(left, _Kind.Add)) is not None:
        if _known_divisor(summands[0]) % divisor == 0:
            return modulo(summands[1], right)
        if _known_divisor(summands[1]) % divisor == 0:
            return modulo(summands[0], right)
    if (remainder := _of_kind(left, _Kind.Mod)) is not None:
        inner = _constant(remainder[1])
        if inner is not None and inner >= 1 and inner % divisor == 0:
            return modulo(remainder[0], right)
    return None


def _known_divisor(expression: AffineExpr) -> int:
    """A number that divides every value of an expression."""
    if isinstance(expression, AffineConstantExpr):
        return abs(expression.value)
    if not isinstance(expression, AffineBinaryOpExpr):
        return 1
    left = _known_divisor(expression.lhs)
    if expression.kind is _Kind.Mul:
        return left * _known_divisor(expression.rhs)
    if expression.kind in (_Kind.Add, _Kind.Mod):
        return gcd(left, _known_divisor(expression.rhs))
    divisor = _constant(expression.rhs)
    is_exact = divisor is not None and divisor != 0 and left % divisor == 0
    return abs(left // divisor) if divisor is not None and is_exact else 1


def _term(expression: AffineExpr) -> tuple[AffineExpr, int]:
    """An expression as a product with a constant."""
    factors = _of_kind(expression, _Kind.Mul)
    factor = None if factors is None else _constant(factors[1])
    return (expression, 1) if factors is None or factor is None else (factors[0], factor)


def _of_kind(expression: AffineExpr, kind: _Kind) -> tuple[AffineExpr, AffineExpr] | None:
    """The two sides of an operation of one kind, or None."""
    if isinstance(expression, AffineBinaryOpExpr) and expression.kind is kind:
        return expression.lhs, expression.rhs
    return None


def _constant(expression: AffineExpr) -> int | None:
    return expression.value if isinstance(expression, AffineConstantExpr) else None


def _ordered(kind: _Kind, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """An operation whose sides may be exchanged: dimensions first, then by position."""
    leaf = (AffineDimExpr, AffineSymExpr)
    if isinstance(left, leaf) and isinstance(right, leaf):
        left_key = isinstance(left, AffineSymExpr), left.position
        if left_key > (isinstance(right, AffineSymExpr), right.position):
            left, right = right, left
    return AffineBinaryOpExpr(kind, left, right)
