"""Reductions and contractions.

They compute in the accumulator's type, in which the operands' elements are exact, and the order of
the additions is not specified.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.upstream import floats, integers
from xtile.semantics.upstream.numbers import Number, number_of
from xtile.semantics.values import Array, Value
from xtile.semantics.vector.arrays import AXES, as_array, as_number, is_vector, shape_of
from xtile.semantics.vector.shapes import numbers

_FLOAT_KINDS = {
    "add": "addf",
    "mul": "mulf",
    "minnumf": "minnumf",
    "maxnumf": "maxnumf",
    "minimumf": "minimumf",
    "maximumf": "maximumf",
}

_INTEGER_KINDS = {
    "add": "addi",
    "mul": "muli",
    "minsi": "minsi",
    "minui": "minui",
    "maxsi": "maxsi",
    "maxui": "maxui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
}


def combiner(kind: str, type: Number) -> Callable[[Value, Value], Value]:
    """What combines two numbers of a type in a reduction of a kind."""
    if kind in _FLOAT_KINDS and type.dtype.kind not in "iub":
        return floats.BINARY[_FLOAT_KINDS[kind]](type)
    return integers.BINARY[_INTEGER_KINDS[kind]](type)


def kind_of(operation: Operation) -> str:
    """The kind of a reduction, by upstream's name."""
    return str(cast("Any", operation.properties["kind"]).data)


def _multi_reduction(operation: Operation, compiler: Compiler) -> Step:
    source, acc = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    dims = numbers(operation, "reduction_dims")
    combine = combiner(kind_of(operation), number_of(operation.results[0].type))
    gives_vector = is_vector(operation.results[0])
    shape = shape_of(operation.operands[0])
    kept = [i for i in range(len(shape)) if i not in dims]

    def step(state: State) -> None:
        vector: Array = state.values[source]
        total = as_array(state.values[acc])
        axes = [AXES + i for i in (*dims, *kept)]
        lead = vector.transpose(*axes, 0, 1).reshape(
            -1, *(shape[i] for i in kept), *vector.shape[:2]
        )
        moved = np.moveaxis(lead, (-2, -1), (1, 2))
        total = reduce(combine, moved, total)
        state.values[result] = total if gives_vector else as_number(total)

    return step


def _contract(operation: Operation, compiler: Compiler) -> Step:
    slots = compiler.slots(operation.operands[:3])
    (result,) = compiler.slots(operation.results)
    type_ = number_of(operation.results[0].type)
    kind = kind_of(operation)
    combine = combiner(kind, type_)
    maps = [
        [int(str(r)[1:]) for r in each.data.results]
        for each in cast("Any", operation.properties["indexing_maps"])
    ]
    gives_vector = is_vector(operation.results[0])
    is_sum = kind == "add"

    def step(state: State) -> None:
        a, b, c = (as_array(state.values[slot]) for slot in slots)
        wide = type_.wide(np.zeros((), type_.dtype)).dtype
        letters = ["".join(chr(ord("a") + i) for i in each) for each in maps]
        left, right = a.astype(wide), b.astype(wide)
        if is_sum:
            made = np.einsum(f"...{letters[0]},...{letters[1]}->...{letters[2]}", left, right)
            total = combine(c, type_.rounded(made) if wide != c.dtype else made)
        else:
            total = _combined(left, right, c, letters, combine)
        state.values[result] = total if gives_vector else as_number(total)

    return step


def _combined(
    left: Array,
    right: Array,
    acc: Array,
    letters: list[str],
    combine: Callable[[Value, Value], Value],
) -> Array:
    """Combines products that a kind other than addition joins."""
    reduced = "".join(sorted(set(letters[0] + letters[1]) - set(letters[2])))
    products = np.einsum(f"...{letters[0]},...{letters[1]}->...{reduced}{letters[2]}", left, right)
    count = len(reduced)
    flat = products.reshape(*products.shape[:AXES], -1, *products.shape[AXES + count :])
    return reduce(combine, np.moveaxis(flat, AXES, 0).astype(acc.dtype), acc)


HANDLERS: dict[str, Handler] = {
    "vector.contract": _contract,
    "vector.multi_reduction": _multi_reduction,
}
