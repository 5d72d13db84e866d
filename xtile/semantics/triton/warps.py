"""What programs do with their warps: regions for some of them, barriers and hints.

A program acts as one here, so that barriers and hints do nothing, and what asks for the number of a
warp or of a work-item gets 0.

Source: Triton 3.9, `TritonGPUOps.td`; for `amdg`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Buffer
from xtile.semantics.state import State
from xtile.semantics.triton.programs import nothing
from xtile.semantics.triton.tensors import integer_property, number_in
from xtile.semantics.unspecified import copy
from xtile.semantics.upstream.allocation import name_of, undefined
from xtile.semantics.upstream.constants import filled
from xtile.semantics.upstream.elementwise import constant


def _zero(operation: Any, compiler: Compiler) -> Step:
    return constant(operation, compiler, number_in(operation.results[0]).number(0))


def _warp_specialize(operation: Any, compiler: Compiler) -> Step:
    """The regions are run one after another: nothing here lets one wait for another."""
    default, holder = operation.regions
    (partitions,) = holder.blocks[0].ops
    captures = compiler.slots(partitions.operands or operation.operands)
    body, results = compiler.region(default), compiler.slots(operation.results)
    others = [
        (compiler.slots(region.blocks[0].args), compiler.region(region))
        for region in partitions.regions
    ]

    def step(state: State) -> None:
        body.run(state)
        copy(state, body.yields, results)
        for arguments, other in others:
            copy(state, captures, arguments)
            other.run(state)

    return step


def _mask(operation: Any, compiler: Compiler) -> Step:
    """Runs a region if a condition holds; else nothing is known of the results."""
    condition, results = compiler.slot(operation.pred), compiler.slots(operation.results)
    body = compiler.region(operation.regions[0])
    types = [result.type for result in operation.results]

    def step(state: State) -> None:
        if state.values[condition]:
            body.run(state)
            copy(state, body.yields, results)
            return
        for slot, type_ in zip(results, types, strict=True):
            state.values[slot] = filled(type_, 0xFF)

    return step


def _predicate_stage(operation: Any, compiler: Compiler) -> Step:
    """Whether a stage of a pipelined loop still has an iteration to do."""
    iv, ub, step_ = compiler.slots((operation.iv, operation.ub, operation.step))
    result = compiler.slot(operation.result)
    later = integer_property(operation, "maxStage") - integer_property(operation, "stage")

    def step(state: State) -> None:
        values = state.values
        last = int(values[ub]) - int(values[step_]) * later
        values[result] = np.bool_(int(values[iv]) < last)

    return step


def _global_scratch_alloc(operation: Any, compiler: Compiler) -> Step:
    """Global memory of the program's own."""
    result, name = compiler.slot(operation.result), name_of(operation.result)
    count = integer_property(operation, "nbytes")

    def step(state: State) -> None:
        buffer = Buffer(undefined(count, np.dtype(np.uint8)), name, is_initialized=False)
        if state.observer is not None:
            state.observer.on_alloca(operation, buffer)
        state.values[result] = np.int64(state.addresses.address_of(buffer))

    return step


HANDLERS: dict[str, Handler] = {
    "amdg.cond_barrier": nothing,
    "amdg.instruction_sched_hint": nothing,
    "ttg.barrier": nothing,
    "ttg.global_scratch_alloc": _global_scratch_alloc,
    "ttg.mask": _mask,
    "ttg.predicate_stage": _predicate_stage,
    "ttg.warp_id": _zero,
    "ttg.warp_specialize": _warp_specialize,
}
"""The handler of each operation, by name."""
