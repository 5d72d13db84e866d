"""Arithmetic on integers, and functions of their bits.

Integers wrap around. What an operation promises not to happen (`no_signed_wrap`,
`no_unsigned_wrap`), an observer is told of where it happens.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`; CUDA Tile IR specification, "Operations", "Integer";
docs/semantics.md, "CUDA Tile IR: numbers".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import IntegerOverflow, RoundingMode, Signedness
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.numbers import operand_number, result_number
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.promises import element_position, no_overflow, observed, report_broken_promise
from xtile.semantics.state import State
from xtile.semantics.upstream import integers
from xtile.semantics.upstream.constants import word_attribute
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value, choose

Function: TypeAlias = Callable[..., Value]
Meaning: TypeAlias = Callable[[Number], Function]

_INTERPRETATIONS = {
    IntegerOverflow.NONE: (),
    IntegerOverflow.NSW: (True,),
    IntegerOverflow.NUW: (False,),
    IntegerOverflow.NW: (True, False),
}
"""As signed or other numbers the exact result fits into the type, for each promise."""


def without_overflow(operation: Operation, compiler: Compiler, step: Step) -> Step:
    """`step`, before which it is checked that the result fits, if the operation promises so."""
    overflow = IntegerOverflow(word_attribute(operation, "overflow") or IntegerOverflow.NONE)
    check = no_overflow(
        operation,
        str(overflow),
        _INTERPRETATIONS[overflow],
        operand_number(operation),
        result_number(operation),
    )
    return observed(operation, compiler, step, check)


def negation(number: Number) -> Function:
    """The negative number; the smallest one is its own."""

    def function(value: Value) -> Value:
        return number.wrapped(-number.signed(value))

    return function


def absolute(number: Number) -> Function:
    """The absolute value of signed numbers, as an unsigned number."""

    def function(value: Value) -> Value:
        return number.wrapped(np.abs(number.signed(value)))

    return function


_WORD = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


def high_product(number: Number) -> Function:
    """The upper half of the product of unsigned numbers, which has twice as many bits."""

    def function(a: Value, b: Value) -> Value:
        left, right = (number.unsigned(each).astype(np.uint64) for each in (a, b))
        if number.bits <= 32:
            high = (left * right) >> np.uint64(number.bits)
        else:
            high = _high_product_64(left, right)
        return number.wrapped(high.astype(np.int64))

    return function


def _high_product_64(a: Value, b: Value) -> Value:
    """The upper half of a product of 64-bit numbers, from the products of their halves."""
    a_high, a_low, b_high, b_low = a >> _WORD, a & _LOW, b >> _WORD, b & _LOW
    low, first, second = a_low * b_low, a_low * b_high, a_high * b_low
    middle = (low >> _WORD) + (first & _LOW) + (second & _LOW)
    return a_high * b_high + (first >> _WORD) + (second >> _WORD) + (middle >> _WORD)


def shift_left(number: Number) -> Function:
    """A shift to the left; by the width or more, nothing is left."""
    shift = integers.SHIFTS["shli"](number)

    def function(a: Value, b: Value) -> Value:
        far = number.unsigned(b) >= number.bits
        return choose(far, number.number(0), shift(a, choose(far, number.number(0), b)))

    return function


def shift_right(number: Number, signedness: Signedness) -> Function:
    """A shift to the right; by the width or more, all bits are those that are filled in."""
    is_signed = signedness is Signedness.SIGNED
    shift = integers.SHIFTS["shrsi" if is_signed else "shrui"](number)
    last = number.number(number.bits - 1)

    def function(a: Value, b: Value) -> Value:
        far = number.unsigned(b) >= number.bits
        near = shift(number.signed(a) if is_signed else a, choose(far, last, b))
        return near if is_signed else choose(far, number.number(0), near)

    return function


_QUOTIENTS = {
    (RoundingMode.ZERO, Signedness.SIGNED): "divsi",
    (RoundingMode.ZERO, Signedness.UNSIGNED): "divui",
    (RoundingMode.POSITIVE_INF, Signedness.SIGNED): "ceildivsi",
    (RoundingMode.POSITIVE_INF, Signedness.UNSIGNED): "ceildivui",
    (RoundingMode.NEGATIVE_INF, Signedness.SIGNED): "floordivsi",
}
"""The division in MLIR's `arith` for each rounding mode and signedness."""


def quotient(number: Number, signedness: Signedness, mode: RoundingMode) -> Function:
    """A quotient of numbers that are not divided by 0.

    Raises:
        ValueError: Quotients are not rounded so.
    """
    name = _QUOTIENTS.get((mode, signedness))
    if name is None:
        raise ValueError(f"{signedness} quotients are not rounded by {mode}")
    return integers.DIVISIONS[name](number)


