"""What the rules share: what pointers, memory and vectors have become.

Vectors belong to whoever executes the kernel as one: here to a subgroup, which needs no layouts; in
`layouts.py` to the work-group.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.casts import ExtSIOp, ExtUIOp, IndexCastOp, TruncIOp
from xtile.dialects.core.pointers import PointerType, pointer_of
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.dialects.xegpu.constraints import is_scalar
from xtile.dialects.xegpu.layout import LayoutAttr
from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable, TypedRebuilder
from xtile.rewrite.tile_emitter import TileEmitter
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.distribute_tiles.layouts import Layout

ProductLayouts: TypeAlias = tuple[Layout | None, Layout | None, Layout | None]
"""The layouts of the left factor, the right factor and the sums."""

ONE_BASE = (
    "XeGPU's loads and stores have one base, but nothing tells from which pointer these pointers "
    "are counted; add offsets to a pointer"
)
"""What is said of tiles of pointers that were in memory, or computed as integers."""


@dataclass(frozen=True)
class Memory:
    """A memref: element (i, j, ..) is `outer + sum((starts[d] + i_d) * strides[d])` of its base.

    Attributes:
        base: The memref of an argument or an allocation, or an address in bytes as an i64.
        element: The type of the elements.
        outer: Elements from the base's first one to where `starts` count from.
        starts: Where the memref begins along each of its dimensions.
        sizes: Its sizes.
        strides: Its strides in elements.
        unbounded: The dimensions of whose extents nothing is known, which have any size here.
    """

    base: SSAValue
    element: Attribute
    outer: Index
    starts: tuple[Index, ...]
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]
    unbounded: frozenset[int] = field(default_factory=frozenset[int])

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.sizes)

    @property
    def is_at_address(self) -> bool:
        """Whether the base is an address."""
        return self.base.type == i64


@dataclass(frozen=True)
class Points:
    """A tile of pointers.

    Attributes:
        base: The address that all of them are counted from, an i64.
        offsets: How many elements behind it each of them points, a vector of `index`.
    """

    base: SSAValue
    offsets: SSAValue


class Lowering(TypedRebuilder, TileEmitter):
    """Rebuilds kernels as XeGPU whose vectors belong to a subgroup as a whole.

    A vector stays a vector, a pointer becomes its address, a tile of pointers `Points`, a memref
    `Memory`.

    Args:
        rules: What becomes of each operation.
        target: The GPU.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        facts: What is known of integers.
    """

    LEVEL: ClassVar[str] = "subgroup"
    """The level of XeGPU that is made."""

    def __init__(
        self,
        rules: RuleTable,
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, f"XeGPU at level {self.LEVEL}", source, diagnostics)
        self.target = target
        self.facts = Facts()
        self.lanes = target.chip.subgroup_size

    def barrier(self) -> None:
        """Lets the subgroups of a work-group wait for each other."""
        self.emit(BarrierOp())

    # --- who holds what of a vector ---

    def layout_of(self, shape: Sequence[int]) -> Layout | None:
        """The layout of a vector of a shape, as the current operation makes one."""
        return None

    def layout_of_block(self, shape: Sequence[int]) -> LayoutAttr | None:
        """The layout of a block of memory of a shape, which is no slice."""
        return None

    def layouts_of_product(self, rows: int, depth: int, columns: int) -> ProductLayouts:
        """The layouts of the factors and the sums of a product."""
        return None, None, None

    def layout_of_points(self, count: int) -> LayoutAttr | None:
        """The layout by which each of some points, a multiple of `points`, is one subgroup's."""
        return None

    @property
    def points_at_once(self) -> int:
        """What the number of points that are updated together is a multiple of."""
        return self.lanes

    def held(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The sizes of what a subgroup holds of a block of a shape."""
        layout = self.layout_of_block(shape)
        return tuple(shape) if layout is None else layout.effective_sg_data

    def spread_of(self, value: SSAValue) -> Layout | None:
        """How a vector of the result is spread; None where nothing says it."""
        return None

    @contextmanager
    def laid_out(self, shape: Sequence[int], layout: Layout | None) -> Generator[None]:
        """Spreads vectors of a shape in a way of their own for a while."""
        yield

    def line(self, shape: Sequence[int], axis: int, make: Callable[[], SSAValue]) -> SSAValue:
        """A vector of a shape, in which each line along an axis is what `make` emits."""
        if len(shape) == 1:
            return make()
        return self.spread(self.along(make(), axis, len(shape)), shape)

    # --- values ---

    def number(self, old: SSAValue) -> Index:
        """An index of the source; one that is known is a number."""
        value = self.value(old)
        known = self.facts.constant(value)
        return value if known is None else known

    def numbers(self, old: Sequence[SSAValue]) -> list[Index]:
        """Indices of the source."""
        return [self.number(value) for value in old]

    def memory(self, old: SSAValue) -> Memory:
        """What is known of a memref."""
        meaning = self.meaning(old)
        if not isinstance(meaning, Memory):
            raise self.error(f"a value of type {old.type} has no elements that can be accessed")
        return meaning

    def points(self, old: SSAValue) -> Points:
        """What a tile of pointers has become."""
        meaning = self.meaning(old)
        if not isinstance(meaning, Points):
            raise self.error(ONE_BASE)
        return meaning

    def type_of(self, old: Attribute) -> Attribute:
        """What values of a type become: pointers are their addresses."""
        return i64 if isinstance(old, PointerType) else old

    def zero(self, type_: Attribute) -> SSAValue:
        """A number of which nothing is specified, or a vector of some: 0."""
        return self.constant(0, self.type_of(type_))

    # --- conversions ---

    def as_indices(self, numbers: SSAValue) -> SSAValue:
        """Signed numbers of any width, or a vector of some, as indices."""
        if isinstance(value_type(numbers.type), IndexType):
            return numbers
        return self.as_index(numbers, is_signed=True)

    def to_memory(self, value: SSAValue) -> SSAValue:
        """Numbers as memory holds them."""
        element = value_type(value.type)
        stored = storage_type(element)
        if stored == element:
            return value
        type_ = with_element(value.type, stored)
        if isinstance(element, IndexType):
            return self.compute(IndexCastOp, [value], type_)
        if element == i1:
            return self.compute(ExtUIOp, [value], type_)
        kind = ExtSIOp if isinstance(element, IntegerType) else arith.BitcastOp
        return self.compute(kind, [value], type_)

    def from_memory(self, value: SSAValue, element: Attribute) -> SSAValue:
        """What memory holds as numbers of a type."""
        if value_type(value.type) == element:
            return value
        type_ = with_element(value.type, element)
        if isinstance(element, IndexType):
            return self.compute(IndexCastOp, [value], type_)
        if element == i1:
            zero = self.constant(0, value.type)
            return self.compare("ne", value, zero)
        kind = TruncIOp if isinstance(element, IntegerType) else arith.BitcastOp
        return self.compute(kind, [value], type_)


def storage_type(element: Attribute) -> Attribute:
    """The type that XeGPU's accesses have for elements of memory, which fill bytes of their own.

    Raises:
        ValueError: There is none.
    """
    if isinstance(element, IndexType) or pointer_of(element) is not None:
        return i64
    if isa(element, IntegerType):
        return IntegerType(max(8, element.width.data))
    if is_scalar(element):
        return element
    bits: Any = getattr(element, "bitwidth", 0)
    if bits == 8:
        return IntegerType(8)
    raise ValueError(f"XeGPU has no memory of {element}")


def bytes_of(element: Attribute) -> int:
    """The bytes of an element in memory."""
    stored: Any = storage_type(element)
    return 4 if str(stored) == "tf32" else stored.bitwidth // 8


def vector_like(shape: Sequence[int], element: Attribute) -> Attribute:
    """The type of a vector of a shape; without dimensions that of a number."""
    return VectorType(element, shape) if shape else element
