"""Loads of a loop in other iterations than the one that runs: the first, and the next one."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xtile.dialects.triton.amdg.ops import BufferLoadOp
from xtile.dialects.triton.operation import with_element
from xtile.dialects.triton.tt.ops import LoadOp, SplatOp


class Operands(NamedTuple):
    """What a load is given in another iteration.

    Attributes:
        address: The pointers, or one pointer and the offsets.
        mask: Where it loads: nowhere, if there is no such iteration.
        other: What it gives elsewhere, if it says so.
        stride: The stride of a buffer, if it says so.
    """

    address: list[SSAValue]
    mask: SSAValue
    other: list[SSAValue]
    stride: list[SSAValue]


class Turns:
    """The iterations of a loop, at the top of which values of the next one are computed.

    Args:
        loop: The loop.

    Attributes:
        loop: The same.
    """

    def __init__(self, loop: scf.ForOp) -> None:
        self.loop = loop
        self._copies: dict[tuple[str, SSAValue], SSAValue] = {}
        block = loop.body.block
        variable, last, first = block.args[0], block.last_op, block.first_op
        assert last is not None
        assert first is not None
        self._first_operation = first
        is_first = self.insert(arith.CmpiOp(loop.lb, loop.ub, "slt"), self.before)
        following = self.insert(arith.AddiOp(variable, loop.step), self.top)
        has_next = self.insert(arith.CmpiOp(following, loop.ub, "slt"), self.top)
        self._conditions = {"first": is_first, "next": has_next}
        self._copies["next", variable] = following
        self._copies["first", variable] = loop.lb
        for argument, initial, yielded in zip(
            block.args[1:], loop.iter_args, last.operands, strict=True
        ):
            self._copies["first", argument] = initial
            self._copies["next", argument] = yielded

    @property
    def before(self) -> InsertPoint:
        """Before the loop."""
        return InsertPoint.before(self.loop)

    @property
    def top(self) -> InsertPoint:
        """At the top of an iteration, behind what was inserted there already."""
        return InsertPoint.before(self._first_operation)

    @property
    def end(self) -> InsertPoint:
        """At the end of an iteration."""
        last = self.loop.body.block.last_op
        assert last is not None
        return InsertPoint.before(last)

    def insert(self, operation: Operation, point: InsertPoint) -> SSAValue:
        """The first result of an operation that is inserted."""
        operation.location = self.loop.location
        Rewriter.insert_op(operation, point)
        return operation.results[0]

    def erase(self, operation: Operation) -> None:
        """Erases an operation of the loop, of which the first one tells where the top ends."""
        if operation is self._first_operation:
            following = operation.next_op
            assert following is not None, "a terminator stands behind it"
            self._first_operation = following
        Rewriter.erase_op(operation)

    def insert_after(self, operation: Operation) -> None:
        """Inserts an operation behind the loop."""
        operation.location = self.loop.location
        Rewriter.insert_op(operation, InsertPoint.after(self.loop))

    def operands(self, turn: str, load: BufferLoadOp | LoadOp) -> Operands:
        """What a load is given in an iteration, computed before the loop or at its top.

        Args:
            turn: "first" or "next".
            load: The load.
        """
        point = self.before if turn == "first" else self.top
        copy = {each: self._of(turn, each, point) for each in load.operands}
        type_ = with_element(load.result.type, i1)
        mask = self.insert(SplatOp(self._conditions[turn], type_), point)
        if load.mask is not None:
            mask = self.insert(arith.AndIOp(mask, copy[load.mask]), point)
        other = [] if load.other is None else [copy[load.other]]
        if isinstance(load, LoadOp):
            return Operands([copy[load.ptr]], mask, other, [])
        stride = [] if load.stride is None else [copy[load.stride]]
        return Operands([copy[load.ptr], copy[load.offsets]], mask, other, stride)

    def point(self, turn: str) -> InsertPoint:
        """Where what belongs to another iteration is inserted."""
        return self.before if turn == "first" else self.top

    def _of(self, turn: str, value: SSAValue, point: InsertPoint) -> SSAValue:
        """What a value is in another iteration, computed before the point."""
        block = self.loop.body.block
        if isinstance(value, BlockArgument) and value.block is block:
            if turn == "this":
                return value
            there = self._copies[turn, value]
            # What this iteration hands on to the next one is computed at the top once more.
            is_handed_on = turn == "next" and value.index > 0
            return self._of("this", there, point) if is_handed_on else there
        owner = value.owner
        if isinstance(owner, Block) or owner.parent is not block:
            return value
        key = turn, value
        if key not in self._copies:
            operands = [self._of(turn, each, point) for each in owner.operands]
            made = owner.clone()
            made.operands = operands
            Rewriter.insert_op(made, point)
            for old, new in zip(owner.results, made.results, strict=True):
                self._copies[turn, old] = new
        return self._copies[key]
