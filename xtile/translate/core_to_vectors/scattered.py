"""Accesses of elements of memory anywhere: gathers, scatters, and atomic updates.

Elements are accessed one by one, in loops. Where neighbours of a tile turn out to be neighbours in
memory, which most gathers of GPUs' kernels are, they are read and written as vectors: two
comparisons cost less than the elements do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerType,
    MemRefType,
    StridedLayoutAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.dialects.core.attributes import MemoryOrder, MemoryOrderAttr
from xtile.dialects.core.pointers import IntegerToPointerOp, PointerType, pointer_of
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.views import UNKNOWN_EXTENT, ViewOp
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.memref.access import AtomicYieldOp, GenericAtomicRMWOp
from xtile.dialects.shapes import as_vector, bits_of
from xtile.dialects.shared_attributes import numbers_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.translate.core_to_vectors.elementwise import copy_or_compute
from xtile.translate.core_to_vectors.kinds import has_unit_stride
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.shapes import repeated, spaced
from xtile.translate.core_to_vectors.tile import Position, Tile, piece_type, shape_of
from xtile.translate.core_to_xegpu.bfloat16 import compare
from xtile.translate.core_to_xegpu.lowering import carried_type
from xtile.translate.core_to_xegpu.memory import reinterpreted, update


class Points:
    """The elements of memory that the components of a tile, or one number, stand for.

    Args:
        lowering: Where to emit.
        memory: The memref; None where the numbers are addresses.
        pointer: The type of pointers to the elements, where the numbers are addresses.
        numbers: The index for each dimension of the memref, or the address: a tile has one for
            each component.
    """

    def __init__(
        self,
        lowering: Vectors,
        memory: SSAValue | None,
        pointer: PointerType | None,
        numbers: Sequence[Tile | Index],
    ) -> None:
        self._lowering = lowering
        self._memory = memory
        self._pointer = pointer
        self._numbers = list(numbers)

    def at(self, position: Position) -> tuple[SSAValue, list[SSAValue]]:
        """The memref and the indices of the element of a component."""
        numbers = [self._number(number, position) for number in self._numbers]
        if self._memory is not None:
            return self._memory, numbers
        return self._behind(numbers[0]), [self._lowering.index(0)]

    def _number(self, number: Tile | Index, position: Position) -> SSAValue:
        if not isinstance(number, Tile):
            return self._lowering.as_value(number)
        piece = number.piece(position, 1)
        if self._memory is None or isinstance(piece.type, IndexType):
            return piece
        return self._lowering.emit(arith.IndexCastOp(piece, IndexType())).result

    def _behind(self, address: SSAValue) -> SSAValue:
        """The memory at an address, whose end is not known."""
        emit, pointer = self._lowering.emit, self._pointer
        assert pointer is not None
        made = IntegerToPointerOp.create(operands=[address], result_types=[pointer])
        lists = {"static_offsets": 0, "static_sizes": UNKNOWN_EXTENT, "static_strides": 1}
        type_ = MemRefType(
            pointer.pointee_type, [DYNAMIC_INDEX], StridedLayoutAttr([1], 0), pointer.memory_space
        )
        view = ViewOp.build(
            operands=[emit(made).results[0], [], [], []],
            result_types=[type_],
            properties={name: numbers_attribute((number,)) for name, number in lists.items()},
        )
        return emit(view).results[0]

    def are_neighbours(self, position: Position, width: int) -> SSAValue | None:
        """Whether the elements of neighbouring components are neighbours in memory.

        Returns: None where they certainly are not.
        """
        lowering, memory = self._lowering, self._memory
        if memory is not None and not has_unit_stride(memory.type):
            return None
        if not isinstance(self._numbers[-1], Tile):
            return None
        steps = [0] * len(self._numbers)
        steps[-1] = 1 if self._pointer is None else size_in_bytes(self._pointer.pointee_type)
        result: SSAValue | None = None
        for tile, step in zip(self._numbers, steps, strict=True):
            if not isinstance(tile, Tile) or (tile.scalar is not None and step == 0):
                continue
            expected = spaced(lowering, tile.piece(position, 1), width, step)
            are_so = compare(lowering, arith.CmpiOp(tile.piece(position, width), expected, "eq"))
            result = lowering.both(result, lowering.all_of(are_so))
        return result


def points_of(
    lowering: Vectors,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    shape: tuple[int, ...],
    bits: Attribute | None = None,
) -> Points:
    """The elements of an access of `core`, to a memref with indices or through pointers.

    Args:
        lowering: Where to emit.
        memory: The memref, the pointer or the pointers of the source.
        indices: The indices of the source.
        shape: The sizes of the tile; none for one number.
        bits: The type that the elements are seen as, where it is not theirs.
    """
    pointer = pointer_of(memory.type)
    if pointer is not None:
        addresses = lowering.kept(memory) if shape else lowering.address(lowering.value(memory))
        target = cast("PointerType", carried_type(pointer))
        target = target if bits is None else PointerType(bits, target.memory_space)
        return Points(lowering, None, target, [addresses])
    known = lowering.value(memory)
    numbers: list[Tile | Index] = []
    for index in indices:
        if isinstance(index.type, VectorType):
            numbers.append(repeated(lowering, lowering.kept(index), shape))
        else:
            numbers += lowering.numbers([index])
    seen = known if bits is None else reinterpreted(lowering, known, bits)
    return Points(lowering, seen, None, numbers)


def _each(
    lowering: Vectors,
    shape: tuple[int, ...],
    mask: Tile | None,
    access: Callable[[Position, int], None],
    points: Points | None = None,
    width: int = 1,
) -> None:
    """Emits accesses to the components that a mask holds for.

    Args:
        lowering: Where to emit.
        shape: The sizes of the tile.
        mask: The mask, in private memory; None for all components.
        access: Emits the access to so many components, one or neighbours.
        points: Their elements, if neighbours may be accessed together.
        width: The most components that are.
    """
    with lowering.rows(shape) as row:

        def of_row(column: Index, count: int) -> None:
            position = lowering.position(shape, (*row, column))
            together = None
            if count > 1 and points is not None:
                together = points.are_neighbours(position, count)
            if together is not None:
                lowering.each_masked(mask, position, position, count, access, together)
                return
            with lowering.loop(0, count, name="column") as i:
                one = lowering.moved(position, i)
                lowering.each_masked(mask, one, one, 1, access)

        lowering.cover(shape[-1], width, of_row)


# --- gathers and scatters ---


def _gather_load(operation: GatherLoadOp, lowering: Vectors) -> None:
    result = operation.result
    shape = _shape(result)
    points = points_of(lowering, operation.memory, operation.indices, shape)
    if shape:
        padding = None if operation.padding is None else lowering.tile(operation.padding)
        _gather(lowering, result, points, operation.mask, padding)
    else:
        _load_one(operation, lowering, points)
    fence(lowering, operation.order)


def _gather(
    lowering: Vectors,
    result: SSAValue,
    points: Points,
    mask: SSAValue | None,
    padding: Tile | None,
) -> None:
    """Reads elements into private memory, over what stands for those that the mask leaves out."""
    buffer = lowering.new_buffer(result)
    element = lowering.component_type(result.type)
    if padding is not None:
        lowering.store_tile(padding, buffer)

    def load(position: Position, width: int) -> None:
        memory, indices = points.at(position)
        lowering.store(lowering.load(memory, indices, width, element), buffer, [position.flat])

    width = lowering.width_of(element, i64)
    kept = None if mask is None else lowering.kept(mask)
    _each(lowering, shape_of(result.type), kept, load, points, width)
    lowering.define_stored(result, buffer)


def _load_one(operation: GatherLoadOp, lowering: Vectors, points: Points) -> None:
    """One number, or the padding where the mask is false."""
    result = operation.result
    element = lowering.type_(result.type)

    def load() -> SSAValue:
        memory, indices = points.at(Position(0))
        return lowering.load(memory, indices, 1, element)

    if operation.mask is None:
        lowering.define(result, load())
        return
    padding = operation.padding
    otherwise = lowering.constant(0, element) if padding is None else lowering.value(padding)
    lowering.define(
        result, lowering.choose(lowering.value(operation.mask), load, lambda: otherwise)
    )


def _scatter_store(operation: ScatterStoreOp, lowering: Vectors) -> None:
    fence(lowering, operation.order)
    shape = _shape(operation.value)
    points = points_of(lowering, operation.memory, operation.indices, shape)
    if shape:
        _scatter(lowering, operation.value, points, operation.mask)
        return
    with lowering.when(None if operation.mask is None else lowering.value(operation.mask)):
        memory, indices = points.at(Position(0))
        lowering.store(lowering.value(operation.value), memory, indices)


def _scatter(lowering: Vectors, value: SSAValue, points: Points, mask: SSAValue | None) -> None:
    tile = lowering.kept(value)

    def store(position: Position, width: int) -> None:
        memory, indices = points.at(position)
        lowering.store(tile.piece(position, width), memory, indices)

    width = lowering.width_of(tile.element, i64)
    kept = None if mask is None else lowering.kept(mask)
    _each(lowering, tile.shape, kept, store, points, width)


def _gather_along(operation: GatherOp, lowering: Vectors) -> None:
    """Upstream's, at positions along the last dimension."""
    if not lowering.is_tile(operation.result):
        copy_or_compute(operation, lowering)
        return
    padding = lowering.tile(operation.pass_thru)
    points = _points_along(operation, lowering)
    _gather(lowering, operation.result, points, operation.mask, padding)


