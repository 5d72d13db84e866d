"""Dynamic uniformity: values that must be the same in a subgroup, code that all must reach.

The analysis follows each value of an SPMD region forwards, once. It is cautious: it reports only
what certainly varies. What comes from memory, or is carried by a loop, is unknown and never
reported; the reference device finds those at run time.

Source: tensor language reference, sections "Execution model", "Barrier", "Foreach",
"Foreach tile", "Subgroup broadcast" and the restrictions of "Cooperative matrix ...".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from xdsl.ir import Operation, SSAValue

from xtile.dialects.tensorlang.attributes import Component
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import arithmetic as arith
from xtile.dialects.tensorlang.ops import builtins, memory
from xtile.dialects.tensorlang.ops import cooperative_matrix as matrix
from xtile.dialects.tensorlang.ops.collective import ForeachOp, ForeachTileOp
from xtile.dialects.tensorlang.ops.control import ForOp, IfOp, YieldOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.subgroup import (
    SubgroupBroadcastOp,
    SubgroupOperation,
    SubgroupReduceAddOp,
    SubgroupReduceMaxOp,
    SubgroupReduceMinOp,
)
from xtile.dialects.tensorlang.types import CoopmatrixType, GroupType
from xtile.dialects.tensorlang.verifier.constants import (
    constant_of,
    integer_list,
    integer_of,
    positive_integer,
)
from xtile.dialects.tensorlang.verifier.problem import (
    Note,
    Problem,
    Problems,
    mnemonic_of,
    operand_index,
)
from xtile.dialects.tensorlang.verifier.regions import (
    function_of,
    is_instruction,
    subgroup_size_of,
)
from xtile.dialects.tensorlang.verifier.samples import (
    Samples,
    combine,
    evaluate,
    lane_samples,
    subgroup_samples,
    trip_count,
)
from xtile.dialects.tensorlang.verifier.uniformity_state import (
    SAME_IN_SUBGROUP,
    UNIFORM,
    UNKNOWN,
    Fact,
    State,
    combined,
    merged,
    origin_of,
    sampled,
)
from xtile.targets import LARGEST_WORK_GROUP

_SMALLEST_SUBGROUP = 8
"""A subgroup has at least this many work-items where the function does not say how many."""

_PRESERVING = (
    arith.AddOp,
    arith.SubOp,
    arith.XorOp,
    arith.MulOp,
    arith.NegOp,
    arith.NotOp,
    arith.CastOp,
    arith.ComparisonOperation,
)
"""Another operand gives another result if the rest is uniform. Comparisons and products could be
exceptions for some run-time values, but a kernel that is right only for those is wrong. Only which
work-items are before a bound is often meant to be a question of whole subgroups (`_ORDERINGS`)."""

_ORDERINGS = (
    arith.GreaterThanOp,
    arith.GreaterThanEqualOp,
    arith.LessThanOp,
    arith.LessThanEqualOp,
)
"""Comparisons with a bound. A number such as `subgroup_id * subgroup_size + subgroup_local_id` is
below each multiple of the subgroup's size in all work-items of a subgroup or in none."""

_ELEMENTWISE = (
    arith.BinaryArithmeticOperation,
    arith.UnaryArithmeticOperation,
    arith.ComparisonOperation,
    arith.MathOperation,
    arith.CastOp,
)

_ACCESS_OPERANDS = {"memref": "memref", "x": "row index", "y": "column index"}

_UNIFORM_OPERANDS: dict[type[TensorLangOperation], dict[str, str]] = {
    matrix.CooperativeMatrixAccess: _ACCESS_OPERANDS,
    matrix.CooperativeMatrixPrefetchOp: _ACCESS_OPERANDS,
    matrix.CooperativeMatrixConstructOp: {"number": "number"},
    SubgroupBroadcastOp: {"index": "index"},
}
"""The operands that must be dynamically uniform, and what messages call them."""

_SUBGROUP = (SubgroupBroadcastOp, SubgroupOperation)
"""Instructions that combine work-items: under a condition those that reach it, but a
cooperative_matrix_apply does not say which components these hold at a time."""


