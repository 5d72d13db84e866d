"""What the rules share: the layouts of vectors, and what pointers and memory have become."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.casts import ExtSIOp, ExtUIOp, IndexCastOp, TruncIOp
from xtile.dialects.core.pointers import PointerType, pointer_of
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.dialects.xegpu.constraints import is_scalar
from xtile.dialects.xegpu.layout import LayoutAttr, SliceAttr
from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import OperationT, ResultT, RuleTable, TypedRebuilder
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.distribute_tiles.layouts import Layout, Layouts

TARGET = "XeGPU at level work-group"

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
    """Rebuilds kernels at tile level as XeGPU whose vectors belong to the work-group.

    A vector stays a vector, a pointer becomes its address, a tile of pointers `Points`, a memref
    `Memory`.

    Args:
        rules: What becomes of each operation.
        target: The GPU.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        facts: What is known of integers.
        layouts: The layouts of the kernel that is being rebuilt.
        waits: The operations of it that a barrier must precede.
    """

    layouts: Layouts
    waits: frozenset[Operation]

    def __init__(
        self,
        rules: RuleTable,
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, TARGET, source, diagnostics)
        self.target = target
        self.facts = Facts()
        self.waits = frozenset()
        self._laid_out: tuple[tuple[int, ...], Layout] | None = None

    def barrier(self) -> None:
        """Lets the subgroups of a work-group wait for each other."""
        self.emit(BarrierOp())

    @override
    def translate(self, operation: Operation) -> None:
        if operation in self.waits:
            before, self._current = self._current, operation
            self.barrier()
            self._current = before
        super().translate(operation)

    # --- layouts ---

    @override
    def emit(self, operation: OperationT) -> OperationT:
        """Appends an operation, whose vectors get layouts."""
        if operation.dialect_name() != "xegpu":
            for number, result in enumerate(operation.results):
                shape = shape_of(result.type)
                if shape:
                    name = f"layout_result_{number}"
                    operation.attributes.setdefault(name, self.layout_of(shape))
        return super().emit(operation)

    @override
    def shared(
        self, key: Hashable, operands: Iterable[SSAValue], make: Callable[[], ResultT]
    ) -> ResultT:
        return super().shared((key, self._wanted_layout()), operands, make)

    def layout_of(self, shape: Sequence[int]) -> Layout:
        """The layout of a vector of a shape, as the current operation makes one."""
        wanted = self._wanted_layout()
        if wanted is not None and wanted[0] == tuple(shape):
            return wanted[1]
        return self.layouts.of_shape(shape)

    def spread_of(self, value: SSAValue) -> Layout | None:
        """How a vector of the result is spread; None where nothing says it."""
        owner = value.owner
        if not isinstance(owner, Operation):
            return None
        number = owner.results.index(value)
        found = owner.properties.get("layout") or owner.attributes.get(f"layout_result_{number}")
        return found if isinstance(found, LayoutAttr | SliceAttr) else None

    def _wanted_layout(self) -> tuple[tuple[int, ...], Layout] | None:
        """A shape whose vectors are spread in a way of their own, and how."""
        if self._laid_out is not None:
            return self._laid_out
        for result in () if self._current is None else self._current.results:
            layout = self.layouts.of_value(result)
            if layout is not None:
                return shape_of(result.type), layout
        return None

    @contextmanager
    def laid_out(self, shape: Sequence[int], layout: Layout) -> Generator[None]:
        """Spreads vectors of a shape in a way of their own for a while."""
        before, self._laid_out = self._laid_out, (tuple(shape), layout)
        try:
            yield
        finally:
            self._laid_out = before

    def line(self, shape: Sequence[int], axis: int, make: Callable[[], SSAValue]) -> SSAValue:
        """A vector of a shape, in which each line along an axis is what `make` emits.

        The line is spread as the vector is, without the other dimensions.
        """
        whole = self.layout_of(shape)
        if len(shape) == 1:
            return make()
        assert isinstance(whole, LayoutAttr)
        others = [dimension for dimension in range(len(shape)) if dimension != axis]
        with self.laid_out([shape[axis]], SliceAttr(whole, others)):
            line = make()
        unit = [size if dimension == axis else 1 for dimension, size in enumerate(shape)]
        with self.laid_out(unit, whole):
            thin = self.reshape(line, unit)
        with self.laid_out(shape, whole):
            return self.spread(thin, shape)

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
