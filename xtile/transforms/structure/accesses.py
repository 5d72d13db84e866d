"""Gathers and scatters as accesses of boxes in strided memory: what is known before it is written.

Each dimension of a tile is one of the memory, in which the tile begins at some index; it is checked
along those where a mask ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatTF32Type, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xtile.arguments.launch_checks import LaunchCheck
from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.arguments import argument_of, is_noalias
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.attributes import (
    BEGINS_INSIDE_ATTRIBUTE,
    MemoryOrder,
    MemoryOrderAttr,
    MemoryScope,
)
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.effects import read_operands
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import as_vector
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of
from xtile.transforms.structure.affine import Affine, NotAffineError
from xtile.transforms.structure.bounds import Bounds, Needs
from xtile.transforms.structure.boxes import Bound, Box
from xtile.transforms.structure.polynomials import ONE, ZERO, Polynomial
from xtile.transforms.structure.provenance import Provenance

Scattered: TypeAlias = AtomicRMWOp | GatherLoadOp | ScatterStoreOp

Transfer: TypeAlias = TransferReadOp | TransferWriteOp

RequireWithin: TypeAlias = Callable[[SSAValue, Sequence[Bound]], Needs | None]

SCATTERED = (AtomicRMWOp, GatherLoadOp, ScatterStoreOp)

GREATEST_SIZE = (1 << 31) - 1
GREATEST_STRIDE = (1 << 37) - 1
"""What views have at most, in whatever language."""


@dataclass(frozen=True)
class Dimension:
    """A dimension of a tile, and of the memory that it is in.

    Attributes:
        size: The size of the tile.
        stride: How many elements of memory lie between two neighbours; 0 repeats one.
        begins: What is subtracted from an index of the tile to get that of the memory: the largest
            of these; the memory begins where its index is 0.
        ends: Where the memory ends, as an index of the tile: the least of these; none where the
            tile is certainly inside.
        start: The index that a tile begins at in memory that begins at another one, whose ends are
            indices of that.
        length: How long the memory is where the tile is certainly inside; None is as long as it.
        may_begin_outside: Whether the index may be beyond the end.
        is_left_out: Whether nothing is read or written then; otherwise the first tile is read.
    """

    size: int
    stride: Polynomial
    begins: tuple[Polynomial, ...]
    ends: tuple[Polynomial, ...]
    start: Polynomial = ZERO
    length: Polynomial | None = None
    may_begin_outside: bool = False
    is_left_out: bool = False

    @property
    def is_checked(self) -> bool:
        """Whether the tile may reach beyond the memory."""
        return bool(self.ends)

    @property
    def is_repeated(self) -> bool:
        """Whether one element of memory is read for all of the tile's."""
        return not self.stride.terms and not self.is_checked


@dataclass(frozen=True)
class Further:
    """A dimension of memory, of which a tile has one element.

    Attributes:
        stride: How many elements of memory lie between two neighbours.
        index: Which one the tile has.
    """

    stride: Polynomial
    index: Polynomial


@dataclass(frozen=True)
class Access:
    """A tile that is a box of strided memory.

    Attributes:
        base: A pointer to the memory.
        offset: How many elements behind it that with indices 0 of the tile is.
        dimensions: Those of the tile.
        box: What the mask lets through; its conditions empty the memory.
        is_partial: Whether elements that do not matter are beyond it, which the mask lets through.
        needs: What a launch must find for this to be so.
        further: More dimensions of the memory.
        is_guarded: Whether nothing may be accessed where its conditions do not hold.
    """

    base: SSAValue
    offset: Polynomial
    dimensions: tuple[Dimension, ...]
    box: Box
    is_partial: bool
    needs: Needs
    further: tuple[Further, ...] = ()
    is_guarded: bool = False

    @property
    def has_conditions(self) -> bool:
        """Whether the memory is empty where something does not hold."""
        return bool(self.box.conditions or self.box.not_negative) and not self.is_guarded


def accessed_value(operation: Scattered) -> SSAValue:
    """The tile that an operation reads or writes."""
    return operation.result if isinstance(operation, GatherLoadOp) else operation.value


def loaded_tile(operation: Scattered | Transfer) -> SSAValue | None:
    """The tile that an operation reads; None if it writes one."""
    is_load = isinstance(operation, GatherLoadOp | TransferReadOp)
    return operation.result if is_load else None