def remainder(number: Number, signedness: Signedness) -> Function:
    """The remainder of a quotient rounded towards zero, with the sign of the first operand."""
    name = "remsi" if signedness is Signedness.SIGNED else "remui"
    return integers.DIVISIONS[name](number)


def signedness_of(operation: Operation, name: str = "signedness") -> Signedness:
    """How an operation interprets integers."""
    return Signedness(word_attribute(operation, name))


def _overflowing(meaning: Meaning) -> Handler:
    """The handler of an operation that may promise that it does not wrap around."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        step = apply(operation, compiler, meaning(operand_number(operation)))
        return without_overflow(operation, compiler, step)

    return handler


def _plain(meaning: Meaning) -> Handler:
    """The handler of an operation that always means the same."""
    return lambda operation, compiler: apply(
        operation, compiler, meaning(operand_number(operation))
    )


def _extremum(name: str) -> Handler:
    def handler(operation: Operation, compiler: Compiler) -> Step:
        sign = "s" if signedness_of(operation) is Signedness.SIGNED else "u"
        function = integers.BINARY[f"{name}{sign}i"](operand_number(operation))
        return apply(operation, compiler, function)

    return handler


def _divi(operation: Operation, compiler: Compiler) -> Step:
    mode = RoundingMode(word_attribute(operation, "rounding") or RoundingMode.ZERO)
    signedness = signedness_of(operation)
    function = quotient(operand_number(operation), signedness, mode)
    return _division(operation, compiler, function, signedness)


def _remi(operation: Operation, compiler: Compiler) -> Step:
    signedness = signedness_of(operation)
    function = remainder(operand_number(operation), signedness)
    return _division(operation, compiler, function, signedness)


def _division(
    operation: Operation, compiler: Compiler, function: Function, signedness: Signedness
) -> Step:
    """The step of a division, in which a divisor of 0 is an error."""
    number = operand_number(operation)
    least = number.number(-(2 ** (number.bits - 1)))

    def checked(a: Value, b: Value) -> Value:
        wrong = np.asanyarray(b == 0)
        if wrong.any():
            position = element_position(int(wrong.argmax()), wrong.shape)
            raise UnlocatedError(f"division by zero in {position}")
        return function(a, b)

    def check(state: State, a: Value, b: Value) -> None:
        broken = np.asanyarray((a == least) & (number.signed(b) == -1))
        message = f"the quotient {-(2 ** (number.bits - 1))} / -1 does not fit into {number.text}"
        report_broken_promise(state, operation, broken, message)

    step = apply(operation, compiler, checked)
    if signedness is Signedness.UNSIGNED:
        return step
    return observed(operation, compiler, step, check)


def _distance_check(operation: Operation, compiler: Compiler, step: Step) -> Step:
    """A shift whose distance is to be less than the width."""
    number = operand_number(operation)

    def check(state: State, a: Value, b: Value) -> None:
        broken = np.asanyarray(number.unsigned(b) >= number.bits)
        message = f"a shift of {number.text} by {number.bits} bits or more differs between devices"
        report_broken_promise(state, operation, broken, message)

    return observed(operation, compiler, step, check)


def _shli(operation: Operation, compiler: Compiler) -> Step:
    step = apply(operation, compiler, shift_left(operand_number(operation)))
    return _distance_check(operation, compiler, without_overflow(operation, compiler, step))


def _shri(operation: Operation, compiler: Compiler) -> Step:
    function = shift_right(operand_number(operation), signedness_of(operation))
    return _distance_check(operation, compiler, apply(operation, compiler, function))


HANDLERS: dict[str, Handler] = {
    "cuda_tile.absi": _plain(absolute),
    "cuda_tile.addi": _overflowing(integers.BINARY["addi"]),
    "cuda_tile.andi": _plain(integers.BINARY["andi"]),
    "cuda_tile.divi": _divi,
    "cuda_tile.maxi": _extremum("max"),
    "cuda_tile.mini": _extremum("min"),
    "cuda_tile.mulhii": _plain(high_product),
    "cuda_tile.muli": _overflowing(integers.BINARY["muli"]),
    "cuda_tile.negi": _overflowing(negation),
    "cuda_tile.ori": _plain(integers.BINARY["ori"]),
    "cuda_tile.remi": _remi,
    "cuda_tile.shli": _shli,
    "cuda_tile.shri": _shri,
    "cuda_tile.subi": _overflowing(integers.BINARY["subi"]),
    "cuda_tile.xori": _plain(integers.BINARY["xori"]),
}
"""The handler of each operation, by name."""
