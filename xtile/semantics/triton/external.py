"""Functions of libraries and inline assembly.

A library's function is known by its name (`libraries.py`), an instruction of inline assembly by
its text (`assembly.py`).

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from xtile.dialects.upstream import value_type
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State
from xtile.semantics.triton.assembly import Program
from xtile.semantics.triton.libraries import function_of
from xtile.semantics.triton.tensors import integer_property, number_in, shape_of
from xtile.semantics.upstream import casts, floats, integers
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.math import MEANINGS
from xtile.semantics.upstream.numbers import Kind, Number, number_of
from xtile.semantics.values import Value, choose


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


class _Numpy:
    """Computes what inline assembly does."""

    def constant(self, number: float, type: Attribute) -> Value:
        return np.asanyarray(number_of(type).number(number))

    def compute(self, name: str, operands: Sequence[Value], type: Attribute) -> Value:
        return _function(name, number_of(type))(*operands)

    def compare(self, predicate: str, operands: Sequence[Value], type: Attribute) -> Value:
        number = number_of(type)
        if number.kind is Kind.FLOAT:
            return floats.comparison(CMPF_COMPARISON_OPERATIONS.index(predicate), number)(*operands)
        return integers.COMPARISONS[predicate](number)(*operands)

    def select(self, condition: Value, operands: Sequence[Value], type: Attribute) -> Value:
        return choose(condition, *operands)

    def convert(self, name: str, value: Value, source: Attribute, target: Attribute) -> Value:
        return _CASTS[name](number_of(source), number_of(target))(value)


_CASTS: Mapping[str, Callable[[Number, Number], Callable[[Value], Value]]] = {
    "bitcast": casts.bitcast,
    "extf": casts.extension,
    "extsi": casts.sign_extension,
    "extui": casts.zero_extension,
    "fptosi": lambda source, target: casts.to_integer(source, target, True),
    "fptoui": lambda source, target: casts.to_integer(source, target, False),
    "sitofp": lambda source, target: casts.from_integer(source, target, True),
    "truncf": casts.truncation,
    "trunci": casts.sign_extension,
    "uitofp": lambda source, target: casts.from_integer(source, target, False),
}


@cache
def _function(name: str, number: Number) -> Callable[..., Value]:
    """An operation of `arith` or `math` on numbers of a type."""
    if name == "negf":
        return floats.NEGATE(number)
    tables = (floats.BINARY, integers.BINARY, integers.DIVISIONS, integers.SHIFTS, MEANINGS)
    return next(table[name] for table in tables if name in table)(number)


def _elementwise_inline_asm(operation: Any, compiler: Compiler) -> Step:
    program = Program(operation.asm_string.data, operation.constraints.data)
    pack = integer_property(operation, "packed_element", 1)
    arguments, results = compiler.slots(operation.args), compiler.slots(operation.results)
    given = [value_type(each.type) for each in operation.args]
    types = [value_type(each.type) for each in operation.results]
    shapes = [shape_of(each) for each in operation.results]

    def step(state: State) -> None:
        operands = [
            (list(np.ravel(state.values[slot]).reshape(-1, pack).T), type)
            for slot, type in zip(arguments, given, strict=True)
        ]
        try:
            made = program.run(_Numpy(), operands, types)
        except ValueError as error:
            raise UnlocatedError(str(error)) from None
        for slot, parts, shape in zip(results, made, shapes, strict=True):
            whole = (int(np.prod(shape)) // pack,)
            columns = [np.broadcast_to(part, whole) for part in parts]
            state.values[slot] = np.stack(columns, axis=-1).reshape(shape)[()]

    return step


HANDLERS: dict[str, Handler] = {
    "tt.elementwise_inline_asm": _elementwise_inline_asm,
    "tt.extern_elementwise": _extern_elementwise,
}
"""The handler of each operation, by name."""
