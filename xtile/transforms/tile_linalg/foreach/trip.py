"""The points of one tile, and what values of the source are at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i1
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.shared_attributes import numbers_attribute
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.text.value_names import copy_name
from xtile.transforms.predication import Predication
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import inside_of, numbers_along
from xtile.transforms.tile_linalg.spans import Span
from xtile.transforms.tile_linalg.tiles import Tile


@dataclass(frozen=True)
class Line:
    """Integers that follow each other along an axis of the tile.

    Attributes:
        axis: The axis.
        offset: What is added to the number of a point along the axis.
        type: The type of the integers.
    """

    axis: int
    offset: Index
    type: Attribute


Position: TypeAlias = Line | Tile | int | SSAValue
"""An index at each point: integers that follow each other, any, or one for all points."""


@dataclass(frozen=True)
class MovingView:
    """A view that begins elsewhere at each point.

    Attributes:
        memory: The memory that it is a part of.
        offsets: Where it begins in each of the memory's dimensions.
        sizes: Its sizes.
        kept: The memory's dimensions that it has.
    """

    memory: SSAValue
    offsets: Sequence[Position]
    sizes: Sequence[Position]
    kept: Sequence[int]


class Trip(Predication[Kernel, Tile]):
    """What is emitted for the points of one tile.

    Args:
        kernel: The kernel that is built.
        spans: The tiles of each dimension of the space.
        starts: The first number of this tile along each dimension.
        varying: The values of the source that differ between points.

    Attributes:
        values: What has become of values that differ between points.
        views: What has become of memrefs that differ between points.
    """

    def __init__(
        self,
        kernel: Kernel,
        spans: Sequence[Span],
        starts: Sequence[Index],
        varying: frozenset[SSAValue],
    ) -> None:
        super().__init__(kernel)
        self.spans = spans
        self.starts = starts
        self.shape = tuple(span.tile for span in spans)
        self.values: dict[SSAValue, Tile | Line] = {}
        self.views: dict[SSAValue, MovingView] = {}
        self._varying = varying

    @override
    def is_varying(self, old: SSAValue) -> bool:
        """Whether a value of the source differs between points."""
        return old in self._varying

    @override
    def define(self, old: SSAValue, new: Tile | Line) -> None:
        """Records what has become of a value that differs between points."""
        self.values[old] = new
        if isinstance(new, Tile) and len(new.parts) == 1 and new.parts[0].name_hint is None:
            copy_name(new.parts[0], old)

    def line(self, old: SSAValue) -> Line | None:
        """A value as integers that follow each other, if it is."""
        value = self.values.get(old)
        return value if isinstance(value, Line) else None

    @override
    def wide(self, old: SSAValue) -> Tile:
        """A value at each point."""
        if not self.is_varying(old):
            return self.same(self.kernel.value(old))
        value = self.values[old]
        return self.numbers(value) if isinstance(value, Line) else value

    def vector(self, old: SSAValue) -> SSAValue:
        """A value that is not complex at each point."""
        (part,) = self.wide(old).parts
        return part

    @override
    def like(self, value: Tile, old: SSAValue) -> Tile:
        return tiles.complete(self.kernel, value)

    @override
    def from_parts(self, old: SSAValue, parts: tuple[SSAValue, ...]) -> Tile:
        return Tile(parts, old.type, self.shape)

    @override
    def types_of(self, old: SSAValue) -> list[Attribute]:
        if not self.is_varying(old):
            return [old.type]
        return [tiles.shaped(tiles.part_of(old.type), self.shape)] * tiles.count_of(old.type)

    # --- arithmetic ---

    @override
    def same(self, value: SSAValue) -> Tile:
        return tiles.broadcast(self.kernel, tiles.scalar(self.kernel, value), self.shape)

    @override
    def number(self, number: float, type: Attribute) -> Tile:
        vector = tiles.constant(self.kernel, int(number), type, self.shape)
        return Tile((vector,), type, self.shape)

    @override
    def computed(
        self, kind: Callable[..., Operation], *operands: Tile, type: Attribute | None = None
    ) -> Tile:
        vectors = [vector for operand in operands for vector in operand.parts]
        if type is None:
            vector = self.kernel.pure(kind, *vectors)
        else:
            vector = self.kernel.pure_with_type(kind, tiles.shaped(type, self.shape), *vectors)
        return Tile((vector,), tiles.element_of(vector.type), self.shape)

    @override
    def compared(self, predicate: str, a: Tile, b: Tile) -> Tile:
        return Tile((self.kernel.compare(predicate, *a.parts, *b.parts),), i1, self.shape)

    @override
    def select(self, condition: Tile, a: Tile, b: Tile) -> Tile:
        (where,) = condition.parts
        a, b = tiles.complete(self.kernel, a), tiles.complete(self.kernel, b)
        pairs = zip(a.parts, b.parts, strict=True)
        parts = (self.kernel.emit(SelectOp(where, x, y)).result for x, y in pairs)
        return Tile(tuple(parts), a.element, a.shape)

    @override
    def largest(self, value: Tile) -> SSAValue:
        properties = {
            "kind": CombiningKindAttr(CombiningKindFlag.MAXSI),
            "reduction_dims": numbers_attribute(tuple(range(len(self.shape)))),
        }
        operands = [*value.parts, self.kernel.index(0)]
        return self.kernel.compute(MultiDimReductionOp, operands, IndexType(), properties)

    # --- indices ---

    def position(self, old: SSAValue) -> Position:
        """An index of the source."""
        if self.is_varying(old):
            return self.values[old]
        known = constant_of(old)
        return self.kernel.value(old) if known is None else known

    def vector_of(self, position: Position) -> SSAValue:
        """An index at each point, as a vector."""
        if isinstance(position, Line):
            position = self.numbers(position)
        if not isinstance(position, Tile):
            position = tiles.scalar(self.kernel, self.kernel.as_value(position))
        position = tiles.converted(self.kernel, position, IndexType())
        return tiles.broadcast(self.kernel, position, self.shape).parts[0]

    def sum(self, a: Position, b: Position) -> Position:
        """The sums of two indices at each point."""
        if isinstance(b, Line):
            a, b = b, a
        if isinstance(b, int | SSAValue):
            if isinstance(a, int | SSAValue):
                return self.kernel.add(a, b)
            if isinstance(a, Line):
                return Line(a.axis, self.kernel.add(a.offset, b), IndexType())
        vectors = self.vector_of(a), self.vector_of(b)
        total = self.kernel.pure(arith.AddiOp, *vectors)
        return Tile((total,), IndexType(), self.shape)

    def numbers(self, line: Line) -> Tile:
        """The integers of a line at each point."""
        first = self.kernel.add(self.starts[line.axis], line.offset)
        vector = numbers_along(self.kernel, self.shape, line.axis, first)
        return tiles.converted(self.kernel, Tile((vector,), IndexType(), self.shape), line.type)

    @override
    def executing(self) -> Tile | None:
        """The points of the space at which the current operation is executed; None: all."""
        conditions = [] if self.mask is None else [self.mask]
        for axis, span in enumerate(self.spans):
            if not span.is_even:
                start = self.starts[axis]
                inside = inside_of(self.kernel, self.shape, axis, start, span.size)
                conditions.append(Tile((inside,), i1, self.shape))
        if not conditions:
            return None
        result, *others = conditions
        for other in others:
            result = self.both(result, other)
        return result