@dataclass(frozen=True, slots=True)
class _Control:
    """Who executes a region.

    Attributes:
        within: Whether the work-items of a subgroup differ in executing it.
        between: Whether the subgroups differ in executing it.
        statement: The innermost statement that some execute more often than others.
        origin: What makes them differ.
        distributed: The foreach or foreach_tile around it.
        apply: The cooperative_matrix_apply around it.
    """

    within: Fact = Fact.UNIFORM
    between: Fact = Fact.UNIFORM
    statement: Operation | None = None
    origin: Operation | None = None
    distributed: Operation | None = None
    apply: Operation | None = None

    @property
    def is_together(self) -> bool:
        """Whether, for all that is known, the work-items of a subgroup execute it together."""
        return self.within is not Fact.VARYING and self.apply is None

    def under(self, statement: Operation, state: State) -> _Control:
        """The control of a region that `statement` executes depending on `state`."""
        return _Control(
            max(self.within, state.within),
            max(self.between, state.between),
            statement if state.varies else self.statement,
            state.origin if state.varies else self.origin,
            self.distributed,
            self.apply,
        )


class UniformityAnalysis:
    """Follows the values of functions while their operations are walked in order."""

    def __init__(self) -> None:
        self._states: dict[SSAValue, State] = {}
        self._controls: list[tuple[Operation | None, _Control]] = [(None, _Control())]

    def enter(self, operation: Operation, in_spmd: bool, is_sound: bool) -> Problems:
        """Follows one operation, and checks it if it is sound and stands in an SPMD region."""
        if not is_instruction(operation) or not is_sound:
            self.forget(operation)
        elif type(operation) is FuncOp:
            self._states.clear()
        elif operation.OPENS_SPMD_REGION:
            self._enter_distribution(operation)
        elif in_spmd:
            is_checked = _is_checked(type(operation)) or not self._control.is_together
            problems = list(self._check(operation)) if is_checked else ()
            _transfer_of(type(operation))(self, operation)
            return problems
        return ()

    def leave(self, operation: Operation) -> None:
        """Follows the results of an operation with regions."""
        if self._controls[-1][0] is operation:
            self._controls.pop()
            if isinstance(operation, IfOp):
                self._leave_if(operation)

    # What is known

    def _state(self, value: SSAValue) -> State:
        return self._states.get(value, UNIFORM)

    def _is_uniform(self, values: Iterable[SSAValue]) -> bool:
        return all(self._state(value).is_uniform for value in values)

    def _set(self, value: SSAValue, state: State) -> None:
        if isinstance(value.type, CoopmatrixType):
            state = SAME_IN_SUBGROUP
        if state.samples is not None or not state.is_uniform:
            self._states[value] = state

    def forget(self, operation: Operation) -> None:
        """Nothing is known of the results and of what the regions are given."""
        for result in operation.results:
            self._set(result, UNKNOWN)
        for region in operation.regions:
            for argument in region.blocks[0].args if region.blocks else ():
                self._set(argument, UNKNOWN)

    def _samples(self, value: SSAValue) -> Samples | int | None:
        state = self._states.get(value)
        return _uniform_number(value) if state is None else state.samples

    # Following values

    def follow_elementwise(self, operation: TensorLangOperation) -> None:
        """The result depends on the operands only."""
        operands, result = tuple(operation.operands), operation.results[0]
        if not any(operand in self._states for operand in operands) or (
            type(operation) is arith.MulOp and _is_zero(result)
        ):
            return
        states = [self._state(operand) for operand in operands]
        samples = evaluate(operation, [self._samples(operand) for operand in operands])
        if samples is not None:
            self._set(result, sampled(samples, origin_of(states)))
        elif not self._is_uniform(operands):
            self._set(result, combined(states, self._preserves(operation, states)))

    def _preserves(self, operation: TensorLangOperation, states: Sequence[State]) -> bool:
        """Whether another operand gives another result if the rest is uniform."""
        if isinstance(operation, _ORDERINGS) and any(
            state.varies and (state.samples is None or state.samples.axis is not None)
            for state in states
        ):
            return False
        return isinstance(operation, _PRESERVING)

    def follow_uniform(self, operation: TensorLangOperation) -> None:
        """The result is the same in the whole work-group."""

    def follow_size(self, operation: TensorLangOperation) -> None:
        """Two memrefs that differ may yet have one size."""
        if not self._is_uniform(operation.operands):
            self._set(operation.results[0], UNKNOWN)

    def follow_broadcast(self, operation: TensorLangOperation) -> None:
        """The result is the same in a subgroup."""
        if not self._is_uniform(operation.operands):
            self._set(operation.results[0], SAME_IN_SUBGROUP)

    def follow_load(self, operation: TensorLangOperation) -> None:
        """Memory may hold anything, but the pointers of a group stay as they are."""
        is_group = isinstance(operation.operands[0].type, GroupType)
        if not is_group or not self._is_uniform(operation.operands):
            self._set(operation.results[0], UNKNOWN)

    def follow_view(self, operation: TensorLangOperation) -> None:
        """Another offset gives another memref; another size, nothing that is certain."""
        view = cast("memory.SubviewOp | memory.ExpandOp | memory.FuseOp", operation)
        sizes: Sequence[SSAValue] = ()
        moved: list[SSAValue] = [view.memref]
        if isinstance(view, memory.SubviewOp):
            sizes = view.sizes
            moved.extend(view.offsets)
        elif isinstance(view, memory.ExpandOp):
            sizes = view.expand_shape
        if not self._is_uniform(sizes):
            self._set(view.result, UNKNOWN)
        elif not self._is_uniform(moved):
            states = [self._state(value) for value in moved]
            self._set(view.result, combined(states, preserves=True))

    def follow_identity(self, operation: TensorLangOperation) -> None:
        """The result tells work-items or subgroups apart."""
        self._set(operation.results[0], sampled(_identity_samples(operation), operation))

    # Following control

    @property
    def _control(self) -> _Control:
        return self._controls[-1][1]

    def _enter_distribution(self, operation: TensorLangOperation) -> None:
        """A foreach gives each work-item its own trips, a foreach_tile each subgroup its tiles."""
        state, distributed = SAME_IN_SUBGROUP, None
        if isinstance(operation, ForeachOp | ForeachTileOp):
            distributed = operation
        if isinstance(operation, ForeachOp):
            state = State(Fact.VARYING, Fact.UNKNOWN, origin=operation)
        self._controls.append((operation, _Control(distributed=distributed)))
        for argument in _arguments(operation):
            self._set(argument, state)

    def enter_if(self, operation: TensorLangOperation) -> None:
        """The condition says who executes which region."""
        condition = self._state(operation.operands[0])
        self._controls.append((operation, self._control.under(operation, condition)))

    def enter_for(self, operation: TensorLangOperation) -> None:
        """The bounds say how often who executes the region, and where its variable starts."""
        loop = cast("ForOp", operation)
        self._controls.append((loop, self._control.under(loop, self._iterations(loop))))
        self.forget(loop)
        if loop.step is None or self._is_uniform([loop.step]):
            start = self._state(loop.from_)
            for variable in _arguments(loop)[:1]:
                del self._states[variable]
                self._set(variable, State(start.within, start.between, None, start.origin))

    def _iterations(self, loop: ForOp) -> State:
        """Whether the number of iterations varies."""
        bounds = [loop.from_, loop.to, *([] if loop.step is None else [loop.step])]
        if self._is_uniform(bounds):
            return UNIFORM
        samples: list[Samples | int | None] = [self._samples(bound) for bound in bounds]
        trips = combine(trip_count, samples if loop.step is not None else [*samples, 1])
        origin = origin_of(self._state(bound) for bound in bounds)
        return UNKNOWN if trips is None else sampled(trips, origin)

    def enter_apply(self, operation: TensorLangOperation) -> None:
        """Which work-item is given which components depends on the implementation."""
        control = replace(self._control.under(operation, UNKNOWN), apply=operation)
        self._controls.append((operation, control))
        self.forget(operation)

    def _leave_if(self, operation: IfOp) -> None:
        condition = self._state(operation.condition)
        for i, result in enumerate(operation.results):
            yielded = [self._state(value) for value in _yielded(operation, i)]
            self._set(result, merged(condition, yielded) if len(yielded) == 2 else UNKNOWN)

    # Checks

    def _check(self, operation: TensorLangOperation) -> Problems:
        control = self._control
        if isinstance(operation, memory.BarrierOp):
            yield from _barrier_problems(operation, control)
        elif control.within is Fact.VARYING:
            if _is_joint(operation):
                yield _divergence_problem(operation, control)
        elif control.apply is not None and (
            _is_joint(operation) or isinstance(operation, _SUBGROUP)
        ):
            yield _apply_problem(operation, control.apply)
        else:
            yield from self._operand_problems(operation)
            yield from self._statement_problems(operation)

    def _statement_problems(self, operation: TensorLangOperation) -> Problems:
        """The problem with an if or a for that makes a matrix differ within a subgroup."""
        if not isinstance(operation, IfOp | ForOp) or not _is_joint(operation):
            return
        is_if = isinstance(operation, IfOp)
        state = self._state(operation.condition) if is_if else self._iterations(operation)
        if state.within is Fact.VARYING:
            verb, what = ("returns", "condition") if is_if else ("carries", "number of iterations")
            message = f"the {mnemonic_of(operation)} {verb} a coopmatrix, which must be the same "
            message += f"for a whole subgroup, but its {what} differs between the work-items of a "
            notes = _origin_notes(state.origin)
            yield Problem(operation, f"{message}subgroup; see subgroup_broadcast", "header", notes)

    def _operand_problems(self, operation: TensorLangOperation) -> Problems:
        """The problems with operands that must be uniform, but differ within a subgroup."""
        for operand, noun in _uniform_operands(type(operation)).items():
            state = self._state(getattr(operation, operand))
            if state.within is Fact.VARYING:
                message = f"the {noun} differs between the work-items of a subgroup but must be "
                message += "the same for all of them; see subgroup_broadcast"
                index = operand_index(operation, operand)
                yield Problem(operation, message, index, _origin_notes(state.origin))


