"""Tiles in place of local memory, parts of which are read and written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.core.elements import GatherOp
from xtile.dialects.shared_attributes import numbers_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.affine_tiles import affine_of
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import row_major
from xtile.rewrite.rebuilder import RuleTable
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape
from xtile.text.source import Source
from xtile.transforms.local_tiles.accesses import Access, Line, View, box_of, indices_in, lines_of

_FEW = 256
"""Elements of which one is cheap to find at a position that is known only at run time."""


class Promotion(TileEmitter):
    """Rebuilds one kernel.

    Attributes:
        memories: The memory that becomes tiles.
        shapes: The shapes of tiles that are larger than their memory.
        costly: The memory with accesses other than of boxes at known positions.
    """

    def __init__(
        self,
        rules: RuleTable,
        memories: frozenset[SSAValue],
        source: Source | None,
        shapes: Mapping[SSAValue, tuple[int, ...]] = MappingProxyType({}),
    ) -> None:
        super().__init__(rules, "tiles", source)
        self.memories = memories
        self.shapes = shapes
        self.costly: frozenset[SSAValue] = frozenset()
        self.views: dict[SSAValue, View] = {}
        self.held: dict[SSAValue, SSAValue] = {}

    def view_of(self, memory: SSAValue) -> View | None:
        """What memory is a part of, if that is a tile."""
        return self.views.get(memory)

    # --- numbers ---

    def selected(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where a condition holds, `b` elsewhere."""
        return self.emit(SelectOp(condition, a, b)).result

    def numbers(self, axis: int, shape: Sequence[int]) -> SSAValue:
        """The index of each element of a tile along an axis."""
        return self.spread(self.along(self.step(shape[axis]), axis, len(shape)), shape)

    # --- boxes at known positions ---

    def split(self, part: SSAValue, access: Access, lines: Sequence[Line]) -> SSAValue:
        """A box of memory as the tile that is accessed."""
        order = [i for line in lines for i in line.along]
        value = self.reshape(part, [access.shape[i] for i in order])
        value = self.transposed(value, [order.index(i) for i in sorted(order)])
        return self.reshape(value, access.shape)

    def merged(self, tile: SSAValue, access: Access, lines: Sequence[Line]) -> SSAValue:
        """An accessed tile as a box of memory."""
        order = [i for line in lines for i in line.along]
        value = self.reshape(tile, [access.shape[i] for i in sorted(order)])
        value = self.transposed(value, [sorted(order).index(i) for i in order])
        return self.reshape(
            value, [math.prod(access.shape[i] for i in line.along) for line in lines]
        )

    # --- elements anywhere ---

    def positions(self, access: Access) -> SSAValue:
        """The position of each element in memory, row by row, and 0 for those that are left out."""
        whole = shape_of(self.held[access.memory].type)
        total = self.spread(self.index(0), access.shape)
        for index, stride in zip(access.indices, row_major(whole), strict=True):
            assert stride is not None
            factor = self.spread(self.index(stride), access.shape)
            term = self.compute(
                arith.MuliOp, [indices_in(self, index, access.shape), factor], factor.type
            )
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

    def read(self, access: Access) -> SSAValue:
        """The accessed elements; those that are left out are any."""
        tile = self.held[access.memory]
        if not access.shape:
            return self.element(access.memory, access.indices)
        lines = lines_of(self, access)
        if lines and access.mask is None and not any(line.along for line in lines):
            element = self.element(access.memory, [line.base for line in lines])
            return self.spread(element, access.shape)
        offsets = box_of(access, lines, shape_of(tile.type))
        if lines is None or offsets is None:
            self.costly |= {access.memory}
            flat = self.reshape(tile, [math.prod(shape_of(tile.type))])
            return self.gathered(flat, self.positions(access))
        whole = shape_of(tile.type)
        sizes = [math.prod(access.shape[i] for i in line.along) for line in lines]
        inside = [min(size, most) for size, most in zip(sizes, whole, strict=True)]
        return self.split(self.repeated(self.slice(tile, offsets, inside), sizes), access, lines)

    def repeated(self, tile: SSAValue, sizes: Sequence[int]) -> SSAValue:
        """A tile as often along each dimension as a multiple of its size holds it."""
        own = shape_of(tile.type)
        if own == tuple(sizes):
            return tile
        thin = [n for size in own for n in (1, size)]
        full = [n for size, most in zip(own, sizes, strict=True) for n in (most // size, size)]
        return self.reshape(self.spread(self.reshape(tile, thin), full), sizes)

    def element(self, memory: SSAValue, indices: Sequence[Index]) -> SSAValue:
        """One element of memory, which is read as far out of loops as its index is known."""
        tile = self.held[memory]
        count = math.prod(shape_of(tile.type))
        flat = self.shared(("line", tile), (tile,), lambda: self.reshape(tile, [count]))
        position = self.position(memory, indices)
        affine = affine_of(self.as_value(position))
        if affine is not None and affine.known is not None:
            return self.part(flat, [affine.known])
        if count > _FEW:
            self.costly |= {memory}
        # Nothing says that a loop which does not run has an index inside of memory.
        inside = self.as_value(self.smaller(self.larger(position, 0), count - 1))
        return self.shared(
            ("element", flat, inside), (flat, inside), lambda: self.part(flat, [inside])
        )

    def position(self, memory: SSAValue, indices: Sequence[Index]) -> Index:
        """The position of one element in memory, row by row."""
        strides = row_major(shape_of(self.held[memory].type))
        numbers = [stride or 0 for stride in strides]
        return self.sum_of_products(list(indices), numbers)

    def write(self, access: Access, value: SSAValue) -> None:
        """Memory holds something else at the accessed elements from now on."""
        tile = self.held[access.memory]
        if not access.shape:
            self.held[access.memory] = self.with_element(tile, access, value)
            return
        lines = lines_of(self, access)
        offsets = box_of(access, lines, shape_of(tile.type))
        if lines is not None and offsets is not None:
            part = self.inside(self.merged(value, access, lines), tile)
            if access.mask is not None:
                mask = self.inside(self.merged(access.mask, access, lines), tile)
                part = self.selected(mask, part, self.slice(tile, offsets, shape_of(part.type)))
            self.held[access.memory] = self.with_block(tile, part, offsets)
            return
        if all(
            not isinstance(index, SSAValue) or not shape_of(index.type) for index in access.indices
        ):
            self.held[access.memory] = self.with_last(tile, access, value)
            return
        self.costly |= {access.memory}
        if lines is None or any(len(line.along) > 1 for line in lines):
            self.held[access.memory], _ = self.with_elements(tile, access, value)
        else:
            self.held[access.memory] = self.with_moved_box(tile, access, value, lines)

    def inside(self, part: SSAValue, tile: SSAValue) -> SSAValue:
        """What of a box is no larger than a tile."""
        pairs = zip(shape_of(part.type), shape_of(tile.type), strict=True)
        sizes = [min(pair) for pair in pairs]
        return self.slice(part, [0] * len(sizes), sizes)

    def with_element(self, tile: SSAValue, access: Access, value: SSAValue) -> SSAValue:
        """A tile with another element."""
        shape = shape_of(tile.type)
        position = self.as_value(self.position(access.memory, access.indices))
        flat = self.reshape(tile, [math.prod(shape)])
        is_it = self.compare(
            "eq", self.step(math.prod(shape)), self.spread(position, shape_of(flat.type))
        )
        new = self.selected(is_it, self.spread(value, shape_of(flat.type)), flat)
        return self.reshape(new, shape)

    def with_last(self, tile: SSAValue, access: Access, value: SSAValue) -> SSAValue:
        """A tile with another element: of several that are written to it, the last one."""
        count = math.prod(access.shape)
        if max(count, math.prod(shape_of(tile.type))) > _FEW:
            self.costly |= {access.memory}
        flat, is_any = self.reshape(value, [count]), None
        last = self.index(count - 1)
        if access.mask is not None:
            mask, numbers = self.reshape(access.mask, [count]), self.step(count)
            acting = self.selected(mask, numbers, self.spread(self.index(0), [count]))
            last = self.largest(CombiningKindFlag.MAXSI, acting)
            is_any = self.largest(CombiningKindFlag.OR, mask)
        new = self.with_element(tile, access, self.part(flat, [last]))
        return new if is_any is None else self.selected(is_any, new, tile)

    def largest(self, kind: CombiningKindFlag, line: SSAValue) -> SSAValue:
        """The reduction of indices from 0 on, or of truth values."""
        element = value_type(line.type)
        properties = {"kind": CombiningKindAttr(kind), "reduction_dims": numbers_attribute((0,))}
        operands = [line, self.constant(0, element)]
        return self.compute(MultiDimReductionOp, operands, element, properties)

    def with_moved_box(
        self, tile: SSAValue, access: Access, value: SSAValue, lines: Sequence[Line]
    ) -> SSAValue:
        """A tile with another box: each element looks for itself in the box."""
        shape = shape_of(tile.type)
        part = self.merged(value, access, lines)
        sizes = shape_of(part.type)
        position, inside = self.spread(self.index(0), shape), cast("SSAValue | None", None)
        for axis, (line, size) in enumerate(zip(lines, sizes, strict=True)):
            numbers, base = self.numbers(axis, shape), indices_in(self, line.base, shape)
            own = self.compute(arith.SubiOp, [numbers, base], numbers.type)
            length, zero = (self.spread(self.index(n), shape) for n in (size, 0))
            inside = self.both(inside, self.compare("sge", own, zero))
            inside = self.both(inside, self.compare("slt", own, length))
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
        access: Access,
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
            chosen = self.compare("eq", numbers, position)
            was = self.gathered(before, self.spread(self.part(positions, [turn.index]), [1]))
            is_turn = self.compare(
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
