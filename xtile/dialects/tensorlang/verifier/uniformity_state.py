"""What is known about the uniformity of a value.

Facts are cautious: a value varies only where it certainly does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from xdsl.ir import Operation

from xtile.dialects.tensorlang.verifier.samples import Samples


class Fact(IntEnum):
    """What is known about a value or a condition; a larger fact hides a smaller one."""

    UNIFORM = 0
    UNKNOWN = 1
    VARYING = 2


@dataclass(frozen=True, slots=True)
class State:
    """What is known about one value.

    Attributes:
        within: Whether it differs between the work-items of a subgroup.
        between: Whether it differs between the subgroups of a work-group.
        samples: Its values, where they are known; a uniform value may have some, too.
        origin: The instruction that made it vary.
    """

    within: Fact
    between: Fact
    samples: Samples | None = None
    origin: Operation | None = None

    @property
    def is_uniform(self) -> bool:
        """Whether all work-items of a work-group certainly have the same value."""
        return self.within is self.between is Fact.UNIFORM

    @property
    def varies(self) -> bool:
        """Whether not all work-items of a work-group have the same value."""
        return Fact.VARYING in (self.within, self.between)


UNIFORM = State(Fact.UNIFORM, Fact.UNIFORM)
UNKNOWN = State(Fact.UNKNOWN, Fact.UNKNOWN)
SAME_IN_SUBGROUP = State(Fact.UNIFORM, Fact.UNKNOWN)


def sampled(samples: Samples, origin: Operation | None) -> State:
    """The state of a value whose first values are known."""
    within = _sampled_fact(samples, samples.differ_within, samples.depends_on_lane)
    between = _sampled_fact(samples, samples.differ_between, samples.axis is not None)
    return State(within, between, samples, origin)


def _sampled_fact(samples: Samples, differ: bool, may_differ: bool) -> Fact:
    if differ:
        return Fact.VARYING
    return Fact.UNKNOWN if may_differ and not samples.is_complete else Fact.UNIFORM


def combined(states: Sequence[State], preserves: bool) -> State:
    """The state of a result that depends on values with these states.

    `preserves` says that another operand, beside uniform ones, gives another result.
    """
    within = _combined_fact([state.within for state in states], preserves)
    between = _combined_fact([state.between for state in states], preserves)
    return State(within, between, None, origin_of(states))


def _combined_fact(facts: Sequence[Fact], preserves: bool) -> Fact:
    varying = facts.count(Fact.VARYING)
    # Two varying operands may cancel each other.
    if Fact.UNKNOWN in facts or varying > 1 or (varying == 1 and not preserves):
        return Fact.UNKNOWN
    return Fact.VARYING if varying else Fact.UNIFORM


def merged(condition: State, yielded: Sequence[State]) -> State:
    """The state of a value that comes from one of several regions."""
    within = _merged_fact(condition.within, [state.within for state in yielded])
    between = _merged_fact(condition.between, [state.between for state in yielded])
    return State(within, between, None, origin_of(yielded))


def _merged_fact(condition: Fact, yielded: Sequence[Fact]) -> Fact:
    return yielded[0] if condition is Fact.UNIFORM and len(set(yielded)) == 1 else Fact.UNKNOWN


def origin_of(states: Iterable[State]) -> Operation | None:
    """The first of the instructions that made these values vary."""
    return next((state.origin for state in states if state.origin is not None), None)