_Transfer = Callable[[UniformityAnalysis, TensorLangOperation], None]

_TRANSFER: dict[type[Operation], _Transfer] = {
    arith.ConstantOp: UniformityAnalysis.follow_uniform,
    builtins.GroupIdOp: UniformityAnalysis.follow_uniform,
    builtins.NumGroupsOp: UniformityAnalysis.follow_uniform,
    builtins.NumSubgroupsOp: UniformityAnalysis.follow_uniform,
    builtins.SubgroupSizeOp: UniformityAnalysis.follow_uniform,
    builtins.SubgroupIdOp: UniformityAnalysis.follow_identity,
    builtins.SubgroupLinearIdOp: UniformityAnalysis.follow_identity,
    builtins.SubgroupLocalIdOp: UniformityAnalysis.follow_identity,
    memory.AssociatedOp: UniformityAnalysis.follow_size,
    memory.SizeOp: UniformityAnalysis.follow_size,
    memory.LoadOp: UniformityAnalysis.follow_load,
    memory.ExpandOp: UniformityAnalysis.follow_view,
    memory.FuseOp: UniformityAnalysis.follow_view,
    memory.SubviewOp: UniformityAnalysis.follow_view,
    SubgroupBroadcastOp: UniformityAnalysis.follow_broadcast,
    SubgroupReduceAddOp: UniformityAnalysis.follow_broadcast,
    SubgroupReduceMaxOp: UniformityAnalysis.follow_broadcast,
    SubgroupReduceMinOp: UniformityAnalysis.follow_broadcast,
    IfOp: UniformityAnalysis.enter_if,
    ForOp: UniformityAnalysis.enter_for,
    matrix.CooperativeMatrixApplyOp: UniformityAnalysis.enter_apply,
}
"""How results follow from operands; nothing is known of the results of other instructions."""


