"""Follows elements that nothing specifies to where they matter.

A load leaves elements unspecified that it does not reach, if it has no padding, and so does MLIR's
`ub.poison`, and a cast to integers what is out of their range. When a launch is observed, a value
that depends on such elements has variants: what it would be if other numbers stood in their place.
Operations are run on the variants of their operands, too. Where no variant of a result differs from
the result, nothing unspecified is left in it. So a `select` that masks an element ends it, and no
operation needs a rule of its own.

Nothing is followed through memory, or through loads at places that are unspecified themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from typing_extensions import override
from xdsl.ir import Operation, SSAValue

from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.errors import ExecutionError, UnlocatedError
from xtile.semantics.promises import element_position
from xtile.semantics.state import State, merged
from xtile.semantics.upstream.casts import is_outside
from xtile.semantics.upstream.numbers import Kind, Number
from xtile.semantics.values import Array, Value, contiguous, with_axes

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Variants:
    """What a value would be if other numbers stood in the place of those that are unspecified.

    Attributes:
        values: The value with each of several numbers in their place.
        origins: The operations that left elements unspecified.
    """

    values: tuple[Value, ...]
    origins: tuple[Operation, ...]


ALL = ...
"""Chooses all elements of a tile."""

STORED = "what is stored"

TO_INTEGERS = frozenset({"arith.fptosi", "arith.fptoui", "cuda_tile.ftoi"})
"""Casts of floating numbers to integers, which leave unspecified what is out of range."""

_COUNT = 3

_LARGE_EXPONENTS = {64: 40, 32: 40, 19: 40, 16: 10, 8: 4, 6: 1, 4: 1}
"""Exponents of numbers of each width that are large, but whose sums and products are finite."""


def _substitutes(number: Number) -> tuple[Value, ...]:
    """Numbers to put in the place of what is unspecified, which is held with all bits set.

    A large one shows in maxima, a negative one in minima, and a small one in what overflows.
    """
    if number.kind is Kind.INTEGER:
        large = 2 ** max(0, number.bits - 2)
        return tuple(number.number(each) for each in (large + 2, -large, 0 if large == 1 else 2))
    large = 2.0 ** _LARGE_EXPONENTS[number.bits]
    if number.kind is Kind.COMPLEX:
        return tuple(number.number(complex(each, each)) for each in (large, -large, 0.5))
    return tuple(number.number(each) for each in (large, -large, 0.5))


def leave_unspecified(
    state: State, operation: Operation, slot: int, number: Number, missing: Array
) -> None:
    """Says which elements of a result are unspecified.

    Args:
        state: What runs.
        operation: The operation.
        slot: Where the result is.
        number: What numbers it holds.
        missing: Whether each element is unspecified; of the result's shape.
    """
    value = state.values[slot]
    variants = [_replaced(value, missing, each) for each in _substitutes(number)]
    _keep(state, slot, variants, (operation,))


def pad_with(state: State, source: int, slot: int, missing: Array) -> None:
    """Says that the missing elements of a result are those of another value."""
    found = _known(state).get(source)
    if found is None:
        forget(state, slot)
        return
    value = state.values[slot]
    shape = np.shape(value)
    variants = [
        _replaced(value, missing, np.broadcast_to(each, shape)[missing]) for each in found.values
    ]
    _keep(state, slot, variants, found.origins)


def forget(state: State, slot: int) -> None:
    """Says that all of a result is specified."""
    _known(state).pop(slot, None)


def copy(state: State, sources: Sequence[int], targets: Sequence[int]) -> None:
    """Copies values between slots, all at once: a target may be a source, too."""
    values = state.values
    if state.unspecified:
        move(state, sources, targets)
    for slot, value in zip(targets, [values[slot] for slot in sources], strict=True):
        values[slot] = value


def move(state: State, sources: Sequence[int], targets: Sequence[int]) -> None:
    """Says that values go from slots to others, all at once."""
    known = _known(state)
    moved = [known.get(source) for source in sources]
    for target, variants in zip(targets, moved, strict=True):
        if variants is None:
            known.pop(target, None)
        else:
            known[target] = variants


def merge(state: State, sources: Sequence[int], targets: Sequence[int], active: BoolArray) -> None:
    """Says that the active work-items' values go from slots to others, before they do."""
    known, values = _known(state), state.values
    moved = [known.get(source) for source in sources]
    given = [values[source] for source in sources]
    for target, value, variants in zip(targets, given, moved, strict=True):
        old = known.get(target)
        if variants is None and old is None:
            continue
        new_values = (value,) * _COUNT if variants is None else variants.values
        old_values = (values[target],) * _COUNT if old is None else old.values
        both = [merged(active, *each) for each in zip(new_values, old_values, strict=True)]
        origins = tuple(each for one in (old, variants) if one is not None for each in one.origins)
        value = merged(active, value, values[target])
        _keep(state, target, both, tuple(dict.fromkeys(origins)), value)


