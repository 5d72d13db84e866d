"""What memrefs and pointers are while a kernel is translated, and accesses of their elements.

The tensor language has views, but none that changes strides, and no pointers. So a `Memory` knows
its numbers, as far as anybody asks for them, and has a view where one can be written: element
(i, j) is `view[j,i]`. Where there is none, elements are reached in the flat memory that all views
of an argument or of an allocation have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.memory_orders import RELAXED, Ordering, ordering_of
from xtile.dialects.tensorlang.attributes import AddressSpace, MemoryScope, MemorySemantics
from xtile.dialects.tensorlang.ops import memory as ops
from xtile.dialects.tensorlang.types import (
    BOOL,
    DYNAMIC,
    I8,
    MemrefType,
    type_text,
)
from xtile.rewrite.indices import Index
from xtile.translate.core_to_tensorlang.arithmetic import as_number, is_not_zero
from xtile.translate.core_to_tensorlang.lowering import Lowering
from xtile.translate.core_to_tensorlang.types import strided

Numbers = tuple[Index, ...]


@dataclass(frozen=True)
class StrideOf:
    """A stride that only the memref itself knows, which no instruction tells.

    Attributes:
        memref: The memref.
        mode: The mode that it is the stride of.
        is_packed: Whether it is the product of the sizes before it.
    """

    memref: SSAValue
    mode: int
    is_packed: bool = False


Stride = Index | StrideOf


@dataclass(frozen=True)
class Deferred:
    """A number that is emitted where it is used, because nobody may be able to tell it."""

    emit: Callable[[Lowering], Index]


class Root:
    """An argument, an allocation or an entry of a group: where views come from.

    Args:
        memref: The memref of the tensor language.
        type_: The type of the elements in the core form, which may be a truth value's.
    """

    def __init__(self, memref: SSAValue, element: Attribute) -> None:
        self.memref = memref
        self.element = element

    @property
    def type(self) -> MemrefType:
        """The type of the memref."""
        assert isinstance(self.memref.type, MemrefType)
        return self.memref.type

    def flat(self, r: Lowering) -> SSAValue:
        """All of the memory as a memref with one mode of stride 1, whose size means nothing.

        Raises:
            DiagnosticError: The memory's first mode is not contiguous.
        """
        type_ = self.type
        if type_.order == 1 and type_.strides[0] == 1:
            return self.memref
        if type_.order and type_.strides[0] != 1:
            raise r.error(
                f"elements of {type_text(type_)} cannot be reached by other strides than its own, "
                "because its first mode is not contiguous"
            )
        return r.shared(("flat", self.memref), (self.memref,), lambda: self._flattened(r))

    def _flattened(self, r: Lowering) -> SSAValue:
        type_ = self.type
        if type_.order == 0:
            raise r.error(f"{type_text(type_)} cannot be reached by strides, because it has none")
        size = r.index(_ANY_SIZE) if type_.address_space is AddressSpace.GLOBAL else 1
        elements = type_.allocated_elements
        length: Index = size if elements is None else elements
        rest = [(0, 0)] * (type_.order - 1)
        flat = strided(
            type_.element_type,
            [length if isinstance(length, int) else DYNAMIC],
            [1],
            type_.address_space,
        )
        return r.number(ops.SubviewOp(self.memref, [(0, length), *rest], flat))


_ANY_SIZE = 2**40
"""The size of flat memory, which nobody asks for."""


@dataclass(frozen=True)
class Memory:
    """A memref of the core form; its dimensions are the modes in reverse.

    Attributes:
        root: Where it comes from.
        element: The type of the elements in the core form.
        offset: Emits the elements from the root's first one to its own first one.
        sizes: The size of each dimension.
        strides: The stride of each dimension.
        view: The memref of the tensor language that it is; None where there is none yet.
        unknown: The dimensions of whose extents nothing is known.
    """

    root: Root
    offset: Callable[[Lowering], Index]
    sizes: Callable[[Lowering], Numbers]
    strides: tuple[Stride, ...]
    view: SSAValue | None = None
    unknown: frozenset[int] = frozenset()

    @property
    def element(self) -> Attribute:
        """The type of the elements in the core form."""
        return self.root.element

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.strides)

    def known_strides(self, r: Lowering) -> Numbers:
        """The strides as numbers.

        Raises:
            DiagnosticError: Only the memref knows one.
        """
        return tuple(stride_number(r, stride) for stride in self.strides)


def stride_number(r: Lowering, stride: Stride) -> Index:
    """A stride as a number.

    Raises:
        DiagnosticError: Only the memref knows it.
    """
    if not isinstance(stride, StrideOf):
        return stride
    if not stride.is_packed:
        raise r.error(
            "the tensor language has no instruction that tells the dynamic stride of "
            f"{type_text(stride.memref.type)}; pass it as a number, or give a static one"
        )
    assert isinstance(stride.memref.type, MemrefType)
    product: Index = 1
    for mode, size in enumerate(stride.memref.type.shape[: stride.mode]):
        product = r.multiply(product, _size(r, stride.memref, mode) if size == DYNAMIC else size)
    return product


def whole(
    memref: SSAValue, element: Attribute, sizes: Sequence[int | None], *, is_packed: bool = False
) -> Memory:
    """The memory of an argument, an allocation or an entry of a group.

    Args:
        memref: The memref of the tensor language.
        element: The type of its elements in the core form.
        sizes: The sizes that are known, the outermost first.
        is_packed: Whether strides that are not known follow from the sizes.
    """
    root = Root(memref, element)
    rank = len(sizes)

    def all_sizes(r: Lowering) -> Numbers:
        return tuple(
            _size(r, memref, rank - 1 - dimension) if size is None else size
            for dimension, size in enumerate(sizes)
        )

    strides: list[Stride] = []
    for dimension in range(rank):
        mode = rank - 1 - dimension
        stride = root.type.strides[mode]
        strides.append(StrideOf(memref, mode, is_packed) if stride == DYNAMIC else stride)
    return Memory(root, lambda r: 0, all_sizes, tuple(strides), memref)


def _size(r: Lowering, memref: SSAValue, mode: int) -> SSAValue:
    return r.shared(("size", memref, mode), (memref,), lambda: r.number(ops.SizeOp(memref, mode)))


# --- elements ---


def position(r: Lowering, memory: Memory, indices: Sequence[Index]) -> Index:
    """How many elements behind the root's first one an element is."""
    offset = r.sum_of_products(indices, memory.known_strides(r))
    return r.add(memory.offset(r), offset)


