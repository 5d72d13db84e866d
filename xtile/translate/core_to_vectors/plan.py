"""What is decided of a kernel's tiles before code is emitted.

A tile that one operation uses, in the block where it is made, is computed where it is used: a chain
of elementwise operations becomes one loop. Every other tile is stored, in memory that is given
back after its last use. If a reduction of rows uses it first, the reduction's loop stores it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from xtile.dialects.core.subgroup import MapOp
from xtile.translate.core_to_vectors import kinds
from xtile.translate.core_to_vectors.streaming import tells_others


@dataclass(frozen=True)
class Plan:
    """The decisions for one kernel.

    Attributes:
        tiles: The vectors that belong to subgroups.
        deferred: The operations whose tile is computed where it is used.
        stored_by: For an operation whose tile is stored while it is reduced, that reduction.
        released: The tiles that nobody needs any more once an operation is done.
        targets: For a tile that a loop hands on, the variable of the loop whose memory it takes.
        tells_others: Whether others may learn from the kernel that it has stored something.
    """

    tiles: frozenset[SSAValue] = frozenset()
    deferred: set[Operation] = field(default_factory=set[Operation])
    stored_by: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    released: dict[Operation, list[SSAValue]] = field(
        default_factory=dict[Operation, list[SSAValue]]
    )
    targets: dict[SSAValue, BlockArgument] = field(default_factory=dict[SSAValue, BlockArgument])
    tells_others: bool = True


def plan_of(function: Operation, tiles: frozenset[SSAValue]) -> Plan:
    """Plans a kernel, of which these vectors belong to subgroups."""
    if not tiles:
        return Plan()
    planner = _Planner(Plan(tiles, tells_others=tells_others(function)))
    blocks = [
        block
        for operation in function.walk()
        if not isinstance(operation, MapOp)
        for region in operation.regions
        for block in region.blocks
    ]
    for block in blocks:
        planner.number(block)
    for block in blocks:
        planner.plan_block(block)
    return planner.plan


class _Planner:
    """Plans the blocks of a kernel."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._numbers: dict[Operation, int] = {}
        self._needed: dict[SSAValue, int] = {}

    def number(self, block: Block) -> None:
        """Counts the operations of a block."""
        for number, operation in enumerate(block.ops):
            self._numbers[operation] = number

    def plan_block(self, block: Block) -> None:
        """Decides for the tiles that a block makes, from the last to the first."""
        operations = list(block.ops)
        for operation in reversed(operations):
            for result in operation.results:
                if self._is_tile(result):
                    self._decide(operation, result, operations)
        for argument in block.args:
            if self._is_tile(argument):
                self._needed[argument] = self._last_need(argument)
        self._release(block, operations)
        self._share(block)

    def _is_tile(self, value: SSAValue) -> bool:
        return value in self.plan.tiles

    def _decide(self, operation: Operation, result: SSAValue, operations: list[Operation]) -> None:
        self._needed[result] = self._last_need(result)
        if not kinds.is_deferrable(operation) or not result.uses:
            return
        if not _is_used_once_here(operation, result):
            first = operations[self._first_need(result)]
            if kinds.is_reduction_of_rows(first, result) and self._can_wait(
                operation, first, operations
            ):
                self.plan.stored_by[operation] = first
            return
        user = next(use.operation for use in result.uses)
        last = operations[self._needed[result]]
        if not kinds.repeats(user) and self._can_wait(operation, last, operations):
            self.plan.deferred.add(operation)

    def _can_wait(self, operation: Operation, user: Operation, operations: list[Operation]) -> bool:
        """Whether an operation computes the same when another one of its block is executed."""
        between = operations[self._numbers[operation] + 1 : self._numbers[user]]
        return not kinds.reads_memory(operation) or not (
            any(map(kinds.has_effects, between)) or kinds.overwrites(user, operation)
        )

    def _first_need(self, value: SSAValue) -> int:
        """The number of the operation in the value's block that reads it first."""
        block = _block_of(value)
        return min(self._numbers[_ancestor_in(block, use.operation)] for use in value.uses)

    def _last_need(self, value: SSAValue) -> int:
        """The number of the operation in the value's block that reads it last."""
        block = _block_of(value)
        last = (
            -1
            if isinstance(value, BlockArgument)
            else self._numbers[cast("Operation", value.owner)]
        )
        for use in value.uses:
            user = use.operation
            around = _ancestor_in(block, user)
            last = max(last, self._numbers[self.plan.stored_by.get(around, around)])
            if around is user and (user in self.plan.deferred or kinds.is_view(user)):
                last = max(last, *(self._needed.get(result, -1) for result in user.results))
        return last

    def _release(self, block: Block, operations: list[Operation]) -> None:
        results = (result for operation in operations for result in operation.results)
        for value in (*block.args, *results):
            if self._is_tile(value) and self._needed[value] >= 0:
                self.plan.released.setdefault(operations[self._needed[value]], []).append(value)

    # --- tiles that a loop hands on ---

    def _share(self, block: Block) -> None:
        """Lets tiles of a loop's next iteration take the memory of the last one's."""
        loop, end = block.parent_op(), block.last_op
        if not isinstance(loop, scf.ForOp) or end is None:
            return
        for value, argument in zip(end.operands, block.args[1:], strict=True):
            made_by = value.owner
            if not isinstance(made_by, Operation) or not self._is_tile(value):
                continue
            if made_by.parent is not block or not kinds.is_stored(made_by):
                continue
            if list(end.operands).count(value) > 1 or self._computed_by(value) is not None:
                continue
            if self._is_free_for(made_by, argument):
                self.plan.targets[value] = argument

    def _is_free_for(self, operation: Operation, argument: SSAValue) -> bool:
        """Whether nobody needs a tile when an operation writes its result in its position."""
        number = self._numbers[operation]
        needed = self._needed[argument]
        if needed != number:
            return needed < number
        return self._reads_in_place(operation, argument)

    def _reads_in_place(self, operation: Operation, argument: SSAValue) -> bool:
        """Whether an operation reads each component of a tile only for its own in that position."""
        aligned = kinds.aligned_operands(operation)
        for operand in operation.operands:
            if operand is argument:
                if operand not in aligned:
                    return False
                continue
            made_by = self._computed_by(operand)
            if made_by is None:
                continue
            if operand in aligned:
                if not self._reads_in_place(made_by, argument):
                    return False
            elif self._depends(made_by, argument):
                return False
        return True

    def _depends(self, operation: Operation, argument: SSAValue) -> bool:
        """Whether a tile that is computed where it is used is computed from another one."""
        for operand in operation.operands:
            made_by = self._computed_by(operand)
            if operand is argument or (made_by is not None and self._depends(made_by, argument)):
                return True
        return False

    def _computed_by(self, value: SSAValue) -> Operation | None:
        """What computes a tile later than where it is made; None for others."""
        owner = value.owner
        if not isinstance(owner, Operation):
            return None
        is_late = owner in self.plan.deferred or owner in self.plan.stored_by
        return owner if is_late or kinds.is_view(owner) else None


def _is_used_once_here(operation: Operation, result: SSAValue) -> bool:
    """Whether one operation of its block uses a tile, each component of it at once."""
    users: list[Operation] = [use.operation for use in result.uses]
    return (
        users[0].parent is operation.parent
        and all(user is users[0] for user in users)
        and (len(users) == 1 or kinds.is_elementwise(users[0]))
    )


def _block_of(value: SSAValue) -> Block:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None
    return block


def _ancestor_in(block: Block, operation: Operation) -> Operation:
    """The operation of a block that is or holds another one."""
    while operation.parent is not block:
        around = operation.parent_op()
        assert around is not None
        operation = around
    return operation
