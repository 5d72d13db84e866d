"""Loops of host code whose iterations do not depend on each other run at once.

Hosts fill and compare memory with loops over every element, often of millions. Such a loop runs in
lockstep, each iteration as a work-item of one subgroup, where no order of the iterations can show.
A long one is a kernel of the device that runs the host's kernels, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from xtile.host.launches import LaunchSizes, launch_here
from xtile.host.loop_kernels import BLOCK, Intervals, is_within, kernel_of, ranges_of, steps_of
from xtile.host.memory import uniform, writable
from xtile.rewrite.facts import constant_of
from xtile.semantics.compiler import Body, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import View, uniform_integers
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import has_flag
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.upstream.scf import HANDLERS as SCF_HANDLERS
from xtile.semantics.values import is_array
from xtile.text.diagnostics import DiagnosticError

if TYPE_CHECKING:
    from xtile.host.function import HostCompiler

_PURE_DIALECTS = ("arith", "complex", "index", "math")
"""The dialects whose operations compute each number on its own, and do nothing else."""

_CONTROL_FLOW = ("scf.for", "scf.if", "scf.yield")

_ACCESSES = {"memref.load": 0, "memref.store": 1}
"""The operations that access memory, and which operand is the memref; indices come after it."""

_AT_ONCE = 2**16
"""The largest number of iterations that run at once."""

_WORTH_WHILE = 32
"""How many iterations of a loop run at once rather than those of the loops within.

Of several loops in each other the innermost one that can be is chosen, with the one around it if
nothing else is in that one; unless a loop beside it runs in order: then it is the outer one, so
that this loop's iterations are fewer.
"""

_LONG = 2**28
"""How many operations of a loop take longer in numpy than a device takes to compile it."""


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
    if operation in compiler.flattened:
        return compiler.region(operation.regions[0]).run
    if compiler.is_at_once:
        return SCF_HANDLERS["scf.for"](operation, compiler)
    around = compiler.is_on_device
    on_device = None if around else _on_device(operation, compiler)
    compiler.is_on_device = around or on_device is not None
    here = _here(operation, compiler)
    compiler.is_on_device = around
    if on_device is None:
        return here

    def step(state: State) -> None:
        if not on_device(state):
            here(state)

    return step


def _here(operation: Operation, compiler: HostCompiler) -> Step:
    """Runs a loop in numpy, at once where its iterations are independent."""
    sequential = SCF_HANDLERS["scf.for"](operation, compiler)
    accesses = None if compiler.is_observed else _independent_accesses(operation)
    if accesses is None:
        return sequential
    inner = {each for each in _inner(operation) if each.name == "scf.for"}
    loops = _nest(operation)
    is_nest = len(loops) > 1 and all(_has_own_part(loop, accesses) for loop in loops)
    if not is_nest or compiler.lockstep & inner.difference(loops):
        loops = [operation]
        if compiler.lockstep & inner and all(
            _is_at_once(each, operation, compiler) for each in inner
        ):
            return sequential
    least = _WORTH_WHILE if compiler.lockstep & inner.difference(loops) else 0
    compiler.lockstep.add(operation)
    return _at_once(loops, _Memory(accesses, compiler), least, sequential, compiler)


def _at_once(
    loops: Sequence[Operation],
    memory: _Memory,
    least: int,
    sequential: Step,
    compiler: HostCompiler,
) -> Step:
    """Runs all iterations of a loop, or of two loops, at once if there are enough of them."""
    compiler.is_at_once, compiler.flattened = True, loops[1:]
    body = compiler.region(loops[0].regions[0])
    compiler.is_at_once, compiler.flattened = False, ()
    variables = [loop.regions[0].blocks[0].args[0] for loop in loops]
    targets = [(number_of(each.type), compiler.slot(each)) for each in variables]
    bounds = [[(each, compiler.slot(each)) for each in loop.operands] for loop in loops]

    def step(state: State) -> None:
        ranges = [_range(each, state) for each in bounds]
        counts = [0 if each is None else len(each) for each in ranges]
        if None in ranges or prod(counts) < least or not memory.is_apart(state):
            sequential(state)
            return
        for start in range(0, prod(counts), _AT_ONCE):
            lanes = np.arange(start, min(start + _AT_ONCE, prod(counts)))[np.newaxis]
            rest = lanes
            for numbers, (type_, target) in zip(reversed(ranges), reversed(targets), strict=True):
                assert numbers is not None
                rest, position = np.divmod(rest, len(numbers))
                state.values[target] = type_.wrapped(position * numbers.step + numbers.start)
            _run_at_once(state, body, lanes.size)

    return step


def _range(bounds: Sequence[tuple[SSAValue, int]], state: State) -> range | None:
    """The numbers of a loop's variable; None where they differ, or there is no end of them."""
    given: list[int] = []
    for bound, slot in bounds:
        constant = constant_of(bound)
        number = state.values[slot] if constant is None else constant
        if is_array(number):
            return None
        given.append(int(number))
    return range(*given) if given[2] > 0 else None


def _is_at_once(inner: Operation, loop: Operation, compiler: HostCompiler) -> bool:
    """Whether a loop within another one, or one around it within that, runs at once."""
    around: Operation | None = inner
    while around is not None and around is not loop:
        if around in compiler.lockstep:
            return True
        around = around.parent_op()
    return False


def _run_at_once(state: State, body: Body, count: int) -> None:
    """Runs a body as the work-items of one subgroup."""
    before = state.rows, state.lanes, state.mask
    state.rows, state.lanes, state.mask = 1, count, None
    try:
        body.run(state)
    finally:
        state.rows, state.lanes, state.mask = before


