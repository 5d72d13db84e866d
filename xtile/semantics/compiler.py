"""Turns a function into closures, so that running an operation is one Python call.

Each operation is looked up once: its meaning, the types that select it, and the slots of its
operands and results. What remains for each execution is a function of the `State`.

How to give an operation a meaning:

- Its dialect has a row in `language._HANDLERS`, which names a module with a table `HANDLERS` from
  the operation's name to a `Handler`.
- The handler is called once with the operation and the `Compiler`. It asks for the slots of
  operands and results (`compiler.slots`), compiles regions (`compiler.region`), looks at attributes
  and types, and returns a `Step`. It raises `ValueError` or `UnlocatedError` for what cannot be
  executed at all, with a message that says what would be right.
- The step reads operands from `state.values` and writes results to it. `state.State` says what
  values look like. What is not active by `state.mask` must have no effect and cause no error; its
  results may be anything. A step raises `UnlocatedError`, which gets the operation's location.
- The last operation of a block, a terminator, needs no handler: its operands are what the block
  yields (`Body.yields`), for the operation around it to use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from xtile.semantics.capacity import TOO_LITTLE, check_values
from xtile.semantics.configuration import Configuration
from xtile.semantics.errors import ExecutionError, UnlocatedError
from xtile.semantics.interpretation import interpretation
from xtile.semantics.language import handler_of
from xtile.semantics.memory import Buffer
from xtile.semantics.state import State

Step: TypeAlias = Callable[[State], None]
"""Executes one operation."""

Handler: TypeAlias = Callable[[Any, "Compiler"], Step]
"""Compiles one operation."""

Instrument: TypeAlias = Callable[[Operation, Step, "Compiler"], Step]
"""Returns the step that is run instead of an operation's own, which it may run in turn."""


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
        yields: tuple[int, ...] = (),
        allocated: Iterable[tuple[Operation, int]] = (),
    ) -> None:
        self.operations = operations
        self.steps = steps
        self.yields = yields
        self.allocated = tuple(allocated)

    def run(self, state: State) -> None:
        """Executes the block.

        Raises:
            ExecutionError: An operation cannot be executed.
        """
        step: Step | None = None
        try:
            for step in self.steps:
                step(state)
        except UnlocatedError as error:
            raise self._located(step, str(error)) from None
        except MemoryError:
            raise self._located(step, TOO_LITTLE) from None
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
    """Compiles the blocks of one function and of the functions that it calls.

    Attributes:
        configuration: Sizes of subgroups and work-groups, and of the launch.
        is_observed: Whether the run will have an observer.
        functions: The bodies of the functions that are called; None while one is compiled.
        globals: The memory of global variables, by what declares it.
        instrument: What changes every step before it is run; None for nothing.
    """

    def __init__(self, configuration: Configuration, is_observed: bool) -> None:
        self.configuration = configuration
        self.is_observed = is_observed
        self.functions: dict[Operation, Body | None] = {}
        self.globals: dict[Operation, Buffer] = {}
        self.instrument: Instrument | None = None
        self._slots: dict[SSAValue, int] = {}
        self._allocated: list[tuple[Operation, int]] = []

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

    def ends_with_block(self, operation: Operation, memref: SSAValue) -> None:
        """Says that the memory of a memref lives to the end of the block that is compiled."""
        self._allocated.append((operation, self.slot(memref)))

    def region(self, region: Region) -> Body:
        """Compiles a region; an empty region does nothing.

        Raises:
            ExecutionError: An operation has no meaning, or there are several blocks that do not
                just follow each other.
        """
        if not region.blocks:
            return Body([], [])
        chain = _chain(region)
        if chain is None:
            around = region.parent
            assert around is not None
            raise ExecutionError(
                around,
                f"{around.name} has several blocks in a region, and branches between blocks cannot "
                "be executed; use the scf dialect's control flow",
            )
        return self._blocks(chain)

    def block(self, block: Block) -> Body:
        """Compiles a block.

        Raises:
            ExecutionError: An operation has no meaning.
        """
        return self._blocks([block])

    def _blocks(self, blocks: Sequence[Block]) -> Body:
        """Compiles blocks that are executed one after another."""
        operations: list[Operation] = []
        steps: list[Step] = []
        yields: tuple[int, ...] = ()
        around, self._allocated = self._allocated, []
        for block, following in zip(blocks, (*blocks[1:], None), strict=True):
            for operation in block.ops:
                if operation is block.last_op and operation.has_trait(IsTerminator):
                    yields = self.slots(operation.operands)
                    if following is not None:
                        operations.append(operation)
                        steps.append(self.passing(yields, self.slots(following.args)))
                    break
                operations.append(operation)
                steps.append(self._step(operation))
        body = Body(operations, steps, yields, self._allocated)
        self._allocated = around
        return body

    def passing(self, sources: Sequence[int], targets: Sequence[int]) -> Step:
        """The step that gives a block's arguments what the block before passes."""

        def step(state: State) -> None:
            passed = [state.values[source] for source in sources]
            for target, value in zip(targets, passed, strict=True):
                state.values[target] = value

        return step

    def handler(self, operation: Operation) -> Handler | None:
        """What compiles an operation; None if nothing does."""
        return handler_of(operation)

    def _step(self, operation: Operation) -> Step:
        handler = self.handler(operation)
        if handler is None:
            raise ExecutionError(operation, f"{operation.name} cannot be executed")
        try:
            check_values(operation)
            step = handler(operation, self)
            if self.instrument is not None:
                step = self.instrument(operation, step, self)
        except MemoryError as error:
            raise ExecutionError(operation, TOO_LITTLE) from error
        except (UnlocatedError, ValueError) as error:
            raise ExecutionError(operation, str(error)) from error
        current = interpretation()
        return step if current is None else current.step(step, self.slots(operation.results))


def _chain(region: Region) -> list[Block] | None:
    """The blocks of a region in the order in which they are executed, each of them once.

    None if a block can come more than once or not at all.
    """
    block = region.blocks[0]
    chain = {block: None}
    while block.last_op is not None and block.last_op.successors:
        block, *others = block.last_op.successors
        if others or block in chain:
            return None
        chain[block] = None
    return list(chain) if len(chain) == len(region.blocks) else None
