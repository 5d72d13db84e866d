"""`vector.print`: numbers and vectors as text on standard output.

Source: MLIR (LLVM 22), `lib/Conversion/VectorToLLVM/ConvertVectorToLLVM.cpp` says what is printed
of each type, `lib/ExecutionEngine/CRunnerUtils.cpp` how.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import word_attribute
from xtile.semantics.upstream.numbers import Kind, number_of
from xtile.semantics.values import Array, Value
from xtile.semantics.vector.arrays import AXES, as_array, is_vector

_PUNCTUATION = {"no_punctuation": "", "newline": "\n", "comma": ", ", "open": "( ", "close": " )"}


def _print(operation: Operation, compiler: Compiler) -> Step:
    literal = operation.properties.get("stringLiteral")
    if literal is not None:
        return _string(cast("StringAttr", literal).data)
    end = _PUNCTUATION[word_attribute(operation, "punctuation", tuple(_PUNCTUATION)) or "newline"]
    if not operation.operands:
        return _string(end)
    (source,) = operation.operands
    (slot,) = compiler.slots(operation.operands)
    convert = _converter(source.type)
    holds_vector = is_vector(source)

    def step(state: State) -> None:
        array = as_array(state.values[slot])
        if holds_vector and array.ndim == AXES:
            array = array[..., np.newaxis]
        active = _acting(state, holds_vector)
        everyone = np.broadcast_to(array, (*active.shape, *array.shape[AXES:]))
        for row, lane in np.argwhere(active):
            sys.stdout.write(_text(everyone[row, lane], convert) + end)

    return step


def _string(text: str) -> Step:
    def step(state: State) -> None:
        sys.stdout.write(text * int(_acting(state, False).sum()))

    return step


def _acting(state: State, is_vector: bool) -> Array:
    """Who prints: each that acts on its own and stands for an active work-item."""
    active = state.active()
    for axis, length in enumerate(state.actors(is_vector)):
        if length == 1:
            active = np.logical_or.reduce(active, axis=axis, keepdims=True)
    return active


def _text(value: Value, convert: Callable[[Any], str]) -> str:
    if np.ndim(value) == 0:
        return convert(value)
    return f"( {', '.join(_text(part, convert) for part in value)} )"


def _converter(type: Attribute) -> Callable[[Any], str]:
    """How a number of a type, or an element of a vector, is shown."""
    number = number_of(type)
    if number.kind is Kind.FLOAT:
        return _float_text
    # An index has no sign, and a truth value is 1 or 0.
    is_unsigned = number.text == "index" or number.text.startswith("ui") or number.bits == 1
    read = number.unsigned if is_unsigned else number.signed
    return lambda value: str(int(read(value)))


def _float_text(value: Any) -> str:
    return "-nan" if np.isnan(value) and np.signbit(value) else f"{float(value):g}"


HANDLERS: dict[str, Handler] = {"vector.print": _print}
