"""Tiles that go on evenly in a loop: one view of all that they go through, made before it.

A view that begins at the tile is another one in each iteration. Where the tile goes on by a
multiple of its size each time, memory can begin at the tile of the first iteration, and that of
another has an index in it: hardware that fetches tiles then fetches those of iterations to come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.facts import constant_of
from xtile.transforms.structure.accesses import GREATEST_SIZE, Access, Dimension, Scattered
from xtile.transforms.structure.affine import Affine
from xtile.transforms.structure.bounds import NOTHING, Needs
from xtile.transforms.structure.polynomials import (
    ONE,
    ZERO,
    Atom,
    Polynomial,
    Rounds,
    Trips,
    is_inside,
)
from xtile.transforms.structure.provenance import Provenance


class _NotEvenError(Exception):
    """A tile does not go on evenly, as far as it is known."""


def in_loop(access: Access, operation: Scattered, provenance: Provenance) -> Access:
    """The access with memory that is the same in each iteration of the loop around it.

    It is the access itself if there is no loop, or the tile does not go on evenly, or may begin
    beyond the end of the memory.
    """
    loop = _loop_around(operation)
    if loop is None:
        return access
    try:
        return _Loop(loop, provenance).memory_of(access)
    except _NotEvenError:
        return access


def _loop_around(operation: Operation) -> scf.ForOp | None:
    """The next loop around an operation whose iterations can be counted."""
    around = operation.parent_op()
    while isinstance(around, scf.IfOp):
        around = around.parent_op()
    if not isinstance(around, scf.ForOp) or UNSIGNED in around.properties:
        return None
    return around


@dataclass(frozen=True)
class _Moving:
    """A number that is `first` in the first iteration, and `step` more in each further one."""

    first: Polynomial
    step: Polynomial


class _Loop:
    """A loop, and what of its tiles' memory is the same in each iteration."""

    def __init__(self, loop: scf.ForOp, provenance: Provenance) -> None:
        self._loop = loop
        self._provenance = provenance
        self._needs: Needs = NOTHING
        step = constant_of(loop.step)
        if step is None or step <= 0:
            raise _NotEvenError
        self._step = step
        self._lower = provenance.number(loop.lb)
        self._variable: SSAValue = loop.body.block.args[0]

    def memory_of(self, access: Access) -> Access:
        """The access with memory that is the same in each iteration.

        Raises:
            _NotEvenError: There is none.
        """
        offset = self._moving(access.offset)
        steps = self._steps_of(offset.step, access.dimensions)
        if not steps:
            return access
        dimensions = tuple(
            self._moved(each, steps[i]) if i in steps else self._fixed_dimension(each)
            for i, each in enumerate(access.dimensions)
        )
        for number in access.box.not_negative:
            self._fixed(number)
        if any(is_inside(condition, self._loop) for condition in access.box.conditions):
            raise _NotEvenError
        needs = access.needs | self._needs
        return replace(access, offset=offset.first, dimensions=dimensions, needs=needs)

    # --- numbers ---

    def _moving(self, number: Polynomial) -> _Moving:
        """A number as that of the first iteration, and what each one adds."""
        number = self._expanded(number, of_loop_only=True)
        rounds = Rounds(self._loop)
        first, step = ZERO, ZERO
        for product, factor in number.terms.items():
            inside = [atom for atom in product if is_inside(atom, self._loop)]
            rest = tuple(atom for atom in product if atom not in inside)
            each = Polynomial({rest: factor})
            if not inside:
                first += each
            elif inside == [self._variable]:
                first += each * self._lower
                step += each.times(self._step)
            elif inside == [rounds]:
                step += each
            else:
                raise _NotEvenError
        return _Moving(first, step)

    def _fixed(self, number: Polynomial) -> Polynomial:
        """A number that is the same in each iteration."""
        moving = self._moving(number)
        if moving.step.terms:
            raise _NotEvenError
        return moving.first

    def _expanded(self, number: Polynomial, *, of_loop_only: bool) -> Polynomial:
        def is_wanted(atom: Atom) -> bool:
            return not of_loop_only or is_inside(atom, self._loop)

        result, needs = self._provenance.expanded(number, is_wanted)
        self._needs |= needs
        return result

    def _rely_on_size(self, number: Polynomial) -> None:
        """Makes sure that a number is not too large for the size of a view."""
        tile = Affine.of((), number)
        needs = self._provenance.bounds.require(tile, -(1 << 63), GREATEST_SIZE)
        if needs is None:
            raise _NotEvenError
        self._needs |= needs

    # --- dimensions ---

    def _steps_of(self, step: Polynomial, dimensions: Sequence[Dimension]) -> Mapping[int, int]:
        """How many indices the tile goes on along each dimension, if they make up its step."""
        if not step.terms:
            return {}
        found = _steps_along(step, dimensions)
        if found is None:
            found = _steps_along(self._expanded(step, of_loop_only=False), dimensions)
        if found is None:
            raise _NotEvenError
        return found

    def _fixed_dimension(self, dimension: Dimension) -> Dimension:
        begins = tuple(map(self._fixed, dimension.begins))
        ends = tuple(map(self._fixed, dimension.ends))
        return replace(dimension, stride=self._fixed(dimension.stride), begins=begins, ends=ends)

    def _moved(self, dimension: Dimension, step: int) -> Dimension:
        """A dimension of all that a tile goes through."""
        if dimension.begins != (ZERO,):
            raise _NotEvenError
        rounds = Polynomial.of(Rounds(self._loop))
        start, rest = rounds.times(step), step % self._step
        if not rest:
            passed = Polynomial.of(self._variable) - self._lower
            start = passed.times(step // self._step)
        length = Polynomial.of(Trips(self._loop)).times(step)
        ends = tuple(self._fixed(end + rounds.times(step)) for end in dimension.ends)
        for end in ends:
            self._check_begins_inside(step, end)
        for end in ends or (length,):
            self._rely_on_size(end)
        fixed = replace(dimension, stride=self._fixed(dimension.stride), ends=ends)
        return replace(fixed, start=start, length=None if ends else length)

    def _check_begins_inside(self, step: int, end: Polynomial) -> None:
        """Checks that the tile of each iteration begins before an end.

        A launch need not find that: beyond the end there is nothing to access, which is no mistake.
        """
        find = self._provenance.bounds.range_of_number
        if not any(find(end - last)[0] > 0 for last in self._last_starts(step)):
            raise _NotEvenError

    def _last_starts(self, step: int) -> Iterator[Polynomial]:
        """Numbers that the tile of the last iteration begins at or before, if there is one."""
        upper = self._provenance.number(self._loop.ub)
        if not step % self._step:
            yield (upper - self._lower - ONE).times(step // self._step)
        quotient = _quotient_of(upper)
        if quotient is None or self._step != 1 or self._lower.terms or step % quotient.divisor:
            return
        dividend = self._provenance.number(quotient.dividend)
        whole = self._expanded(dividend, of_loop_only=False)
        less = ONE if quotient.is_rounded_up else Polynomial.of(quotient.divisor)
        yield (whole - less).times(step // quotient.divisor)


def _steps_along(step: Polynomial, dimensions: Sequence[Dimension]) -> dict[int, int] | None:
    """For dimensions how many indices along them make up a step; None if none do."""
    left = dict(step.terms)
    found: dict[int, int] = {}
    for i in sorted(range(len(dimensions)), key=lambda i: -_constant_stride(dimensions[i])):
        own = dimensions[i]
        if own.size == 1 or len(own.stride.terms) != 1:
            continue
        ((product, factor),) = own.stride.terms.items()
        indices, rest = divmod(left.get(product, 0), factor)
        if indices > 0 and not rest and not indices % own.size:
            found[i] = indices
            del left[product]
    return None if left else found


def _constant_stride(dimension: Dimension) -> int:
    return dimension.stride.constant or 0


@dataclass(frozen=True)
class _Quotient:
    """A number divided by another one, which is positive."""

    dividend: SSAValue
    divisor: int
    is_rounded_up: bool


def _quotient_of(number: Polynomial) -> _Quotient | None:
    """A number as the quotient that it is.

    A quotient that is rounded to 0 is rounded down where it is positive.
    """
    atoms = list(number.atoms)
    if len(atoms) != 1 or number.terms != Polynomial.of(atoms[0]).terms:
        return None
    (atom,) = atoms
    owner = atom.owner if isinstance(atom, SSAValue) else None
    if not isinstance(owner, Operation) or owner.name not in _QUOTIENTS:
        return None
    divisor = constant_of(owner.operands[1])
    if divisor is None or divisor <= 0:
        return None
    return _Quotient(owner.operands[0], divisor, _QUOTIENTS[owner.name])


_QUOTIENTS = {"arith.ceildivsi": True, "arith.divsi": False, "arith.floordivsi": False}
"""Whether a quotient is rounded up."""