@cache
def _transfer_of(cls: type[TensorLangOperation]) -> _Transfer:
    if issubclass(cls, _ELEMENTWISE):
        return UniformityAnalysis.follow_elementwise
    return _TRANSFER.get(cls, UniformityAnalysis.forget)


def is_followed(cls: type[TensorLangOperation]) -> bool:
    """Whether something is known of the results of an instruction."""
    return _transfer_of(cls) is not UniformityAnalysis.forget


@cache
def _is_checked(cls: type[TensorLangOperation]) -> bool:
    """Whether an instruction may ask for uniformity where a subgroup executes it together."""
    return issubclass(cls, (memory.BarrierOp, IfOp, ForOp)) or bool(_uniform_operands(cls))


def _is_joint(operation: TensorLangOperation) -> bool:
    """Whether the work-items of a subgroup must execute an instruction together."""
    if isinstance(operation, YieldOp):
        # What it yields is checked where the if or the for returns it.
        return False
    types = (*operation.operand_types, *operation.result_types)
    return isinstance(operation, matrix.CooperativeMatrixOperation) or any(
        isinstance(type, CoopmatrixType) for type in types
    )


def _is_zero(value: SSAValue) -> bool:
    return constant_of(value) == 0


@cache
def _uniform_operands(cls: type[TensorLangOperation]) -> dict[str, str]:
    """The entry of `_UNIFORM_OPERANDS` for an instruction."""
    for base in cls.__mro__:
        if base in _UNIFORM_OPERANDS:
            return _UNIFORM_OPERANDS[base]
    return {}


