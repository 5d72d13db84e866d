"""Tiles in local memory: elements go from the subgroups that have them to those that need them.

A tile is written row by row, each element once, the work-group waits, and everyone reads what it
needs. A barrier before the write lets everybody finish reading what was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    FixedBitwidthType,
    Float8E8M0FNUType,
    FloatTF32Type,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from xtile.dialects.arith.casts import ExtFOp, ExtUIOp, IndexCastOp, TruncFOp, TruncIOp
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.memref.access import LoadOp
from xtile.dialects.memref.views import ReinterpretCastOp
from xtile.dialects.shapes import with_element
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.indices import Index
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.transforms.distribute_tiles.distribution import (
    Distribution,
    Held,
    Parts,
    Tile,
    Uniform,
)
from xtile.transforms.distribute_tiles.elements import each_element
from xtile.transforms.distribute_tiles.spreads import (
    Box,
    Spread,
    box_of,
    matrices_of,
    part_of,
    strides_of,
    strides_of_box,
)

LOCAL = AddressSpaceAttr(AddressSpace.WORKGROUP)


@dataclass(frozen=True)
class Staged:
    """A tile in local memory.

    Attributes:
        arena: The memory.
        element: The type of the tile's elements, which memory has as integers.
        offset: Where it begins, in elements.
        shape: Its shape; it is there row by row.
    """

    arena: SSAValue
    element: Attribute
    offset: int
    shape: tuple[int, ...]


# --- writing ---


def stage(distribution: Distribution, *tiles: Tile, padding: int = 0) -> list[Staged]:
    """Writes tiles to local memory, where everybody may read them then.

    Args:
        distribution: Where to emit.
        tiles: The tiles.
        padding: How many elements lie between rows.
    """
    written = [
        (tile, distribution.preferred(tile), tile.parts(distribution, distribution.preferred(tile)))
        for tile in tiles
    ]
    distribution.barrier()
    used: dict[int, int] = {}
    staged: list[Staged] = []
    for tile, spread, parts in written:
        bits = bits_of(tile.element)
        offset = used.get(bits, 0)
        strides = strides_of(tile.box, padding)
        used[bits] = offset + (tile.box[0] * strides[0] if tile.box else 1)
        where = Staged(arena(distribution, bits, used[bits]), tile.element, offset, tile.shape)
        write(distribution, where, tile.box, strides, offset, spread, parts)
        staged.append(where)
    distribution.barrier()
    return staged


def arena(distribution: Distribution, bits: int, count: int) -> SSAValue:
    """Local memory for at least so many integers.

    Raises:
        DiagnosticError: A work-group cannot have so much.
    """
    memory, most = distribution.arenas.get(bits, (None, 0))
    if memory is None:
        type_ = MemRefType(IntegerType(bits), [1], memory_space=LOCAL)
        allocation = AllocaOp(operands=[[], []], result_types=[type_])
        memory = distribution.shared(
            ("arena", bits), (), lambda: distribution.emit(allocation).memref
        )
        memory.name_hint = "exchanged"
    distribution.arenas[bits] = memory, max(most, count)
    needed = sum(size * width // 8 for width, (_, size) in distribution.arenas.items())
    limit = distribution.target.chip.local_memory
    if needed > limit:
        raise distribution.error(
            f"elements go from subgroup to subgroup through {needed} bytes of local memory, "
            f"but a work-group of {distribution.target.name} has {limit}; use smaller tiles"
        )
    return memory


def write(
    distribution: Distribution,
    where: Staged,
    box: Box,
    strides: Sequence[int],
    offset: Index,
    spread: Spread,
    parts: Parts,
) -> None:
    """Writes the parts of a tile, each element once."""
    with distribution.by_owners(spread):
        write_part(distribution, where, box, strides, offset, spread, parts)


def write_part(
    distribution: Distribution,
    where: Staged,
    box: Box,
    strides: Sequence[int],
    offset: Index,
    spread: Spread,
    parts: Parts,
) -> None:
    """Writes what a subgroup holds of a tile.

    Args:
        distribution: Where to emit.
        where: The memory.
        box: The box of the tile.
        strides: How far apart its neighbours along each dimension are in memory.
        offset: Where it begins in the arena.
        spread: How it is spread.
        parts: The parts.
    """
    origin = distribution.origin(box, spread)
    for number, part in enumerate(parts):
        first = distribution.add(offset, _offset_of_matrix(box, strides, number))
        stored = to_memory(distribution, part)
        if not box:
            _store_number(distribution, where, first, stored)
            continue
        memory = view(distribution, where.arena, first, box[-2:], strides[-2:])
        transfer_write(distribution, stored, memory, origin[-2:])


def scatter(
    distribution: Distribution,
    where: Staged,
    shape: Sequence[int],
    strides: Sequence[int],
    offset: Index,
    spread: Spread,
    parts: Parts,
) -> None:
    """Writes a tile element by element, of what is held as a line although memory has it otherwise.

    Args:
        distribution: Where to emit.
        where: The memory.
        shape: The shape of the tile.
        strides: How far apart its neighbours along each dimension are in memory.
        offset: Where it begins in the arena.
        spread: How it is spread.
        parts: The parts.
    """

    def store(at: list[Index], values: list[SSAValue]) -> list[SSAValue]:
        index = distribution.add(offset, distribution.sum_of_products(at, strides))
        distribution.store(values[0], where.arena, [index])
        return []

    stored = [to_memory(distribution, part) for part in parts]
    with distribution.by_owners(spread):
        each_element(distribution, shape, box_of(shape), spread, [stored], [], store)


def _store_number(
    distribution: Distribution, where: Staged, offset: Index, number: SSAValue
) -> None:
    """Stores a number that all lanes have, by the first of them."""
    memory = view(distribution, where.arena, offset, [1], [1])
    with distribution.when(distribution.compare("eq", distribution.lane, 0)):
        distribution.store(number, memory, [0])


# --- reading ---


def converted(distribution: Distribution, tile: Tile, spread: Spread) -> Parts:
    """The parts of a tile that is spread in another way."""
    (staged,) = stage(distribution, tile)
    return fetch(distribution, staged, tile.box, strides_of(tile.box), spread)


def fetched(
    distribution: Distribution,
    staged: Staged,
    shape: Sequence[int],
    strides: Sequence[int],
    spread: Spread | None = None,
    offset: Index = 0,
) -> Held:
    """A tile of a shape, read from one that is in local memory.

    Args:
        distribution: Where to emit.
        staged: The memory.
        shape: The shape of what is read.
        strides: How far apart its neighbours along each dimension are in memory.
        spread: How it is spread; None for how its shape says.
        offset: How far behind the first element in memory its own is.
    """
    spread = distribution.spread_of_shape(shape) if spread is None else spread
    kept = strides_of_box(shape, strides)
    if kept is not None:
        parts = fetch(distribution, staged, box_of(shape), kept, spread, offset)
    else:
        parts = _gathered(distribution, staged, shape, strides, spread, offset)
    return Held(tuple(shape), staged.element, spread, parts)


def fetch(
    distribution: Distribution,
    staged: Staged,
    box: Box,
    strides: Sequence[int],
    spread: Spread,
    offset: Index = 0,
) -> Parts:
    """The parts of a box of local memory."""
    start = distribution.add(staged.offset, offset)
    origin = distribution.origin(box, spread)
    parts: list[SSAValue] = []
    for number in range(matrices_of(box)):
        first = distribution.add(start, _offset_of_matrix(box, strides, number))
        if not box:
            memory = view(distribution, staged.arena, first, [1], [1])
            loaded = distribution.load(memory, [0])
        else:
            memory = view(distribution, staged.arena, first, box[-2:], strides[-2:])
            loaded = transfer_read(distribution, memory, origin[-2:], part_of(box, spread)[-2:])
        parts.append(from_memory(distribution, loaded, staged.element))
    return parts


def _gathered(
    distribution: Distribution,
    staged: Staged,
    shape: Sequence[int],
    strides: Sequence[int],
    spread: Spread,
    offset: Index,
) -> Parts:
    """Elements one by one, of what is held as a line although memory has it otherwise."""
    box = box_of(shape)
    stored = stored_type(staged.element)
    seed = Uniform(tuple(shape), stored, distribution.constant(0, stored))

    def load(at: list[Index], _: list[SSAValue]) -> list[SSAValue]:
        index = distribution.add_all(
            [staged.offset, offset, distribution.sum_of_products(at, strides)]
        )
        return [distribution.load(staged.arena, [index])]

    sources = [seed.parts(distribution, spread)]
    (parts,) = each_element(distribution, shape, box, spread, sources, [stored], load)
    return [from_memory(distribution, part, staged.element) for part in parts]


def load_number(distribution: Distribution, staged: Staged, offset: Index) -> SSAValue:
    """One element of a tile in local memory."""
    index = distribution.as_value(distribution.add(staged.offset, offset))
    loaded = distribution.emit(LoadOp.get(staged.arena, [index])).res
    return from_memory(distribution, loaded, staged.element)


def _offset_of_matrix(box: Box, strides: Sequence[int], number: int) -> int:
    """How far behind the first one a matrix of a list begins."""
    offset = 0
    for size, stride in zip(reversed(box[:-2]), reversed(strides[:-2]), strict=True):
        number, index = divmod(number, size)
        offset += index * stride
    return offset


# --- memory ---


def view(
    distribution: Distribution,
    memory: SSAValue,
    offset: Index,
    sizes: Sequence[int],
    strides: Sequence[int],
) -> SSAValue:
    """Local memory as a memref with one or two dimensions."""
    type_ = cast("MemRefType[Attribute]", memory.type)
    known = offset if isinstance(offset, int) else None
    layout = StridedLayoutAttr(list(strides), NoneAttr() if known is None else known)
    result = MemRefType(type_.element_type, list(sizes), layout, type_.memory_space)
    dynamic = [] if isinstance(offset, int) else [offset]

    def emit() -> SSAValue:
        operation = ReinterpretCastOp.build(
            operands=[memory, dynamic, [], []],
            result_types=[result],
            properties={
                "static_offsets": _numbers([DYNAMIC_INDEX if known is None else known]),
                "static_sizes": _numbers(sizes),
                "static_strides": _numbers(strides),
            },
        )
        return distribution.emit(operation).results[0]

    key = ("view", memory, offset, tuple(sizes), tuple(strides))
    return distribution.shared(key, (memory, *dynamic), emit)


def _numbers(numbers: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, list(numbers))


def transfer_read(
    distribution: Distribution,
    memory: SSAValue,
    start: Sequence[Index],
    sizes: Sequence[int],
    inside: Sequence[bool] | None = None,
    map_: AffineMap | None = None,
) -> SSAValue:
    """Reads a line or a matrix; what is outside is 0, and anything where there is no 0."""
    element = cast("MemRefType[Attribute]", memory.type).element_type
    is_inside = tuple(inside or (True,) * len(sizes))
    has_zero = not isinstance(element, Float8E8M0FNUType)
    is_seen = has_zero and not all(is_inside)
    padding = distribution.constant(0, element) if is_seen else distribution.poison(element)
    operation = TransferReadOp.build(
        operands=[memory, [distribution.as_value(index) for index in start], padding, []],
        result_types=[with_shape(element, sizes)],
        properties={
            "in_bounds": truth_attribute(is_inside),
            "permutation_map": AffineMapAttr(map_ or AffineMap.identity(len(start))),
        },
    )
    return distribution.emit(operation).results[0]


def transfer_write(
    distribution: Distribution,
    value: SSAValue,
    memory: SSAValue,
    start: Sequence[Index],
    inside: Sequence[bool] | None = None,
    map_: AffineMap | None = None,
) -> None:
    """Writes a line or a matrix; what is outside is left out."""
    is_inside = tuple(inside or (True,) * len(shape_of(value.type)))
    operation = TransferWriteOp.build(
        operands=[value, memory, [distribution.as_value(index) for index in start], []],
        result_types=[[]],
        properties={
            "in_bounds": truth_attribute(is_inside),
            "permutation_map": AffineMapAttr(map_ or AffineMap.identity(len(start))),
        },
    )
    distribution.emit(operation)


# --- numbers in memory ---


def bits_of(element: Attribute) -> int:
    """The bits that local memory has for an element."""
    return cast("IntegerType", stored_type(element)).width.data


def stored_type(element: Attribute) -> Attribute:
    """The integers that local memory has for elements of a type."""
    if element == i1:
        return i8
    if isinstance(element, IndexType):
        return i64
    if isinstance(element, FloatTF32Type):
        return i32
    assert isinstance(element, FixedBitwidthType)
    return IntegerType(max(8, element.bitwidth))


def to_memory(distribution: Distribution, value: SSAValue) -> SSAValue:
    """Numbers as local memory has them."""
    element = value_type(value.type)
    stored = stored_type(element)
    type_ = with_element(value.type, stored)
    if element == stored:
        return value
    if element == i1:
        return distribution.compute(ExtUIOp, [value], type_)
    if isinstance(element, IndexType):
        return distribution.compute(IndexCastOp, [value], type_)
    if isinstance(element, FloatTF32Type):
        value = distribution.compute(ExtFOp, [value], with_element(value.type, f32))
    bits = _integer_of(element)
    if bits != element:
        value = distribution.compute(arith.BitcastOp, [value], with_element(value.type, bits))
    if bits == stored:
        return value
    return distribution.compute(ExtUIOp, [value], type_)


def _integer_of(element: Attribute) -> Attribute:
    """The integer of as many bits as a number."""
    if isinstance(element, FloatTF32Type):
        return i32
    assert isinstance(element, FixedBitwidthType)
    return IntegerType(element.bitwidth)


def from_memory(distribution: Distribution, value: SSAValue, element: Attribute) -> SSAValue:
    """What local memory has as numbers of a type."""
    if value_type(value.type) == element:
        return value
    type_ = with_element(value.type, element)
    if element == i1:
        return distribution.compare("ne", value, distribution.constant(0, value.type))
    if isinstance(element, IndexType):
        return distribution.compute(IndexCastOp, [value], type_)
    if isinstance(element, FloatTF32Type):
        value = distribution.compute(arith.BitcastOp, [value], with_element(value.type, f32))
        return distribution.compute(TruncFOp, [value], type_)
    bits = _integer_of(element)
    if value_type(value.type) != bits:
        value = distribution.compute(TruncIOp, [value], with_element(value.type, bits))
    return value if bits == element else distribution.compute(arith.BitcastOp, [value], type_)
