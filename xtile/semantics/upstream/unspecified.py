"""Which operations of the upstream dialects and of `core` leave elements unspecified, or use them.

`ub.poison` is unspecified, and so is what a load pads with it, or leaves out without padding, and
what a cast gives whose number is out of range.

Source: docs/core-form.md, "Unspecified values"; docs/semantics.md 6, 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from typing_extensions import override
from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.effects import READS, UPDATES, WRITES, changes_memory
from xtile.dialects.ub import is_poison
from xtile.semantics.compiler import Step
from xtile.semantics.state import State
from xtile.semantics.unspecified import (
    STORED,
    FollowingCompiler,
    comes_of,
    forget,
    leave_unspecified,
    reach,
)
from xtile.semantics.upstream.numbers import Number, number_of
from xtile.semantics.values import with_axes

_POSITIONS = ("indices", "offsets")
"""Operands of an access that say where it is."""

_PADDING = ("padding", "pass_thru")
"""Operands that stand for what a load does not reach."""

_CHECKED_BY_HANDLERS = frozenset({"core.atomic_update", "vector.transfer_write"})
"""Operations that alone know which elements they store."""


class FollowingUpstream(FollowingCompiler):
    """Compiles a function of the upstream dialects so that what is unspecified is followed."""

    sinks: ClassVar[Mapping[str, str]] = {
        "cf.assert": "the assertion",
        "core.print": "what is printed",
        "gpu.printf": "what is printed",
        "scf.for": "a bound of the loop",
        "scf.if": "the condition",
        "scf.index_switch": "the condition",
        "scf.parallel": "a bound of the loop",
        "vector.print": "what is printed",
    }
    bounds: ClassVar[Mapping[str, int]] = {"scf.for": 3}
    follow_themselves: ClassVar[frozenset[str]] = frozenset({"func.call", "scf.while"})

    @override
    def following(self, operation: Operation, step: Step) -> Step:
        name = operation.name
        if name == PoisonOp.name:
            return self._poison(operation, step)
        if name in READS or name in WRITES or name in UPDATES:
            return self._accessing(operation, step)
        if any(
            isinstance(each.type, MemRefType | UnrankedMemRefType) for each in operation.results
        ):
            numbers = [each for each in operation.operands if not _is_memory(each)]
            return self.checked(operation, step, numbers, "an offset, size or stride of the memref")
        if operation.regions and name not in self.sinks and _has_effects(operation):
            return self.checked(operation, step, operation.operands, "an operand")
        return super().following(operation, step)

    @override
    def cast_to(self, operation: Operation) -> tuple[Number, bool]:
        return number_of(operation.results[0].type), operation.name == "arith.fptosi"

    def _poison(self, operation: Operation, step: Step) -> Step:
        (result,) = self.slots(operation.results)
        number = number_of(operation.results[0].type)

        def poison_step(state: State) -> None:
            step(state)
            if state.unspecified is not None:
                missing = np.ones(np.shape(state.values[result]), np.bool_)
                leave_unspecified(state, operation, result, number, missing)

        return poison_step

    def _accessing(self, operation: Operation, step: Step) -> Step:
        """An access, before which it is checked where it is and what it writes."""
        mask = _named(operation, "mask")
        positions = [each for name in _POSITIONS for each in _named(operation, name)]
        padding = [each for name in _PADDING for each in _named(operation, name)]
        pointers = [each for each in _named(operation, "memory") if not _is_memory(each)]
        others = [
            each
            for each in operation.operands
            if each not in (*mask, *positions, *padding, *pointers) and not _is_memory(each)
        ]
        if operation.name in _CHECKED_BY_HANDLERS:
            others = []
        masks = self.slots(mask)
        checks = [(self.slot(each), "an index") for each in positions]
        checks += [(self.slot(each), "a pointer") for each in pointers]
        checks += [(self.slot(each), STORED) for each in others]
        loaded = self._loaded(operation, step, padding)

        def accessing_step(state: State) -> None:
            if state.unspecified:
                for slot in masks:
                    reach(state, operation, slot, "the mask")
                where = state.values[masks[0]] if masks else None
                for slot, what in checks:
                    fits = where is not None and np.ndim(where) <= np.ndim(state.values[slot])
                    reach(state, operation, slot, what, where=where if fits else None)
            loaded(state)

        return accessing_step

    def _loaded(self, operation: Operation, step: Step, padding: list[SSAValue]) -> Step:
        """An access whose result has the padding, or nothing specified, where it does not reach."""
        if not operation.results:
            return step
        (result,) = self.slots(operation.results)
        if padding:
            followed = self.followed(operation, step, padding)
            if not all(map(is_poison, padding)):
                return followed

            def padded_step(state: State) -> None:
                followed(state)
                comes_of(state, result, operation)

            return padded_step
        mask = self.slots(_named(operation, "mask")) if operation.name in READS else ()
        number = number_of(operation.results[0].type)

        def unpadded_step(state: State) -> None:
            step(state)
            if state.unspecified is None:
                return
            if not mask:
                forget(state, result)
                return
            shape = np.shape(state.values[result])
            # A mask has no axis for the elements of which each point loads several.
            reached = with_axes(state.values[mask[0]], len(shape) - np.ndim(state.values[mask[0]]))
            missing = ~np.broadcast_to(reached, shape)
            leave_unspecified(state, operation, result, number, missing)

        return unpadded_step


def _is_memory(value: SSAValue) -> bool:
    return isinstance(value.type, MemRefType | UnrankedMemRefType)


def _named(operation: Operation, name: str) -> list[SSAValue]:
    """The operands that an operation calls so; none, if it has no such name."""
    given = getattr(operation, name, None)
    if given is None:
        return []
    return [given] if isinstance(given, SSAValue) else list(given)


def _has_effects(operation: Operation) -> bool:
    return any(changes_memory(each) for each in operation.walk() if each is not operation)