def _arguments(operation: Operation) -> Sequence[SSAValue]:
    block = operation.regions[0].first_block
    return block.args if block is not None else ()


def _yielded(operation: IfOp, index: int) -> Iterator[SSAValue]:
    """What each region yields for one result."""
    for region in operation.regions:
        last = region.blocks[0].last_op if region.blocks else None
        if isinstance(last, YieldOp) and index < len(last.operands):
            yield last.operands[index]


def _uniform_number(value: SSAValue) -> int | None:
    """The integer that a uniform value is: of constants, and of the size of a subgroup."""
    return integer_of(value, _size_of_subgroup)


def _size_of_subgroup(operation: Operation) -> int | None:
    return subgroup_size_of(operation) if isinstance(operation, builtins.SubgroupSizeOp) else None


def _identity_samples(operation: TensorLangOperation) -> Samples:
    """The values of a builtin that tells work-items or subgroups apart."""
    function = function_of(operation)
    properties = function.properties if function else {}
    size = _sampled(positive_integer(properties.get("subgroup_size")))
    if isinstance(operation, builtins.SubgroupLocalIdOp):
        return lane_samples(size or _SMALLEST_SUBGROUP, size is not None)
    is_component = isinstance(operation, builtins.SubgroupIdOp)
    axis = operation.component.data.value if is_component else "linear"
    group = integer_list(properties.get("work_group_size"))
    count = 1 if axis == Component.Z else _subgroup_count(group or [], size, axis)
    count = _sampled(count)
    # Without a work-group size there may be more subgroups, and are more than one.
    return subgroup_samples(axis, count or 2, count is not None)


def _sampled(count: int | None) -> int | None:
    """How many of work-items or subgroups are tried: more than a device has are an error anyway."""
    return None if count is None else min(count, LARGEST_WORK_GROUP)


def _subgroup_count(group: Sequence[int], subgroup_size: int | None, axis: str) -> int | None:
    """The number of subgroups along an axis, where the work-group size says it."""
    if len(group) != 2 or min(group) < 1 or (subgroup_size is None and axis != Component.Y):
        return None
    columns = max(1, group[0] // (subgroup_size or 1))
    return {Component.X.value: columns, Component.Y.value: group[1]}.get(axis, columns * group[1])


def _barrier_problems(operation: memory.BarrierOp, control: _Control) -> Problems:
    if control.apply is not None:
        yield _apply_problem(operation, control.apply)
    elif control.statement is not None:
        message = f"not all work-items reach this barrier: {_difference(control)}; "
        message += f"move it out of the {mnemonic_of(control.statement)}"
        yield Problem(operation, message, None, _origin_notes(control.origin))
    elif control.distributed is not None:
        name = mnemonic_of(control.distributed)
        message = f"not all work-items need reach this barrier: how a {name} is distributed is up "
        message += "to the implementation; use parallel and for"
        note = Note(control.distributed, f"the barrier is in this {name}")
        yield Problem(operation, message, None, (note,))


def _divergence_problem(operation: TensorLangOperation, control: _Control) -> Problem:
    assert control.statement is not None
    message = f"all work-items of a subgroup must execute {mnemonic_of(operation)} together, but "
    message += f"{_difference(control)}; move it out of the {mnemonic_of(control.statement)}"
    return Problem(operation, message, "header", _origin_notes(control.origin))


def _apply_problem(operation: TensorLangOperation, apply: Operation) -> Problem:
    who = "a work-group" if isinstance(operation, memory.BarrierOp) else "a subgroup"
    message = f"all work-items of {who} must execute {mnemonic_of(operation)} together, but the "
    message += f"region of a {mnemonic_of(apply)} is executed for each component on its own; "
    note = Note(apply, "the region is opened here")
    return Problem(operation, f"{message}move it out of the region", "header", (note,))


def _difference(control: _Control) -> str:
    between = "the work-items of a subgroup" if control.within is Fact.VARYING else "subgroups"
    what = "number of iterations" if isinstance(control.statement, ForOp) else "condition"
    assert control.statement is not None
    return f"the {what} of the {mnemonic_of(control.statement)} differs between {between}"


def _origin_notes(origin: Operation | None) -> tuple[Note, ...]:
    if origin is None:
        return ()
    return (Note(origin, f"it depends on this {mnemonic_of(origin)}"),)