def access_of(
    operation: Scattered, provenance: Provenance, require_within: RequireWithin
) -> Access:
    """The box that an operation accesses.

    Args:
        operation: The operation.
        provenance: What its offsets and its mask are.
        require_within: What a launch must find so that no elements of a tile matter that are beyond
            some bounds; None if others matter.

    Raises:
        NotAffineError: It is none, as far as it is known.
    """
    _check_elements(operation)
    pointers = provenance.pointers(operation.memory)
    box = Box() if operation.mask is None else provenance.box(operation.mask)
    bounds, offsets = provenance.bounds, pointers.offsets
    if offsets.only:
        box &= Box(offsets.only, needs=_needs_of_partial(operation, offsets.only, require_within))
    needs = offsets.needs | box.needs
    strides = [_stride(offsets, i) for i in range(len(offsets.shape))]
    for i, stride in enumerate(strides):
        needs |= _needs_of_stride(stride, i, bounds)
    if not isinstance(operation, GatherLoadOp):
        _check_distinct(offsets.shape, strides)
    dimensions: list[Dimension] = []
    for i, stride in enumerate(strides):
        own = [bound for bound in box.bounds if bound.dimension == i]
        dimensions.append(
            Dimension(offsets.shape[i], stride, *_ends(offsets.shape[i], own, bounds))
        )
    is_partial = bool(offsets.only)
    return Access(pointers.base, offsets.base, tuple(dimensions), box, is_partial, needs)


def is_of_tile_view(operation: Operation) -> bool:
    """Whether an operation is a transfer from or to a view that begins where a tile does."""
    is_transfer = isinstance(operation, TransferReadOp | TransferWriteOp)
    return is_transfer and view_of(operation) is not None


def view_of(transfer: Transfer) -> ViewOp | None:
    """The view that a transfer is from or to, if that begins where a tile does."""
    view = transfer.operands[0 if isinstance(transfer, TransferReadOp) else 1].owner
    if not isinstance(view, ViewOp) or view.unknown_extents or not view.offsets:
        return None
    return None if BEGINS_INSIDE_ATTRIBUTE in transfer.attributes else view


def access_of_transfer(transfer: Transfer, provenance: Provenance) -> Access:
    """The box that a transfer from or to a view accesses.

    Raises:
        NotAffineError: It is of no view that begins where a tile does, or may begin before the
            view, or is masked, or repeats elements.
    """
    view = view_of(transfer)
    if view is None:
        raise NotAffineError("its memory is no view that begins where a tile does")
    is_read = isinstance(transfer, TransferReadOp)
    vector = as_vector(transfer.result.type if is_read else transfer.vector.type)
    map_ = transfer.permutation_map.data
    along = [each.position for each in map_.results if isinstance(each, AffineDimExpr)]
    if vector is None or transfer.mask is not None or len(along) != len(map_.results):
        raise NotAffineError("it is masked, or repeats elements")
    offsets, sizes, strides = (
        _numbers_of(static, dynamic, provenance)
        for static, dynamic in (
            (view.static_offsets, view.offsets),
            (view.static_sizes, view.sizes),
            (view.static_strides, view.strides),
        )
    )
    offset, needs = offsets[0], frozenset[LaunchCheck]()
    indices = [provenance.number(index) for index in transfer.indices]
    dimensions: list[Dimension] = []
    for index, stride in zip(indices, strides, strict=True):
        offset += index * stride
    flags: Any = transfer.in_bounds
    for size, flag, i in zip(vector.get_shape(), flags.data, along, strict=True):
        if provenance.bounds.range_of_number(indices[i])[0] < 0:
            raise NotAffineError("it may begin before the view")
        ends = () if flag.value.data else (sizes[i] - indices[i],)
        needs |= _needs_of_stride(strides[i], i, provenance.bounds)
        dimensions.append(Dimension(size, strides[i], (ZERO,), ends))
    return Access(view.pointer, offset, tuple(dimensions), Box(), False, needs)


def _numbers_of(
    static: Any, dynamic: Sequence[SSAValue], provenance: Provenance
) -> list[Polynomial]:
    values = iter(dynamic)
    return [
        Polynomial.of(int(number))
        if number != DYNAMIC_INDEX
        else provenance.number(_unclamped(next(values)))
        for number in static.get_values()
    ]


def _unclamped(size: SSAValue) -> SSAValue:
    """The number that a size is where it is not negative; what is negative is empty, too."""
    owner = size.owner
    if isinstance(owner, arith.MaxSIOp) and constant_of(owner.rhs) == 0:
        return owner.lhs
    return size


