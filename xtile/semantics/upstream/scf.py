"""The `scf` dialect: control flow, in which work-items can diverge.

Source: MLIR (LLVM 22), `Dialect/SCF/IR/SCFOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, Region

from xtile.semantics.compiler import Body, Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Mask, where_active
from xtile.semantics.state import State, merged
from xtile.semantics.unspecified import copy, forget, merge, reach
from xtile.semantics.upstream.constants import has_flag
from xtile.semantics.upstream.numbers import Number, number_of
from xtile.semantics.values import Value, first_where, is_array


def merge_active(
    state: State,
    sources: Sequence[int],
    targets: Sequence[int],
    active: npt.NDArray[np.bool_],
) -> None:
    """Copies the values of the active work-items; the others keep theirs."""
    values = state.values
    if state.unspecified:
        merge(state, sources, targets, active)
    new = [values[slot] for slot in sources]
    for slot, value in zip(targets, new, strict=True):
        values[slot] = merged(active, value, values[slot])


def _clear(state: State, targets: Sequence[int]) -> None:
    """Says that slots have no value yet."""
    for slot in targets:
        state.values[slot] = None
        forget(state, slot)


def _narrowed(condition: Value, mask: Mask) -> npt.NDArray[np.bool_]:
    """The active work-items for which a condition holds."""
    return condition if mask is None else condition & mask


def run_cases(state: State, cases: Sequence[tuple[Value, Body]], results: tuple[int, ...]) -> None:
    """Runs each body for the active work-items that its condition holds for.

    In each work-item, exactly one condition holds.
    """
    before = state.mask
    _clear(state, results)
    try:
        for condition, body in cases:
            chosen = _narrowed(condition, before)
            if not np.any(chosen):
                continue
            state.mask = chosen
            body.run(state)
            merge_active(state, body.yields, results, chosen)
    finally:
        state.mask = before


def _if(operation: Operation, compiler: Compiler) -> Step:
    (condition,) = compiler.slots(operation.operands)
    then, otherwise = (compiler.region(region) for region in operation.regions)
    results = compiler.slots(operation.results)

    def step(state: State) -> None:
        chosen = state.values[condition]
        if is_array(chosen):
            run_cases(state, ((chosen, then), (~chosen, otherwise)), results)
            return
        body = then if chosen else otherwise
        body.run(state)
        copy(state, body.yields, results)

    return step


def _index_switch(operation: Operation, compiler: Compiler) -> Step:
    (number,) = compiler.slots(operation.operands)
    given: Any = operation.properties["cases"]
    cases: tuple[int, ...] = tuple(given.get_values())
    default, *others = (compiler.region(region) for region in operation.regions)
    results = compiler.slots(operation.results)

    def step(state: State) -> None:
        chosen = state.values[number]
        if is_array(chosen):
            conditions = [chosen == case for case in cases]
            rest = ~np.logical_or.reduce([np.zeros_like(chosen, np.bool_), *conditions])
            run_cases(state, [*zip(conditions, others, strict=True), (rest, default)], results)
            return
        body = dict(zip(cases, others, strict=True)).get(int(chosen), default)
        body.run(state)
        copy(state, body.yields, results)

    return step


def execute_region(operation: Operation, compiler: Compiler) -> Step:
    """Runs a region once, and gives what it yields."""
    body = compiler.region(operation.regions[0])
    results = compiler.slots(operation.results)

    def step(state: State) -> None:
        body.run(state)
        copy(state, body.yields, results)

    return step


@dataclass(frozen=True)
class Counter:
    """Counts from a lower to an upper bound.

    Attributes:
        type: The type of the bounds.
        is_unsigned: Whether they are compared as unsigned numbers.
        name: What messages call the loop.
    """

    type: Number
    is_unsigned: bool
    name: str

    def run(
        self,
        state: State,
        bounds: tuple[Value, Value, Value],
        each: Callable[[Value, Mask], None],
    ) -> None:
        """Calls `each` with each number and the work-items that it is for; None: all of them.

        Args:
            state: The work-group, whose mask is that of the work-items while `each` runs.
            bounds: The lower bound, the upper bound and the step.
            each: What is run.

        Raises:
            UnlocatedError: A work-item that runs the loop at all has a step below 1.
        """
        sign = self.type.unsigned if self.is_unsigned else self.type.signed
        first, last, stride = map(sign, bounds)
        wrong = where_active((stride < 1) & (first < last), state.mask)
        if wrong.any():
            given = first_where(stride, wrong)
            raise UnlocatedError(f"the step of {self.name} must be at least 1, but is {given}")
        if is_array(first) or is_array(last) or is_array(stride):
            self._run_varying(state, first, last, stride, each)
            return
        number = self.type.number if self.is_unsigned else self.type.dtype.type
        # Unlike Python's range, an empty loop may have any step.
        for i in range(int(first), int(last), int(stride)) if first < last else ():
            each(number(i), None)

    def _run_varying(
        self,
        state: State,
        first: Value,
        last: Value,
        stride: Value,
        each: Callable[[Value, Mask], None],
    ) -> None:
        before = state.mask
        active = where_active(first < last, before)
        i = np.broadcast_to(first, np.broadcast_shapes(np.shape(first), active.shape))
        try:
            while active.any():
                state.mask = active
                each(self.type.wrapped(i), active)
                following = i + stride
                # A sum that wraps around is past the end.
                active = active & (following < last) & (following > i)
                i = following
        finally:
            state.mask = before


def _for(operation: Operation, compiler: Compiler) -> Step:
    first, last, stride, *inits = compiler.slots(operation.operands)
    variable, *carried = compiler.slots(operation.regions[0].blocks[0].args)
    body = compiler.region(operation.regions[0])
    results = compiler.slots(operation.results)
    counter = Counter(
        number_of(operation.operands[0].type),
        has_flag(operation, "unsignedCmp"),
        "a for loop",
    )

    def step(state: State) -> None:
        values = state.values
        copy(state, inits, carried)

        def each(i: Value, active: Mask) -> None:
            values[variable] = i
            body.run(state)
            if active is None:
                copy(state, body.yields, carried)
            else:
                merge_active(state, body.yields, carried, active)

        counter.run(state, (values[first], values[last], values[stride]), each)
        copy(state, carried, results)

    return step


def _while(operation: Operation, compiler: Compiler) -> Step:
    inits, results = compiler.slots(operation.operands), compiler.slots(operation.results)
    before_region, after_region = operation.regions
    before_arguments = compiler.slots(before_region.blocks[0].args)
    after_arguments = compiler.slots(after_region.blocks[0].args)
    before, after = compiler.region(before_region), compiler.region(after_region)
    condition, *passed = before.yields
    end = before_region.blocks[0].last_op or operation

    def step(state: State) -> None:
        mask = state.mask
        values = state.values
        copy(state, inits, before_arguments)
        _clear(state, results)
        try:
            goes_on = True
            while goes_on:
                before.run(state)
                reach(state, end, condition, "the condition")
                stays = values[condition]
                leaving = _leaving(stays, state.mask)
                if leaving is None:
                    copy(state, passed, results)
                elif leaving.any():
                    merge_active(state, passed, results, leaving)
                goes_on = bool(np.any(_narrowed(stays, state.mask)))
                if goes_on:
                    if is_array(stays):
                        state.mask = _narrowed(stays, state.mask)
                    copy(state, passed, after_arguments)
                    after.run(state)
                    copy(state, after.yields, before_arguments)
        finally:
            state.mask = mask

    return step


def _leaving(stays: Value, mask: Mask) -> Mask:
    """The active work-items that leave a loop; None: all work-items."""
    if is_array(stays):
        return _narrowed(~stays, mask)
    if stays:
        return np.zeros((1, 1), np.bool_)
    return mask


def run_nest(
    state: State,
    name: str,
    bounds: Sequence[tuple[Value, Value, Value]],
    variables: Sequence[int],
    innermost: Callable[[], None],
) -> None:
    """Runs nested loops, the last of which counts fastest.

    Args:
        state: The work-group.
        name: What messages call them.
        bounds: Each loop's lower bound, upper bound and step, as indices.
        variables: The slots that hold the numbers while `innermost` runs.
        innermost: What is run.
    """
    counter = Counter(index_type(), False, name)

    def run(depth: int) -> None:
        if depth == len(bounds):
            innermost()
            return

        def each(i: Value, active: Mask) -> None:
            state.values[variables[depth]] = i
            run(depth + 1)

        counter.run(state, bounds[depth], each)

    run(0)


def _parallel(operation: Operation, compiler: Compiler) -> Step:
    block = operation.regions[0].blocks[0]
    variables = compiler.slots(block.args)
    rank = len(variables)
    slots = compiler.slots(operation.operands)
    firsts, lasts, strides = (slots[start * rank : (start + 1) * rank] for start in range(3))
    inits, results = slots[3 * rank :], compiler.slots(operation.results)
    bounds = list(zip(firsts, lasts, strides, strict=True))
    body = compiler.region(operation.regions[0])
    last = block.last_op
    reductions = [_Reduction(region, compiler) for region in (last.regions if last else ())]

    def step(state: State) -> None:
        copy(state, inits, results)

        def innermost() -> None:
            body.run(state)
            for reduction, source, result in zip(reductions, body.yields, results, strict=True):
                reduction.run(state, source, result)

        values = state.values
        given = [(values[first], values[last], values[step]) for first, last, step in bounds]
        run_nest(state, "a parallel loop", given, variables, innermost)

    return step


class _Reduction:
    """What `scf.reduce` does with a value of each iteration."""

    def __init__(self, region: Region, compiler: Compiler) -> None:
        self._arguments = compiler.slots(region.blocks[0].args)
        self._body = compiler.region(region)

    def run(self, state: State, source: int, result: int) -> None:
        """Combines the result so far and a new value."""
        copy(state, (result, source), self._arguments)
        self._body.run(state)
        if state.mask is None:
            copy(state, self._body.yields, (result,))
        else:
            merge_active(state, self._body.yields, (result,), state.mask)


def index_type() -> Number:
    """The type of an index, in which most loops count."""
    from xdsl.dialects.builtin import IndexType

    return number_of(IndexType())


HANDLERS: dict[str, Handler] = {
    "scf.execute_region": execute_region,
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.parallel": _parallel,
    "scf.while": _while,
}
"""The handler of each operation, by name."""
