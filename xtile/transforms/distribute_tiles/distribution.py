"""Rebuilds a kernel of tiles as one of subgroups, each of which holds a part of every tile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.core.pointers import IntegerToPointerOp, PointerToIntegerOp, PointerType
from xtile.dialects.gpu.indices import LaneIdOp, SubgroupIdOp
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.distribute_tiles.layouts import Layouts
from xtile.transforms.distribute_tiles.spreads import (
    Box,
    Dealt,
    Spread,
    box_of,
    is_shared,
    matrices_of,
    part_of,
    spread_of,
)

Parts: TypeAlias = Sequence[SSAValue]
"""What a subgroup holds of a tile: a number, a line, or matrices."""


_Known = dict[Spread, tuple[Block, Parts]]
"""Parts that were emitted, and the block in which they were."""


@dataclass(eq=False)
class Tile(ABC):
    """A tile of the source, as far as it is known how subgroups come by their parts.

    Attributes:
        shape: The sizes that the source gives it.
        element: The type of its elements; pointers are their addresses.
    """

    shape: tuple[int, ...]
    element: Attribute

    @property
    def box(self) -> Box:
        """The sizes that are dealt out."""
        return box_of(self.shape)

    @abstractmethod
    def parts(self, distribution: Distribution, spread: Spread) -> Parts:
        """What a subgroup holds if the tile is spread so."""


@dataclass(eq=False)
class Uniform(Tile):
    """A tile of equal elements."""

    number: SSAValue

    @override
    def parts(self, distribution: Distribution, spread: Spread) -> Parts:
        part = distribution.reshape(self.number, part_of(self.box, spread)[-2:])
        return [part] * matrices_of(self.box)


@dataclass(eq=False)
class Computed(Tile):
    """A tile that is computed of nothing but numbers, by each subgroup what it needs."""

    make: Callable[[Spread], Parts]
    _known: _Known = field(default_factory=lambda: _Known(), init=False)

    @override
    def parts(self, distribution: Distribution, spread: Spread) -> Parts:
        known = self._known.get(spread)
        if known is None or known[0] not in distribution.open_blocks:
            known = distribution.block, self.make(spread)
            self._known[spread] = known
        return known[1]


@dataclass(eq=False)
class Held(Tile):
    """A tile that is in registers, spread in one way; in others it is through local memory."""

    spread: Spread
    values: Parts
    _known: _Known = field(default_factory=lambda: _Known(), init=False)

    @override
    def parts(self, distribution: Distribution, spread: Spread) -> Parts:
        if spread == self.spread:
            return self.values
        known = self._known.get(spread)
        if known is None or known[0] not in distribution.open_blocks:
            known = distribution.block, distribution.convert(distribution, self, spread)
            self._known[spread] = known
        return known[1]


Convert: TypeAlias = "Callable[[Distribution, Held, Spread], Parts]"
"""Emits the parts of a tile that is spread in another way."""


class Distribution(TileEmitter):
    """Rebuilds kernels, from level tile to level subgroup.

    A vector of the source becomes a `Tile`, a pointer or a memref stays what it is.

    Args:
        rules: What becomes of each operation.
        convert: Gives the parts of a tile that is spread in another way.
        target: The GPU.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        layouts: How the tiles of the kernel that is being rebuilt are dealt out.
        waits: The operations of it that a barrier must precede.
        arenas: Local memory for exchanges, by the bits of an element: a view of any size, and how
            many elements are needed.
        yields: How the tiles are spread that the end of the current region hands on; None for
            numbers.
    """

    layouts: Layouts
    waits: frozenset[Operation]
    arenas: dict[int, tuple[SSAValue, int]]

    def __init__(
        self,
        rules: RuleTable,
        convert: Convert,
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, f"subgroups of {target.name}", source, diagnostics)
        self.convert = convert
        self.target = target
        self.facts = Facts()
        self.waits = frozenset()
        self.yields: Sequence[Spread | None] = ()

    @contextmanager
    def yielding(self, spreads: Sequence[Spread | None]) -> Generator[None]:
        """Lets the ends of regions hand on tiles that are spread so for a while."""
        before, self.yields = self.yields, spreads
        try:
            yield
        finally:
            self.yields = before

    @override
    def translate(self, operation: Operation) -> None:
        if operation in self.waits:
            self.barrier()
        super().translate(operation)

    def barrier(self) -> None:
        """Waits for all work-items; right behind another barrier there is nothing to wait for."""
        if not isinstance(self.block.last_op, BarrierOp):
            self.emit(BarrierOp())

    # --- where a work-item stands ---

    @property
    def subgroups(self) -> int:
        """The subgroups of a work-group."""
        return self.layouts.subgroups

    @property
    def subgroup(self) -> Index:
        """The number of the subgroup in its work-group."""
        if self.subgroups == 1:
            return 0

        def emit() -> SSAValue:
            result = self.emit(SubgroupIdOp()).result
            result.name_hint = "subgroup"
            return result

        return self.shared("subgroup", (), emit)

    @property
    def lane(self) -> SSAValue:
        """The number of the work-item in its subgroup."""
        return self.shared("lane", (), lambda: self.emit(LaneIdOp()).result)

    def origin(self, box: Box, spread: Spread) -> list[Index]:
        """Where the part of the subgroup begins along each dimension."""
        return [
            self.multiply(self.number_of(dealt), size // dealt.count)
            for size, dealt in zip(box, spread, strict=True)
        ]

    def number_of(self, dealt: Dealt) -> Index:
        """Which part of a dimension the subgroup has."""
        if dealt.count == 1:
            return 0
        number = self.divide(self.subgroup, dealt.stride)
        is_last = dealt.count * dealt.stride == self.subgroups
        return number if is_last else self.remainder(number, dealt.count)

    @contextmanager
    def by_owners(self, spread: Spread) -> Generator[None]:
        """What is done by one of those subgroups that hold the same part."""
        condition = self.owner_condition(spread)
        if condition is None:
            yield
            return
        with self.when(condition):
            yield

    def owner_condition(self, spread: Spread) -> SSAValue | None:
        """Whether the subgroup is the first that holds its part; None if nobody else does."""
        if not is_shared(spread, self.subgroups):
            return None
        owner: Index = 0
        for each in spread:
            owner = self.add(owner, self.multiply(self.number_of(each), each.stride))
        return self.compare("eq", self.subgroup, owner)

    @contextmanager
    def once(self) -> Generator[None]:
        """What is done once by a work-group: by its first work-item."""
        first = self.compare("eq", self.lane, 0)
        if self.subgroups > 1:
            both = self.compare("eq", self.subgroup, 0)
            first = self.pure(arith.AndIOp, first, both)
        with self.when(first):
            yield

    # --- tiles ---

    def tile(self, old: SSAValue) -> Tile:
        """What a vector of the source has become."""
        meaning = self.meaning(old)
        if isinstance(meaning, Tile):
            return meaning
        number = self.address(meaning)
        return Uniform((), number.type, number)

    def address(self, number: SSAValue) -> SSAValue:
        """A number as tiles have it: a pointer is its address."""
        if not isinstance(number.type, PointerType):
            return number

        def emit() -> SSAValue:
            made = PointerToIntegerOp.create(operands=[number], result_types=[i64])
            return self.emit(made).results[0]

        return self.shared(("address", number), (number,), emit)

    def define_number(self, old: SSAValue, number: SSAValue) -> None:
        """Records a number of a tile, of which the source may have said that it is a pointer."""
        if isinstance(old.type, PointerType):
            made = IntegerToPointerOp.create(operands=[number], result_types=[old.type])
            number = self.emit(made).results[0]
        self.define(old, number)

    def spread_of(self, old: SSAValue) -> Spread:
        """How a vector of the source is spread: as the table says."""
        return self.table_of(old) or self.spread_of_shape(shape_of(old.type))

    def table_of(self, old: SSAValue) -> Spread | None:
        """The same, where more than the shape says it."""
        layout = self.layouts.of_value(old)
        shape = shape_of(old.type)
        if layout is None or len(box_of(shape)) != sum(size != 1 for size in shape):
            return None
        return spread_of(layout, shape)

    def spread_of_shape(self, shape: Sequence[int]) -> Spread:
        """How tiles of a shape are spread where nothing else is said."""
        box = box_of(shape)
        if not box:
            return ()
        if len(box) != sum(size != 1 for size in shape):
            return spread_of(self.layouts.of_points(box[0]), box)
        return spread_of(self.layouts.of_shape(shape), shape)

    def preferred(self, tile: Tile) -> Spread:
        """A spread that a tile is in for nothing."""
        return tile.spread if isinstance(tile, Held) else self.spread_of_shape(tile.shape)

    def held(self, old: SSAValue, spread: Spread, values: Sequence[SSAValue]) -> Held:
        """Records the parts that a vector of the source has become."""
        tile = Held(shape_of(old.type), self.type_of(value_type(old.type)), spread, values)
        self.define(old, tile)
        return tile

    def reshaped(self, tile: Tile, shape: Sequence[int]) -> Tile:
        """A tile of the same box in another shape."""
        shape = tuple(shape)
        assert box_of(shape) == tile.box
        if isinstance(tile, Held):
            return Held(shape, tile.element, tile.spread, tile.values)
        if isinstance(tile, Uniform):
            return Uniform(shape, tile.element, tile.number)
        return Computed(shape, tile.element, lambda spread: tile.parts(self, spread))

    def type_of(self, old: Attribute) -> Attribute:
        """The type of elements: pointers in tiles are their addresses."""
        return i64 if isinstance(old, PointerType) else old

    def part_types(self, tile_type: Attribute, spread: Spread) -> list[Attribute]:
        """The types of what a subgroup holds of a tile of some type."""
        box, element = box_of(shape_of(tile_type)), self.type_of(value_type(tile_type))
        return self.types_of(box, element, spread)

    def types_of(self, box: Box, element: Attribute, spread: Spread) -> list[Attribute]:
        """The types of what a subgroup holds of a box."""
        return [with_shape(element, part_of(box, spread)[-2:])] * matrices_of(box)

    # --- numbers ---

    def number(self, old: SSAValue) -> Index:
        """An index of the source; one that is known is a number."""
        value = self.value(old)
        known = self.facts.constant(value)
        return value if known is None else known

    def numbers(self, old: Sequence[SSAValue]) -> list[Index]:
        """Indices of the source."""
        return [self.number(value) for value in old]

    def is_below(self, index: Index, size: Index) -> SSAValue | None:
        """Whether 0 <= index < size; None where it is known."""
        if isinstance(index, int) and isinstance(size, int) and 0 <= index < size:
            return None
        return self.compare("ult", index, size)

    def guarded(
        self,
        condition: SSAValue | None,
        make: Callable[[], Sequence[SSAValue]],
        otherwise: Callable[[], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """What is made where a condition holds, and elsewhere something else."""
        return make() if condition is None else self.choose_all(condition, make, otherwise)
