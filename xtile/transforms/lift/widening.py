"""Values of work-items as tiles: one that differs between work-items has an axis for each reason.

A scalar becomes a vector with the axes along which it differs; a matrix of a subgroup gets them in
front of its own dimensions. What is the same for all stays what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias, cast

from typing_extensions import override
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    IndexType,
    IntegerType,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.shared_attributes import numbers_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.attributes import neutral_float, neutral_integer
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.affine_tiles import Affine, affine_of
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.text.value_names import copy_name
from xtile.transforms.distribute import numbers
from xtile.transforms.lift.divergence import Divergence
from xtile.transforms.lift.work_group import (
    LANE,
    NONE,
    OF_LANE,
    OF_SUBGROUPS,
    Axes,
    WorkGroup,
    own_axes,
)
from xtile.transforms.predication import Predication


@dataclass(frozen=True)
class Wide:
    """A value of all work-items.

    Attributes:
        parts: Of a complex number the real and the imaginary parts, else what there is. Each has
            a dimension for each axis.
        axes: The axes, in ascending order; those of a matrix's own dimensions are among them.
    """

    parts: tuple[SSAValue, ...]
    axes: tuple[int, ...] = ()

    @property
    def value(self) -> SSAValue:
        """The only part."""
        (part,) = self.parts
        return part

    @property
    def element(self) -> Attribute:
        """The type of the numbers."""
        return value_type(self.parts[0].type)

    @property
    def sizes(self) -> dict[int, int]:
        """The size of each axis."""
        return dict(zip(self.axes, shape_of(self.parts[0].type), strict=True))


Where: TypeAlias = Index | Wide
"""An index of all work-items: a number that is known, one that is the same for all, or any."""


@dataclass(frozen=True)
class MovingView:
    """Memory that begins elsewhere for each work-item.

    Attributes:
        memory: The memory that it is a part of.
        offsets: Where it begins in each dimension of that memory.
        kept: For each of its own dimensions that of the memory, and how many of its elements one
            step goes.
        sizes: The size of each of its own dimensions.
    """

    memory: SSAValue
    offsets: tuple[Where, ...]
    kept: tuple[tuple[int, Where], ...]
    sizes: tuple[Where, ...]

    def at(self, widening: Widening, indices: Sequence[Where]) -> list[Where]:
        """The indices in the memory that it is a part of."""
        result = list(self.offsets)
        for (dimension, stride), index in zip(self.kept, indices, strict=True):
            moved = widening.multiply(index, stride)
            result[dimension] = widening.add(result[dimension], moved)
        return result


@dataclass(frozen=True)
class Rest:
    """The subgroups along an axis that act, where they are the last ones of more.

    Attributes:
        first: The number of the first one.
        size: How many there are; the first one is one of them.
    """

    first: Index
    size: Index


class Widening(Predication[TileEmitter, Wide]):
    """Emits what all work-items of a work-group do together.

    Args:
        kernel: The kernel that is built.
        group: The work-group.
        divergence: The axes of the source's values.

    Attributes:
        rests: Where fewer subgroups act than an axis has, which ones.
        lane: The lane that acts for each component of a matrix; None where all lanes do.
        views: What has become of memrefs that differ between work-items.
        blocks: The memory of descriptors of blocks, and where these begin.
    """

    def __init__(self, kernel: TileEmitter, group: WorkGroup, divergence: Divergence) -> None:
        super().__init__(kernel)
        self.group = group
        self.divergence = divergence
        self.sizes = dict(group.sizes)
        self.lane: Wide | None = None
        self.rests: dict[int, Rest] = {}
        self._acting: Wide | None = None
        self.views: dict[SSAValue, MovingView] = {}
        self.blocks: dict[SSAValue, tuple[SSAValue, list[Where]]] = {}
        self._values: dict[SSAValue, Wide] = {}

    # --- what has become of the source ---

    @override
    def is_varying(self, old: SSAValue) -> bool:
        return bool(self.divergence.of(old))

    @override
    def wide(self, old: SSAValue) -> Wide:
        """What a value of the source has become."""
        known = self._values.get(old)
        if known is not None:
            return known
        value = self.kernel.value(old)
        if _is_complex(old):
            return Wide(numbers.parts(self.kernel, value))
        return Wide((value,), own_axes(old.type))

    @override
    def define(self, old: SSAValue, new: Wide) -> None:
        """Records what a value has become."""
        if new.axes != own_axes(old.type):
            self._values[old] = new
            for part in new.parts:
                if part.name_hint is None:
                    copy_name(part, old)
        elif _is_complex(old):
            self.kernel.define(old, numbers.join(self.kernel, *new.parts))
        else:
            self.kernel.define(old, new.value)

    def define_component(self, old: SSAValue, matrix: Wide) -> None:
        """Records a component of a matrix, which is that matrix."""
        self._values[old] = matrix

    @contextmanager
    def components(self, sizes: Mapping[int, int]) -> Generator[None]:
        """What the components of a matrix of a size are told apart by, beside work-items."""
        before, self.sizes = (self.sizes, self.lane), {**self.sizes, **sizes}
        try:
            yield
        finally:
            self.sizes, self.lane = before

    def where(self, old: SSAValue) -> Where:
        """An index of the source."""
        constant = constant_of(old)
        if constant is not None:
            return constant
        wide = self.wide(old)
        return wide if wide.axes else wide.value

    # --- shapes ---

    def shape(self, axes: Iterable[int], sizes: Mapping[int, int] | None = None) -> list[int]:
        """The sizes of axes of work-items, and of others that are given."""
        known = {**self.sizes, **(sizes or {})}
        return [known[axis] for axis in axes]

    def aligned(
        self, wide: Wide, axes: Sequence[int], sizes: Mapping[int, int] | None = None
    ) -> Wide:
        """A value with more axes, along which it is repeated.

        Args:
            wide: The value.
            axes: All axes, those of the value among them.
            sizes: The sizes of axes of matrices that the value does not have.
        """
        if tuple(axes) == wide.axes:
            return wide
        shape = self.shape(axes, {**(sizes or {}), **wide.sizes})
        parts = (self.kernel.spread(self.thin(part, wide, axes), shape) for part in wide.parts)
        return Wide(tuple(parts), tuple(axes))

    @override
    def like(self, value: Wide, old: SSAValue) -> Wide:
        """A value with all axes of what a value of the source becomes."""
        return self.aligned(value, self.divergence.axes(old), own_sizes(old))

    @override
    def from_parts(self, old: SSAValue, parts: tuple[SSAValue, ...]) -> Wide:
        return Wide(parts, self.divergence.axes(old))

    @override
    def types_of(self, old: SSAValue) -> list[Attribute]:
        """The types of the parts of what a value of the source becomes."""
        if not self.divergence.of(old):
            return [old.type]
        shape = self.shape(self.divergence.axes(old), own_sizes(old))
        if _is_complex(old):
            part: Attribute = cast("ComplexType[AnyFloat]", old.type).element_type
            return [with_shape(part, shape)] * 2
        return [with_shape(old.type, shape)]

    def thin(self, part: SSAValue, wide: Wide, axes: Sequence[int]) -> SSAValue:
        """A part of a value with more axes, of which those in front may be left out.

        The others have size 1.
        """
        if not wide.axes:
            return part
        first = next(i for i, axis in enumerate(axes) if axis in wide.axes)
        return self.kernel.reshape(part, [wide.sizes.get(axis, 1) for axis in axes[first:]])

    def together(self, wides: Sequence[Wide]) -> list[Wide]:
        """Values with the axes of all of them."""
        axes, sizes = axes_of(wides), sizes_of(wides)
        return [self.aligned(each, axes, sizes) for each in wides]

    def line(self, axis: int) -> Wide:
        """The numbers along an axis of work-items."""
        if axis == LANE and self.lane is not None:
            return self.lane
        if axis not in self.sizes:
            return self.number(0, IndexType())
        return Wide((self.kernel.step(self.sizes[axis]),), (axis,))

    # --- arithmetic ---

    @override
    def computed(
        self, kind: Callable[..., Operation], *operands: Wide, type: Attribute | None = None
    ) -> Wide:
        """An operation on each element of values."""
        aligned = self.together(operands)
        shape = list(sizes_of(operands).values())
        given = () if type is None else (with_shape(type, shape),)
        made = self.kernel.emit(kind(*(each.value for each in aligned), *given))
        return Wide((made.results[0],), aligned[0].axes)

    def as_wide(self, index: Where) -> Wide:
        """An index as a value."""
        return index if isinstance(index, Wide) else Wide((self.kernel.as_value(index),))

    def add(self, a: Where, b: Where) -> Where:
        """The sum of two indices."""
        if not isinstance(a, Wide) and not isinstance(b, Wide):
            return self.kernel.add(a, b)
        if isinstance(a, int | Wide) and isinstance(b, int | Wide) and 0 in (a, b):
            return b if a == 0 else a
        return self.computed(arith.AddiOp, self.as_wide(a), self.as_wide(b))

    def multiply(self, a: Where, b: Where) -> Where:
        """The product of two indices."""
        if not isinstance(a, Wide) and not isinstance(b, Wide):
            return self.kernel.multiply(a, b)
        if a == 1 or b == 1:
            return b if a == 1 else a
        return self.computed(arith.MuliOp, self.as_wide(a), self.as_wide(b))

    @override
    def compared(self, predicate: str, a: Wide, b: Wide) -> Wide:
        """An integer comparison such as `slt`."""
        a, b = self.together((a, b))
        return Wide((self.kernel.compare(predicate, a.value, b.value),), a.axes)

    @override
    def same(self, value: SSAValue) -> Wide:
        return Wide((value,))

    @override
    def number(self, number: float, type: Attribute) -> Wide:
        """A number that is the same for all."""
        return Wide((self.kernel.constant(number, type),))

    @override
    def select(self, condition: Wide, a: Wide, b: Wide) -> Wide:
        """`a` where a condition holds, `b` elsewhere."""
        if condition.axes:
            condition, a, b = self.together((condition, a, b))
        else:
            a, b = self.together((a, b))
        pairs = zip(a.parts, b.parts, strict=True)
        parts = [self.kernel.emit(SelectOp(condition.value, x, y)).result for x, y in pairs]
        return Wide(tuple(parts), a.axes)

    # --- along axes ---

    def reduced(self, kind: CombiningKindFlag, wide: Wide, axes: Axes) -> Wide:
        """Combines elements along axes."""
        along = [i for i, axis in enumerate(wide.axes) if axis in axes]
        if not along:
            return wide
        kept = tuple(axis for axis in wide.axes if axis not in axes)
        type_ = with_shape(wide.element, [wide.sizes[axis] for axis in kept])
        start = self.kernel.constant(neutral(kind, value_type(type_)), type_)
        return Wide((self.combined(kind, wide.value, start, along),), kept)

    def combined(
        self, kind: CombiningKindFlag, vector: SSAValue, start: SSAValue, along: Sequence[int]
    ) -> SSAValue:
        """Combines elements of a vector along dimensions."""
        properties = {
            "kind": CombiningKindAttr(kind),
            "reduction_dims": numbers_attribute(tuple(along)),
        }
        return self.kernel.compute(MultiDimReductionOp, [vector, start], start.type, properties)

    @override
    def largest(self, value: Wide) -> SSAValue:
        return self.reduced(CombiningKindFlag.MAXSI, value, frozenset(value.axes)).value

    @override
    def least(self, value: Wide) -> SSAValue | None:
        """Known of work-items that count up; where a number is not known, only of indices."""
        found, shape = affine_of(value.value), shape_of(value.value.type)
        if found is None or (found.terms and not isinstance(value.element, IndexType)):
            return None
        ends = (s * (size - 1) for s, size in zip(found.strides, shape, strict=True))
        least = found.constant + sum(min(0, end) for end in ends)
        if not found.terms:
            return self.kernel.constant(least, value.element)
        return self.kernel.as_value(Affine(least, (), found.terms).base(self.kernel))

    def any(self, condition: Wide, keeping: Axes = NONE) -> Wide:
        """Whether a condition holds anywhere along its other axes."""
        return self.reduced(CombiningKindFlag.OR, condition, frozenset(condition.axes) - keeping)

    def of_subgroup(self, wide: Wide) -> Wide:
        """The integer that the active lanes of each subgroup agree on."""
        if LANE not in wide.axes:
            return wide
        return self.reduced(CombiningKindFlag.MAXSI, self.active(wide), OF_LANE)

    def active(self, wide: Wide, kind: CombiningKindFlag = CombiningKindFlag.MAXSI) -> Wide:
        """A value that changes nothing in a combination where the current operation is masked."""
        if self.mask is None:
            return wide
        nothing = self.number(neutral(kind, wide.element), wide.element)
        return self.select(self.mask, wide, nothing)

    # --- masks ---

    @override
    def chosen_by(self, condition: Wide, result: SSAValue) -> Wide:
        if LANE not in condition.axes or LANE in self.divergence.of(result):
            return condition
        # docs/semantics.md 5.8: that of the first region, if any lane takes it.
        active = condition if self.mask is None else self.both(self.mask, condition)
        return self.any(active, OF_SUBGROUPS)

    @override
    def bounds(self, loop: scf.ForOp) -> Sequence[SSAValue]:
        """The bounds of a loop, which runs not at all where nobody executes it."""
        first, last, step = super().bounds(loop)
        if self.mask is None or self.is_executed or constant_of(loop.ub) is not None:
            return first, last, step
        executed = self.any(self.mask).value
        return first, self.kernel.pure(SelectOp, executed, last, first), step

    @property
    def executed(self) -> Wide | None:
        """Which of those who have vectors of their own execute an operation; None where all do."""
        if self.mask is None:
            return None
        kept = OF_SUBGROUPS | OF_LANE if self.group.has_vectors_of_lanes else OF_SUBGROUPS
        return self.any(self.mask, kept)

    def leave_out(self, axis: int, rest: Rest) -> None:
        """Lets only the first subgroups along an axis act in all that follows."""
        assert self.is_executed, "they act in all of the code, or in none of it"
        self.rests[axis] = rest
        count = self.kernel.subtract(rest.size, rest.first)
        acts = self.compared("slt", self.line(axis), self.as_wide(count))
        self.mask = self._acting = acts if self.mask is None else self.both(self.mask, acts)

    @property
    def is_executed(self) -> bool:
        """Whether some work-item certainly executes the current operation.

        Then the mask is only that of subgroups that do not act at all.
        """
        return self.mask is self._acting


def axes_of(values: Iterable[Wide]) -> tuple[int, ...]:
    """The axes of several values together."""
    return tuple(sorted({axis for value in values for axis in value.axes}))


def sizes_of(values: Iterable[Wide]) -> dict[int, int]:
    """The sizes of the axes of several values together, in the order of the axes."""
    return dict(sorted({axis: n for value in values for axis, n in value.sizes.items()}.items()))


def neutral(kind: CombiningKindFlag, element: Attribute) -> float:
    """What changes no number of a type in a combination."""
    if isinstance(element, IndexType):
        return neutral_integer(str(kind), 64)
    if isinstance(element, IntegerType):
        return neutral_integer(str(kind), element.bitwidth)
    return neutral_float(str(kind))


def _is_complex(value: SSAValue) -> bool:
    return isinstance(value.type, ComplexType)


def own_sizes(old: SSAValue) -> dict[int, int]:
    """The sizes of a matrix along its own axes; a scalar has none."""
    return dict(zip(own_axes(old.type), shape_of(old.type), strict=True))
