"""Loops of products: operands of the next iteration are loaded while those of this one are used.

    load the first operands, and write them to local memory
    for each iteration:
        load the operands of the next one, if there is one
        read those of this one from local memory
        multiply
        write what was loaded to local memory

What is loaded stays in registers meanwhile, so that local memory holds each operand once. Triton
places the barriers where its own passes would.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xtile.dialects.effects import changes_memory
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.triton.amdg.ops import BufferLoadOp
from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import DotOperandEncodingAttr
from xtile.dialects.triton.operation import encoding_of, with_element
from xtile.dialects.triton.tt.ops import LoadOp, SplatOp
from xtile.dialects.triton.ttg.ops import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalDeallocOp,
    LocalLoadOp,
    LocalStoreOp,
)
from xtile.dialects.walk import walk
from xtile.targets.target import Target
from xtile.translate.triton_to_amdg.staging import bytes_in, memory_of, to_write

_PURE = frozenset({"arith", "math"})
_PURE_OPERATIONS = frozenset(
    {
        "tt.addptr",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.make_range",
        "tt.splat",
        "ttg.convert_layout",
    }
)
"""What may be computed for the next iteration before its turn."""

_MOST_OPERATIONS = 200
"""The operations that are computed twice at most, for the loads of a loop."""


def pipeline_loops(function: Operation, chip: Target) -> None:
    """Lets the loops of a function load operands of products ahead, where they can be."""
    left = chip.local_memory
    for loop in [each for each in walk(function) if isinstance(each, scf.ForOp)]:
        # What an iteration writes, the next one may load.
        if any(changes_memory(each) or each.name == "tt.call" for each in walk(loop)):
            continue
        staged = _staged(loop)
        needed = sum(bytes_in(memory_of(each.load.results[0], each.operand)) for each in staged)
        if staged and needed <= left and UNSIGNED not in loop.properties:
            _Loop(loop, staged).pipeline()


@dataclass(frozen=True)
class _Staged:
    """A load whose result is an operand of products.

    Attributes:
        load: The load.
        uses: What makes the operand of it.
    """

    load: BufferLoadOp | LoadOp
    uses: list[ConvertLayoutOp]

    @property
    def operand(self) -> DotOperandEncodingAttr:
        """The layout of the operand."""
        found = encoding_of(self.uses[0].result.type)
        assert isinstance(found, DotOperandEncodingAttr)
        return found


def _staged(loop: scf.ForOp) -> list[_Staged]:
    """The loads of a loop that can be made an iteration before."""
    found: list[_Staged] = []
    for load in loop.body.block.ops:
        if not isinstance(load, BufferLoadOp | LoadOp):
            continue
        uses = [use.operation for use in load.result.uses]
        conversions = [use for use in uses if isinstance(use, ConvertLayoutOp)]
        is_blocked = isinstance(encoding_of(load.result.type), BlockedEncodingAttr)
        if not uses or len(conversions) < len(uses) or not is_blocked:
            continue
        layouts = {encoding_of(each.result.type) for each in conversions}
        operand = layouts.pop()
        if layouts or not isinstance(operand, DotOperandEncodingAttr):
            continue
        if _can_be_ahead(load, loop):
            found.append(_Staged(load, conversions))
    return found


def _can_be_ahead(load: Operation, loop: scf.ForOp) -> bool:
    """Whether what a load needs is known an iteration before."""
    block = loop.body.block
    last = block.last_op
    assert last is not None
    seen: set[SSAValue] = set()
    rest = list(load.operands)
    while rest:
        value = rest.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument) and value.block is block:
            if value.index > 0:
                rest.append(last.operands[value.index - 1])
            continue
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent is block:
            if not _is_pure(owner):
                return False
            rest += owner.operands
    return len(seen) <= _MOST_OPERATIONS


def _is_pure(operation: Operation) -> bool:
    is_number = operation.dialect_name() in _PURE and not operation.regions
    return is_number or operation.name in _PURE_OPERATIONS


@dataclass
class _Loop:
    """A loop that is rewritten.

    Attributes:
        loop: The loop.
        staged: The loads that are made an iteration before.
    """

    loop: scf.ForOp
    staged: list[_Staged]
    _copies: dict[tuple[str, SSAValue], SSAValue] = field(
        default_factory=dict[tuple[str, SSAValue], SSAValue]
    )

    def pipeline(self) -> None:
        """Rewrites the loop."""
        loop, block = self.loop, self.loop.body.block
        before = InsertPoint.before(loop)
        variable, last = block.args[0], block.last_op
        assert last is not None
        # Whether there is a first iteration, and a next one.
        is_first = self._insert(arith.CmpiOp(loop.lb, loop.ub, "slt"), before)
        first_op = block.first_op
        assert first_op is not None
        top = InsertPoint.before(first_op)
        following = self._insert(arith.AddiOp(variable, loop.step), top)
        has_next = self._insert(arith.CmpiOp(following, loop.ub, "slt"), top)
        self._copies["next", variable] = following
        self._copies["first", variable] = loop.lb
        for argument, initial, yielded in zip(
            block.args[1:], loop.iter_args, last.operands, strict=True
        ):
            self._copies["first", argument] = initial
            self._copies["next", argument] = yielded
        for staged in self.staged:
            memory = memory_of(staged.load.result, staged.operand)
            allocation = self._insert(LocalAllocOp(memory), before)
            self._write(self._load("first", staged, is_first, before), staged, allocation, before)
            ahead = self._load("next", staged, has_next, top)
            for use in staged.uses:
                read = LocalLoadOp(allocation, use.result.type)
                Rewriter.replace_op(use, read)
            self._write(ahead, staged, allocation, InsertPoint.before(last))
            Rewriter.erase_op(staged.load)
            self._insert_after(LocalDeallocOp(allocation))

    def _insert(self, operation: Operation, point: InsertPoint) -> SSAValue:
        operation.location = self.loop.location
        Rewriter.insert_op(operation, point)
        return operation.results[0]

    def _insert_after(self, operation: Operation) -> None:
        operation.location = self.loop.location
        Rewriter.insert_op(operation, InsertPoint.after(self.loop))

    def _write(
        self, value: SSAValue, staged: _Staged, memory: SSAValue, point: InsertPoint
    ) -> None:
        """Writes a loaded operand to local memory."""
        transposing = to_write(value, staged.operand)
        if transposing is not None:
            value = self._insert(transposing, point)
        store = LocalStoreOp(value, memory)
        store.location = self.loop.location
        Rewriter.insert_op(store, point)

    def _load(
        self, turn: str, staged: _Staged, condition: SSAValue, point: InsertPoint
    ) -> SSAValue:
        """The load of another iteration, if that is one.

        Args:
            turn: "first" or "next".
            staged: The load.
            condition: Whether there is such an iteration.
            point: Where it stands.
        """
        load = staged.load
        copy = {each: self._of(turn, each, point) for each in load.operands}
        type_ = with_element(load.result.type, i1)
        mask = self._insert(SplatOp(condition, type_), point)
        if load.mask is not None:
            mask = self._insert(arith.AndIOp(mask, copy[load.mask]), point)
        other = [] if load.other is None else [copy[load.other]]
        if isinstance(load, BufferLoadOp):
            places = [copy[load.ptr], copy[load.offsets]]
            stride = [] if load.stride is None else [copy[load.stride]]
            operands = [*places, stride, [mask], other]
        else:
            operands = [copy[load.ptr], [mask], other]
        made = type(load).build(
            operands=operands,
            properties={
                name: value
                for name, value in load.properties.items()
                if name != "operandSegmentSizes"
            },
            attributes=load.attributes.copy(),
            result_types=[load.result.type],
        )
        return self._insert(made, point)

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
