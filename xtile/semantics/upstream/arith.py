"""The `arith` dialect.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from xdsl.dialects.arith import IntegerOverflowFlag
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.promises import no_overflow, observed
from xtile.semantics.state import State
from xtile.semantics.upstream import casts, floats, integers
from xtile.semantics.upstream.constants import constant_value, word_attribute
from xtile.semantics.upstream.elementwise import (
    Function,
    apply,
    constant,
    division,
    elementwise,
    shift,
)
from xtile.semantics.upstream.numbers import FLOATS, Number, number_of
from xtile.semantics.values import NumberFunction, Value, choose, is_array, with_axes

Conversion: TypeAlias = Callable[[Number, Number], NumberFunction]
"""Gives the conversion from one type of numbers to another."""


def _constant(operation: Operation, compiler: Compiler) -> Step:
    (result,) = operation.results
    value = operation.properties["value"]
    return constant(operation, compiler, constant_value(value, result.type))


def _conversion(conversion: Conversion) -> Handler:
    def handler(operation: Operation, compiler: Compiler) -> Step:
        source, target = _types(operation)
        return apply(operation, compiler, conversion(source, target))

    return handler


def _types(operation: Operation) -> tuple[Number, Number]:
    """The types of the first operand's and of the result's numbers."""
    return number_of(operation.operands[0].type), number_of(operation.results[0].type)


def _truncf(operation: Operation, compiler: Compiler) -> Step:
    source, target = _types(operation)
    mode = word_attribute(operation, "roundingmode", casts.ROUNDING_MODES)
    return apply(operation, compiler, _truncation(source, target, mode))


def _truncation(source: Number, target: Number, mode: str) -> NumberFunction:
    if mode in ("", "to_nearest_even"):
        return casts.truncation(source, target)
    return casts.directed_truncation(source, target, mode)


_SCALE = FLOATS["f8E8M0FNU"]


def _scaling_extf(operation: Operation, compiler: Compiler) -> Step:
    _, target = _types(operation)
    source, scale = (number_of(operand.type) for operand in operation.operands)
    multiply = floats.BINARY["mulf"](target)

    def function(value: Value, factor: Value) -> Value:
        power = target.rounded(_SCALE.wide(_SCALE.rounded(scale.wide(factor))))
        return multiply(target.rounded(source.wide(value)), power)

    return apply(operation, compiler, function)


def _scaling_truncf(operation: Operation, compiler: Compiler) -> Step:
    source, target = _types(operation)
    scale = number_of(operation.operands[1].type)
    mode = word_attribute(operation, "roundingmode", casts.ROUNDING_MODES)
    divide, truncate = floats.BINARY["divf"](source), _truncation(source, target, mode)

    def function(value: Value, divisor: Value) -> Value:
        power = source.rounded(_SCALE.wide(_SCALE.rounded(scale.wide(divisor))))
        return truncate(divide(value, power))

    return apply(operation, compiler, function)


def _cmpi(operation: Operation, compiler: Compiler) -> Step:
    predicate = word_attribute(operation, "predicate", tuple(integers.COMPARISONS))
    type_ = number_of(operation.operands[0].type)
    return apply(operation, compiler, integers.COMPARISONS[predicate](type_))


def _cmpf(operation: Operation, compiler: Compiler) -> Step:
    predicate = int(word_attribute(operation, "predicate", [str(i) for i in range(16)]))
    type_ = number_of(operation.operands[0].type)
    return apply(operation, compiler, floats.comparison(predicate, type_))


def _select(operation: Operation, compiler: Compiler) -> Step:
    condition, chosen, other = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    # One condition chooses all of a vector.
    is_single = not isinstance(operation.operands[0].type, VectorType)
    type_ = operation.results[0].type
    rank = len(type_.get_shape()) if isinstance(type_, VectorType) and is_single else 0

    def step(state: State) -> None:
        values = state.values
        values[result] = _chosen(values[condition], values[chosen], values[other], rank)

    return step


def _chosen(condition: Value, chosen: Value, other: Value, rank: int) -> Value:
    if not is_array(condition):
        return chosen if condition else other
    if hasattr(chosen, "merged"):
        return chosen.merged(condition, other)
    return choose(with_axes(condition, rank), chosen, other)


def _extended(function: Callable[[Number, Value, Value], tuple[Value, Value]]) -> Handler:
    def handler(operation: Operation, compiler: Compiler) -> Step:
        type_ = number_of(operation.operands[0].type)
        a, b = compiler.slots(operation.operands)
        first, second = compiler.slots(operation.results)

        def step(state: State) -> None:
            values = state.values
            values[first], values[second] = function(type_, values[a], values[b])

        return step

    return handler


def _product(is_signed: bool) -> Handler:
    return _extended(lambda type, a, b: integers.extended_product(type, a, b, is_signed))


def _named(handlers: Iterable[tuple[str, Handler]]) -> dict[str, Handler]:
    return {f"arith.{name}": handler for name, handler in handlers}


_CONVERSIONS: dict[str, Conversion] = {
    "bitcast": casts.bitcast,
    "extf": casts.extension,
    "extsi": casts.sign_extension,
    "extui": casts.zero_extension,
    "fptosi": lambda source, target: casts.to_integer(source, target, True),
    "fptoui": lambda source, target: casts.to_integer(source, target, False),
    "index_cast": casts.sign_extension,
    "index_castui": casts.zero_extension,
    "sitofp": lambda source, target: casts.from_integer(source, target, True),
    "trunci": casts.sign_extension,
    "uitofp": lambda source, target: casts.from_integer(source, target, False),
}

_PROMISES = {IntegerOverflowFlag.NSW: True, IntegerOverflowFlag.NUW: False}
"""Whether the exact result fits as a signed number, for each promise."""


def _promising(handler: Handler) -> Handler:
    """The handler of an operation that may promise not to overflow, which an observer checks."""

    def promised(operation: Operation, compiler: Compiler) -> Step:
        step = handler(operation, compiler)
        flags: Any = operation.properties.get("overflowFlags")
        given = [] if flags is None else [flag for flag in _PROMISES if flag in flags.data]
        if not given:
            return step
        promise = ", ".join(flag.value for flag in given)
        signs = [_PROMISES[flag] for flag in given]
        check = no_overflow(operation, promise, signs, *_types(operation))
        return observed(operation, compiler, step, check)

    return promised


_MAY_PROMISE = ("arith.addi", "arith.muli", "arith.shli", "arith.subi", "arith.trunci")

_MEANINGS: dict[str, Callable[[Any], Function]] = {
    **integers.BINARY,
    **floats.BINARY,
    "negf": floats.NEGATE,
}

_HANDLERS: dict[str, Handler] = {
    "arith.constant": _constant,
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _select,
    "arith.truncf": _truncf,
    "arith.scaling_extf": _scaling_extf,
    "arith.scaling_truncf": _scaling_truncf,
    "arith.addui_extended": _extended(integers.extended_sum),
    "arith.mulsi_extended": _product(True),
    "arith.mului_extended": _product(False),
    **_named((name, elementwise(meaning)) for name, meaning in _MEANINGS.items()),
    **_named((name, division(meaning)) for name, meaning in integers.DIVISIONS.items()),
    **_named((name, shift(meaning)) for name, meaning in integers.SHIFTS.items()),
    **_named((name, _conversion(meaning)) for name, meaning in _CONVERSIONS.items()),
}

HANDLERS: dict[str, Handler] = {
    **_HANDLERS,
    **{name: _promising(_HANDLERS[name]) for name in _MAY_PROMISE},
}
"""The handler of each operation, by name."""