def comes_of(state: State, slot: int, operation: Operation) -> None:
    """Says that what is unspecified in a result comes of the operation itself."""
    known = _known(state)
    if slot in known:
        known[slot] = Variants(known[slot].values, (operation,))


def reach(
    state: State,
    operation: Operation,
    slot: int | None,
    what: str,
    chosen: Any = ALL,
    where: Value = None,
) -> None:
    """Tells the observer if an operation depends on something unspecified.

    Args:
        state: What runs.
        operation: The operation.
        slot: The operand; None: there is none.
        what: What it is: `the condition`.
        chosen: The elements of the operand that matter, as an index of it.
        where: Which of them do, as an array that can be broadcast with it; None: all.
    """
    found = None if slot is None else _known(state).get(slot)
    if slot is None or found is None or state.observer is None:
        return
    differs = _differs(state.values[slot], found.values)
    matters = np.zeros(differs.shape, np.bool_)
    matters[chosen] = True
    matters &= differs
    for mask in (where, state.mask):
        if mask is not None and matters.ndim:
            matters = matters & with_axes(mask, matters.ndim - np.ndim(mask))
    if matters.any():
        own = np.unravel_index(int(matters.argmax()), matters.shape)[_axes(operation) :]
        shape = matters.shape[_axes(operation) :]
        position = element_position(int(np.ravel_multi_index(own, shape)) if shape else 0, shape)
        of = "" if position == "the value" else f"{position} of "
        message = f"{of}{what} depends on an element that is unspecified"
        state.observer.on_unspecified(operation, message, found.origins)


def reach_positions(state: State, operation: Operation, pointers: int, mask: int | None) -> None:
    """Tells the observer if where an operation accesses memory depends on something unspecified."""
    reach(state, operation, mask, "the mask")
    chosen = ALL if mask is None else np.asanyarray(state.values[mask])
    reach(state, operation, pointers, "the pointer", chosen)


def _axes(operation: Operation) -> int:
    """The axes of a value before its own: rows and lanes, which tiles have not."""
    return 0 if operation.dialect_name() in _OF_TILES else 2


_OF_TILES = ("amdg", "cuda_tile", "tt", "ttg")
"""The dialects of programs on tiles or tensors."""


def _known(state: State) -> dict[int, Variants]:
    return {} if state.unspecified is None else state.unspecified


def _replaced(value: Value, missing: Array, new: Any) -> Value:
    copy = np.array(value)
    copy[missing] = new
    return copy[()]


def _differs(value: Value, variants: Sequence[Value]) -> BoolArray:
    """Which elements are not the same in all variants; a NaN is the same as itself."""
    differs = np.zeros(np.shape(value), np.bool_)
    is_number = np.equal(value, value)
    for each in variants:
        differs |= np.not_equal(value, each) & (is_number | np.equal(each, each))
    return differs


def _keep(
    state: State,
    slot: int,
    variants: Sequence[Value],
    origins: tuple[Operation, ...],
    value: Value = None,
) -> None:
    known = _known(state)
    if _differs(state.values[slot] if value is None else value, variants).any():
        known[slot] = Variants(tuple(variants), origins)
    else:
        known.pop(slot, None)


