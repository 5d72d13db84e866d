"""Where a work-group must wait, so that every work-item sees what the others have written.

The rule stands in docs/core-form-levels.md, section "Barriers".
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.ir import Operation, Region

from xtile.dialects.core.subgroup import ParallelOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.transforms.distribute.effects import Access, accesses, accesses_of_work_items

State: TypeAlias = frozenset[Access]
"""What may have been done since the last barrier."""

_NOTHING: State = frozenset()


def place_barriers(function: FuncOp, is_work_of_first: bool = False) -> frozenset[Operation]:
    """The operations of collective code that a barrier must precede.

    Args:
        function: The block-level kernel.
        is_work_of_first: Whether work-item 0 alone does the linear algebra.
    """
    return frozenset(_Placement(is_work_of_first).of_region(function.body, _NOTHING)[1])


class _Placement:
    """Follows what has been done since the last barrier through collective code."""

    def __init__(self, is_work_of_first: bool) -> None:
        self._is_work_of_first = is_work_of_first
        # Loops are followed for several states, and so would those in them for many.
        self._known: dict[tuple[scf.ForOp, State], tuple[State, set[Operation]]] = {}

    def of_region(self, region: Region, state: State) -> tuple[State, set[Operation]]:
        """The state after a region, and the operations in it that need a barrier."""
        found: set[Operation] = set()
        block = region.blocks.first
        if block is None:
            return state, found
        for operation in block.ops:
            state, more = self.of_operation(operation, state)
            found |= more
        return state, found

    def of_operation(self, operation: Operation, state: State) -> tuple[State, set[Operation]]:
        """The state after an operation, and the operations that need a barrier."""
        if isinstance(operation, BarrierOp):
            return _NOTHING, set()
        if isinstance(operation, scf.IfOp):
            return self._of_branches(operation, state)
        if isinstance(operation, scf.ForOp):
            return self._of_loop(operation, state)
        before, after = self._sides(operation)
        if any(new.conflicts_with(old) for new in before for old in state):
            return after if after is not None else before, {operation}
        return after if after is not None else state | before, set()

    def _of_branches(self, operation: scf.IfOp, state: State) -> tuple[State, set[Operation]]:
        then, found = self.of_region(operation.true_region, state)
        otherwise, more = self.of_region(operation.false_region, state)
        return then | otherwise, found | more

    def _of_loop(self, operation: scf.ForOp, state: State) -> tuple[State, set[Operation]]:
        """A loop, which waits before it starts if only what happened before it makes it wait."""
        if (operation, state) not in self._known:
            alone, needed = self._around(operation, _NOTHING)
            result, found = self._around(operation, state)
            if found - needed:
                result, found = alone, needed | {operation}
            self._known[operation, state] = result, found
        return self._known[operation, state]

    def _around(self, operation: scf.ForOp, state: State) -> tuple[State, set[Operation]]:
        """Repeats the body until what comes around the back edge is known already."""
        entry = state
        while True:
            around, found = self.of_region(operation.body, entry)
            if around <= entry:
                return state | around, found
            entry |= around

    def _sides(self, operation: Operation) -> tuple[State, State | None]:
        """What an operation does before its first barrier, and after its last if it has one.

        Only barriers that all work-items of a parallel region reach count: those in its own block.
        """
        if not isinstance(operation, ParallelOp):
            return accesses(operation, self._is_work_of_first), None
        block = operation.body.block
        if not any(isinstance(nested, BarrierOp) for nested in block.ops):
            return accesses(operation), None
        before: set[Access] = set()
        after: set[Access] = set()
        has_waited = False
        for nested in block.ops:
            if isinstance(nested, BarrierOp):
                has_waited = True
                after = set()
                continue
            (after if has_waited else before).update(accesses_of_work_items(nested))
        return frozenset(before), frozenset(after)
