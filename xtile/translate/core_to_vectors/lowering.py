"""What the rules share: private memory, loops over components, and the parts of tiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    MemRefType,
    VectorType,
    i1,
    i8,
    i64,
)
from xdsl.dialects.vector import BroadcastOp, CombiningKindAttr, CombiningKindFlag, ReductionOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerToIntegerOp,
    PointerType,
    pointer_of,
)
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shared_attributes import vector_of
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.shapes import ShapeCastOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.lanes import LaneTarget, VectorUnit
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.translate.core_to_vectors.emitting import Emitter
from xtile.translate.core_to_vectors.kinds import is_view
from xtile.translate.core_to_vectors.plan import Plan, plan_of
from xtile.translate.core_to_vectors.tile import Position, Tile, piece_type, shape_of
from xtile.translate.core_to_xegpu.bfloat16 import element_of
from xtile.translate.core_to_xegpu.lowering import carried_type

_NOTHING: frozenset[SSAValue] = frozenset()

CHEAP_IN_TWO_LOOPS = 24
"""The most operations that a part of a tile may cost to be computed in two loops."""

CHEAP = 2
"""The most operations that a part of a tile may cost to be computed again each time."""

_LEAST_SIZE = 4
"""Bytes of the smallest components that a register is full of; smaller ones are widened."""


class Vectors(Emitter):
    """Rebuilds kernels so that one work-item does the work of a subgroup.

    Args:
        rules: What becomes of each operation.
        target: A chip with a vector unit.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    SPREADS_VECTORS: ClassVar[bool] = False

    def __init__(
        self,
        rules: RuleTable,
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, target, source, diagnostics)
        self.plan = Plan()
        self.lanes = 1
        self.block_size: tuple[int, ...] | None = None
        self._free: dict[tuple[Attribute, int], list[SSAValue]] = {}
        self._allocated = 0

    @property
    def vector_unit(self) -> VectorUnit:
        """The vector registers of the device."""
        unit = self.target.vector_unit
        assert unit is not None
        return unit

    def begin_function(
        self,
        function: FuncOp,
        tiles: frozenset[SSAValue],
        block_size: tuple[int, ...] | None,
        lanes: int,
    ) -> None:
        """Forgets the private memory of the last kernel, and plans the next one.

        Args:
            function: The kernel.
            tiles: The vectors that belong to its subgroups or to its work-group.
            block_size: The sizes of a work-group of the source; None if they are not known.
            lanes: The work-items of its subgroups.
        """
        self.block_size = block_size
        self.lanes = lanes
        self.subgroup_size = lanes
        self.plan = plan_of(function, tiles)
        self._free = {}

    @property
    @override
    def has_lanes(self) -> bool:
        return self.lanes > 1 and not self.plan.tiles

    @property
    def work_items(self) -> tuple[int, ...] | None:
        """The sizes of a work-group of the result; None if they are not known."""
        if self.block_size is None or self.lanes == 1:
            return self.block_size
        return (1, -(-math.prod(self.block_size) // self.lanes), 1)

    def spread_over_lanes(self, function: FuncOp, tiles: frozenset[SSAValue]) -> None:
        """Translates a kernel so that a work-item is a lane of a subgroup."""
        from xtile.translate.core_to_vectors.spreading import Spread

        lanes = Spread(function, tiles, self.target, self._source, self._diagnostics)
        lanes.globals = self.globals
        with lanes.at_end_of(self.block):
            lanes.translate(function)

    @override
    def translate(self, operation: Operation) -> None:
        super().translate(operation)
        self.release_after(operation)

    # --- values ---

    def is_tile(self, old: SSAValue) -> bool:
        """Whether a vector of the source belongs to a subgroup."""
        return old in self.plan.tiles

    @override
    def types(self, type_: Attribute) -> list[Attribute]:
        if isa(type_, VectorType):
            element = self.component_type(type_)
            is_same = element == type_.element_type
            return [type_ if is_same else VectorType(element, type_.get_shape())]
        return super().types(type_)

    @override
    def value(self, old: SSAValue) -> SSAValue:
        meaning = self.meaning(old)
        return self._whole(meaning) if isinstance(meaning, Tile) else super().value(old)

    def _whole(self, tile: Tile) -> SSAValue:
        """A tile as one vector, for a work-item that uses it or an operation without a loop."""
        if tile.scalar is None and (len(tile.shape) > 1 or tile.width < tile.count):
            tile = self.in_memory(tile)
        elements = tile.piece(Position(0, (0,) * len(tile.shape)), tile.count)
        return self._shaped(elements, tile.shape)

    def _shaped(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The elements of a vector, or a number, row by row as a vector of another shape."""
        type_ = vector_of(tuple(shape), element_of(value))
        if value.type == type_:
            return value
        if not isinstance(value.type, VectorType):
            return self.emit(BroadcastOp(value, type_)).results[0]
        return self.emit(ShapeCastOp.create(operands=[value], result_types=[type_])).results[0]

    @override
    def values(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        return [self.value(value) for value in old]

    @override
    def flat(self, old: Sequence[SSAValue]) -> list[SSAValue]:
        return self.values(old)

    @override
    def define_flat(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        for value, becomes in zip(old, new, strict=True):
            self.define(value, becomes)

    # --- tiles ---

    def tile(self, old: SSAValue) -> Tile:
        """What a tile of the source has become."""
        meaning = self.meaning(old)
        if isinstance(meaning, Tile):
            return meaning
        type_: Attribute = old.type
        shape, element = shape_of(type_), self.component_type(type_)

        def stored() -> SSAValue:
            buffer = self.allocate(element, math.prod(shape))
            self._store_whole(meaning, buffer)
            return buffer

        buffer = self.shared(("stored", meaning), (meaning,), stored)
        return self.stored(buffer, shape, element)

    def define_whole(self, old: SSAValue, new: SSAValue) -> None:
        """Records what a vector of the source has become; a tile is stored."""
        if self.is_tile(old):
            buffer = self.new_buffer(old)
            self._store_whole(new, buffer)
            self.define_stored(old, buffer)
        else:
            self.define(old, new)

    @contextmanager
    def whole(self, old: Iterable[SSAValue]) -> Generator[None]:
        """Makes tiles vectors that a work-item holds as a whole, for a while."""
        tiles = {value: self._values[value] for value in old if self._has_tile(value)}
        self._values |= {value: self.value(value) for value in tiles}
        yield
        self._values |= tiles

    def _has_tile(self, old: SSAValue) -> bool:
        return isinstance(self._values.get(old), Tile)

    def _store_whole(self, value: SSAValue, buffer: SSAValue) -> None:
        """Stores all elements of a vector, row by row."""
        count = math.prod(shape_of(value.type))
        self.store(self._shaped(value, (count,)), buffer, [0])

    def define_tile(self, old: SSAValue, new: Tile) -> None:
        """Records a new tile, which is stored unless it is computed where it is used."""
        owner = old.owner
        is_late = owner in self.plan.deferred or owner in self.plan.stored_by
        if isinstance(owner, Operation) and is_late:
            self.define(old, new)
            return
        target = self.target_of(old)
        if target is None:
            target = self.allocate(new.element, new.count)
        self.store_tile(new, target)
        self.define(old, self.stored(target, new.shape, new.element))

    def define_stored(self, old: SSAValue, buffer: SSAValue) -> None:
        """Records a new tile that is in private memory."""
        self.define(old, self.stored(buffer, shape_of(old.type), self.component_type(old.type)))

    def target_of(self, old: SSAValue) -> SSAValue | None:
        """The memory that a tile must be stored in, if it is known before."""
        variable = self.plan.targets.get(old)
        return None if variable is None else self.tile(variable).buffer

    def new_buffer(self, old: SSAValue) -> SSAValue:
        """Memory for a tile of the source."""
        count = math.prod(shape_of(old.type))
        return self.target_of(old) or self.allocate(self.component_type(old.type), count)

    def component_type(self, type_: Attribute) -> Attribute:
        """The type of a tile's components as they are carried; pointers are their addresses."""
        element = carried_type(value_type(type_))
        return i64 if isinstance(element, PointerType) else element

    def piece_type(self, type_: Attribute, width: int) -> Attribute:
        """The type of a part of a tile of the source; pointers are their addresses."""
        part = piece_type(type_, width)
        return piece_type(i64, width) if pointer_of(part) is not None else part

    def width_of(self, *elements: Attribute) -> int:
        """How many components a vector register holds; those of less than 4 bytes are widened."""
        sizes = (size_in_bytes(element) for element in elements)
        return self.vector_unit.bytes // max(_LEAST_SIZE, *sizes)

    def stored(self, buffer: SSAValue, shape: tuple[int, ...], element: Attribute) -> Tile:
        """The tile that is in private memory."""

        def piece(position: Position, width: int) -> SSAValue:
            return self.load(buffer, [position.flat], width, element)

        return Tile(
            shape,
            element,
            piece,
            is_flat=True,
            aligned=frozenset({buffer}),
            others=_NOTHING,
            width=self.width_of(element),
            buffer=buffer,
        )

    def splat(self, scalar: SSAValue, shape: tuple[int, ...]) -> Tile:
        """The tile whose components are all the same."""
        scalar = self.address(scalar) if isinstance(scalar.type, PointerType) else scalar

        def piece(position: Position, width: int) -> SSAValue:
            return self.broadcast(scalar, width)

        return Tile(
            shape,
            scalar.type,
            piece,
            is_flat=True,
            aligned=_NOTHING,
            others=_NOTHING,
            width=self.width_of(scalar.type),
            scalar=scalar,
        )

    def computed(
        self,
        operands: Sequence[Tile],
        element: Attribute,
        compute: Callable[[Position, int, list[SSAValue]], SSAValue],
        is_flat: bool = True,
    ) -> Tile:
        """A tile of which each component depends on those of the operands in its position."""
        once = {id(operand): operand for operand in operands}

        def piece(position: Position, width: int) -> SSAValue:
            pieces = {key: operand.piece(position, width) for key, operand in once.items()}
            return compute(position, width, [pieces[id(operand)] for operand in operands])

        return Tile(
            operands[0].shape,
            element,
            piece,
            is_flat=is_flat and all(operand.is_flat for operand in operands),
            aligned=_NOTHING.union(*(operand.aligned for operand in operands)),
            others=_NOTHING.union(*(operand.others for operand in operands)),
            width=min(self.width_of(element), *(operand.width for operand in operands)),
            cost=1 + sum(operand.cost for operand in once.values()),
            guards=tuple(dict.fromkeys(guard for operand in operands for guard in operand.guards)),
        )

    def reshaped(self, tile: Tile, shape: tuple[int, ...]) -> Tile:
        """The same components, row by row, in another shape."""
        if tile.shape == shape:
            return tile
        if not tile.is_flat:
            tile = self.in_memory(tile)
        return replace(tile, shape=shape)

    def in_memory(self, tile: Tile) -> Tile:
        """The same tile in private memory, which is kept until the kernel ends."""
        if tile.buffer is not None:
            return tile
        buffer = self.allocate(tile.element, tile.count)
        self.store_tile(tile, buffer)
        return self.stored(buffer, tile.shape, tile.element)

    def kept(self, old: SSAValue) -> Tile:
        """A tile of which components are read again and again: in private memory, or cheap."""
        tile = self.tile(old)
        return tile if tile.cost <= CHEAP else self.in_memory(tile)

    def pointer(self, component: SSAValue, type_: Attribute) -> SSAValue:
        """A component of a tile as a number of the source: addresses become pointers again."""
        if not isinstance(type_, PointerType):
            return component
        target = carried_type(type_)
        made = IntegerToPointerOp.create(operands=[component], result_types=[target])
        return self.emit(made).results[0]

    def address(self, pointer: SSAValue) -> SSAValue:
        """A number as a component of a tile: pointers are their addresses."""
        if not isinstance(pointer.type, PointerType):
            return pointer
        made = PointerToIntegerOp.create(operands=[pointer], result_types=[i64])
        return self.shared(("address", pointer), (pointer,), lambda: self.emit(made).results[0])

    # --- private memory ---

    def allocate(self, element: Attribute, count: int) -> SSAValue:
        """Private memory that nobody uses."""
        element = i8 if element == i1 else element
        free = self._free.get((element, count))
        if free:
            return free.pop()
        self._allocated += 1
        return self.shared(("buffer", self._allocated), (), lambda: self._alloca(element, count))

    def _alloca(self, element: Attribute, count: int) -> SSAValue:
        alignment = self.vector_unit.bytes
        operation = memref.AllocaOp.get(element, alignment, [count])
        result = self.emit(operation).memref
        result.name_hint = "buffer"
        return result

    def free(self, buffer: SSAValue) -> None:
        """Gives private memory back."""
        type_ = cast("MemRefType[Attribute]", buffer.type)
        self._free.setdefault((type_.element_type, type_.get_shape()[0]), []).append(buffer)

    @contextmanager
    def temporary(self, tile: Tile) -> Generator[Tile]:
        """The tile in private memory, for a while."""
        made = self.in_memory(tile)
        yield made
        if made is not tile and made.buffer is not None:
            self.free(made.buffer)

    def release_after(self, operation: Operation) -> None:
        """Gives the memory of those tiles back that nobody needs any more."""
        for old in self.plan.released.get(operation, ()):
            # A loop's variables have the memory of its results.
            owner = old.owner
            if not isinstance(owner, Operation) or is_view(owner) or old in self.plan.targets:
                continue
            meaning = self._values.get(old)
            if isinstance(meaning, Tile) and meaning.buffer is not None:
                self.free(meaning.buffer)

    # --- going through tiles ---

    def store_tile(self, tile: Tile, buffer: SSAValue) -> None:
        """Stores all components in private memory, row by row."""
        if tile.buffer is buffer:
            return
        self.each_piece(
            tile,
            lambda position, width: self.store(
                tile.piece(position, width), buffer, [position.flat]
            ),
        )

    def each_piece(self, tile: Tile, emit: Callable[[Position, int], None]) -> None:
        """Goes through the components of a tile, as many at once as it likes."""
        self.guarded(tile, lambda: self._each_piece(tile, emit))

    def guarded(self, tile: Tile, emit: Callable[[], None]) -> None:
        """Emits what goes through a tile; twice, where one of the two needs no checks."""
        guard = self.guard_of(tile) if tile.cost <= CHEAP_IN_TWO_LOOPS else None
        if guard is None:
            emit()
            return

        def without_checks() -> None:
            with self.assuming(tile.guards):
                emit()

        self.either(guard, without_checks, emit)

    def guard_of(self, tile: Tile) -> SSAValue | None:
        """Whether all that a tile is computed from is inside of memory; None if it is known."""
        guard: SSAValue | None = None
        for condition in tile.guards:
            if condition not in self.assumed:
                guard = self.both(guard, condition)
        return guard

    def _each_piece(self, tile: Tile, emit: Callable[[Position, int], None]) -> None:
        if tile.is_flat:
            self.cover(tile.count, tile.width, lambda at, n: emit(Position(at), n))
            return
        with self.rows(tile.shape) as row:
            self.each_piece_of_row(tile, row, emit)

    @contextmanager
    def rows(self, shape: Sequence[int]) -> Generator[tuple[Index, ...]]:
        """Goes through the rows of a tile; yields the indices in all dimensions but the last."""
        with ExitStack() as loops:
            yield tuple(loops.enter_context(self.loop(0, size, name="row")) for size in shape[:-1])

    def each_piece_of_row(
        self, tile: Tile, row: tuple[Index, ...], emit: Callable[[Position, int], None]
    ) -> None:
        """Goes through the components of one row."""
        start = self.position(tile.shape, (*row, 0)).flat

        def emit_piece(at: Index, length: int) -> None:
            emit(Position(self.add(start, at), (*row, at)), length)

        if self.assumed.issuperset(tile.guards):
            self.cover(tile.shape[-1], tile.width, emit_piece)
        else:
            # Checks are much code.
            self.cover(tile.shape[-1], tile.width, emit_piece, few=1)

    def each_masked(
        self,
        mask: Tile | None,
        at: Position,
        position: Position,
        width: int,
        emit: Callable[[Position, int], None],
        condition: SSAValue | None = None,
    ) -> None:
        """Emits accesses to those of some neighbours that a mask holds for.

        Args:
            mask: The mask, in private memory; None for all components.
            at: The mask's component for the first of them.
            position: The position of the first of them, for `emit`.
            width: Their number.
            emit: Emits the access to so many components.
            condition: Where they may be accessed at once; None where the mask holds for all.
        """

        def one_by_one() -> None:
            with self.loop(0, width, name="column") as i:
                holds = None if mask is None else mask.piece(self.moved(at, i), 1)
                with self.when(holds):
                    emit(self.moved(position, i), 1)

        if width == 1:
            one_by_one()
            return
        if mask is not None:
            condition = self.both(self.all_of(mask.piece(at, width)), condition)
        self.either(condition, lambda: emit(position, width), one_by_one)

    def all_of(self, mask: SSAValue) -> SSAValue:
        """Whether all elements of a vector of truth values hold."""
        kind = CombiningKindAttr(CombiningKindFlag.AND)
        made = ReductionOp.create(operands=[mask], result_types=[i1], properties={"kind": kind})
        return self.emit(made).results[0]

    def moved(self, position: Position, by: Index) -> Position:
        """The position so many components further on along a row."""
        *row, column = position.indices
        return Position(self.add(position.flat, by), (*row, self.add(column, by)))

    def position(self, shape: Sequence[int], indices: Sequence[Index]) -> Position:
        """The position of a component."""
        flat: Index = 0
        for size, index in zip(shape, indices, strict=True):
            flat = self.add(self.multiply(flat, size), index)
        return Position(flat, tuple(indices))
