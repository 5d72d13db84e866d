"""Loops of host code whose iterations do not depend on each other run at once.

Hosts fill and compare memory with loops over every element, often of millions. Such a loop runs in
lockstep, each iteration as a work-item of one subgroup, where no order of the iterations can show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from xtile.semantics.compiler import Body, Step
from xtile.semantics.memory import View
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import has_flag
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.upstream.scf import HANDLERS as SCF_HANDLERS
from xtile.semantics.values import is_array

if TYPE_CHECKING:
    from xtile.host.function import HostCompiler

_PURE_DIALECTS = ("arith", "complex", "index", "math")
"""The dialects whose operations compute each number on its own, and do nothing else."""

_CONTROL_FLOW = ("scf.for", "scf.if", "scf.yield")

_ACCESSES = {"memref.load": 0, "memref.store": 1}
"""The operations that access memory, and which operand is the memref; indices come after it."""

_AT_ONCE = 2**16
"""The largest number of iterations that run at once."""


@dataclass(frozen=True)
class _Access:
    """An access to memory in a loop.

    Attributes:
        memref: The memref.
        indices: The indices of the element.
        is_store: Whether it writes.
        is_repeated: Whether an iteration can run it more than once.
    """

    memref: SSAValue
    indices: tuple[SSAValue, ...]
    is_store: bool
    is_repeated: bool


def _for(operation: Operation, compiler: HostCompiler) -> Step:
    sequential = SCF_HANDLERS["scf.for"](operation, compiler)
    accesses = None if compiler.is_observed else _independent_accesses(operation, compiler)
    if accesses is None:
        return sequential
    compiler.lockstep.add(operation)
    slots = compiler.slots(operation.operands)
    variable = operation.regions[0].blocks[0].args[0]
    memory = _Memory(accesses, compiler)
    body = compiler.region(operation.regions[0])
    type_, target = number_of(variable.type), compiler.slot(variable)

    def step(state: State) -> None:
        bounds = [state.values[slot] for slot in slots]
        if any(map(is_array, bounds)) or bounds[2] < 1 or not memory.is_apart(state):
            sequential(state)
            return
        numbers = range(*map(int, bounds))
        for start in range(0, len(numbers), _AT_ONCE):
            chosen = numbers[start : start + _AT_ONCE]
            lanes = np.arange(chosen.start, chosen.stop, chosen.step)[np.newaxis]
            state.values[target] = type_.wrapped(lanes)
            _run_at_once(state, body, lanes.size)

    return step


def _run_at_once(state: State, body: Body, count: int) -> None:
    """Runs a body as the work-items of one subgroup."""
    before = state.rows, state.lanes, state.mask
    state.rows, state.lanes, state.mask = 1, count, None
    try:
        body.run(state)
    finally:
        state.rows, state.lanes, state.mask = before


def _independent_accesses(loop: Operation, compiler: HostCompiler) -> list[_Access] | None:
    """The accesses of a loop whose iterations may run at once; None for any other loop.

    Of several such loops in each other the innermost one is chosen.
    """
    if loop.results or has_flag(loop, "unsignedCmp"):
        return None
    accesses: list[_Access] = []
    for operation in _inner(loop):
        if operation in compiler.lockstep:
            return None
        if operation.name in _ACCESSES:
            access = _access(operation, loop)
            if _is_within(access.memref, loop):
                return None
            accesses.append(access)
        elif operation.dialect_name() not in _PURE_DIALECTS and operation.name not in _CONTROL_FLOW:
            return None
    variable = loop.regions[0].blocks[0].args[0]
    stored = {access.memref for access in accesses if access.is_store}
    for memref in stored:
        others = [access for access in accesses if access.memref is memref]
        is_alone = len(others) == 1 and not others[0].is_repeated
        if not is_alone and not _own_dimensions(others, variable):
            return None
    return accesses


def _inner(loop: Operation) -> Iterator[Operation]:
    return (operation for operation in loop.walk() if operation is not loop)


def _access(operation: Operation, loop: Operation) -> _Access:
    position = _ACCESSES[operation.name]
    memref, *indices = operation.operands[position:]
    around = operation.parent_op()
    is_repeated = False
    while around is not None and around is not loop:
        is_repeated = is_repeated or around.name == "scf.for"
        around = around.parent_op()
    return _Access(memref, tuple(indices), operation.name == "memref.store", is_repeated)


def _is_within(value: SSAValue, loop: Operation) -> bool:
    owner = value.owner
    around = owner if isinstance(owner, Operation) else owner.parent_op()
    return around is not None and loop.is_ancestor(around)


def _own_dimensions(accesses: Sequence[_Access], variable: SSAValue) -> list[int]:
    """The dimensions that all accesses index with the loop's variable alone.

    With one, each iteration has a part of the memref of its own.
    """
    rank = len(accesses[0].indices)
    return [
        dimension
        for dimension in range(rank)
        if all(access.indices[dimension] is variable for access in accesses)
    ]


class _Memory:
    """The memrefs of a loop, whose memory is known when it runs."""

    def __init__(self, accesses: Sequence[_Access], compiler: HostCompiler) -> None:
        stored = {access.memref for access in accesses if access.is_store}
        self._stored = compiler.slots(stored)
        self._loaded = compiler.slots({access.memref for access in accesses} - stored)

    def is_apart(self, state: State) -> bool:
        """Whether what is stored to overlaps neither itself nor any other memref."""
        stored = [state.values[slot] for slot in self._stored]
        loaded = [state.values[slot] for slot in self._loaded]
        if not all(isinstance(view, View) for view in (*stored, *loaded)):
            return False
        roots = {view.buffer.root for view in stored}
        return (
            len(roots) == len(stored)
            and roots.isdisjoint(view.buffer.root for view in loaded)
            and all(map(_has_no_overlaps, stored))
        )


def _has_no_overlaps(view: View) -> bool:
    """Whether different indices are different elements, because each stride is long enough."""
    dimensions = sorted(zip(view.strides, view.shape, strict=True), key=lambda pair: pair[0])
    least = 1
    for stride, size in dimensions:
        if stride < least and size > 1:
            return False
        least = max(least, stride * size)
    return True


HANDLERS: dict[str, Callable[[Any, Any], Step]] = {"scf.for": _for}
"""The handler of each operation, by name."""
