"""Tells an observer of results that an operation promises not to have.

Source: NVIDIA/cuda-tile 13.3.0, `AttrDefs.td` (`IntegerOverflow`) and `Ops.td`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import IntegerOverflow, Signedness
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.cuda_tile.numbers import operand_number, result_number
from xtile.semantics.promises import report_broken_promise
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import word_attribute
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Array, Value

Check: TypeAlias = Callable[..., None]
"""Checks an execution, given the state and the values of the operands."""


def observed(operation: Operation, compiler: Compiler, step: Step, check: Check) -> Step:
    """`step`, before which the operands are checked if the launch is observed."""
    if not compiler.is_observed:
        return step
    operands = compiler.slots(operation.operands)

    def observed_step(state: State) -> None:
        check(state, *(state.values[slot] for slot in operands))
        step(state)

    return observed_step


# Its functions take anything, which the type checker cannot say.
_OPERATOR: Any = operator

_EXACT: dict[str, Callable[..., Any]] = {
    "addi": _OPERATOR.add,
    "muli": _OPERATOR.mul,
    "negi": _OPERATOR.neg,
    "shli": _OPERATOR.lshift,
    "subi": _OPERATOR.sub,
    "trunci": _OPERATOR.pos,
}
"""The operations that may promise not to wrap around, for Python's unbounded integers."""

_INTERPRETATIONS = {
    IntegerOverflow.NONE: (),
    IntegerOverflow.NSW: (Signedness.SIGNED,),
    IntegerOverflow.NUW: (Signedness.UNSIGNED,),
    IntegerOverflow.NW: (Signedness.SIGNED, Signedness.UNSIGNED),
}
"""As what numbers the exact result fits into the type, for each promise."""


def without_overflow(operation: Operation, compiler: Compiler, step: Step) -> Step:
    """`step`, before which it is checked that the result fits, if the operation promises so."""
    overflow = IntegerOverflow(word_attribute(operation, "overflow") or IntegerOverflow.NONE)
    number, result = operand_number(operation), result_number(operation)
    function = _EXACT[operation.name.split(".")[-1]]

    def check(state: State, *operands: Value) -> None:
        for signedness in _INTERPRETATIONS[overflow]:
            exact = _exact(function, number, signedness, operands)
            least, largest = _limits(result, signedness)
            broken = np.asarray((exact < least) | (exact > largest), np.bool_)
            if broken.any():
                value = exact.flat[int(broken.argmax())]
                message = f"{overflow} is promised, but {value} does not fit into {result.text}"
                report_broken_promise(state, operation, broken, message)

    return observed(operation, compiler, step, check)


def _exact(
    function: Callable[..., Any], number: Number, signedness: Signedness, operands: Sequence[Value]
) -> Array:
    """The exact results, as Python's integers."""
    sign = number.signed if signedness is Signedness.SIGNED else number.unsigned
    wide = [np.asarray(sign(operand)).astype(object) for operand in operands]
    if function is _OPERATOR.lshift:
        # The distance has no sign. Farther shifts lose all bits, too, and would take much memory.
        distance = np.minimum(number.unsigned(operands[1]), number.bits)
        wide[1] = np.asarray(distance).astype(object)
    return np.asarray(function(*wide), object)


def _limits(number: Number, signedness: Signedness) -> tuple[int, int]:
    """The least and the largest number."""
    if signedness is Signedness.UNSIGNED:
        return 0, 2**number.bits - 1
    return -(2 ** (number.bits - 1)), 2 ** (number.bits - 1) - 1
