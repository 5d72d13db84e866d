"""Reads and writes of boxes of memory: each subgroup accesses its part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    MemRefType,
    StridedLayoutAttr,
    i1,
    i64,
)
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.memref.access import StoreOp
from xtile.dialects.memref.views import subview_type
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.ub import is_poison
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.folding import constant_number
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.distribute_tiles.distribution import (
    Computed,
    Distribution,
    Held,
    Parts,
    Tile,
    Uniform,
)
from xtile.transforms.distribute_tiles.elements import each_element
from xtile.transforms.distribute_tiles.exchange import transfer_read, transfer_write
from xtile.transforms.distribute_tiles.prefetches import (
    next_indices,
    prefetch,
    spread_of_prefetch,
)
from xtile.transforms.distribute_tiles.shapes import broadcast, reshaped, transposed
from xtile.transforms.distribute_tiles.spreads import Spread, box_of, matrices_of, part_of


@dataclass(frozen=True)
class Access:
    """A box of memory.

    Attributes:
        memory: The memref.
        start: The index of its first element along each dimension of memory.
        shape: Its sizes.
        axes: The dimension of memory along which each of these lies.
        inside: Whether memory certainly has all of it along each of these.
        mask: Which elements are accessed, a tile of its shape; None for all.
    """

    memory: SSAValue
    start: tuple[Index, ...]
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    inside: tuple[bool, ...]
    mask: Tile | None = None

    @property
    def is_checked(self) -> bool:
        """Whether some of it may be outside of memory."""
        return not all(self.inside)

    def size(self, distribution: Distribution, number: int) -> Index:
        """The size of memory along one of the dimensions."""
        return distribution.size((self.memory, self.axes[number]))


def _access(
    operation: TransferReadOp | TransferWriteOp, value: SSAValue, distribution: Distribution
) -> Access:
    """The box that a transfer moves, without what is repeated."""
    shape, kept, axes = shape_of(value.type), list[int](), list[int]()
    for position, result in enumerate(operation.permutation_map.data.results):
        if isinstance(result, AffineDimExpr):
            axes.append(result.position)
            kept.append(position)
        elif result != AffineConstantExpr(0):
            raise distribution.error("the results of a permutation_map must be dimensions or 0")
    flags = [bool(flag.value.data) for flag in operation.in_bounds]
    start = tuple(distribution.numbers(operation.indices))
    return Access(
        distribution.value(operation.source),
        start,
        tuple(shape[i] for i in kept),
        tuple(axes),
        tuple(flags[i] for i in kept),
        _mask(operation, distribution),
    )


def _mask(operation: TransferReadOp | TransferWriteOp, distribution: Distribution) -> Tile | None:
    """The mask, which has memory's order, in the vector's."""
    if operation.mask is None:
        return None
    dimensions = [each for each in dimensions_of(operation.permutation_map) if each is not None]
    order = [sorted(dimensions).index(each) for each in dimensions]
    return transposed(distribution, distribution.tile(operation.mask), order)


# --- reads ---


def _read(operation: TransferReadOp, distribution: Distribution) -> None:
    access = _access(operation, operation.result, distribution)
    is_repeated = access.shape != shape_of(operation.result.type)
    wanted = None if is_repeated else distribution.table_of(operation.result)
    padding = None if is_poison(operation.padding) else operation.padding
    _prefetch(operation, distribution, access, wanted)
    tile = read(distribution, access, padding, wanted)
    if is_repeated:
        shape = shape_of(operation.result.type)
        dimensions = dimensions_of(operation.permutation_map)
        middle = [1 if each is None else size for size, each in zip(shape, dimensions, strict=True)]
        tile = broadcast(distribution, reshaped(distribution, tile, middle), shape)
    distribution.define(operation.result, tile)


def _prefetch(
    operation: TransferReadOp, distribution: Distribution, access: Access, wanted: Spread | None
) -> None:
    """Prefetches what the next iteration reads of a factor, if that is a matrix in memory."""
    ahead = next_indices(operation)
    if ahead is None or access.mask is not None or len(access.start) != 2:
        return
    box = box_of(access.shape)
    if len(box) != 2 or len(access.axes) != 2:
        return
    type_ = cast("MemRefType[Attribute]", access.memory.type)
    sizes = dict(zip(access.axes, box, strict=True))
    of_memory = spread_of_prefetch(distribution, type_, (sizes[0], sizes[1]))
    if of_memory is None:
        spread = wanted or distribution.spread_of_shape(access.shape)
    else:
        spread = tuple(of_memory[axis] for axis in access.axes)
    (piece,) = _pieces(distribution, access, spread)
    parts = dict(zip(access.axes, part_of(box, spread), strict=True))
    prefetch(distribution, piece.memory, piece.start, ahead, [parts[0], parts[1]])


def read(
    distribution: Distribution,
    access: Access,
    padding: SSAValue | None = None,
    wanted: Spread | None = None,
) -> Tile:
    """What a box of memory holds.

    Args:
        distribution: Where to emit.
        access: The box.
        padding: A value of the source that is read elsewhere; None for anything.
        wanted: How it is spread; None for how its shape says.
    """
    spread = wanted or distribution.spread_of_shape(access.shape)
    element = element_of(access.memory)
    if access.mask is not None or _is_flat(access):
        other = None if padding is None else distribution.value(padding)
        parts = _read_each(distribution, access, spread, other)
        return Held(access.shape, element, spread, parts)
    parts = _read_parts(distribution, access, spread)
    made = Held(access.shape, element, spread, parts)
    if padding is None or not access.is_checked or _is_zero(padding):
        return made
    inside = _inside(distribution, access)
    return _selected(distribution, inside, made, distribution.value(padding))


def _is_zero(padding: SSAValue) -> bool:
    number = constant_number(padding)
    return number == 0 and str(number) != "-0.0"


def _is_flat(access: Access) -> bool:
    """Whether a box is held as a line although it has several dimensions."""
    return len(box_of(access.shape)) != sum(size != 1 for size in access.shape)


def _read_parts(distribution: Distribution, access: Access, spread: Spread) -> Parts:
    parts: list[SSAValue] = []
    box = box_of(access.shape)
    types = distribution.types_of(box, element_of(access.memory), spread)
    for piece in _pieces(distribution, access, spread):
        type_ = types[len(parts)]

        def load(piece: _Piece = piece) -> Sequence[SSAValue]:
            sizes = part_of(box, spread)[-2:]
            if not box:
                return [distribution.load(piece.memory, piece.start)]
            return [
                transfer_read(
                    distribution, piece.memory, piece.start, sizes, piece.inside, piece.map_
                )
            ]

        def zero(type_: Attribute = type_) -> Sequence[SSAValue]:
            return [distribution.constant(0, type_)]

        parts += distribution.guarded(piece.condition, load, zero)
    return parts


def _selected(distribution: Distribution, inside: Tile, tile: Held, other: SSAValue) -> Tile:
    """A tile, and elsewhere another number."""
    masks = inside.parts(distribution, tile.spread)
    others = Uniform(tile.shape, tile.element, other).parts(distribution, tile.spread)
    made = [
        distribution.emit(SelectOp(*each)).result
        for each in zip(masks, tile.values, others, strict=True)
    ]
    return Held(tile.shape, tile.element, tile.spread, made)


def _inside(distribution: Distribution, access: Access) -> Tile:
    """Which elements of a box memory has."""
    seed = Uniform(access.shape, IndexType(), distribution.index(0))

    def is_inside(at: list[Index], _: list[SSAValue]) -> list[SSAValue]:
        condition = condition_of(distribution, access, at)
        return [distribution.constant(1, i1) if condition is None else condition]

    def make(spread: Spread) -> Parts:
        sources = [seed.parts(distribution, spread)]
        box = box_of(access.shape)
        return each_element(distribution, access.shape, box, spread, sources, [i1], is_inside)[0]

    return Computed(access.shape, i1, make)


def condition_of(
    distribution: Distribution, access: Access, at: Sequence[Index]
) -> SSAValue | None:
    """Whether memory has an element; None if it certainly does."""
    condition: SSAValue | None = None
    for number, (axis, inside) in enumerate(zip(access.axes, access.inside, strict=True)):
        if not inside:
            index = distribution.add(access.start[axis], at[number])
            below = distribution.is_below(index, access.size(distribution, number))
            condition = distribution.both(condition, below)
    return condition


# --- the parts of a box ---


@dataclass(frozen=True)
class _Piece:
    """A number, a line or a matrix in memory.

    Attributes:
        memory: The memory; of a matrix one of two dimensions.
        start: Where the subgroup's part begins.
        inside: Whether memory certainly has all of it along each dimension of the part.
        map_: Which dimension of memory each dimension of the part is.
        condition: Whether it is there at all; None if it certainly is.
    """

    memory: SSAValue
    start: list[Index]
    inside: list[bool]
    map_: AffineMap
    condition: SSAValue | None


def _pieces(distribution: Distribution, access: Access, spread: Spread) -> list[_Piece]:
    """What a subgroup accesses of a box."""
    box = box_of(access.shape)
    origin = distribution.origin(box, spread)
    start, condition = list(access.start), None
    own = [number for number, size in enumerate(access.shape) if size != 1]
    for number, size in enumerate(access.shape):
        axis = access.axes[number]
        if size == 1 and not access.inside[number]:
            below = distribution.is_below(start[axis], access.size(distribution, number))
            condition = distribution.both(condition, below)
    for number, first in zip(own, origin, strict=True):
        start[access.axes[number]] = distribution.add(start[access.axes[number]], first)
    return [
        _piece(distribution, access, start, condition, own, number, part_of(box, spread)[-2:])
        for number in range(matrices_of(box))
    ]


def _piece(
    distribution: Distribution,
    access: Access,
    start: Sequence[Index],
    condition: SSAValue | None,
    own: Sequence[int],
    number: int,
    sizes: Sequence[int],
) -> _Piece:
    start = list(start)
    for leading in reversed(own[:-2]):
        number, index = divmod(number, access.shape[leading])
        axis = access.axes[leading]
        start[axis] = distribution.add(start[axis], index)
        if not access.inside[leading]:
            below = distribution.is_below(start[axis], access.size(distribution, leading))
            condition = distribution.both(condition, below)
    last = own[-2:]
    axes, inside = [access.axes[i] for i in last], [access.inside[i] for i in last]
    if len(axes) < 2:
        results = [AffineExpr.dimension(axis) for axis in axes]
        map_ = AffineMap(len(start), 0, tuple(results))
        return _Piece(access.memory, start, inside, map_, condition)
    known = {
        axis: size for axis, size, is_inside in zip(axes, sizes, inside, strict=True) if is_inside
    }
    checked = [axis for axis, is_inside in zip(axes, inside, strict=True) if not is_inside]
    if condition is not None and checked:
        # Rows beyond the end are not accessed, which needs no branch where rows are counted anyway.
        axis = min(checked)
        size = distribution.size((access.memory, axis))
        beyond = map(distribution.as_value, (start[axis], size))
        start[axis] = distribution.pure(SelectOp, condition, *beyond)
        condition = None
    memory, start = _of_two_dimensions(distribution, access.memory, start, sorted(axes), known)
    results = [AffineExpr.dimension(sorted(axes).index(axis)) for axis in axes]
    return _Piece(memory, start, inside, AffineMap(2, 0, tuple(results)), condition)


def _of_two_dimensions(
    distribution: Distribution,
    memory: SSAValue,
    start: list[Index],
    axes: Sequence[int],
    known: Mapping[int, int],
) -> tuple[SSAValue, list[Index]]:
    """Memory at fixed indices along all dimensions but two, and the start in it.

    Where memory has all of the part, and its own size is not known, it ends with the part.
    """
    type_ = cast("MemRefType[Attribute]", memory.type)
    rank = type_.get_num_dims()
    if rank == 2:
        return memory, start
    shape = type_.get_shape()
    cut = {axis for axis in known if shape[axis] == DYNAMIC_INDEX}
    offsets: list[Index] = [
        0 if axis in axes and axis not in cut else start[axis] for axis in range(rank)
    ]
    sizes: list[Index] = [
        1 if axis not in axes else known[axis] if axis in cut else distribution.size((memory, axis))
        for axis in range(rank)
    ]
    part = _reduced(distribution, memory, offsets, sizes, axes)
    return part, [0 if axis in cut else start[axis] for axis in axes]


def _reduced(
    distribution: Distribution,
    memory: SSAValue,
    offsets: Sequence[Index],
    sizes: Sequence[Index],
    axes: Sequence[int],
) -> SSAValue:
    """A part of memory without the dimensions in which it has one element."""
    first, count = ([n if isinstance(n, int) else None for n in each] for each in (offsets, sizes))
    full = subview_type(memory.type, first, count, [1] * len(sizes))
    shape = [full.get_shape()[axis] for axis in axes]
    layout = cast(StridedLayoutAttr, full.layout)
    strides = [layout.strides.data[axis] for axis in axes]
    type_ = MemRefType(
        full.element_type, shape, StridedLayoutAttr(strides, layout.offset), full.memory_space
    )
    values = [[n for n in each if not isinstance(n, int)] for each in (offsets, sizes)]

    def emit() -> SSAValue:
        operation = SubviewOp.build(
            operands=[memory, *values, []],
            result_types=[type_],
            properties={
                "static_offsets": _static(offsets),
                "static_sizes": _static(sizes),
                "static_strides": _static([1] * len(sizes)),
            },
        )
        return distribution.emit(operation).results[0]

    unknown = [value for each in values for value in each]
    return distribution.shared(("part", memory, *offsets, *sizes), (memory, *unknown), emit)


def _static(numbers: Sequence[Index]) -> DenseArrayBase:
    return DenseArrayBase.from_list(
        i64, [number if isinstance(number, int) else DYNAMIC_INDEX for number in numbers]
    )


# --- element by element ---


def _read_each(
    distribution: Distribution, access: Access, spread: Spread, other: SSAValue | None
) -> Parts:
    """The elements of a box that are not next to each other, or under a mask."""
    element = element_of(access.memory)
    sources = _masks(distribution, access, spread)

    def load(at: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        condition = distribution.both(values[0], condition_of(distribution, access, at))
        indices = indices_of(access, distribution, at)
        return distribution.guarded(
            condition,
            lambda: [distribution.load(access.memory, indices)],
            lambda: [distribution.constant(0, element) if other is None else other],
        )

    box = box_of(access.shape)
    return each_element(distribution, access.shape, box, spread, sources, [element], load)[0]


def _masks(distribution: Distribution, access: Access, spread: Spread) -> list[Parts]:
    mask = access.mask or Uniform(access.shape, i1, distribution.constant(1, i1))
    return [mask.parts(distribution, spread)]


def indices_of(access: Access, distribution: Distribution, at: Sequence[Index]) -> list[Index]:
    """The indices in memory of an element of a box."""
    indices = list(access.start)
    for axis, index in zip(access.axes, at, strict=True):
        indices[axis] = distribution.add(indices[axis], index)
    return indices


# --- writes ---


def _write(operation: TransferWriteOp, distribution: Distribution) -> None:
    access = _access(operation, operation.vector, distribution)
    store(distribution, distribution.tile(operation.vector), access)


def store(distribution: Distribution, tile: Tile, access: Access) -> None:
    """Writes a tile to a box of memory, each element once."""
    tile = distribution.reshaped(tile, access.shape)
    spread = distribution.preferred(tile)
    parts = tile.parts(distribution, spread)
    if access.mask is not None or _is_flat(access):
        masks = _masks(distribution, access, spread)
        with distribution.by_owners(spread):
            _write_each(distribution, access, spread, [parts, *masks])
        return
    if not tile.box:
        _write_number(distribution, access, parts[0])
        return
    with distribution.by_owners(spread):
        for piece, part in zip(_pieces(distribution, access, spread), parts, strict=True):
            _write_piece(distribution, piece, part)


def _write_piece(distribution: Distribution, piece: _Piece, part: SSAValue) -> None:
    def write() -> None:
        transfer_write(distribution, part, piece.memory, piece.start, piece.inside, piece.map_)

    if piece.condition is None:
        write()
        return
    with distribution.when(piece.condition):
        write()


def _write_number(distribution: Distribution, access: Access, number: SSAValue) -> None:
    """Writes a tile of one element."""
    at: list[Index] = [0] * len(access.shape)
    condition = condition_of(distribution, access, at)
    with distribution.once():
        if condition is None:
            distribution.store(number, access.memory, access.start)
            return
        with distribution.when(condition):
            distribution.store(number, access.memory, access.start)


def _write_each(
    distribution: Distribution, access: Access, spread: Spread, sources: list[Parts]
) -> None:
    def write(at: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        value, mask = values
        condition = distribution.both(mask, condition_of(distribution, access, at))
        indices = [distribution.as_value(index) for index in indices_of(access, distribution, at)]
        assert condition is not None
        with distribution.when(condition):
            distribution.emit(StoreOp.get(value, access.memory, indices))
        return []

    box = box_of(access.shape)
    each_element(distribution, access.shape, box, spread, sources, [], write)


# --- whole vectors ---


def whole(
    distribution: Distribution, memory: SSAValue, indices: Sequence[SSAValue], value: SSAValue
) -> Access:
    """The elements from an index on, along the last dimensions, all of which memory has."""
    new, shape = distribution.value(memory), shape_of(value.type)
    rank = cast("MemRefType[Attribute]", new.type).get_num_dims()
    axes = tuple(range(rank - len(shape), rank))
    start = tuple(distribution.numbers(indices))
    return Access(new, start, shape, axes, (True,) * len(shape))


def _load(operation: Operation, distribution: Distribution) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    access = whole(distribution, source, indices, result)
    wanted = distribution.table_of(result)
    distribution.define(result, read(distribution, access, wanted=wanted))


def _store(operation: Operation, distribution: Distribution) -> None:
    value, target, *indices = operation.operands
    store(distribution, distribution.tile(value), whole(distribution, target, indices, value))


def element_of(memory: SSAValue) -> Attribute:
    """The type of the elements of a memref."""
    return cast("MemRefType[Attribute]", memory.type).element_type


RULES: dict[str, Rule] = {
    "vector.load": _load,
    "vector.store": _store,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The rule of each operation, by name."""