def _independent_accesses(loop: Operation) -> list[_Access] | None:
    """The accesses of a loop whose iterations may run at once; None for any other loop."""
    if loop.results or has_flag(loop, "unsignedCmp"):
        return None
    accesses: list[_Access] = []
    for operation in _inner(loop):
        if operation.name in _ACCESSES:
            access = _access(operation, loop)
            if is_within(access.memref, loop):
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


def _own_dimensions(accesses: Sequence[_Access], variable: SSAValue) -> list[int]:
    """The dimensions that all accesses index with the loop's variable, from one and the same place.

    With one, each iteration has a part of the memref of its own.
    """
    rank = len(accesses[0].indices)
    return [
        dimension
        for dimension in range(rank)
        if len({_origin(access.indices[dimension], variable) for access in accesses} - {None}) == 1
        and all(_origin(access.indices[dimension], variable) is not None for access in accesses)
    ]


def _origin(index: SSAValue, variable: SSAValue) -> SSAValue | None:
    """What an index is beside the loop's variable: the variable itself, or what is added to it.

    None for any other index, which two iterations may have in common.
    """
    if index is variable:
        return variable
    owner = index.owner
    if not isinstance(owner, arith.AddiOp) or not isinstance(index.type, IndexType):
        return None
    loop = variable.owner.parent_op() if isinstance(variable.owner, Block) else None
    assert loop is not None
    others = [operand for operand in owner.operands if operand is not variable]
    return others[0] if len(others) == 1 and not is_within(others[0], loop) else None


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


# --- on the device that runs the host's kernels ---


def _on_device(operation: Operation, compiler: HostCompiler) -> Callable[[State], bool] | None:
    """What runs a loop as a kernel if it is long, and says whether it did; None if none can."""
    if compiler.is_observed or compiler.launcher is launch_here:
        return None
    accesses = _independent_accesses(operation)
    if accesses is None:
        return None
    for loops in (_nest(operation), [operation]):
        if all(_has_own_part(loop, accesses) for loop in loops):
            return _OnDevice(loops, accesses, compiler).run
    return None


def _nest(loop: Operation) -> list[Operation]:
    """A loop, and the one within it if there is nothing but numbers beside that one."""
    inner = [each for each in loop.regions[0].blocks[0].ops if each.regions]
    if len(inner) != 1 or inner[0].name != "scf.for" or inner[0].results:
        return [loop]
    if has_flag(inner[0], "unsignedCmp"):
        return [loop]
    beside = [each for each in loop.regions[0].blocks[0].ops if each.name in _ACCESSES]
    bounds = inner[0].operands
    is_known = not any(is_within(each, loop) and constant_of(each) is None for each in bounds)
    return [loop, inner[0]] if is_known and not beside else [loop]


def _has_own_part(loop: Operation, accesses: Sequence[_Access]) -> bool:
    """Whether iterations store to parts of memory of their own, so that no order can show."""
    variable = loop.regions[0].blocks[0].args[0]
    stored = {access.memref for access in accesses if access.is_store}
    return isinstance(variable.type, IndexType) and all(
        _own_dimensions([each for each in accesses if each.memref is memref], variable)
        for memref in stored
    )


class _OnDevice:
    """Loops that a device runs if they are long."""

    def __init__(
        self, loops: Sequence[Operation], accesses: Sequence[_Access], compiler: HostCompiler
    ) -> None:
        self._loops = loops
        self._accesses = [(access, compiler.slot(access.memref)) for access in accesses]
        self._memory = _Memory(accesses, compiler)
        self._launcher = compiler.launcher
        self._slots = {
            operand: compiler.slot(operand)
            for each in loops[0].walk()
            for operand in each.operands
            if isinstance(operand.type, IndexType) and not is_within(operand, loops[0])
        }
        self._kernel = kernel_of(loops)
        captured = () if self._kernel is None else self._kernel.captured
        self._captured = compiler.slots(captured)

    def run(self, state: State) -> bool:
        """Runs the loops, if they are long and stay inside of their memory."""
        kernel = self._kernel
        if kernel is None:
            return False
        values = state.values
        known = {value: int(uniform(values[slot])) for value, slot in self._slots.items()}
        ranges = ranges_of(self._loops, known)
        if ranges is None or steps_of(self._loops[0], ranges) < _LONG:
            return False
        numbers_of = Intervals(known, ranges)
        if not self._memory.is_apart(state) or not self._is_inside(state, numbers_of):
            return False
        own = [ranges[loop.regions[0].blocks[0].args[0]] for loop in self._loops]
        arguments = [values[slot] for slot in self._captured]
        arguments += [np.int64(each) for numbers in own for each in (numbers.start, numbers.step)]
        arguments.append(np.int64(len(own[-1])))
        sizes = LaunchSizes(kernel.grid([len(numbers) for numbers in own]), (BLOCK, 1, 1), 0)
        try:
            self._launcher(kernel.function, arguments, sizes, state)
        except (DiagnosticError, UnlocatedError):
            # What the device cannot compile is not tried again.
            self._kernel = None
            return False
        return True

    def _is_inside(self, state: State, numbers_of: Intervals) -> bool:
        """Whether each access is known to stay inside of memory that is there."""
        for access, slot in self._accesses:
            view: View = state.values[slot]
            try:
                _ = writable(view) if access.is_store else view.array()
            except UnlocatedError:
                return False
            shape = uniform_integers(view.shape)
            inside = zip(access.indices, shape, strict=True)
            if not all(numbers_of.is_inside(index, size) for index, size in inside):
                return False
        return True


HANDLERS: dict[str, Callable[[Any, Any], Step]] = {"scf.for": _for}
"""The handler of each operation, by name."""