class FollowingCompiler(Compiler, ABC):
    """Compiles a function so that what is unspecified is followed while it runs.

    Attributes:
        sinks: Operations that say where control goes or where memory is, or print, and what they
            are given.
        bounds: How many operands of such an operation that is; all, where nothing is said.
        follow_themselves: Operations whose own handlers call the functions of this module.
    """

    sinks: ClassVar[Mapping[str, str]] = {}
    bounds: ClassVar[Mapping[str, int]] = {}
    follow_themselves: ClassVar[frozenset[str]] = frozenset()

    @override
    def passing(self, sources: Sequence[int], targets: Sequence[int]) -> Step:
        return lambda state: copy(state, sources, targets)

    @override
    def _step(self, operation: Operation) -> Step:
        return self.following(operation, super()._step(operation))

    def following(self, operation: Operation, step: Step) -> Step:
        """`step`, and what follows it."""
        name = operation.name
        if name in self.sinks:
            checked = operation.operands[: self.bounds.get(name)]
            return self.checked(operation, step, checked, self.sinks[name])
        if name in self.follow_themselves or not operation.operands:
            return step
        followed = self.followed(operation, step)
        return self._cast(operation, followed) if name in TO_INTEGERS else followed

    @abstractmethod
    def cast_to(self, operation: Operation) -> tuple[Number, bool]:
        """What integers a cast of `TO_INTEGERS` gives, and whether they have signs."""

    def _cast(self, operation: Operation, step: Step) -> Step:
        """A cast to integers that is followed, after which what is out of range is, too."""
        (operand,), (result,) = self.slots(operation.operands), self.slots(operation.results)
        number, is_signed = self.cast_to(operation)
        if number.bits == 1:
            # It says whether a number is not 0 (docs/semantics.md 7, ftoi).
            return step

        def cast_step(state: State) -> None:
            step(state)
            if state.unspecified is None:
                return
            value = state.values[result]
            missing = is_outside(number, is_signed, state.values[operand])
            if missing.any():
                known = state.unspecified.get(result, Variants((value,) * _COUNT, ()))
                new = zip(known.values, _substitutes(number), strict=True)
                variants = [_replaced(each, missing, other) for each, other in new]
                _keep(state, result, variants, (*known.origins, operation))

        return cast_step

    def checked(
        self, operation: Operation, step: Step, values: Sequence[SSAValue], what: str
    ) -> Step:
        """`step`, before which it is checked that no value depends on something unspecified."""
        operands = self.slots(values)

        def checked_step(state: State) -> None:
            if state.unspecified:
                for slot in operands:
                    reach(state, operation, slot, what)
            step(state)

        return checked_step

    def followed(
        self, operation: Operation, step: Step, values: Sequence[SSAValue] | None = None
    ) -> Step:
        """`step`, which is run on variants of the operands, or of some of them, too."""
        if values is None:
            values = (*operation.operands, *_captured(operation))
        operands = self.slots(dict.fromkeys(values))
        results = self.slots(operation.results)

        def followed_step(state: State) -> None:
            known = state.unspecified
            involved = [slot for slot in operands if slot in known] if known else []
            if known is None or not involved:
                step(state)
                for slot in results:
                    forget(state, slot)
                return
            # What a region does on the way to the results is of no interest.
            state.unspecified = None
            try:
                step(state)
                variants = [
                    _run_variant(state, step, i, known, involved, results) for i in range(_COUNT)
                ]
            finally:
                state.unspecified = known
            origins = tuple(
                dict.fromkeys(origin for slot in involved for origin in known[slot].origins)
            )
            for slot, *values in zip(results, *variants, strict=True):
                _keep(state, slot, values, origins)

        return followed_step


def _run_variant(
    state: State,
    step: Step,
    index: int,
    known: dict[int, Variants],
    involved: Sequence[int],
    results: Sequence[int],
) -> list[Value]:
    """The results for a variant of the operands; the values stay as they are."""
    values, observer = state.values, state.observer
    before = {slot: values[slot] for slot in (*involved, *results)}
    state.observer = None
    try:
        for slot in involved:
            values[slot] = known[slot].values[index]
        step(state)
        return [values[slot] for slot in results]
    except (ExecutionError, OverflowError, UnlocatedError):
        # Whether it can be executed depends on what is unspecified, and so does all of the result.
        return [_inverted(before[slot]) for slot in results]
    finally:
        state.observer = observer
        for slot, value in before.items():
            values[slot] = value


def _inverted(value: Value) -> Value:
    """A tile of which no element is the same."""
    array = np.array(value)
    if array.dtype == np.bool_:
        return ~array[()]
    bits = contiguous(array).view(np.uint8)
    return (~bits).view(array.dtype).reshape(array.shape)[()]


def _captured(operation: Operation) -> Iterator[Any]:
    """The values from outside that the regions of an operation use."""
    for inner in operation.walk():
        for operand in inner.operands if inner is not operation else ():
            owner = operand.owner
            around = owner if isinstance(owner, Operation) else owner.parent_op()
            if around is not None and not operation.is_ancestor(around):
                yield operand
