"""Named barriers, fences and hints, and what changes only how a vector is spread.

Work-items run in lockstep, so that a barrier has nothing to wait for. It is checked that all
threads have arrived where one waits, because on a device the thread would go on waiting.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `alloc_nbarrier`, `init_nbarrier`,
`nbarrier_arrive`, `nbarrier_wait`, `fence` and `convert_layout`; RFC, `compile_hint`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from xtile.dialects.xegpu.ops.barriers import (
    AllocNbarrierOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
)
from xtile.dialects.xegpu.ops.convert_layout import ConvertLayoutOp
from xtile.dialects.xegpu.rfc.operations import CreateNbarrierOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Buffer
from xtile.semantics.state import State, merged, per_row
from xtile.semantics.values import Value

_ARRIVALS = "named barriers"
"""What the numbers of arrivals are found under in the work-group's memory."""

_LARGEST_COUNT = 256
"""How many barriers an i8 can name."""


@dataclass(frozen=True, slots=True)
class NamedBarrier:
    """A named barrier as threads, which are subgroups, see it.

    Attributes:
        number: Its number in the work-group, for each row.
        threads: How many threads take part, for each row; 0 if that is not checked.
    """

    number: Value
    threads: Value

    def merged(self, mask: npt.NDArray[np.bool_], other: NamedBarrier) -> NamedBarrier:
        """This barrier where the mask is set, `other` elsewhere."""
        return NamedBarrier(
            merged(mask, self.number, other.number), merged(mask, self.threads, other.threads)
        )


def _arrivals(state: State) -> npt.NDArray[np.int64]:
    """How many threads have arrived at each barrier since the work-group began."""
    if _ARRIVALS not in state.shared:
        counts = np.zeros(_LARGEST_COUNT, np.int64)
        state.shared[_ARRIVALS] = Buffer(counts, _ARRIVALS, is_local=True)
    return state.shared[_ARRIVALS].data


def _rows(value: Value, state: State) -> npt.NDArray[np.int64]:
    """A value of the active subgroups, one number for each."""
    numbers = np.broadcast_to(per_row(value, state), (state.rows, 1))[:, 0].astype(np.int64)
    active = state.active_rows()
    return numbers if active is None else numbers[active]


def _unsigned(value: Value) -> Value:
    """An i8 as a number from 0 to 255."""
    return value & np.int64(_LARGEST_COUNT - 1)


def _init_nbarrier(operation: InitNbarrierOp, compiler: Compiler) -> Step:
    number, threads, result = compiler.slots(
        (operation.nbarrier_id, operation.participant_thread_num, operation.result)
    )
    allocated = _allocated(operation)

    def step(state: State) -> None:
        barrier = NamedBarrier(_unsigned(state.values[number]), _unsigned(state.values[threads]))
        wrong = [name for name in _rows(barrier.number, state) if name >= allocated]
        if wrong:
            raise UnlocatedError(
                f"there is no named barrier {wrong[0]}: alloc_nbarrier allocates {allocated}, "
                "which are counted from 0"
            )
        if 0 in _rows(barrier.threads, state):
            raise UnlocatedError("a named barrier for 0 threads; at least 1 must take part")
        state.values[result] = barrier

    return step


def _allocated(operation: Operation) -> int:
    """How many barriers the function of an operation allocates; any number if it does not."""
    root: Operation = operation
    while root.parent_op() is not None and root.name not in ("gpu.func", "func.func"):
        parent = root.parent_op()
        assert parent is not None
        root = parent
    counts = [
        allocation.nbarrier_num.value.data
        for allocation in root.walk()
        if isinstance(allocation, AllocNbarrierOp)
    ]
    return max(counts, default=_LARGEST_COUNT)


def _create_nbarrier(operation: CreateNbarrierOp, compiler: Compiler) -> Step:
    """A barrier with producers and consumers, of which only its number is known here."""
    number, result = compiler.slots((operation.nbarrier_id, operation.result))

    def step(state: State) -> None:
        state.values[result] = NamedBarrier(_unsigned(state.values[number]), np.int64(0))

    return step


def _arrive(operation: NbarrierArriveOp, compiler: Compiler) -> Step:
    slot = compiler.slot(operation.nbarrier)

    def step(state: State) -> None:
        barrier: NamedBarrier = state.values[slot]
        np.add.at(_arrivals(state), _rows(barrier.number, state), 1)

    return step


def _wait(operation: NbarrierWaitOp, compiler: Compiler) -> Step:
    slot = compiler.slot(operation.nbarrier)

    def step(state: State) -> None:
        barrier: NamedBarrier = state.values[slot]
        arrivals = _arrivals(state)
        numbers, threads = _rows(barrier.number, state), _rows(barrier.threads, state)
        for number, count in {*zip(numbers.tolist(), threads.tolist(), strict=True)}:
            arrived = int(arrivals[number])
            if count and (arrived == 0 or arrived % count):
                raise UnlocatedError(
                    f"the wait for named barrier {number} would not end: {arrived % count} of "
                    f"{count} threads have arrived"
                )
        if state.observer is not None:
            # Others may wait for another barrier; what is told here is the order of memory.
            state.observer.on_barrier(operation, np.ones(state.shape, np.bool_), True, True)

    return step


def _nothing(operation: Operation, compiler: Compiler) -> Step:
    """Memory is in order, and hints change nothing."""
    return lambda state: None


def _convert_layout(operation: ConvertLayoutOp, compiler: Compiler) -> Step:
    """The vector stays the same; only who holds which part of it changes."""
    source, result = compiler.slots((operation.source, operation.result))

    def step(state: State) -> None:
        state.values[result] = state.values[source]

    return step


HANDLERS: dict[str, Handler] = {
    "xegpu.alloc_nbarrier": _nothing,
    "xegpu.compile_hint": _nothing,
    "xegpu.convert_layout": _convert_layout,
    "xegpu.create_nbarrier": _create_nbarrier,
    "xegpu.fence": _nothing,
    "xegpu.init_nbarrier": _init_nbarrier,
    "xegpu.mfence": _nothing,
    "xegpu.nbarrier_arrive": _arrive,
    "xegpu.nbarrier_wait": _wait,
}
"""The handler of each operation, by name."""
