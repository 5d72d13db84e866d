"""How loops count: iterations where the number of a tile or the end of a type asks for it."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.indices import Index
from xtile.rewrite.ranges import may_wrap, range_of, width_of
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.types import INDEX


class LoopCounter:
    """The variable of a loop.

    A loop over indices with a known step counts its iterations, so that the number of a tile is a
    variable, and not a quotient. So does a loop whose variable might wrap around: the devices' loop
    would then never end.

    Attributes:
        lower: What the emitted loop starts with.
        upper: What its variable stays below.
        step: What is added to it.
        is_unsigned: Whether they have no sign.
    """

    def __init__(self, operation: scf.ForOp, lowering: TileLowering) -> None:
        self._lowering = lowering
        self._type = operation.lb.type
        self._has_sign = UNSIGNED not in operation.properties
        given = operation.lb, operation.ub, operation.step
        step = lowering.number(operation.step)
        by_tiles = isinstance(self._type, IndexType) and isinstance(step, int) and step > 1
        is_guarded = may_wrap(operation.ub, operation.step, is_unsigned=not self._has_sign)
        is_foreign = not (self._has_sign or lowering.HAS_UNSIGNED_LOOPS)
        self._counts = by_tiles or is_guarded or is_foreign
        self.is_unsigned = not (self._has_sign or self._counts)
        if not self._counts:
            self._first, self._last = map(lowering.number, given[:2])
            self.lower, self.upper, self.step = lowering.values(given)
            return
        self._first, self._last, self._factor = map(self._wide, given)
        length = range_of(operation.ub)[1] - range_of(operation.lb)[0]
        self._end = self._turns(may_overflow=not self._has_sign or length >= 1 << 63)
        self.lower, self.upper, self.step = map(lowering.as_value, (0, self._end, 1))

    def variable(self, argument: SSAValue) -> SSAValue:
        """What the loop's variable is, in its body."""
        lowering, facts = self._lowering, self._lowering.facts
        is_known = isinstance(self._type, IndexType) and self._has_sign
        if not self._counts:
            if is_known:
                facts.assume(argument, is_not_negative=facts.is_not_negative(self._first))
                facts.learn_bound(argument, self._last)
            return argument
        facts.assume(argument, is_not_negative=True)
        facts.learn_bound(argument, self._end)
        value = lowering.add(lowering.multiply(argument, self._factor), self._first)
        assert isinstance(value, SSAValue)
        value = lowering.resize(value, lowering.element_of(self._type))
        if not is_known:
            return value
        facts.assume(value, facts.divisor(value), facts.is_not_negative(self._first))
        facts.learn_bound(value, self._last)
        return value

    def _wide(self, old: SSAValue) -> Index:
        """A bound in 64 bits."""
        number = self._lowering.number(old)
        if isinstance(number, SSAValue):
            return self._lowering.resize(number, INDEX, self._has_sign)
        return number if self._has_sign else number % (1 << width_of(old))

    def _turns(self, may_overflow: bool) -> Index:
        """How many iterations there are; a number below 0 is none.

        Args:
            may_overflow: Whether the bounds may be 2^63 or more apart.
        """
        lowering, first, last, step = self._lowering, self._first, self._last, self._factor
        if isinstance(first, int) and isinstance(last, int) and isinstance(step, int):
            return -(-(last - first) // step)
        difference = lowering.subtract(last, first)
        if not may_overflow:
            return self._quotient(difference, step, is_signed=True)
        turns = self._quotient(difference, step, is_signed=False)
        some = lowering.pure_cmpi("slt" if self._has_sign else "ult", first, last)
        return lowering.select(some, lowering.as_value(turns), lowering.integer(0))

    def _quotient(self, a: Index, b: Index, *, is_signed: bool) -> Index:
        """The quotient, rounded up."""
        if b == 1:
            return a
        name = "ceildivsi" if is_signed else "ceildivui"
        return self._lowering.pure_arith(name, *map(self._lowering.as_value, (a, b)))
