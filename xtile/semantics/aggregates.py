"""Reductions and scans with the function in a region, of any language.

The function is applied to neighbours first and to their results next, so that it runs on many
elements at once, in the order of the elements. An observer is told of reductions of integers that
depend on that order, which is not specified, and of identities that change a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation, Region, SSAValue

from xtile.semantics.compiler import Compiler
from xtile.semantics.promises import report_broken_promise
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Array, Value, interpreted

Combine: TypeAlias = Callable[[Sequence[Value], Sequence[Value]], "list[Array]"]
"""Applies the function to earlier and to later elements of each tuple, at all positions."""

Aggregate: TypeAlias = Callable[
    [Sequence[Array], "Sequence[Value] | None", Combine], Sequence[Array]
]
"""Combines elements along the first axis: `reduced`, or `scanned`."""


class Combination:
    """The function in a region.

    Args:
        region: Yields what two tuples of elements make.
        compiler: Compiles it.
        earlier: The arguments for the earlier elements.
        later: Those for the later ones.
        numbers: What numbers the elements are.
        is_elementwise: Whether an operation does for all elements at once what it does for one.
        axes: How many axes a value in the region has for one element; they are the last ones.
    """

    def __init__(
        self,
        region: Region,
        compiler: Compiler,
        earlier: Iterable[SSAValue],
        later: Iterable[SSAValue],
        numbers: Sequence[Number],
        is_elementwise: Callable[[Operation], bool],
        axes: int = 0,
    ) -> None:
        self._earlier = compiler.slots(earlier)
        self._later = compiler.slots(later)
        self._dtypes = [number.dtype for number in numbers]
        self._body = compiler.region(region)
        self._is_elementwise = all(is_elementwise(each) for each in region.walk())
        self._axes = axes

    def on(self, state: State) -> Combine:
        """The function, run on the elements of arrays that broadcast to one shape."""
        # What fails for an element that is not active cannot be told apart among all.
        at_once = self._is_elementwise and state.mask is None
        run = self._on_all if at_once else self._on_each

        def combine(earlier: Sequence[Value], later: Sequence[Value]) -> list[Array]:
            shape = np.broadcast_shapes(*(np.shape(each) for each in (*earlier, *later)))
            return run(state, earlier, later, shape)

        return combine

    def _on_all(
        self, state: State, earlier: Sequence[Value], later: Sequence[Value], shape: tuple[int, ...]
    ) -> list[Array]:
        return [np.broadcast_to(value, shape) for value in self._run(state, earlier, later)]

    def _on_each(
        self, state: State, earlier: Sequence[Value], later: Sequence[Value], shape: tuple[int, ...]
    ) -> list[Array]:
        """Runs the region for one element after another: it changes shapes or has branches."""
        inner = shape[len(shape) - self._axes :]
        given = [np.broadcast_to(each, shape).reshape(-1, *inner) for each in (*earlier, *later)]
        made = [interpreted(np.zeros(given[0].shape, dtype)) for dtype in self._dtypes]
        count = len(earlier)
        for position, row in enumerate(zip(*given, strict=True)):
            for all_, one in zip(made, self._run(state, row[:count], row[count:]), strict=True):
                all_[position] = one
        return [each.reshape(shape) for each in made]

    def _run(self, state: State, earlier: Sequence[Value], later: Sequence[Value]) -> list[Value]:
        values = state.values
        for slots, given in ((self._earlier, earlier), (self._later, later)):
            for slot, value in zip(slots, given, strict=True):
                values[slot] = value
        self._body.run(state)
        return [values[slot] for slot in self._body.yields]


def reduced(
    sources: Sequence[Array], identities: Sequence[Value] | None, combine: Combine
) -> list[Array]:
    """All elements along the first axis combined, beginning with the identities."""
    entries = _beginning_with(identities, sources, combine)
    while len(entries[0]) > 1:
        # An odd one at the end waits for the next round.
        paired = len(entries[0]) // 2 * 2
        earlier, later = ([entry[first:paired:2] for entry in entries] for first in (0, 1))
        joined = zip(combine(earlier, later), entries, strict=True)
        entries = [np.concatenate([pairs, entry[paired:]]) for pairs, entry in joined]
    return [entry[0] for entry in entries]


def scanned(
    sources: Sequence[Array], identities: Sequence[Value] | None, combine: Combine
) -> list[Array]:
    """For each element along the first axis, those up to it combined."""
    entries = _beginning_with(identities, sources, combine)
    distance = 1
    while distance < len(entries[0]):
        joined = combine(
            [entry[:-distance] for entry in entries], [entry[distance:] for entry in entries]
        )
        pairs = zip(entries, joined, strict=True)
        entries = [np.concatenate([entry[:distance], later]) for entry, later in pairs]
        distance *= 2
    return entries


def _beginning_with(
    identities: Sequence[Value] | None, sources: Sequence[Array], combine: Combine
) -> list[Array]:
    """The sources, whose first elements are combined with the identities."""
    if identities is None:
        return [*sources]
    first = combine(identities, [source[0] for source in sources])
    pairs = zip(first, sources, strict=True)
    return [np.concatenate([start[np.newaxis], source[1:]]) for start, source in pairs]


def check_order(
    state: State,
    operation: Operation,
    sources: Sequence[Array],
    identities: Sequence[Value] | None,
    combine: Combine,
    totals: Sequence[Array],
) -> None:
    """Tells the observer of integers that depend on the order of the elements.

    Floats depend on it by their rounding.

    Args:
        state: What runs.
        operation: The reduction.
        sources: What is reduced, along the first axis.
        identities: What that begins with.
        combine: The function.
        totals: The results in the order of the elements.
    """
    if state.observer is None:
        return
    backwards = reduced([source[::-1] for source in sources], identities, combine)
    for total, other in zip(totals, backwards, strict=True):
        if total.dtype.kind in "bi" and not np.array_equal(total, other):
            differs = np.asanyarray(total != other)
            first, last = (int(np.ravel(each)[differs.argmax()]) for each in (total, other))
            message = (
                f"the result depends on the order of the elements, which is not specified: it is "
                f"{first} forwards and {last} backwards"
            )
            report_broken_promise(state, operation, differs, message)


def check_identities(
    state: State,
    operation: Operation,
    sources: Sequence[Array],
    identities: Sequence[Value] | None,
    combine: Combine,
    aggregate: Aggregate,
    placed: Callable[[Array], Array],
) -> None:
    """Tells the observer of identities that change a result if they are combined with elements.

    Each element is combined with one, as an earlier and as a later one. That may change an element
    which does not count, as where -inf fills up the place of a largest number; what is reported are
    results. They must have the same bits, but for the sign of zeros, and for NaN: a maximum that
    drops NaN leaves its identity where all elements are NaN.

    Args:
        state: What runs.
        operation: The reduction or scan.
        sources: What is combined, along the first axis.
        identities: Those that the operation names; None for no identities.
        combine: The function.
        aggregate: What makes the results of the elements.
        placed: Turns a result to how the operation's results lie.
    """
    if state.observer is None or identities is None:
        return
    for combined in (combine(identities, sources), combine(sources, identities)):
        if not any(map(np.any, map(_differ, sources, combined))):
            continue
        results = (aggregate(each, None, combine) for each in (sources, combined))
        for without, with_ in zip(*results, strict=True):
            without, with_ = placed(without), placed(with_)
            differs = _differ(without, with_) & np.asanyarray(without == without)
            if differs.any():
                first, last = (np.ravel(each)[differs.argmax()] for each in (without, with_))
                message = (
                    f"combining an identity with the elements changes the result: it is {first} "
                    f"without and {last} with one for each element"
                )
                report_broken_promise(state, operation, differs, message)
                return


def _differ(first: Array, second: Array) -> Array:
    """Where numbers differ; NaN is equal to NaN, and -0 to 0."""
    is_nan = (first != first) & (second != second)
    return np.asanyarray((first != second) & ~is_nan)