def _scatter_along(operation: ScatterOp, lowering: Vectors) -> None:
    if not lowering.is_tile(operation.valueToStore):
        copy_or_compute(operation, lowering)
        return
    _scatter(lowering, operation.valueToStore, _points_along(operation, lowering), operation.mask)


def _points_along(operation: GatherOp | ScatterOp, lowering: Vectors) -> Points:
    *outer, last = lowering.numbers(operation.offsets)
    index = lowering.kept(operation.indices)

    def moved(position: Position, width: int, pieces: list[SSAValue]) -> SSAValue:
        (piece,) = pieces
        if not isinstance(index.element, IndexType):
            wide = piece_type(IndexType(), width)
            piece = lowering.emit(arith.IndexCastOp(piece, cast(Any, wide))).result
        start = lowering.broadcast(lowering.as_value(last), width)
        return lowering.emit(arith.AddiOp(piece, start)).result

    along = lowering.computed([index], IndexType(), moved)
    return Points(lowering, lowering.value(operation.base), None, [*outer, along])


# --- atomic updates ---


def _atomic_rmw(operation: AtomicRMWOp, lowering: Vectors) -> None:
    kind = kind_of(operation.kind).name
    element, ordering = value_type(operation.value.type), ordering_of(operation)

    def change(memory: SSAValue, indices: list[SSAValue], position: Position) -> SSAValue:
        value = _component(lowering, operation.value, position)
        return update(lowering, kind, value, memory, indices, element, ordering)

    _update(operation, lowering, None, change)


