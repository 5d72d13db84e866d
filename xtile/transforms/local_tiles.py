"""Local memory of a block of tiles becomes tiles, which loops and branches carry.

A write makes a new tile, and a read takes a part of the tile that memory holds then. Both are cheap
where they are of a box at a known position; anything else is composed of operations on elements.
What memory holds before it is written is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    i64,
)
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.affine_maps import dimensions_of
from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.arith.comparisons import CMPI_PREDICATES, CmpIOp, SelectOp
from xtile.dialects.arith.types import truth_type
from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core import (
    AtomicRMWOp,
    AtomicUpdateOp,
    GatherLoadOp,
    GatherOp,
    Level,
    ScatterStoreOp,
    level_of,
)
from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.dialects.effects import written_operands
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import ForOp
from xtile.dialects.upstream import value_type
from xtile.dialects.walk import walk
from xtile.rewrite.affine_tiles import affine_of
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import with_kernels_replaced
from xtile.rewrite.memref_layouts import (
    is_local,
    kept_dimensions,
    layout_of,
    number_lists,
    row_major,
)
from xtile.rewrite.rebuilder import RuleTable, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.text.source import source_of
from xtile.transforms.cleanup import clean_up

_MOST_ELEMENTS = 1 << 16
"""Of memory that becomes a tile."""

_MOST_TURNS = 16
"""Of a loop that is unrolled because its source says so."""

_ACCESSES = (
    memref.LoadOp,
    memref.StoreOp,
    GatherLoadOp,
    ScatterStoreOp,
    AtomicRMWOp,
    AtomicUpdateOp,
    TransferReadOp,
    TransferWriteOp,
)


def local_tiles(module: ModuleOp, *, only_cheap: bool) -> ModuleOp:
    """Returns a module whose kernels of tiles have tiles in place of local memory.

    Memory with other accesses, such as atomic updates, stays.

    Args:
        module: The module; it is not changed.
        only_cheap: Whether memory stays that is not only accessed as boxes at known positions.
    """
    source = source_of(module)

    def rebuilt(function: FuncOp) -> FuncOp:
        memories = _candidates(function)
        promotion = _Promotion(memories, source)
        result = promotion.rebuilt(function)
        costly = promotion.costly
        if not only_cheap:
            # Indices beyond a dimension reach its padding, of which a tile has none.
            costly &= {memory for memory in memories if not _is_packed(memory)}
        return _Promotion(memories - costly, source).rebuilt(function) if costly else result

    def is_chosen(function: FuncOp) -> bool:
        return level_of(function) is Level.TILE and bool(_candidates(function))

    result = with_kernels_replaced(module, is_chosen, rebuilt)
    return clean_up(result) if any(map(is_chosen, _functions(module))) else result


def _functions(module: ModuleOp) -> Iterable[FuncOp]:
    return (operation for operation in walk(module) if isinstance(operation, FuncOp))


def _candidates(function: FuncOp) -> frozenset[SSAValue]:
    return frozenset(
        operation.memref
        for operation in walk(function)
        if isinstance(operation, memref.AllocaOp) and _can_be_tile(operation)
    )


def _can_be_tile(alloca: memref.AllocaOp) -> bool:
    type_: AnyMemRef = alloca.memref.type
    if not is_local(type_):
        return False
    layout, shape = layout_of(type_), type_.get_shape()
    if layout.unknowns or math.prod(shape) > _MOST_ELEMENTS or 0 in shape:
        return False
    is_number = hasattr(type_.element_type, "bitwidth") or isinstance(type_.element_type, IndexType)
    return is_number and _is_understood(alloca.memref)


def _is_packed(memory: SSAValue) -> bool:
    layout = layout_of(cast("AnyMemRef", memory.type))
    return layout.strides == row_major(layout.sizes)


def _is_understood(memory: SSAValue) -> bool:
    """Whether all uses of memory are accesses that are known here."""
    return all(_is_use_understood(use.operation, use.index) for use in memory.uses)


def _is_use_understood(user: Operation, operand: int) -> bool:
    if isinstance(user, memref.DimOp):
        return constant_of(user.index) is not None
    if isinstance(user, memref.SubviewOp):
        steps: Sequence[int] = user.static_strides.get_values()
        return all(step == 1 for step in steps) and _is_understood(user.result)
    if isinstance(user, TransferReadOp | TransferWriteOp):
        along = dimensions_of(user.permutation_map)
        is_memory = isinstance(user, TransferReadOp) or operand == 1
        return is_memory and None not in along
    if isinstance(user, GatherLoadOp | ScatterStoreOp):
        return user.order is None
    if isinstance(user, AtomicRMWOp | AtomicUpdateOp):
        return operand == 1
    return isinstance(user, memref.LoadOp) or (isinstance(user, memref.StoreOp) and operand == 1)


@dataclass(frozen=True)
class _View:
    """A part of memory.

    Attributes:
        memory: The memory, in the source.
        offsets: Where it begins.
        kept: Its dimensions among those of the memory.
        sizes: Its sizes.
    """

    memory: SSAValue
    offsets: tuple[Index, ...]
    kept: tuple[int, ...]
    sizes: tuple[Index, ...]


@dataclass(frozen=True)
class _Line:
    """An index of each element along a dimension of memory.

    Attributes:
        base: What all indices have in common.
        along: The dimensions of the accessed tile along which it grows, the slowest first, so that
            the indices follow each other; none if it is one index.
    """

    base: Index
    along: tuple[int, ...]


@dataclass(frozen=True)
class _Access:
    """The elements that an operation accesses.

    Attributes:
        memory: The memory, in the source.
        shape: The shape of the accessed tile.
        indices: The index of each element in each dimension of memory: a number, or a vector of
            that shape in which sizes may be 1.
        mask: Which elements are accessed; None: all.
    """

    memory: SSAValue
    shape: tuple[int, ...]
    indices: tuple[Index, ...]
    mask: SSAValue | None


class _Promotion(TileEmitter):
    """Rebuilds one kernel.

    Attributes:
        costly: The memory with accesses other than of boxes at known positions.
    """

    def __init__(self, memories: frozenset[SSAValue], source: Any) -> None:
        super().__init__(RuleTable(_RULES, otherwise=copy, keeps_rounding=True), "tiles", source)
        self.memories = memories
        self.costly: frozenset[SSAValue] = frozenset()
        self.views: dict[SSAValue, _View] = {}
        self.held: dict[SSAValue, SSAValue] = {}

    def rebuilt(self, function: FuncOp) -> FuncOp:
        """The new kernel."""
        old = function.body.block
        body = self.new_block(old, [argument.type for argument in old.args])
        with self.in_function(body):
            self.translate_block(old)
        result = FuncOp.create(
            properties=function.properties.copy(),
            attributes=function.attributes.copy(),
            regions=[Region(body)],
        )
        result.location = function.location
        return result

    def view_of(self, memory: SSAValue) -> _View | None:
        """What memory is a part of, if that is a tile."""
        return self.views.get(memory)

    # --- numbers ---

    def compared(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """An integer comparison of vectors."""
        properties = {"predicate": IntegerAttr(CMPI_PREDICATES.index(predicate), i64)}
        return self.compute(CmpIOp, [a, b], truth_type(a.type), properties)

    def both(self, a: SSAValue | None, b: SSAValue) -> SSAValue:
        """Where two conditions hold, the first of which may be none."""
        return b if a is None else self.compute(arith.AndIOp, [a, b], a.type)

    def selected(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where a condition holds, `b` elsewhere."""
        return self.emit(SelectOp(condition, a, b)).result

    def full(self, index: Index, shape: Sequence[int]) -> SSAValue:
        """An index of each element."""
        value = self.as_value(index)
        if shape_of(value.type) and not isinstance(value_type(value.type), IndexType):
            type_ = with_shape(IndexType(), shape_of(value.type))
            value = self.compute(IndexCastOp, [value], type_)
        return self.spread(value, shape)

    def numbers(self, axis: int, shape: Sequence[int]) -> SSAValue:
        """The index of each element of a tile along an axis."""
        return self.spread(self.along(self.step(shape[axis]), axis, len(shape)), shape)

    # --- boxes at known positions ---

    def lines(self, access: _Access) -> list[_Line] | None:
        """The indices of an access as lines, if each dimension of the tile is one of memory."""
        left = {i for i, size in enumerate(access.shape) if size > 1}
        found: list[_Line] = []
        for index in access.indices:
            if isinstance(index, int):
                found.append(_Line(index, ()))
                continue
            affine = affine_of(index)
            if affine is None:
                return None
            strides = affine.strides or (0,) * len(access.shape)
            along, size = list[int](), 1
            varying = [(stride, i) for i, stride in enumerate(strides) if stride and i in left]
            for stride, i in sorted(varying):
                if stride != size:
                    return None
                along.insert(0, i)
                size *= access.shape[i]
                left.remove(i)
            found.append(_Line(affine.base(self), tuple(along)))
        return None if left else found

    def box_of(self, access: _Access, lines: Sequence[_Line] | None) -> list[int] | None:
        """Where the box begins that an access is of, if that is known and parts of tiles are."""
        if lines is None:
            return None
        offsets: list[int] = []
        whole = shape_of(self.held[access.memory].type)
        for line, size in zip(lines, whole, strict=True):
            part = math.prod(access.shape[i] for i in line.along)
            if not isinstance(line.base, int) or line.base % part or size % part:
                return None
            if not 0 <= line.base <= size - part or (part != size and part & (part - 1)):
                return None
            offsets.append(line.base)
        return offsets

    def split(self, part: SSAValue, access: _Access, lines: Sequence[_Line]) -> SSAValue:
        """A box of memory as the tile that is accessed."""
        order = [i for line in lines for i in line.along]
        value = self.reshape(part, [access.shape[i] for i in order])
        value = self.transposed(value, [order.index(i) for i in sorted(order)])
        return self.reshape(value, access.shape)

    def merged(self, tile: SSAValue, access: _Access, lines: Sequence[_Line]) -> SSAValue:
        """An accessed tile as a box of memory."""
        order = [i for line in lines for i in line.along]
        value = self.reshape(tile, [access.shape[i] for i in sorted(order)])
        value = self.transposed(value, [sorted(order).index(i) for i in order])
        return self.reshape(
            value, [math.prod(access.shape[i] for i in line.along) for line in lines]
        )

    def with_box(self, tile: SSAValue, part: SSAValue, offsets: Sequence[int]) -> SSAValue:
        """A tile with another box, which is repeated and then selected."""
        whole, sizes = shape_of(tile.type), shape_of(part.type)
        if sizes == whole:
            return part
        thin = [n for size in sizes for n in (1, size)]
        pairs = list(zip(whole, sizes, strict=True))
        full = [n for size, own in pairs for n in (size // own, own)]
        repeated = self.reshape(self.spread(self.reshape(part, thin), full), whole)
        condition: SSAValue | None = None
        for axis, (size, own) in enumerate(pairs):
            if size == own:
                continue
            numbers = self.numbers(axis, whole)
            length = self.spread(self.index(own), whole)
            block = self.compute(arith.DivUIOp, [numbers, length], numbers.type)
            number = self.spread(self.index(offsets[axis] // own), whole)
            condition = self.both(condition, self.compared("eq", block, number))
        assert condition is not None
        return self.selected(condition, repeated, tile)

    # --- elements anywhere ---

    def positions(self, access: _Access) -> SSAValue:
        """The position of each element in memory, row by row, and 0 for those that are left out."""
        whole = shape_of(self.held[access.memory].type)
        total = self.spread(self.index(0), access.shape)
        for index, stride in zip(access.indices, row_major(whole), strict=True):
            assert stride is not None
            factor = self.spread(self.index(stride), access.shape)
            term = self.compute(arith.MuliOp, [self.full(index, access.shape), factor], factor.type)
            total = self.compute(arith.AddiOp, [total, term], total.type)
        if access.mask is not None:
            zeros = self.spread(self.index(0), access.shape)
            total = self.selected(access.mask, total, zeros)
        return total

    def gathered(self, line: SSAValue, positions: SSAValue) -> SSAValue:
        """Elements of a vector with one dimension, at positions in any shape."""
        shape = shape_of(positions.type)
        flat = self.reshape(positions, [math.prod(shape)])
        type_ = with_shape(line.type, shape_of(flat.type))
        found = self.compute(GatherOp, [line, flat], type_, {"axis": IntegerAttr(0, i64)})
        return self.reshape(found, shape)

    def read(self, access: _Access) -> SSAValue:
        """The accessed elements; those that are left out are any."""
        tile = self.held[access.memory]
        if not access.shape:
            position = self.as_value(self.position(access))
            flat = self.reshape(tile, [math.prod(shape_of(tile.type))])
            self.is_costly(access.memory, position)
            return self.part(flat, [position])
        lines = self.lines(access)
        offsets = self.box_of(access, lines)
        if lines is None or offsets is None:
            self.costly |= {access.memory}
            flat = self.reshape(tile, [math.prod(shape_of(tile.type))])
            return self.gathered(flat, self.positions(access))
        sizes = [math.prod(access.shape[i] for i in line.along) for line in lines]
        return self.split(self.slice(tile, offsets, sizes), access, lines)

    def position(self, access: _Access) -> Index:
        """The position of one element in memory, row by row."""
        strides = row_major(shape_of(self.held[access.memory].type))
        numbers = [stride or 0 for stride in strides]
        return self.sum_of_products(list(access.indices), numbers)

    def is_costly(self, memory: SSAValue, position: SSAValue) -> None:
        """Records that an element is at a position that is known only at run time."""
        affine = affine_of(position)
        if affine is None or affine.known is None:
            self.costly |= {memory}

    def write(self, access: _Access, value: SSAValue) -> None:
        """Memory holds something else at the accessed elements from now on."""
        tile = self.held[access.memory]
        if not access.shape:
            self.held[access.memory] = self.with_element(tile, access, value)
            return
        lines = self.lines(access)
        offsets = self.box_of(access, lines)
        if lines is not None and offsets is not None:
            part = self.merged(value, access, lines)
            if access.mask is not None:
                before = self.slice(tile, offsets, shape_of(part.type))
                part = self.selected(self.merged(access.mask, access, lines), part, before)
            self.held[access.memory] = self.with_box(tile, part, offsets)
            return
        self.costly |= {access.memory}
        if lines is None or any(len(line.along) > 1 for line in lines):
            self.held[access.memory], _ = self.with_elements(tile, access, value)
        else:
            self.held[access.memory] = self.with_moved_box(tile, access, value, lines)

    def with_element(self, tile: SSAValue, access: _Access, value: SSAValue) -> SSAValue:
        """A tile with another element."""
        shape = shape_of(tile.type)
        position = self.as_value(self.position(access))
        flat = self.reshape(tile, [math.prod(shape)])
        is_it = self.compared(
            "eq", self.step(math.prod(shape)), self.spread(position, shape_of(flat.type))
        )
        new = self.selected(is_it, self.spread(value, shape_of(flat.type)), flat)
        return self.reshape(new, shape)

    def with_moved_box(
        self, tile: SSAValue, access: _Access, value: SSAValue, lines: Sequence[_Line]
    ) -> SSAValue:
        """A tile with another box: each element looks for itself in the box."""
        shape = shape_of(tile.type)
        part = self.merged(value, access, lines)
        sizes = shape_of(part.type)
        position, inside = self.spread(self.index(0), shape), cast("SSAValue | None", None)
        for axis, (line, size) in enumerate(zip(lines, sizes, strict=True)):
            numbers, base = self.numbers(axis, shape), self.full(line.base, shape)
            own = self.compute(arith.SubiOp, [numbers, base], numbers.type)
            length, zero = (self.spread(self.index(n), shape) for n in (size, 0))
            inside = self.both(inside, self.compared("sge", own, zero))
            inside = self.both(inside, self.compared("slt", own, length))
            scaled = self.compute(arith.MuliOp, [position, length], own.type)
            position = self.compute(arith.AddiOp, [scaled, own], own.type)
        assert inside is not None
        position = self.selected(inside, position, self.spread(self.index(0), shape))
        flat = self.reshape(part, [math.prod(sizes)])
        if access.mask is not None:
            mask = self.reshape(self.merged(access.mask, access, lines), [math.prod(sizes)])
            inside = self.both(inside, self.gathered(mask, position))
        return self.selected(inside, self.gathered(flat, position), tile)

    def with_elements(
        self,
        tile: SSAValue,
        access: _Access,
        value: SSAValue,
        kind: AtomicRMWKind = AtomicRMWKind.assign,
    ) -> tuple[SSAValue, SSAValue]:
        """A tile with other elements anywhere, one after the other; and what these were."""
        shape, count = shape_of(tile.type), math.prod(access.shape)
        flat = self.reshape(tile, [math.prod(shape)])
        numbers = self.step(math.prod(shape))
        positions = self.reshape(self.positions(access), [count])
        values = self.reshape(value, [count])
        mask = None if access.mask is None else self.reshape(access.mask, [count])
        old = self.constant(0, values.type)
        with self.loop(0, count, initial=[flat, old], name="element") as turn:
            before, seen = turn.carried
            position = self.spread(self.part(positions, [turn.index]), shape_of(flat.type))
            chosen = self.compared("eq", numbers, position)
            was = self.gathered(before, self.spread(self.part(positions, [turn.index]), [1]))
            is_turn = self.compared(
                "eq", self.step(count), self.spread(self.as_value(turn.index), [count])
            )
            if mask is not None:
                acts = self.spread(self.part(mask, [turn.index]), shape_of(flat.type))
                chosen = self.both(acts, chosen)
                is_turn = self.both(mask, is_turn)
            new = self.spread(self.part(values, [turn.index]), [1])
            new = self.spread(self.combined(kind, was, new), shape_of(flat.type))
            turn.results = [
                self.selected(chosen, new, before),
                self.selected(is_turn, self.spread(was, [count]), seen),
            ]
        return self.reshape(turn.results[0], shape), self.reshape(turn.results[1], access.shape)

    def combined(self, kind: AtomicRMWKind, old: SSAValue, value: SSAValue) -> SSAValue:
        """What an update writes."""
        operation = _UPDATES[kind]
        return value if operation is None else self.compute(operation, [old, value], old.type)

    # --- control flow ---

    def written_in(self, operation: Operation) -> list[SSAValue]:
        """The tiles that an operation's regions change, in the order of their allocation."""
        found = {
            view.memory
            for nested in walk(operation)
            for memory in written_operands(nested)
            if (view := _root_view(self, memory)) is not None and view.memory in self.held
        }
        return [memory for memory in self.held if memory in found]


def _root_view(promotion: _Promotion, memory: SSAValue) -> _View | None:
    """The view that memory is, or that what it is a part of is: it may not be translated yet."""
    while memory not in promotion.views:
        owner = memory.owner
        if not isinstance(owner, memref.SubviewOp):
            return None
        memory = owner.source
    return promotion.views[memory]


# --- rules ---


def _alloca(operation: memref.AllocaOp, promotion: _Promotion) -> None:
    if operation.memref not in promotion.memories:
        copy(operation, promotion)
        return
    type_: AnyMemRef = operation.memref.type
    # A number is a tile of one.
    shape = type_.get_shape() or (1,)
    tile = promotion.constant(0, with_shape(type_.element_type, shape))
    promotion.held[operation.memref] = tile
    rank = type_.get_num_dims()
    promotion.views[operation.memref] = _View(
        operation.memref, (0,) * len(shape), tuple(range(rank)), tuple(shape[:rank])
    )


def _subview(operation: memref.SubviewOp, promotion: _Promotion) -> None:
    source = promotion.view_of(operation.source)
    if source is None:
        copy(operation, promotion)
        return
    operands = promotion.values((*operation.offsets, *operation.sizes, *operation.strides))
    offsets, sizes, _ = number_lists(operation, operands, "offsets", "sizes", "strides")
    moved = list(source.offsets)
    for dimension, offset in zip(source.kept, offsets, strict=True):
        moved[dimension] = promotion.add(moved[dimension], offset)
    kept = kept_dimensions(operation)
    promotion.views[operation.result] = _View(
        source.memory,
        tuple(moved),
        tuple(source.kept[d] for d in kept),
        tuple(sizes[d] for d in kept),
    )


def _size(operation: memref.DimOp, promotion: _Promotion) -> None:
    view, dimension = promotion.view_of(operation.source), constant_of(operation.index)
    if view is None or dimension is None:
        copy(operation, promotion)
    else:
        promotion.define(operation.result, promotion.as_value(view.sizes[dimension]))


def _access(
    promotion: _Promotion,
    view: _View,
    indices: Sequence[SSAValue],
    shape: Sequence[int],
    mask: SSAValue | None = None,
) -> _Access:
    """The accessed elements of a view."""
    at = list[Index](view.offsets)
    for dimension, index in zip(view.kept, promotion.values(indices), strict=True):
        first = at[dimension]
        if first == 0:
            at[dimension] = index
        elif shape_of(index.type):
            own = shape_of(index.type)
            value = promotion.full(index, own)
            base = promotion.full(first, own)
            at[dimension] = promotion.compute(arith.AddiOp, [value, base], value.type)
        else:
            at[dimension] = promotion.add(first, index)
    return _Access(view.memory, tuple(shape), tuple(map(_folded, at)), mask)


def _folded(index: Index) -> Index:
    """A number that is known."""
    known = None if isinstance(index, int) or shape_of(index.type) else affine_of(index)
    return known.known if known is not None and known.known is not None else index


def _of_transfer(
    operation: TransferReadOp | TransferWriteOp,
    promotion: _Promotion,
    view: _View,
    shape: Sequence[int],
) -> _Access:
    """The elements that a transfer accesses: those of its mask that are inside where it checks."""
    mask = promotion.value(operation.mask) if operation.mask is not None else None
    along = [cast("int", each) for each in dimensions_of(operation.permutation_map)]
    if mask is not None:
        order = sorted(range(len(shape)), key=lambda i: along[i])
        mask = promotion.transposed(mask, [order.index(i) for i in range(len(shape))])
    inside = [bool(flag.value.data) for flag in operation.in_bounds]
    return _box(promotion, view, operation.indices, shape, along, inside, mask)


def _box(
    promotion: _Promotion,
    view: _View,
    indices: Sequence[SSAValue],
    shape: Sequence[int],
    along: Sequence[int],
    inside: Sequence[bool],
    mask: SSAValue | None,
) -> _Access:
    """The elements of a box.

    Args:
        promotion: The kernel.
        view: The memory.
        indices: Where the box begins.
        shape: Its shape.
        along: For each of its dimensions that of memory.
        inside: For each of its dimensions whether it is not checked.
        mask: Which elements are accessed; None: all that are inside.
    """
    at, rank = list(_access(promotion, view, indices, ()).indices), len(shape)
    for axis, (dimension, is_inside) in enumerate(zip(along, inside, strict=True)):
        root, start = view.kept[dimension], promotion.value(indices[dimension])
        numbers = promotion.along(promotion.step(shape[axis]), axis, rank)
        thin = shape_of(numbers.type)
        if not is_inside and not _fits(start, shape[axis], view.sizes[dimension]):
            index = promotion.compute(
                arith.AddiOp, [numbers, promotion.spread(start, thin)], numbers.type
            )
            limit = promotion.spread(promotion.as_value(view.sizes[dimension]), thin)
            zero = promotion.spread(promotion.index(0), thin)
            is_there = promotion.both(
                promotion.compared("sge", index, zero), promotion.compared("slt", index, limit)
            )
            mask = promotion.both(mask, promotion.spread(is_there, shape))
        if at[root] != 0:
            moved = promotion.spread(promotion.as_value(at[root]), thin)
            numbers = promotion.compute(arith.AddiOp, [numbers, moved], numbers.type)
        at[root] = numbers
    return _Access(view.memory, tuple(shape), tuple(at), mask)


def _fits(start: SSAValue, length: int, size: Index) -> bool:
    """Whether what is checked is certainly inside."""
    first = _folded(start)
    return isinstance(first, int) and isinstance(size, int) and 0 <= first <= size - length


def _read(operation: TransferReadOp, promotion: _Promotion) -> None:
    view = promotion.view_of(operation.source)
    if view is None:
        copy(operation, promotion)
        return
    shape = shape_of(operation.result.type)
    access = _of_transfer(operation, promotion, view, shape)
    value = promotion.read(access)
    if access.mask is not None:
        padding = promotion.spread(promotion.value(operation.padding), shape)
        value = promotion.selected(access.mask, value, padding)
    promotion.define(operation.result, value)


def _write(operation: TransferWriteOp, promotion: _Promotion) -> None:
    view = promotion.view_of(operation.source)
    if view is None:
        copy(operation, promotion)
        return
    value = promotion.value(operation.vector)
    access = _of_transfer(operation, promotion, view, shape_of(value.type))
    promotion.write(access, value)


def _gather(operation: GatherLoadOp, promotion: _Promotion) -> None:
    view = promotion.view_of(operation.memory)
    if view is None:
        copy(operation, promotion)
        return
    mask = promotion.value(operation.mask) if operation.mask is not None else None
    shape = shape_of(operation.result.type)
    value = promotion.read(_access(promotion, view, operation.indices, shape, mask))
    if mask is not None and operation.padding is not None:
        value = promotion.selected(mask, value, promotion.value(operation.padding))
    promotion.define(operation.result, value)


def _scatter(operation: ScatterStoreOp, promotion: _Promotion) -> None:
    view = promotion.view_of(operation.memory)
    if view is None:
        copy(operation, promotion)
        return
    mask = promotion.value(operation.mask) if operation.mask is not None else None
    value = promotion.value(operation.value)
    access = _access(promotion, view, operation.indices, shape_of(value.type), mask)
    if not access.shape and mask is not None:
        before = promotion.read(access)
        value = promotion.selected(mask, value, before)
    promotion.write(access, value)


def _load(operation: memref.LoadOp, promotion: _Promotion) -> None:
    view = promotion.view_of(operation.memref)
    if view is None:
        copy(operation, promotion)
    else:
        access = _access(promotion, view, operation.indices, ())
        promotion.define(operation.res, promotion.read(access))


def _store(operation: memref.StoreOp, promotion: _Promotion) -> None:
    view = promotion.view_of(operation.memref)
    if view is None:
        copy(operation, promotion)
    else:
        access = _access(promotion, view, operation.indices, ())
        promotion.write(access, promotion.value(operation.value))


def _update(operation: AtomicUpdateOp, promotion: _Promotion) -> None:
    """A box is updated at once: nobody else sees local memory meanwhile."""
    view = promotion.view_of(operation.memory)
    if view is None:
        copy(operation, promotion)
        return
    value, shape = promotion.value(operation.value), shape_of(operation.value.type)
    rank = len(operation.indices)
    along = list(range(rank - len(shape), rank))
    if operation.transpose is not None:
        along.reverse()
    checked = {int(dimension) for dimension in operation.checked.get_values()}
    inside = [dimension not in checked for dimension in along]
    access = _box(promotion, view, operation.indices, shape, along, inside, None)
    kind = AtomicRMWKind[operation.kind.data.value]
    old = promotion.read(access)
    promotion.write(access, promotion.combined(kind, old, value))
    if access.mask is not None:
        old = promotion.selected(access.mask, old, promotion.constant(0, old.type))
    promotion.define(operation.result, old)


def _rmw(operation: AtomicRMWOp, promotion: _Promotion) -> None:
    """Elements that may be the same are updated one after the other."""
    view = promotion.view_of(operation.memory)
    if view is None:
        copy(operation, promotion)
        return
    promotion.costly |= {view.memory}
    mask = promotion.value(operation.mask) if operation.mask is not None else None
    value, kind = promotion.value(operation.value), kind_of(operation.kind)
    shape = shape_of(value.type)
    if shape:
        access = _access(promotion, view, operation.indices, shape, mask)
        tile = promotion.held[view.memory]
        promotion.held[view.memory], old = promotion.with_elements(tile, access, value, kind)
    else:
        access = _access(promotion, view, operation.indices, ())
        old = promotion.read(access)
        new = promotion.combined(kind, old, value)
        new = new if mask is None else promotion.selected(mask, new, old)
        promotion.write(access, new)
        if mask is not None:
            old = promotion.selected(mask, old, promotion.constant(0, old.type))
    promotion.define(operation.result, old)


def _body(promotion: _Promotion, region: Region, block: Block, written: list[SSAValue]) -> None:
    """Translates a region, whose end hands on the tiles that it changes."""
    with promotion.at_end_of(block):
        ends: list[SSAValue] = []
        for operation in region.block.ops if region.blocks.first is not None else ():
            if isinstance(operation, scf.YieldOp):
                ends = promotion.values(operation.operands)
            elif isinstance(operation, scf.ConditionOp):
                first, *others = operation.operands
                tiles = [promotion.held[memory] for memory in written]
                values = [*promotion.values(others), *tiles]
                promotion.emit(scf.ConditionOp(promotion.value(first), *values))
                return
            else:
                promotion.translate(operation)
        promotion.emit(scf.YieldOp(*ends, *(promotion.held[memory] for memory in written)))


def _hold(promotion: _Promotion, written: list[SSAValue], tiles: Sequence[SSAValue]) -> None:
    promotion.held |= dict(zip(written, tiles, strict=True))


def _finish(promotion: _Promotion, old: Operation, new: Operation, written: list[SSAValue]) -> None:
    new.attributes |= old.attributes
    promotion.emit(new)
    for was, becomes in zip(old.results, new.results, strict=False):
        promotion.define(was, becomes)
    _hold(promotion, written, new.results[len(old.results) :])


def _loop(operation: scf.ForOp, promotion: _Promotion) -> None:
    """A loop carries the tiles that it changes; where its source says so it is unrolled."""
    written = promotion.written_in(operation)
    turns = _turns(operation, promotion)
    if turns is not None:
        _unroll(operation, promotion, turns)
        return
    if not written:
        copy(operation, promotion)
        return
    old = operation.body.block
    tiles = [promotion.held[memory] for memory in written]
    initial = [*promotion.values(operation.iter_args), *tiles]
    block = Block(arg_types=[old.args[0].type, *(value.type for value in initial)])
    for was, becomes in zip(old.args, block.args, strict=False):
        promotion.define(was, becomes)
    _hold(promotion, written, block.args[len(old.args) :])
    _body(promotion, operation.body, block, written)
    first, last, step = promotion.values((operation.lb, operation.ub, operation.step))
    new = ForOp(first, last, step, initial, Region(block))
    new.properties |= operation.properties
    _finish(promotion, operation, new, written)


def _turns(operation: scf.ForOp, promotion: _Promotion) -> range | None:
    """The numbers that a loop goes through, if it is to be unrolled and accesses local memory."""
    unroll = operation.attributes.get(UNROLL_ATTRIBUTE)
    bounds = [constant_of(bound) for bound in (operation.lb, operation.ub, operation.step)]
    if not isinstance(unroll, IntegerAttr) or not unroll.value.data or None in bounds:
        return None
    first, last, step = (bound or 0 for bound in bounds)
    turns = range(first, last, step) if step > 0 else range(0)
    accesses = any(
        _root_view(promotion, operand) is not None
        for nested in walk(operation)
        if isinstance(nested, _ACCESSES)
        for operand in nested.operands
        if isinstance(operand.type, MemRefType)
    )
    return turns if accesses and 0 < len(turns) <= _MOST_TURNS else None


def _unroll(operation: scf.ForOp, promotion: _Promotion, turns: range) -> None:
    variable, *carried = operation.body.block.args
    values = promotion.values(operation.iter_args)
    for number in turns:
        promotion.define(variable, promotion.constant(number, variable.type))
        for argument, value in zip(carried, values, strict=True):
            promotion.define(argument, value)
        for nested in operation.body.block.ops:
            if isinstance(nested, scf.YieldOp):
                values = promotion.values(nested.operands)
            else:
                promotion.translate(nested)
    for result, value in zip(operation.results, values, strict=True):
        promotion.define(result, value)


def _branch(operation: scf.IfOp, promotion: _Promotion) -> None:
    """A branch returns the tiles that it changes."""
    written = promotion.written_in(operation)
    if not written:
        copy(operation, promotion)
        return
    before = {memory: promotion.held[memory] for memory in written}
    regions: list[Region] = []
    for region in operation.regions:
        promotion.held |= before
        block = Block()
        _body(promotion, region, block, written)
        regions.append(Region(block))
    promotion.held |= before
    if_true, if_false = regions
    types = [*operation.result_types, *(tile.type for tile in before.values())]
    new = scf.IfOp(promotion.value(operation.cond), types, if_true, if_false)
    _finish(promotion, operation, new, written)


def _while(operation: scf.WhileOp, promotion: _Promotion) -> None:
    """A loop carries the tiles that it changes."""
    written = promotion.written_in(operation)
    if not written:
        copy(operation, promotion)
        return
    initial = promotion.values(operation.arguments)
    initial += [promotion.held[memory] for memory in written]
    regions: list[Region] = []
    types = [value.type for value in initial]
    tiles = types[len(operation.arguments) :]
    for region in (operation.before_region, operation.after_region):
        old = region.block
        block = Block(arg_types=[*(argument.type for argument in old.args), *tiles])
        for was, becomes in zip(old.args, block.args, strict=False):
            promotion.define(was, becomes)
        _hold(promotion, written, block.args[len(old.args) :])
        _body(promotion, region, block, written)
        regions.append(Region(block))
    before, after = regions
    new = scf.WhileOp(initial, [*operation.result_types, *tiles], before, after)
    _finish(promotion, operation, new, written)


_UPDATES: Mapping[AtomicRMWKind, type[IRDLOperation] | None] = {
    AtomicRMWKind.addf: arith.AddfOp,
    AtomicRMWKind.addi: arith.AddiOp,
    AtomicRMWKind.andi: arith.AndIOp,
    AtomicRMWKind.assign: None,
    AtomicRMWKind.maximumf: arith.MaximumfOp,
    AtomicRMWKind.maxnumf: arith.MaxnumfOp,
    AtomicRMWKind.maxs: arith.MaxSIOp,
    AtomicRMWKind.maxu: arith.MaxUIOp,
    AtomicRMWKind.minimumf: arith.MinimumfOp,
    AtomicRMWKind.minnumf: arith.MinnumfOp,
    AtomicRMWKind.mins: arith.MinSIOp,
    AtomicRMWKind.minu: arith.MinUIOp,
    AtomicRMWKind.mulf: arith.MulfOp,
    AtomicRMWKind.muli: arith.MuliOp,
    AtomicRMWKind.ori: arith.OrIOp,
    AtomicRMWKind.xori: arith.XOrIOp,
}
"""The operation of each kind of update; none replaces what was there."""

_RULES: Mapping[str, Any] = {
    AtomicRMWOp.name: _rmw,
    AtomicUpdateOp.name: _update,
    GatherLoadOp.name: _gather,
    ScatterStoreOp.name: _scatter,
    memref.AllocaOp.name: _alloca,
    memref.DimOp.name: _size,
    memref.LoadOp.name: _load,
    memref.StoreOp.name: _store,
    memref.SubviewOp.name: _subview,
    scf.ForOp.name: _loop,
    scf.IfOp.name: _branch,
    scf.WhileOp.name: _while,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The rule of each operation that does not stay what it is."""
