"""Pointers: arithmetic and conversions.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xtile.dialects.pointer_types import is_pointer
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.triton.tensors import number_in, pointee_storage
from xtile.semantics.upstream.casts import bitcast
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.values import Value


def same(operation: Any, compiler: Compiler) -> Step:
    """What gives its first operand: layouts have no meaning, and addresses are integers."""
    source = compiler.slot(operation.operands[0])
    result = compiler.slot(operation.results[0])

    def step(state: Any) -> None:
        state.values[result] = state.values[source]

    return step


def _addptr(operation: Any, compiler: Compiler) -> Step:
    """Offsets count elements, and have a sign."""
    size = np.int64(pointee_storage(operation.ptr).step)
    number = number_in(operation.offset)

    def function(pointers: Value, offsets: Value) -> Value:
        return pointers + number.signed(offsets).astype(np.int64) * size

    return apply(operation, compiler, function)


def _bitcast(operation: Any, compiler: Compiler) -> Step:
    source, target = operation.src.type, operation.result.type
    elements = (getattr(each, "element_type", each) for each in (source, target))
    if any(is_pointer(each) for each in elements):
        return same(operation, compiler)
    function = bitcast(number_in(operation.src), number_in(operation.result))
    return apply(operation, compiler, function)


HANDLERS: dict[str, Handler] = {
    "tt.addptr": _addptr,
    "tt.bitcast": _bitcast,
    "tt.int_to_ptr": same,
    "tt.ptr_to_int": same,
}
"""The handler of each operation, by name."""