def _compare_and_swap(operation: AtomicCompareAndSwapOp, lowering: Vectors) -> None:
    """An update that leaves everything but what is expected as it is."""
    carried = lowering.type_(value_type(operation.value.type))
    bits = IntegerType(bits_of(carried))

    def change(memory: SSAValue, indices: list[SSAValue], position: Position) -> SSAValue:
        expected, value = (
            _bitcast(lowering, _component(lowering, each, position), bits)
            for each in (operation.expected, operation.value)
        )
        block = Block(arg_types=[bits])
        with lowering.at_end_of(block):
            found = block.args[0]
            is_it = lowering.emit(arith.CmpiOp(found, expected, "eq")).result
            lowering.emit(AtomicYieldOp.build(operands=[lowering.select(is_it, value, found)]))
        swap = GenericAtomicRMWOp.build(
            operands=[memory, indices],
            result_types=[bits],
            regions=[Region([block])],
            attributes=ordering_of(operation).attributes,
        )
        return _bitcast(lowering, lowering.emit(swap).results[0], carried)

    _update(operation, lowering, bits, change)


def _bitcast(lowering: Vectors, value: SSAValue, type_: Attribute) -> SSAValue:
    if value.type == type_:
        return value
    if isinstance(value.type, IndexType) or isinstance(type_, IndexType):
        return lowering.emit(arith.IndexCastOp(value, cast(Any, type_))).result
    return lowering.emit(arith.BitcastOp(value, cast(Any, type_))).result


def _component(lowering: Vectors, old: SSAValue, position: Position) -> SSAValue:
    if isinstance(old.type, VectorType):
        return lowering.tile(old).piece(position, 1)
    return lowering.value(old)


Change = Callable[[SSAValue, list[SSAValue], Position], SSAValue]
"""Emits the update of an element, given its memref and indices, and returns what it was."""


def _update(
    operation: AtomicRMWOp | AtomicCompareAndSwapOp,
    lowering: Vectors,
    bits: Attribute | None,
    change: Change,
) -> None:
    """Updates elements one by one; those that the mask leaves out were 0."""
    fence(lowering, operation.order)
    result, mask = operation.result, operation.mask
    shape = _shape(result)
    points = points_of(lowering, operation.memory, operation.indices, shape, bits)
    if shape:
        _update_tile(operation, lowering, points, change)
    else:

        def one() -> SSAValue:
            return change(*points.at(Position(0)), Position(0))

        if mask is None:
            lowering.define(result, one())
        else:
            zero = lowering.constant(0, lowering.type_(result.type))
            lowering.define(result, lowering.choose(lowering.value(mask), one, lambda: zero))
    fence(lowering, operation.order)


def _update_tile(
    operation: AtomicRMWOp | AtomicCompareAndSwapOp,
    lowering: Vectors,
    points: Points,
    change: Change,
) -> None:
    result, mask = operation.result, operation.mask
    shape, element = shape_of(result.type), lowering.component_type(result.type)
    buffer = lowering.new_buffer(result) if result.uses else None
    if buffer is not None and mask is not None:
        lowering.store_tile(lowering.splat(lowering.constant(0, element), shape), buffer)

    def access(position: Position, width: int) -> None:
        found = change(*points.at(position), position)
        if buffer is not None:
            lowering.store(found, buffer, [position.flat])

    _each(lowering, shape, None if mask is None else lowering.kept(mask), access)
    if buffer is not None:
        lowering.define_stored(result, buffer)


def fence(lowering: Vectors, order: MemoryOrderAttr | None) -> None:
    """Keeps accesses on their side of one that orders others.

    The processor keeps the order of accesses that x86 has; the compiler is told to keep it.
    """
    if order is not None and order.data is not MemoryOrder.RELAXED:
        lowering.emit(BarrierOp())


def _shape(value: SSAValue) -> tuple[int, ...]:
    vector_type = as_vector(value.type)
    return () if vector_type is None else vector_type.get_shape()


RULES: dict[str, Rule] = {
    AtomicCompareAndSwapOp.name: _compare_and_swap,
    AtomicRMWOp.name: _atomic_rmw,
    GatherLoadOp.name: _gather_load,
    GatherOp.name: _gather_along,
    ScatterOp.name: _scatter_along,
    ScatterStoreOp.name: _scatter_store,
}
