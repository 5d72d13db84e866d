"""What programs do with their warps: regions for some of them, barriers and hints.

A program acts as one here, so that barriers and hints do nothing, and what asks for the number of a
warp or of a work-item gets 0. An observer is told which warps wait at barriers for some of them.

Source: Triton 3.9, `TritonGPUOps.td`; for `amdg`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

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


_NUMBERS = ("rocdl.workitem.id.x", "ttg.warp_id")
"""What differs between the threads of a program."""


def _cond_barrier(operation: Any, compiler: Compiler) -> Step:
    """Some warps wait for each other, which orders no memory; an observer is told which do."""
    sizes = _module_sizes(operation)
    if not compiler.is_observed or sizes is None:
        return nothing(operation, compiler)
    warps, lanes = sizes
    threads = np.arange(warps * lanes, dtype=np.int32)
    varying = list(_varying(operation.pred, {}))
    given = {
        compiler.slot(each.results[0]): threads if each.name == _NUMBERS[0] else threads // lanes
        for each in varying
        if each.name in _NUMBERS
    }
    steps = [_step_of(each, compiler) for each in varying if each.name not in _NUMBERS]
    condition = compiler.slot(operation.pred)

    def step(state: State) -> None:
        if state.observer is None:
            return
        # The condition is computed again, for all threads at once.
        values, state.values = state.values, list(state.values)
        for slot, numbers in given.items():
            state.values[slot] = numbers
        for each in steps:
            each(state)
        arrives = np.broadcast_to(state.values[condition], threads.shape)
        state.values = values
        state.observer.on_partial_barrier(operation, arrives.reshape(warps, lanes))

    return step


def _module_sizes(operation: Operation) -> tuple[int, int] | None:
    """The warps of a program and the threads of a warp, as the module says."""
    module = operation.get_toplevel_object()
    attributes = module.attributes if isinstance(module, Operation) else {}
    names = ("ttg.num-warps", "ttg.threads-per-warp")
    given = [attributes.get(name) for name in names]
    sizes = [each.value.data for each in given if isinstance(each, IntegerAttr)]
    return (sizes[0], sizes[1]) if len(sizes) == len(names) else None


def _varying(value: SSAValue, known: dict[Operation, bool]) -> Iterator[Operation]:
    """The operations that make a value of numbers of threads, in their order."""
    operation = value.owner
    if not isinstance(operation, Operation) or operation in known:
        return
    before = [each for operand in operation.operands for each in _varying(operand, known)]
    owners = [each.owner for each in operation.operands]
    inner = any(isinstance(each, Operation) and known.get(each, False) for each in owners)
    known[operation] = operation.name in _NUMBERS or inner
    yield from before
    if known[operation]:
        yield operation


def _step_of(operation: Operation, compiler: Compiler) -> Step:
    handler = compiler.handler(operation)
    if handler is None:
        raise ValueError(f"{operation.name} cannot be executed")
    return handler(operation, compiler)


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
    "amdg.cond_barrier": _cond_barrier,
    "amdg.instruction_sched_hint": nothing,
    "ttg.barrier": nothing,
    "ttg.global_scratch_alloc": _global_scratch_alloc,
    "ttg.mask": _mask,
    "ttg.predicate_stage": _predicate_stage,
    "ttg.warp_id": _zero,
    "ttg.warp_specialize": _warp_specialize,
}
"""The handler of each operation, by name."""