def address(
    r: Lowering, memory: Memory, indices: Sequence[Index]
) -> tuple[SSAValue, list[SSAValue]]:
    """The memref and the indices by which the tensor language names an element."""
    if memory.view is not None:
        return memory.view, [r.as_value(index) for index in reversed(indices)]
    return memory.root.flat(r), [r.as_value(position(r, memory, indices))]


def load(r: Lowering, memory: Memory, indices: Sequence[Index]) -> SSAValue:
    """The element at some indices."""
    memref, at = address(r, memory, indices)
    return from_memory(r, r.number(ops.LoadOp(memref, at)), memory.element)


def store(r: Lowering, value: SSAValue, memory: Memory, indices: Sequence[Index]) -> None:
    """Writes the element at some indices."""
    memref, at = address(r, memory, indices)
    r.emit(ops.StoreOp(to_memory(r, value), memref, at))


def from_memory(r: Lowering, value: SSAValue, element: Attribute) -> SSAValue:
    """A number as memory holds it, as one of the core form's type: truth values are bytes."""
    return is_not_zero(r, value) if element == BOOL else value


def to_memory(r: Lowering, value: SSAValue) -> SSAValue:
    """A number as memory holds it."""
    return as_number(r, value, I8) if value.type == BOOL else value


# --- views ---


