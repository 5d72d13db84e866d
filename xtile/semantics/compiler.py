"""Turns a function into closures, so that running an instruction is one Python call.

Each instruction is looked up once: its meaning, the types that select it, and the slots of its
operands and results. What remains for each execution is a function of the `State`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.tensorlang.ops.collective import AllocaOp
from xtile.dialects.tensorlang.ops.control import YieldOp
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixOperation
from xtile.dialects.tensorlang.types import CoopmatrixType
from xtile.semantics.configuration import Configuration
from xtile.semantics.errors import ExecutionError, UnlocatedError
from xtile.semantics.instructions.events import require_converged
from xtile.semantics.state import State

Step: TypeAlias = Callable[[State], None]
"""Executes one instruction."""

Handler: TypeAlias = Callable[[Any, "Compiler"], Step]
"""Compiles one instruction."""


class Body:
    """A compiled block.

    Attributes:
        yields: The slots of the yielded values.
    """

    __slots__ = ("allocated", "operations", "steps", "yields")

    def __init__(
        self,
        operations: list[Operation],
        steps: list[Step],
        yields: tuple[int, ...],
        allocated: list[tuple[Operation, int]],
    ) -> None:
        self.operations = operations
        self.steps = steps
        self.yields = yields
        self.allocated = allocated

    def run(self, state: State) -> None:
        """Executes the block.

        Raises:
            ExecutionError: An instruction cannot be executed.
        """
        step: Step | None = None
        try:
            for step in self.steps:
                step(state)
        except UnlocatedError as error:
            raise self._located(step, str(error)) from None
        except OverflowError:
            # Numbers that all work-items share have no width while they are added up.
            message = "a size, an index or a number of iterations does not fit into 64 bits"
            raise self._located(step, message) from None
        if state.observer is not None:
            for operation, slot in self.allocated:
                state.observer.on_lifetime_stop(operation, state.values[slot].buffer)

    def _located(self, step: Step | None, message: str) -> ExecutionError:
        assert step is not None
        return ExecutionError(self.operations[self.steps.index(step)], message)


class Compiler:
    """Compiles the blocks of one function.

    Attributes:
        configuration: Sizes of subgroups and work-groups, and of the launch.
        is_observed: Whether the run will have an observer.
    """

    def __init__(
        self,
        handlers: dict[type[Operation], Handler],
        configuration: Configuration,
        is_observed: bool,
    ) -> None:
        self.configuration = configuration
        self.is_observed = is_observed
        self._handlers = handlers
        self._slots: dict[SSAValue, int] = {}

    @property
    def slot_count(self) -> int:
        """The number of slots given out so far."""
        return len(self._slots)

    def slot(self, value: SSAValue) -> int:
        """The slot of a value."""
        return self._slots.setdefault(value, len(self._slots))

    def slots(self, values: Iterable[SSAValue]) -> tuple[int, ...]:
        """The slots of several values."""
        return tuple(self.slot(value) for value in values)

    def region(self, region: Region) -> Body:
        """Compiles a region of one block; an empty region does nothing."""
        block = region.blocks.first
        return Body([], [], (), []) if block is None else self.block(block)

    def block(self, block: Block) -> Body:
        """Compiles a block.

        Raises:
            ExecutionError: An instruction has no meaning.
        """
        operations: list[Operation] = []
        steps: list[Step] = []
        yields: tuple[int, ...] = ()
        allocated: list[tuple[Operation, int]] = []
        for operation in block.ops:
            if isinstance(operation, YieldOp):
                yields = self.slots(operation.values)
                break
            if isinstance(operation, AllocaOp):
                allocated.append((operation, self.slot(operation.result)))
            operations.append(operation)
            steps.append(self._step(operation))
        return Body(operations, steps, yields, allocated)

    def _step(self, operation: Operation) -> Step:
        handler = self._handlers.get(type(operation))
        if handler is None:
            raise ExecutionError(operation, f"{operation.name} cannot be executed")
        try:
            step = handler(operation, self)
        except (UnlocatedError, ValueError) as error:
            raise ExecutionError(operation, str(error)) from error
        return _together(operation, step) if self.is_observed and _is_joint(operation) else step


def _is_joint(operation: Operation) -> bool:
    """Whether the work-items of a subgroup must execute an instruction together."""
    types = (*operation.operand_types, *operation.result_types)
    return isinstance(operation, CooperativeMatrixOperation) or any(
        isinstance(type_, CoopmatrixType) for type_ in types
    )


def _together(operation: Operation, step: Step) -> Step:
    """`step`, which an observer can see parts of a subgroup execute."""

    def observed(state: State) -> None:
        require_converged(state, operation)
        step(state)

    return observed