def _check_elements(operation: Scattered) -> None:
    """Checks that a transfer could have the elements of an access."""
    vector = as_vector(accessed_value(operation).type)
    if vector is None:
        raise NotAffineError("it is one element")
    if isinstance(operation, AtomicRMWOp):
        _check_update(operation)
    elif operation.order is not None:
        raise NotAffineError("it is atomic")
    if pointer_of(operation.memory.type) is None:
        raise NotAffineError("it has indices of its own in a memref")
    if pointer_of(vector) is not None:
        raise NotAffineError("its elements are pointers")
    if isinstance(vector.element_type, FloatTF32Type):
        raise NotAffineError("its elements are tf32, which not all memory of memrefs has")


def _check_update(operation: AtomicRMWOp) -> None:
    """Checks that an update of a box could be this one."""
    if operation.result.uses:
        raise NotAffineError("what it updates is also read by it")
    if operation.order.data is not MemoryOrder.RELAXED:
        raise NotAffineError(f"it is {operation.order.data.value}, which orders other accesses")
    if operation.scope.data is not MemoryScope.DEVICE:
        raise NotAffineError(f"its scope is {operation.scope.data.value}, not the device")


def _needs_of_partial(
    operation: Scattered, only: Sequence[Bound], require_within: RequireWithin
) -> Needs:
    """What a launch must find for elements not to matter whose offsets are not affine."""
    tile = loaded_tile(operation)
    needs = None if tile is None else require_within(tile, only)
    if needs is None:
        raise NotAffineError(
            "its offsets are affine for some of its elements only, and others matter, too"
        )
    return needs


def _stride(offsets: Affine, dimension: int) -> Polynomial:
    """The stride along a dimension, any along one of size 1."""
    return ONE if offsets.shape[dimension] == 1 else offsets.strides[dimension]


def _needs_of_stride(stride: Polynomial, dimension: int, bounds: Bounds) -> Needs:
    """What a launch must find for a stride that is not known to be positive."""
    if stride.constant is not None:
        return frozenset()
    needs = bounds.require(Affine.of((), stride), 1, GREATEST_STRIDE)
    if needs is None:
        raise NotAffineError(
            f"its stride along dimension {dimension} may be 0 or negative, as far as it is known"
        )
    return needs


def _check_distinct(shape: Sequence[int], strides: Sequence[Polynomial]) -> None:
    """Checks that no two elements are certainly in one location, as far as strides are known."""
    known = sorted(
        (abs(stride.constant), size)
        for size, stride in zip(shape, strides, strict=True)
        if size > 1 and stride.constant is not None
    )
    reach = 0
    for stride, size in known:
        if stride <= reach:
            raise NotAffineError("several of its elements are written to one location")
        reach += stride * (size - 1)


def _ends(
    size: int, own: Sequence[Bound], bounds: Bounds
) -> tuple[tuple[Polynomial, ...], tuple[Polynomial, ...]]:
    """Where memory begins and ends along a dimension, as indices of the tile."""
    lower = [
        bound for bound in own if not bound.is_upper and bounds.range_of_number(bound.number)[1] > 0
    ]
    upper = [
        bound for bound in own if bound.is_upper and bounds.range_of_number(bound.number)[0] < size
    ]
    ends = _numbers(upper)
    if lower:
        return _numbers(lower), ends or (Polynomial.of(size),)
    return (ZERO,), ends


def _numbers(bounds: Sequence[Bound]) -> tuple[Polynomial, ...]:
    """Their numbers, each once."""
    return tuple(dict.fromkeys(bound.number for bound in bounds))


# --- atomic updates of which nobody can tell what they order ---


def relax_sums(kernel: FuncOp) -> None:
    """Makes the sums in memory relaxed that a kernel only adds to, a tile of floats at a time.

    Sums are the same in any order but for rounding, and nothing in the kernel sees one that is not
    complete. So nothing can depend on what an acquire or a release of them orders, which languages
    say of updates that say nothing.
    """
    for operation in walk(kernel):
        if isinstance(operation, AtomicRMWOp) and _only_adds(operation, kernel):
            operation.order = MemoryOrderAttr(MemoryOrder.RELAXED)


def _only_adds(update: AtomicRMWOp, kernel: FuncOp) -> bool:
    """Whether an update adds floats to an argument that nothing in the kernel reads."""
    if not _ignores_old(update) or kind_of(update.kind).name != "addf":
        return False
    argument = argument_of(update.memory)
    if argument is None or not is_noalias(argument) or update.scope.data is MemoryScope.SYSTEM:
        return False
    return isinstance(update.value.type, VectorType) and not any(
        argument_of(memory) is argument
        for other in walk(kernel)
        if not _ignores_old(other)
        for memory in read_operands(other)
    )


def _ignores_old(operation: Operation) -> bool:
    """Whether an operation is an update of which nobody looks at what was there before."""
    return isinstance(operation, AtomicRMWOp) and not operation.result.uses
