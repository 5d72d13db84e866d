"""Branches and loops of many work-items at once: what these do differently, all do under masks.

Of a branch both sides are executed, each where its condition holds; a loop goes on as long as any
work-item does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.scf.loops import UNSIGNED, ForOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.facts import constant_of
from xtile.rewrite.ranges import may_wrap_together
from xtile.rewrite.rebuilder import RuleTable
from xtile.rewrite.tile_emitter import TileEmitter


class _HasParts(Protocol):
    @property
    def parts(self) -> tuple[SSAValue, ...]: ...


KernelT = TypeVar("KernelT", bound=TileEmitter)
ValueT = TypeVar("ValueT", bound=_HasParts)
"""What a value becomes that differs between work-items: it has an element for each."""


class Predication(ABC, Generic[KernelT, ValueT]):
    """Emits what many work-items do together, each operation for those that a mask selects.

    Args:
        kernel: The kernel that is built.

    Attributes:
        mask: Which work-items execute the current operation; None: all.
    """

    def __init__(self, kernel: KernelT) -> None:
        self.kernel = kernel
        self.mask: ValueT | None = None
        self._rules = RuleTable()

    def use(self, rule: Callable[[Operation, Any], None], *, keeps_rounding: bool = False) -> None:
        """Says what translates an operation.

        Args:
            rule: Takes the operation and this.
            keeps_rounding: Whether it knows the attributes that say how results are rounded.
        """
        self._rules = RuleTable(
            otherwise=lambda operation, _: rule(operation, self), keeps_rounding=keeps_rounding
        )

    def lift(self, operation: Operation) -> None:
        """Translates an operation of all work-items."""
        with self.kernel.using(self._rules):
            self.kernel.translate(operation)

    def lift_region(self, region: Region) -> Sequence[SSAValue]:
        """Translates the operations of a region in place; returns what it hands on at its end."""
        block = region.blocks.first
        if block is None:
            return ()
        for operation in block.ops:
            if operation.name not in _ENDS:
                self.lift(operation)
        return yielded(region)

    # --- what has become of the source ---

    @abstractmethod
    def is_varying(self, old: SSAValue) -> bool:
        """Whether a value of the source differs between work-items."""

    @abstractmethod
    def wide(self, old: SSAValue) -> ValueT:
        """What a value of the source is for all work-items."""

    @abstractmethod
    def define(self, old: SSAValue, new: ValueT) -> None:
        """Records what has become of a value that differs between work-items."""

    @abstractmethod
    def like(self, value: ValueT, old: SSAValue) -> ValueT:
        """A value in the form that a value of the source takes, which differs."""

    @abstractmethod
    def from_parts(self, old: SSAValue, parts: tuple[SSAValue, ...]) -> ValueT:
        """What has become of a value that differs, from its parts."""

    @abstractmethod
    def types_of(self, old: SSAValue) -> list[Attribute]:
        """The types of the parts of what a value of the source becomes."""

    # --- arithmetic ---

    @abstractmethod
    def same(self, value: SSAValue) -> ValueT:
        """A value that is the same for all."""

    @abstractmethod
    def number(self, number: float, type: Attribute) -> ValueT:
        """A number that is the same for all."""

    @abstractmethod
    def computed(
        self, kind: Callable[..., Operation], *operands: ValueT, type: Attribute | None = None
    ) -> ValueT:
        """An operation on each element of values of one part.

        Args:
            kind: Makes the operation from its operands, and the type of its result if it is given.
            operands: The values.
            type: The type of the elements of the result.
        """

    @abstractmethod
    def compared(self, predicate: str, a: ValueT, b: ValueT) -> ValueT:
        """An integer comparison such as `slt`."""

    @abstractmethod
    def select(self, condition: ValueT, a: ValueT, b: ValueT) -> ValueT:
        """`a` where a condition holds, `b` elsewhere."""

    @abstractmethod
    def largest(self, value: ValueT) -> SSAValue:
        """The largest of the signed integers of all work-items."""

    def least(self, value: ValueT) -> SSAValue | None:
        """The least of the signed integers of all work-items, if that needs no look at each."""
        return None

    def both(self, a: ValueT, b: ValueT) -> ValueT:
        """Where two conditions hold."""
        return self.computed(arith.AndIOp, a, b)

    def negated(self, condition: ValueT) -> ValueT:
        """Where a condition does not hold."""
        return self.computed(arith.XOrIOp, condition, self.number(1, i1))

    def converted(self, value: ValueT, type: Attribute) -> ValueT:
        """Signed integers in another type, one of which is index."""
        if value_type(value.parts[0].type) == type:
            return value
        return self.computed(IndexCastOp, value, type=type)

    # --- masks ---

    @contextmanager
    def under(self, condition: ValueT) -> Generator[None]:
        """What only those work-items execute for which a condition holds."""
        before = self.mask
        self.mask = condition if before is None else self.both(before, condition)
        try:
            yield
        finally:
            self.mask = before

    def executing(self) -> ValueT | None:
        """The work-items that execute the current operation; None: all."""
        return self.mask

    def chosen_by(self, condition: ValueT, result: SSAValue) -> ValueT:
        """What decides which side of a branch a result is of."""
        return condition

    def bounds(self, loop: scf.ForOp) -> Sequence[SSAValue]:
        """The bounds of a loop in which they are the same for all."""
        return self.kernel.values((loop.lb, loop.ub, loop.step))

    # --- values that regions hand on ---

    def carried(self, old: Iterable[SSAValue], as_: Iterable[SSAValue]) -> list[SSAValue]:
        """The parts of values that become others, which may differ where they do not."""
        result: list[SSAValue] = []
        for value, target in zip(old, as_, strict=False):
            if self.is_varying(target):
                result += self.like(self.wide(value), target).parts
            else:
                result.append(self.kernel.value(value))
        return result

    def adopt(
        self,
        old: Sequence[SSAValue],
        parts: Iterable[SSAValue],
        forms: Sequence[SSAValue] | None = None,
    ) -> None:
        """Says what values of the source are, which are handed on as their parts.

        Args:
            old: The values.
            parts: The parts of all of them.
            forms: The values in whose form each is handed on; None: in their own.
        """
        given = iter(parts)
        for value, form in zip(old, forms or old, strict=True):
            own = tuple(next(given) for _ in self.types_of(form))
            if self.is_varying(form):
                self.define(value, self.like(self.from_parts(form, own), value))
            else:
                self.kernel.define(value, own[0])


_ENDS = frozenset({"core.yield", "gpu.return", "scf.condition", "scf.yield"})


def yielded(region: Region) -> Sequence[SSAValue]:
    """What a region hands on at its end."""
    last = region.block.last_op
    return () if last is None or last.results else last.operands


# --- branches ---


def branch(operation: scf.IfOp, at: Predication[Any, Any]) -> None:
    """A branch on a condition that differs executes both sides."""
    if not at.is_varying(operation.cond):
        _either(operation, at)
        return
    condition = at.wide(operation.cond)
    with at.under(condition):
        chosen = at.lift_region(operation.true_region)
    others: Sequence[SSAValue] = ()
    if operation.false_region.blocks.first is not None:
        with at.under(at.negated(condition)):
            others = at.lift_region(operation.false_region)
    for result, a, b in zip(operation.results, chosen, others, strict=False):
        decides = at.chosen_by(condition, result)
        merged = at.select(decides, at.wide(a), at.wide(b))
        at.define(result, at.like(merged, result))


def _either(operation: scf.IfOp, at: Predication[Any, Any]) -> None:
    kernel, regions = at.kernel, list[Region]()
    for region in operation.regions:
        if region.blocks.first is None:
            regions.append(Region())
            continue
        block = Block()
        with kernel.at_end_of(block):
            ends = at.lift_region(region)
            kernel.emit(scf.YieldOp(*at.carried(ends, operation.results)))
        regions.append(Region(block))
    types = [type_ for result in operation.results for type_ in at.types_of(result)]
    if_true, if_false = regions
    new = scf.IfOp(kernel.value(operation.cond), types, if_true, if_false)
    new.attributes |= operation.attributes
    at.adopt(operation.results, kernel.emit(new).results)


# --- counted loops ---


def loop(operation: scf.ForOp, at: Predication[Any, Any]) -> None:
    """A loop whose bounds differ runs as often as for any work-item."""
    if any(map(at.is_varying, (operation.lb, operation.ub, operation.step))):
        _longest(operation, at)
        return
    kernel = at.kernel
    index, *handed = operation.body.block.args
    initial = at.carried(operation.iter_args, handed)
    block = Block(arg_types=[index.type, *(value.type for value in initial)])
    kernel.define(index, block.args[0])
    at.adopt(handed, block.args[1:])
    with kernel.at_end_of(block):
        ends = at.lift_region(operation.body)
        kernel.emit(scf.YieldOp(*at.carried(ends, handed)))
    first, last, step = at.bounds(operation)
    new = ForOp(first, last, step, initial, Region(block))
    new.properties |= operation.properties
    new.attributes |= operation.attributes
    at.adopt(operation.results, kernel.emit(new).results, handed)


def _longest(operation: scf.ForOp, at: Predication[Any, ValueT]) -> None:
    """All take as many turns as any; in turn t those act that have more than t of them.

    Where it is known which one begins first, its bounds are those of all.
    """
    kernel = at.kernel
    if UNSIGNED in operation.properties:
        raise kernel.error(
            "bounds without a sign cannot differ between work-items; use signed ones"
        )
    index, *handed = operation.body.block.args
    first, last, step = (at.wide(v) for v in (operation.lb, operation.ub, operation.step))
    bounds = operation.lb, operation.ub, operation.step
    is_exact = not any(map(at.is_varying, bounds[1:])) and not may_wrap_together(*bounds)
    begin = at.least(first) if is_exact and (constant_of(operation.step) or 0) > 0 else None
    turns = _turns(at, first, last, step) if begin is None else first
    if begin is None:
        common = kernel.index(0), at.largest(turns), kernel.index(1)
    else:
        common = begin, kernel.value(operation.ub), kernel.value(operation.step)
    initial = at.carried(operation.iter_args, handed)
    block = Block(arg_types=[common[0].type, *(value.type for value in initial)])
    block.args[0].name_hint = "turn"
    at.adopt(handed, block.args[1:])
    before = [at.wide(value) for value in handed]
    with kernel.at_end_of(block):
        turn = at.same(block.args[0])
        if begin is None:
            moved = at.computed(arith.MuliOp, at.converted(turn, index.type), step)
            value = at.computed(arith.AddiOp, first, moved)
        elif constant_of(begin) == 0:
            value = at.computed(arith.AddiOp, first, turn)
        else:
            distance = at.computed(arith.SubiOp, first, at.same(begin))
            value = at.computed(arith.AddiOp, distance, turn)
        at.define(index, at.like(value, index))
        acts = at.compared("slt", value, last) if is_exact else at.compared("slt", turn, turns)
        with at.under(acts):
            ends = at.lift_region(operation.body)
        after = [at.select(acts, at.wide(end), was) for end, was in zip(ends, before, strict=True)]
        pairs = zip(after, handed, strict=True)
        kernel.emit(scf.YieldOp(*(part for new, old in pairs for part in at.like(new, old).parts)))
    new = ForOp(*common, initial, Region(block))
    at.adopt(operation.results, kernel.emit(new).results, handed)


def _turns(at: Predication[Any, ValueT], first: ValueT, last: ValueT, step: ValueT) -> ValueT:
    """How many turns each work-item takes, as index; those that do not act take none.

    The bounds may lie further apart than their type reaches, so the distance has no sign.
    """
    first, last, step = (at.converted(bound, IndexType()) for bound in (first, last, step))
    nothing, one = (at.number(number, IndexType()) for number in (0, 1))
    positive = at.computed(arith.MaxSIOp, step, one)
    length = at.computed(arith.SubiOp, last, first)
    turns = at.computed(arith.CeilDivUIOp, length, positive)
    turns = at.select(at.compared("sle", last, first), nothing, turns)
    executing = at.executing()
    return turns if executing is None else at.select(executing, turns, nothing)
