"""Memory that many tiles are in: those of all tile blocks, or of all iterations of a loop.

A view that begins at the tile is another one for each tile, and a tensor memory accelerator needs
a descriptor of each, made while the kernel runs. Where the tiles of all blocks or of a loop lie in
one strided memory, it is described once: what differs between tiles are indices. What is added to
the offset is the index along a dimension of the tile if it is its stride times a multiple of its
size; else it is the index along a further dimension, of which a tile has one element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import gcd, prod

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.facts import constant_of
from xtile.transforms.structure.accesses import (
    GREATEST_SIZE,
    GREATEST_STRIDE,
    Access,
    Dimension,
    Further,
    RequireWithin,
    Scattered,
    Transfer,
    loaded_tile,
)
from xtile.transforms.structure.affine import Affine
from xtile.transforms.structure.bounds import NOTHING, Needs
from xtile.transforms.structure.boxes import Bound
from xtile.transforms.structure.inequalities import axes_of, needs_of_positive
from xtile.transforms.structure.polynomials import (
    ZERO,
    Atom,
    Monomial,
    Polynomial,
    Rounds,
    is_inside,
    operations_around,
)
from xtile.transforms.structure.provenance import Provenance

_MOST_DIMENSIONS = 5
"""What the tensor memory accelerator takes at most."""

IsFixed = Callable[[Atom], bool]

BeginsInside = Callable[[Polynomial, Polynomial], bool]


class _NotCommonError(Exception):
    """Tiles are not known to lie in one memory."""


def in_common_memory(
    access: Access,
    operation: Scattered | Transfer,
    provenance: Provenance,
    require_within: RequireWithin,
    begins_inside: BeginsInside,
) -> Access:
    """The access as one of memory that is the same for all tile blocks, or else in its loop.

    It is the access itself if neither is known, or if a tile may begin beyond the memory's end.

    Args:
        access: The access.
        operation: The operation that it is.
        provenance: What numbers are.
        require_within: What must hold so that nobody looks at elements beyond some bounds.
        begins_inside: Whether tiles that begin at a number begin before an end, because only those
            iterations are executed in which they do.
    """
    scopes: list[IsFixed] = [provenance.is_of_arguments]
    loop = loop_around(operation)
    if loop is not None:
        scopes.append(lambda atom: not is_inside(atom, loop))
    for is_fixed in scopes:
        try:
            scope = _Scope(is_fixed, operation, provenance, require_within, begins_inside)
            return scope.memory_of(access)
        except _NotCommonError:
            pass
    return access


def loop_around(operation: Operation) -> scf.ForOp | None:
    """The next loop around an operation whose iterations can be counted."""
    around = operation.parent_op()
    while isinstance(around, scf.IfOp):
        around = around.parent_op()
    if not isinstance(around, scf.ForOp) or UNSIGNED in around.properties:
        return None
    return around


class _Scope:
    """What is the same for tiles, and how much is known of what is not."""

    def __init__(
        self,
        is_fixed: IsFixed,
        operation: Scattered | Transfer,
        provenance: Provenance,
        require_within: RequireWithin,
        begins_inside: BeginsInside,
    ) -> None:
        self._is_inside = begins_inside
        self._is_fixed = is_fixed
        self._operation = operation
        self._provenance = provenance
        self._require_within = require_within
        self._needs: Needs = NOTHING

    def memory_of(self, access: Access) -> Access:
        """The access with memory that is the same for all tiles.

        Raises:
            _NotCommonError: There is none.
        """
        access, starts = _from_beginnings(access)
        left = self._without(self._in_rounds(access.offset), access.dimensions, starts)
        if any(other for _, other, _ in self._parts(left)):
            left = self._without(self._expanded(left), access.dimensions, starts)
        fixed, indices = ZERO, dict[Monomial, Polynomial]()
        for same, other, factor in self._parts(left):
            if not other:
                fixed += Polynomial({same: factor})
            else:
                indices[same] = indices.get(same, ZERO) + Polynomial({other: factor})
        if not indices and not any(start.terms for start in starts):
            return access
        pairs = zip(access.dimensions, starts, strict=True)
        dimensions = tuple(self._dimension(i, own, start) for i, (own, start) in enumerate(pairs))
        further = tuple(self._further(same, index) for same, index in indices.items())
        if len(dimensions) + len(further) > _MOST_DIMENSIONS:
            raise _NotCommonError
        self._check_other_blocks(dimensions, further)
        return replace(
            access,
            offset=fixed,
            dimensions=dimensions,
            further=further,
            is_guarded=self._is_guarded(access),
            needs=access.needs | self._needs,
        )

    # --- numbers ---

    def _in_rounds(self, number: Polynomial) -> Polynomial:
        """A number with iterations in place of what varies in loops."""
        number = self._expanded(number, lambda atom: not self._is_fixed(atom) and _is_in_loop(atom))
        total = ZERO
        for product, factor in number.terms.items():
            each = Polynomial.of(factor)
            for atom in product:
                each *= Polynomial.of(atom) if self._is_fixed(atom) else self._counted(atom)
            total += each
        return total

    def _expanded(
        self, number: Polynomial, is_wanted: Callable[[Atom], bool] = lambda atom: True
    ) -> Polynomial:
        number, needs = self._provenance.expanded(number, is_wanted)
        self._needs |= needs
        return number

    def _parts(self, number: Polynomial) -> Iterator[tuple[Monomial, Monomial, int]]:
        """For each product what is the same for all tiles, what is not, and the factor."""
        for product, factor in number.terms.items():
            same = tuple(atom for atom in product if self._is_fixed(atom))
            yield same, tuple(atom for atom in product if not self._is_fixed(atom)), factor

    def _counted(self, atom: Atom) -> Polynomial:
        """The variable of a loop by the iterations that are over, if its step is known."""
        loop = atom.owner.parent_op() if isinstance(atom, SSAValue) else None
        if not isinstance(loop, scf.ForOp) or atom is not loop.body.block.args[0]:
            return Polynomial.of(atom)
        step = constant_of(loop.step)
        if step is None or step <= 0 or UNSIGNED in loop.properties:
            return Polynomial.of(atom)
        lower = self._in_rounds(self._provenance.number(loop.lb))
        return lower + Polynomial.of(Rounds(loop)).times(step)

    def _fixed(self, number: Polynomial) -> Polynomial:
        """A number that is the same for all tiles."""
        found = self._in_rounds(number)
        if not all(map(self._is_fixed, found.atoms)):
            found = self._in_rounds(self._expanded(number))
        if not all(map(self._is_fixed, found.atoms)):
            raise _NotCommonError
        return found

    def _rely_on(self, number: Polynomial, least: int, most: int) -> None:
        needs = self._provenance.bounds.require(Affine.of((), number), least, most)
        if needs is None:
            raise _NotCommonError
        self._needs |= needs

    def _rely_on_index(self, index: Polynomial, most: int) -> None:
        """Makes sure that an index is not negative, unless it looks as if it often were."""
        whole, _ = self._provenance.expanded(index, lambda atom: True)
        if any(factor < 0 for factor in whole.terms.values()):
            raise _NotCommonError
        self._rely_on(index, 0, most)

    # --- dimensions ---

    def _without(
        self, offset: Polynomial, dimensions: Sequence[Dimension], starts: list[Polynomial]
    ) -> Polynomial:
        """What is left of an offset without indices of tiles, which are added to `starts`."""
        left = ZERO
        for same, other, factor in self._parts(offset):
            along = self._dimension_along(same, other, factor, dimensions) if other else None
            if along is None:
                left += Polynomial({same: factor}) * Polynomial({other: 1})
            else:
                dimension, steps = along
                starts[dimension] += Polynomial({other: steps})
        return left

    def _dimension_along(
        self, same: Monomial, other: Monomial, factor: int, dimensions: Sequence[Dimension]
    ) -> tuple[int, int] | None:
        """The dimension of a tile along which a part of the offset goes, and how far."""
        divisor = prod(self._divisor(atom) for atom in other)
        order = sorted(range(len(dimensions)), key=lambda i: -(dimensions[i].stride.constant or 0))
        for i in order:
            own = dimensions[i]
            if own.size == 1 or len(own.stride.terms) != 1:
                continue
            ((product, stride),) = own.stride.terms.items()
            steps, rest = divmod(factor, stride)
            if product == same and not rest and steps > 0 and not steps * divisor % own.size:
                return i, steps
        return None

    def _divisor(self, atom: Atom) -> int:
        return self._provenance.bounds.divisor(atom) if isinstance(atom, SSAValue) else 1

    def _dimension(self, number: int, own: Dimension, start: Polynomial) -> Dimension:
        """A dimension of the memory that all tiles are in."""
        if own.begins != (ZERO,):
            raise _NotCommonError
        ends = tuple(self._fixed(end + start) for end in own.ends)
        fixed = replace(own, stride=self._fixed(own.stride), ends=ends)
        if not start.terms:
            return fixed
        self._rely_on_index(start, GREATEST_SIZE - own.size)
        if not ends:
            return replace(fixed, start=start, length=Polynomial.of(GREATEST_SIZE))
        for end in ends:
            self._rely_on(end, -(1 << 63), GREATEST_SIZE)
        outside = [end for end in ends if not self._begins_inside(start, end)]
        if not outside:
            return replace(fixed, start=start)
        if self._is_unseen(number, own):
            is_left_out = self._is_left_out(ends)
            return replace(fixed, start=start, may_begin_outside=True, is_left_out=is_left_out)
        if not all(self._is_inside(start, end) for end in outside):
            raise _NotCommonError
        return replace(fixed, start=start)

    def _is_left_out(self, ends: Sequence[Polynomial]) -> bool:
        """Whether a tile that begins outside is not read.

        A load in a loop would be slower for that; it reads the first tile instead, which there is
        if the memory is not empty.
        """
        if loaded_tile(self._operation) is None or loop_around(self._operation) is None:
            return True
        for end in ends:
            self._rely_on(end, 1, GREATEST_SIZE)
        return False

    def _is_unseen(self, number: int, own: Dimension) -> bool:
        """Whether nobody looks at elements beyond the end of a dimension."""
        tile = loaded_tile(self._operation)
        if tile is None:
            return True
        bounds = [Bound(number, True, end) for end in own.ends]
        needs = self._require_within(tile, bounds)
        if needs is None:
            return False
        self._needs |= needs
        return True

    def _further(self, same: Monomial, index: Polynomial) -> Further:
        """A dimension of which each tile has one element."""
        factor = gcd(*index.terms.values())
        stride, divided = Polynomial({same: factor}), index.divided(factor)
        assert divided is not None
        if stride.constant == 1:
            raise _NotCommonError
        self._rely_on(stride, 1, GREATEST_STRIDE)
        self._rely_on_index(divided, GREATEST_SIZE - 1)
        return Further(stride, divided)

    # --- where tiles begin ---

    def _begins_inside(self, start: Polynomial, end: Polynomial) -> bool:
        """Whether each tile certainly begins before an end."""
        needs = needs_of_positive(end - start, self._provenance)
        self._needs |= needs or NOTHING
        return needs is not None

    def _is_guarded(self, access: Access) -> bool:
        """Whether conditions that differ between tiles say if anything is accessed at all."""
        try:
            for number in access.box.not_negative:
                self._fixed(number)
        except _NotCommonError:
            is_fixed = False
        else:
            is_fixed = all(map(self._is_fixed, access.box.conditions))
        if not is_fixed and loaded_tile(self._operation) is not None:
            raise _NotCommonError
        return not is_fixed

    def _check_other_blocks(
        self, dimensions: Sequence[Dimension], further: Sequence[Further]
    ) -> None:
        """Checks that what a load reads where nobody looks is memory that another block reads."""
        outside = [own.start for own in dimensions if own.may_begin_outside]
        if loaded_tile(self._operation) is None or not outside or not further:
            return
        of_starts = {axis for start in outside for axis in axes_of(start)}
        if of_starts & {axis for each in further for axis in axes_of(each.index)}:
            raise _NotCommonError


def _from_beginnings(access: Access) -> tuple[Access, list[Polynomial]]:
    """The access as one of memory from its beginnings on, and where the tile begins there.

    A check that indices are not negative says where memory begins that a tile is further on in.
    """
    offset, starts, dimensions = access.offset, list[Polynomial](), list[Dimension]()
    for own in access.dimensions:
        begin = own.begins[0] if len(own.begins) == 1 and not own.start.terms else ZERO
        starts.append(-begin)
        offset += own.stride * begin
        dimensions.append(replace(own, begins=(ZERO,)) if begin.terms else own)
    return replace(access, offset=offset, dimensions=tuple(dimensions)), starts


def _is_in_loop(atom: Atom) -> bool:
    return any(isinstance(around, scf.ForOp) for around in operations_around(atom))
