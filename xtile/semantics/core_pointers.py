"""The meaning of the `core` dialect's pointers, which are held as addresses.

Source: docs/core-form.md, "Pointers".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation

from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerAddOp,
    PointerCastOp,
    PointerToIntegerOp,
    pointer_of,
)
from xtile.dialects.core.views import ViewOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Buffer, Index, Mask, Memref, View, as_index, transform
from xtile.semantics.state import State
from xtile.semantics.upstream import integers
from xtile.semantics.upstream.allocation import name_of
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.memref_views import Mixed
from xtile.semantics.upstream.numbers import POINTER, number_of
from xtile.semantics.values import Value

_UNBOUNDED = 2**62
"""Held as the size of a dimension of which none is known: no index in memory reaches it."""


def pointee_dtype(pointers: Attribute) -> np.dtype[Any]:
    """How numpy holds what pointers point to, from their type."""
    pointer = pointer_of(pointers)
    assert pointer is not None
    return number_of(pointer.pointee_type).dtype


def _pointer_add(operation: PointerAddOp, compiler: Compiler) -> Step:
    size = np.int64(pointee_dtype(operation.pointers.type).itemsize)
    number = number_of(operation.offsets.type)
    add, multiply = (integers.BINARY[name](POINTER) for name in ("addi", "muli"))

    def moved(pointers: Value, offsets: Value) -> Value:
        return add(pointers, multiply(number.signed(offsets).astype(np.int64), size))

    return apply(operation, compiler, moved)


def _same_address(operation: Operation, compiler: Compiler) -> Step:
    (source,), (result,) = compiler.slots(operation.operands), compiler.slots(operation.results)

    def step(state: State) -> None:
        state.values[result] = state.values[source]

    return step


def memory_at(state: State, addresses: Value, dtype: np.dtype[Any], mask: Mask) -> Memref:
    """The memory that pointers point to as memrefs without dimensions, where a mask is true.

    Raises:
        UnlocatedError: An address belongs to no memory, or lies between elements.
    """
    if mask is not None and not mask.any():
        return View(Buffer(np.empty(0, dtype), "nothing"), addresses * 0, (), ())
    return state.addresses.memory_at(addresses, dtype, mask)


def _view(operation: ViewOp, compiler: Compiler) -> Step:
    dtype = pointee_dtype(operation.pointer.type)
    pointer, result = compiler.slots((operation.pointer, operation.result))
    offsets, sizes, strides = (
        Mixed(static, compiler.slots(given))
        for static, given in (
            (operation.static_offsets, operation.offsets),
            (operation.static_sizes, operation.sizes),
            (operation.static_strides, operation.strides),
        )
    )
    unknown, name = operation.unknown_extents, name_of(operation.result)

    def shape(state: State) -> tuple[Index, ...]:
        known = sizes.numbers(state.values)
        return tuple(_UNBOUNDED if i in unknown else size for i, size in enumerate(known))

    def step(state: State) -> None:
        values = state.values
        address = as_index(values[pointer])
        (offset,) = offsets.numbers(values)
        extents, steps = shape(state), tuple(strides.numbers(values))

        def change(view: View, mask: Mask) -> View:
            return View(view.buffer, view.offset + offset, extents, steps)

        if isinstance(address, int) and address == 0:
            # Memory must be there only where it is accessed.
            null = Buffer(np.empty(0, dtype), name, is_null=True)
            memory: Memref = View(null, 0, (), ())
        else:
            memory = memory_at(state, address, dtype, state.mask)
        values[result] = transform(memory, change, state.mask)

    return step


HANDLERS: dict[str, Handler] = {
    IntegerToPointerOp.name: _same_address,
    PointerAddOp.name: _pointer_add,
    PointerCastOp.name: _same_address,
    PointerToIntegerOp.name: _same_address,
    ViewOp.name: _view,
}
"""The handler of each operation, by name."""