def with_view(r: Lowering, memory: Memory) -> SSAValue:
    """The memref of the tensor language that a memory is.

    Where it has none yet, it is made of the flat memory: its one mode becomes several, of which
    each ends where the next one's stride says, and what is too long is cut off.

    Raises:
        DiagnosticError: There is none.
    """
    if memory.view is not None:
        return memory.view
    flat = memory.root.flat(r)
    assert isinstance(flat.type, MemrefType)
    strides = [*reversed(memory.known_strides(r))]
    sizes = [*reversed(memory.sizes(r))]
    if not sizes:
        return r.number(ops.SubviewOp(flat, [(memory.offset(r), 0)]))
    for stride in strides:
        if isinstance(stride, int) and stride < 1:
            raise r.error(f"the tensor language has no view with a stride of {stride}")
    # The first mode of the expansion has the elements between two of the view's first mode.
    extents: list[Index] = [] if strides[0] == 1 else [strides[0]]
    for stride, longer in pairwise(strides):
        extents.append(_quotient(r, longer, stride))
    extents.append(sizes[-1])
    total: Index = 1
    for extent in extents:
        total = r.multiply(total, extent)
    element, space = flat.type.element_type, flat.type.address_space
    part = r.number(
        ops.SubviewOp(
            flat,
            [(memory.offset(r), total)],
            strided(element, [_static(total)], [1], space),
        )
    )
    if len(extents) > 1:
        part = r.number(ops.ExpandOp(part, 0, extents))
    slices: list[tuple[SSAValue | int, SSAValue | int]] = []
    if strides[0] != 1:
        slices.append((0, 0))
    slices += [(0, size) for size in sizes]
    is_cut = strides[0] != 1 or any(
        extent is not size for extent, size in zip(extents, sizes, strict=False)
    )
    if not is_cut:
        return part
    types = [_static(stride) for stride in strides]
    result = strided(element, [_static(size) for size in sizes], types, space)
    return r.number(ops.SubviewOp(part, slices, result))


def _quotient(r: Lowering, a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int) and a % b:
        raise r.error(
            f"the tensor language has no view with strides of {b} and {a} of this memory, because "
            "one is no multiple of the other"
        )
    return r.divide(a, b)


def _static(number: Index) -> int:
    return number if isinstance(number, int) else DYNAMIC


# --- pointers ---


@dataclass(frozen=True)
class Pointer:
    """A pointer into the memory of an argument or an allocation.

    Attributes:
        root: Where it points into.
        offset: The elements behind the first one, as an index.
    """

    root: Root
    offset: Index


@dataclass(frozen=True)
class Group:
    """A memref of memrefs.

    Attributes:
        group: The group.
        element: The type of the elements of its memrefs in the core form.
        sizes: The sizes of its memrefs that are known, the outermost dimension first.
    """

    group: SSAValue
    element: Attribute
    sizes: tuple[int | None, ...]


class Modifiers(NamedTuple):
    """The modifiers of an atomic instruction."""

    scope: MemoryScope | None = None
    semantics: MemorySemantics | None = None

    @property
    def releases(self) -> bool:
        """Whether the accesses before it come before it."""
        return self.semantics in (MemorySemantics.RELEASE, MemorySemantics.ACQUIRE_RELEASE)


def modifiers(ordering: Ordering) -> Modifiers:
    """The modifiers that say what is ordered."""
    semantics, scope = ordering.words(MemorySemantics, MemoryScope)
    return Modifiers(scope, semantics)


def said_modifiers(operation: Operation, otherwise: MemoryScope | None = None) -> Modifiers:
    """The modifiers of an update that may say nothing; then only a scope, if any."""
    ordering = ordering_of(operation)
    return Modifiers(otherwise) if ordering == RELAXED else modifiers(ordering)


@dataclass(frozen=True)
class Elements:
    """A vector of a work-item.

    Attributes:
        shape: Its shape.
        values: What its elements have become, in row-major order.
    """

    shape: tuple[int, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class BlockOfMemory:
    """What a descriptor of XeGPU describes.

    Attributes:
        memory: The memory.
        offsets: Where the block begins in each dimension.
    """

    memory: Memory
    offsets: tuple[Index, ...]

    @property
    def root(self) -> Root:
        """Where the memory comes from."""
        return self.memory.root
