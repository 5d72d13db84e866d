"""Masks, and the execution of operations under them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.upstream.elementwise import constant
from xtile.semantics.values import Value, choose
from xtile.semantics.vector import memory, products, reductions, transfers
from xtile.semantics.vector.arrays import AXES, along, numbers_in, shape_of, spread


def _constant_mask(operation: Operation, compiler: Compiler) -> Step:
    shape = shape_of(operation.results[0])
    sizes = numbers_in(operation, "mask_dim_sizes")
    if not shape:
        # A mask without dimensions has one number, which is its value.
        return constant(operation, compiler, np.full((1,) * AXES, sizes[0] == 1))
    mask = np.zeros((1,) * AXES + shape, np.bool_)
    mask[(..., *(slice(size) for size in sizes))] = True
    return constant(operation, compiler, mask)


def _create_mask(operation: Operation, compiler: Compiler) -> Step:
    slots = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    shape = shape_of(operation.results[0])
    rank = len(shape)
    # A mask without dimensions has one size too.
    numbers = [along(size, axis, rank) for axis, size in enumerate(shape)] or [np.int64(0)]

    def step(state: State) -> None:
        sizes = [spread(state.values[slot], rank) for slot in slots]
        conditions = [number < size for number, size in zip(numbers, sizes, strict=True)]
        state.values[result] = np.logical_and.reduce(np.broadcast_arrays(*conditions))

    return step


_MASKED: dict[str, Callable[..., Step]] = {
    **memory.MASKED,
    **products.MASKED,
    **reductions.MASKED,
    **transfers.MASKED,
}
"""What compiles an operation and the slot of its mask, by the operation's name."""


def _mask(operation: Operation, compiler: Compiler) -> Step:
    given = cast("Any", operation)
    block = operation.regions[0].blocks[0]
    masked = block.first_op
    if masked is None or masked.has_trait(IsTerminator):
        return _nothing_masked(operation, compiler)
    if masked.name not in _MASKED:
        raise ValueError(f"{masked.name} cannot be executed under a mask")
    compile_masked = _MASKED[masked.name]
    mask = compiler.slot(given.mask)
    if given.passthru is None:
        run = compile_masked(masked, compiler, mask)
    else:
        run = compile_masked(masked, compiler, mask, compiler.slot(given.passthru))
    made, results = compiler.slots(masked.results), compiler.slots(operation.results)

    def step(state: State) -> None:
        run(state)
        for result, value in zip(results, made, strict=True):
            state.values[result] = state.values[value]

    return step


def _nothing_masked(operation: Operation, compiler: Compiler) -> Step:
    """The results are what the region yields, and where the mask is not set what passes through."""
    given = cast("Any", operation)
    mask = compiler.slot(given.mask)
    other = None if given.passthru is None else compiler.slot(given.passthru)
    end = operation.regions[0].blocks[0].last_op
    yielded = compiler.slots(end.operands) if end is not None else ()
    results = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        for result, source in zip(results, yielded, strict=True):
            value: Value = values[source]
            values[result] = value if other is None else choose(values[mask], value, values[other])

    return step


HANDLERS: dict[str, Handler] = {
    "vector.constant_mask": _constant_mask,
    "vector.create_mask": _create_mask,
    "vector.mask": _mask,
}
"""The handler of each operation, by name."""
