"""Arithmetic, comparison, math, cast and constant instructions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute, Operation

from xtile.dialects.tensorlang import types
from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.semantics.arithmetic import (
    binary_function,
    comparison_function,
    math_function,
    unary_function,
)
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.numeric_types import NUMPY_TYPES, cast_function, constant_value, is_integer
from xtile.semantics.state import State
from xtile.semantics.values import Value, choose


def _shift_left(a: int, b: int) -> int:
    return a << (b & 63)


_EXACT: dict[type[Any], Callable[..., Any]] = {
    ops.AddOp: operator.add,
    ops.SubOp: operator.sub,
    ops.MulOp: operator.mul,
    ops.ShlOp: _shift_left,
    ops.AbsOp: abs,
    ops.NegOp: operator.neg,
    ops.CastOp: int,
}
"""The instructions that can overflow, in Python's unbounded integers."""


def observed(operation: Any, compiler: Compiler, step: Step) -> Step:
    """`step`, followed by a check of its result if the launch is observed."""
    exact = _EXACT.get(cast("type[Any]", type(operation)))
    if exact is None or not compiler.is_observed:
        return step
    operands = compiler.slots(operation.operands)
    result = compiler.slot(operation.result)

    def observed_step(state: State) -> None:
        step(state)
        if state.observer is None:
            return
        active = state.active()
        columns = [state.full(state.values[slot])[active].tolist() for slot in operands]
        computed = state.full(state.values[result])[active].tolist()
        wanted = [exact(*row) for row in zip(*columns, strict=True)]
        if wanted == computed:
            return
        wrong = [i for i, value in enumerate(wanted) if value != computed[i]]
        threads = state.threads()[active][wrong]
        state.observer.on_index_overflow(operation, [wanted[i] for i in wrong], threads)

    return observed_step


def _binary(operation: ops.BinaryArithmeticOperation, compiler: Compiler) -> Step:
    type_ = types.component_type(operation.result.type)
    function = binary_function(type(operation), type_)
    a, b, result = compiler.slots((operation.a, operation.b, operation.result))
    if is_integer(type_) and isinstance(operation, ops.DivOp | ops.RemOp):
        return _division(function, NUMPY_TYPES[type_].type(1), (a, b, result))

    def step(state: State) -> None:
        values = state.values
        values[result] = function(values[a], values[b])

    return observed(operation, compiler, step) if operation.a.type == types.INDEX else step


def _division(
    function: Callable[[Value, Value], Value], one: Value, slots: tuple[int, int, int]
) -> Step:
    a, b, result = slots

    def step(state: State) -> None:
        values = state.values
        divisor = values[b]
        is_zero = divisor == 0
        if is_zero.any():
            if _is_any_active(is_zero, state):
                raise UnlocatedError("division by zero")
            divisor = choose(is_zero, one, divisor)
        values[result] = function(values[a], divisor)

    return step


def _is_any_active(condition: npt.NDArray[np.bool_] | np.bool_, state: State) -> bool:
    rows = state.active_rows()
    if rows is None or condition.ndim == 0:
        return True
    if condition.ndim == 3:
        return bool((condition & rows[:, np.newaxis, np.newaxis]).any())
    return bool((condition & state.active()).any())


def _comparison(operation: ops.ComparisonOperation, compiler: Compiler) -> Step:
    function = comparison_function(type(operation), operation.a.type)
    a, b, result = compiler.slots((operation.a, operation.b, operation.result))

    def step(state: State) -> None:
        values = state.values
        values[result] = function(values[a], values[b])

    return step


def _unary_step(
    operation: ops.UnaryArithmeticOperation | ops.MathOperation | ops.CastOp,
    compiler: Compiler,
    function: Callable[[Value], Value],
) -> Step:
    a, result = compiler.slots((operation.a, operation.result))

    def step(state: State) -> None:
        values = state.values
        values[result] = function(values[a])

    return step


def _unary(operation: ops.UnaryArithmeticOperation, compiler: Compiler) -> Step:
    step = _unary_step(operation, compiler, unary_function(type(operation)))
    return observed(operation, compiler, step) if operation.a.type == types.INDEX else step


def _math(operation: ops.MathOperation, compiler: Compiler) -> Step:
    return _unary_step(operation, compiler, math_function(type(operation), operation.a.type))


def _cast(operation: ops.CastOp, compiler: Compiler) -> Step:
    source = types.component_type(operation.a.type)
    target = types.component_type(operation.result.type)
    step = _unary_step(operation, compiler, cast_function(source, target))
    may_lose = _may_lose_index(operation.a.type, operation.result.type)
    return observed(operation, compiler, step) if may_lose else step


def _may_lose_index(source: Attribute, target: Attribute) -> bool:
    return source == types.INDEX and is_integer(target) and target != types.I64


def _constant(operation: ops.ConstantOp, compiler: Compiler) -> Step:
    type_ = operation.result.type
    value: Value = constant_value(operation.value, types.component_type(type_))
    if isinstance(type_, types.CoopmatrixType):
        value = np.broadcast_to(value, (1, *type_.shape))
        value.flags.writeable = False
    (result,) = compiler.slots((operation.result,))

    def step(state: State) -> None:
        state.values[result] = value

    return step


def _subclasses(base: type[Operation]) -> list[type[Operation]]:
    return [value for value in vars(ops).values() if _is_instruction(value, base)]


def _is_instruction(value: object, base: type[Operation]) -> bool:
    return isinstance(value, type) and issubclass(value, base) and "name" in vars(value)


HANDLERS: dict[type[Operation], Handler] = {
    **dict.fromkeys(_subclasses(ops.BinaryArithmeticOperation), _binary),
    **dict.fromkeys(_subclasses(ops.ComparisonOperation), _comparison),
    **dict.fromkeys(_subclasses(ops.UnaryArithmeticOperation), _unary),
    **dict.fromkeys(_subclasses(ops.MathOperation), _math),
    ops.CastOp: _cast,
    ops.ConstantOp: _constant,
}
