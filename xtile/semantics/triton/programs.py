"""What a program knows of the grid, ranges, assertions and what is printed.

Source: Triton 3.9, `TritonOps.td`; `language/core.py` (`device_print`).
"""

from __future__ import annotations

import sys
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.promises import assertion
from xtile.semantics.state import State
from xtile.semantics.triton.tensors import integer_property, integers_property, number_in
from xtile.semantics.upstream.elementwise import constant
from xtile.semantics.upstream.numbers import Kind, Number
from xtile.semantics.values import Array, Value


def _get_program_id(operation: Any, compiler: Compiler) -> Step:
    axis, result = integer_property(operation, "axis"), compiler.slot(operation.result)

    def step(state: State) -> None:
        state.values[result] = np.int32(state.group[axis])

    return step


def _get_num_programs(operation: Any, compiler: Compiler) -> Step:
    size = compiler.configuration.grid[integer_property(operation, "axis")]
    return constant(operation, compiler, np.int32(size))


def _make_range(operation: Any, compiler: Compiler) -> Step:
    start, end = (integer_property(operation, name) for name in ("start", "end"))
    numbers = number_in(operation.result).wrapped(np.arange(start, end, dtype=np.int64))
    return constant(operation, compiler, numbers)


def _print(operation: Any, compiler: Compiler) -> Step:
    prefix = cast("StringAttr", operation.properties["prefix"]).data
    is_hex = bool(integer_property(operation, "hex"))
    arguments = compiler.slots(operation.args)
    signs = integers_property(operation, "isSigned") or (1,) * len(arguments)
    printers = [
        _Printer(number_in(value), is_hex, bool(sign))
        for value, sign in zip(operation.args, signs, strict=True)
    ]

    def step(state: State) -> None:
        program = f"pid ({', '.join(map(str, state.group))})"
        if not arguments:
            sys.stdout.write(f"{program}{prefix}\n")
        for number, (slot, printer) in enumerate(zip(arguments, printers, strict=True)):
            operand = f"(operand {number}) " if len(arguments) > 1 else ""
            for index, text in printer.lines(state.values[slot]):
                sys.stdout.write(f"{program} idx ({index}){prefix}{operand}{text}\n")

    return step


class _Printer:
    """Shows the elements of a tensor, one a line, as Triton's devices do."""

    def __init__(self, number: Number, is_hex: bool, is_signed: bool) -> None:
        self._number = number
        self._is_hex = is_hex
        self._is_signed = is_signed

    def lines(self, value: Value) -> list[tuple[str, str]]:
        """The index and the text of each element."""
        array: Array = np.asanyarray(value)
        return [
            (", ".join(map(str, index)), self._text(array[index]))
            for index in np.ndindex(array.shape)
        ]

    def _text(self, element: Value) -> str:
        number = self._number
        if self._is_hex:
            bits = np.asanyarray(element).view(f"u{element.dtype.itemsize}")[()]
            return f"0x{int(bits):0{max(1, number.bits // 4)}x}"
        if number.kind is Kind.FLOAT:
            return f"{float(element):f}"
        sign = number.signed if self._is_signed and number.bits > 1 else number.unsigned
        return str(int(sign(element)))


def nothing(operation: Any, compiler: Compiler) -> Step:
    """What has no effect on values."""
    return lambda state: None


HANDLERS: dict[str, Handler] = {
    "tt.assert": assertion,
    "tt.get_num_programs": _get_num_programs,
    "tt.get_program_id": _get_program_id,
    "tt.grid_dependency_launch_dependents": nothing,
    "tt.grid_dependency_wait": nothing,
    "tt.make_range": _make_range,
    "tt.print": _print,
}
"""The handler of each operation, by name."""
