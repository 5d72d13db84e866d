"""Functions of libraries and inline assembly.

A library's function is known by its name (`libraries.py`), an instruction of inline assembly by
its text (`assembly.py`).

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.triton.assembly import Program
from xtile.semantics.triton.libraries import function_of
from xtile.semantics.triton.tensors import integer_property, number_in, shape_of
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.values import Value


def _extern_elementwise(operation: Any, compiler: Compiler) -> Step:
    symbol = cast("StringAttr", operation.properties["symbol"]).data
    meaning = function_of(symbol)
    if meaning is None:
        raise ValueError(
            f"the function '{symbol}' is not known to the reference device; it knows functions of "
            "libdevice (__nv_expf) and of OCML (__ocml_exp_f32)"
        )
    function = meaning(number_in(operation.srcs[0]), number_in(operation.result))
    return apply(operation, compiler, function)


def _elementwise_inline_asm(operation: Any, compiler: Compiler) -> Step:
    text = cast("StringAttr", operation.properties["asm_string"]).data
    program = Program(text, [number_in(each) for each in operation.results])
    pack = integer_property(operation, "packed_element", 1)
    arguments, results = compiler.slots(operation.args), compiler.slots(operation.results)
    numbers = [number_in(each) for each in operation.args]
    shapes = [shape_of(each) for each in operation.results]

    def step(state: State) -> None:
        given = (np.asarray(state.values[slot]) for slot in arguments)
        pairs = zip(given, numbers, strict=True)
        operands = [program.registers(each, number, pack) for each, number in pairs]
        for slot, made, shape in zip(results, program.run(operands, pack), shapes, strict=True):
            state.values[slot] = _shaped(made, shape)

    return step


def _shaped(value: Value, shape: tuple[int, ...]) -> Value:
    return np.reshape(value, shape)[()]


HANDLERS: dict[str, Handler] = {
    "tt.elementwise_inline_asm": _elementwise_inline_asm,
    "tt.extern_elementwise": _extern_elementwise,
}
"""The handler of each operation, by name."""
