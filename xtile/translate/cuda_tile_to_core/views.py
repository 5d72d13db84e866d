"""Views of tensors, and the tiles in them.

A tile becomes a transfer at its first element, which leaves out what lies outside of the tensor: so
an index outside of the view's index space accesses nothing, as on devices. Tiles of any rows, and
accesses that order others, become gathers and scatters.

Source: CUDA Tile IR specification, "Views", "Tensor View", "Subview Types";
docs/semantics.md, "CUDA Tile IR: memory".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.core.attributes import BEGINS_INSIDE_ATTRIBUTE
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.ops.atomics import AtomicRedViewTkoOp
from xtile.dialects.cuda_tile.ops.view_access import LoadViewTkoOp, StoreViewTkoOp
from xtile.dialects.cuda_tile.ops.views import MakeTensorViewOp
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    TensorViewType,
    TileView,
)
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.cuda_tile_to_core.memory import ordering_of, update
from xtile.translate.cuda_tile_to_core.raising import Raising

# --- views ---


def _make_tensor_view(operation: MakeTensorViewOp, raising: Raising) -> None:
    """Sizes and strides have a sign, and are not negative."""
    type_ = cast("TensorViewType", operation.result.type)
    sizes, strides = (
        _static_and_dynamic(raising, known, given)
        for known, given in (
            (type_.get_shape(), operation.dynamic_shape),
            (type_.get_strides(), operation.dynamic_strides),
        )
    )
    made = raising.compute(
        ViewOp,
        [raising.value(operation.base), [], sizes[1], strides[1]],
        raising.type(type_),
        {
            "static_offsets": DenseArrayBase.from_list(i64, [0]),
            "static_sizes": DenseArrayBase.from_list(i64, sizes[0]),
            "static_strides": DenseArrayBase.from_list(i64, strides[0]),
        },
    )
    raising.define(operation.result, made)


def _static_and_dynamic(
    raising: Raising, known: Sequence[int], given: Sequence[SSAValue]
) -> tuple[list[int], list[SSAValue]]:
    """Numbers that are known, and the operands that give the others."""
    dynamic = iter(given)
    numbers = [
        raising.as_index(raising.value(next(dynamic)), is_signed=True) if n == DYNAMIC_INDEX else n
        for n in known
    ]
    static = [n if isinstance(n, int) else DYNAMIC_INDEX for n in numbers]
    return static, [n for n in numbers if not isinstance(n, int)]


def _make_view(operation: Operation, raising: Raising) -> None:
    """The type of a view says how it cuts the tensor, and each access of it says so, too."""
    raising.define(operation.results[0], raising.value(operation.operands[0]))


def _get_tensor_shape(operation: Operation, raising: Raising) -> None:
    memory = raising.value(operation.operands[0])
    for dimension, result in enumerate(operation.results):
        size = _size(raising, memory, dimension)
        raising.define(result, raising.from_index(size, raising.type(result.type)))


def _get_index_space_shape(operation: Operation, raising: Raising) -> None:
    (view,), memory = operation.operands, raising.value(operation.operands[0])
    type_ = cast("TileView", view.type)
    pairs = zip(type_.get_dim_map(), type_.get_traversal_strides(), strict=True)
    for (dimension, distance), result in zip(pairs, operation.results, strict=True):
        count = raising.divide_up(_size(raising, memory, dimension), distance)
        raising.define(result, raising.from_index(count, raising.type(result.type)))


def _size(raising: Raising, memory: SSAValue, dimension: int) -> Index:
    """The size of a tensor along a dimension."""
    return raising.size((memory, dimension))


# --- tiles in views ---

_PADDING = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: math.nan,
    PaddingValue.POS_INF: math.inf,
    PaddingValue.NEG_INF: -math.inf,
}

_Access = LoadViewTkoOp | StoreViewTkoOp | AtomicRedViewTkoOp


@dataclass(frozen=True)
class _Tile:
    """The tile of a view that an operation accesses.

    Attributes:
        raising: Where to emit.
        operation: The operation.
    """

    raising: Raising
    operation: _Access

    @cached_property
    def view(self) -> TileView:
        """The type of the view."""
        return cast("TileView", self.operation.view.type)

    @cached_property
    def memory(self) -> SSAValue:
        """The tensor."""
        return self.raising.value(self.operation.view)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tile."""
        return self.view.get_tile_shape()

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """For each dimension of the tile that of memory."""
        return self.view.get_dim_map()

    @property
    def sparse(self) -> int | None:
        """The dimension along which the rows are any."""
        view = self.view
        return view.sparse_dim.data if isinstance(view, GatherScatterViewType) else None

    @property
    def is_block(self) -> bool:
        """Whether a transfer can access it."""
        return self.sparse is None and not ordering_of(self.operation)

    @cached_property
    def starts(self) -> list[Index]:
        """For each dimension of the tile the first index in memory, or the indices of the rows."""
        raising = self.raising
        return [
            raising.as_index(raising.value(index))
            if dimension == self.sparse
            else raising.multiply(raising.number(index), distance)
            for dimension, (index, distance) in enumerate(
                zip(self.operation.index, self.view.get_traversal_strides(), strict=True)
            )
        ]

    @cached_property
    def inside(self) -> tuple[bool, ...]:
        """For each dimension of the tile whether it certainly lies in the tensor."""
        promised: Any = self.operation.properties.get("inbounds")
        flags = [False] * len(self.shape) if promised is None else promised.get_values()
        sizes = self.view.tensor_view.get_shape()
        return tuple(
            bool(flag)
            or (
                isinstance(start, int)
                and sizes[axis] != DYNAMIC_INDEX
                and start + size <= sizes[axis]
            )
            for flag, start, size, axis in zip(
                flags, self.starts, self.shape, self.axes, strict=True
            )
        )

    def in_memory_order(self, values: Sequence[Any]) -> list[Any]:
        """What belongs to the dimensions of the tile, in the order of those of memory."""
        by_axis = dict(zip(self.axes, values, strict=True))
        return [by_axis[axis] for axis in range(len(by_axis))]

    def padding(self) -> SSAValue:
        """What a load gives outside of the tensor."""
        element = self.view.tensor_view.element_type
        padding = self.view.padding
        if padding is None:
            return self.raising.poison(element)
        return self.raising.constant(_PADDING[padding], element)

    # --- as a transfer ---

    def indices(self) -> list[SSAValue]:
        """The index of the first element in memory."""
        return self.in_memory_order([self.raising.as_value(start) for start in self.starts])

    def transfer_properties(self) -> dict[str, Attribute]:
        """How the tile lies in memory."""
        results = tuple(AffineDimExpr(axis) for axis in self.axes)
        return {
            "permutation_map": AffineMapAttr(AffineMap(len(results), 0, results)),
            "in_bounds": truth_attribute(self.inside),
        }

    # --- as elements anywhere ---

    def positions(self) -> list[SSAValue]:
        """For each dimension of the tile its indices in memory, along that dimension."""
        rank = len(self.shape)
        return [
            self.raising.along(self._line(dimension), dimension, rank) for dimension in range(rank)
        ]

    def _line(self, dimension: int) -> SSAValue:
        start, raising = self.starts[dimension], self.raising
        if dimension == self.sparse:
            return cast("SSAValue", start)
        line = raising.step(self.shape[dimension])
        if start == 0:
            return line
        first = raising.spread(raising.as_value(start), [self.shape[dimension]])
        return raising.compute(arith.AddiOp, [first, line], line.type)

    def mask(self, positions: Sequence[SSAValue]) -> SSAValue | None:
        """Which elements lie in the tensor; None: all."""
        mask: SSAValue | None = None
        for inside, line, axis in zip(self.inside, positions, self.axes, strict=True):
            if inside:
                continue
            raising = self.raising
            size = raising.as_value(_size(raising, self.memory, axis))
            limit = raising.spread(size, shape_of(line.type))
            below = raising.compare("ult", line, limit)
            mask = raising.both(mask, raising.spread(below, self.shape))
        return mask


_PROMISE = {BEGINS_INSIDE_ATTRIBUTE: UnitAttr()}
"""An index outside of the index space is undefined, as a transfer that begins outside is then."""


def _given(value: SSAValue | None) -> list[SSAValue]:
    return [] if value is None else [value]


def _load(operation: LoadViewTkoOp, raising: Raising) -> None:
    tile, type_ = _Tile(raising, operation), raising.type(operation.tile.type)
    if tile.is_block:
        operands = [tile.memory, tile.indices(), tile.padding(), []]
        properties = tile.transfer_properties()
        made = raising.compute(TransferReadOp, operands, type_, properties, _PROMISE)
    else:
        positions = tile.positions()
        mask, padding = tile.mask(positions), None
        if mask is not None and tile.view.padding is not None:
            padding = raising.spread(tile.padding(), tile.shape)
        operands = [tile.memory, tile.in_memory_order(positions), _given(mask), _given(padding)]
        made = raising.compute(GatherLoadOp, operands, type_, ordering_of(operation))
    raising.define(operation.tile, made)


def _store(operation: StoreViewTkoOp, raising: Raising) -> None:
    tile, value = _Tile(raising, operation), raising.value(operation.tile)
    if tile.is_block:
        raising.emit(
            TransferWriteOp.build(
                operands=[value, tile.memory, tile.indices(), []],
                result_types=[[]],
                properties=tile.transfer_properties(),
                attributes={**_PROMISE},
            )
        )
        return
    positions = tile.positions()
    operands = [value, tile.memory, tile.in_memory_order(positions), _given(tile.mask(positions))]
    raising.emit(ScatterStoreOp.build(operands=operands, properties=ordering_of(operation)))


def _update(operation: AtomicRedViewTkoOp, raising: Raising) -> None:
    tile, value = _Tile(raising, operation), raising.value(operation.value)
    positions = tile.positions()
    indices = tile.in_memory_order(positions)
    update(raising, operation, value, tile.memory, indices, tile.mask(positions))


RULES: dict[str, Rule] = {
    "cuda_tile.atomic_red_view_tko": _update,
    "cuda_tile.get_index_space_shape": _get_index_space_shape,
    "cuda_tile.get_tensor_shape": _get_tensor_shape,
    "cuda_tile.load_view_tko": _load,
    "cuda_tile.make_gather_scatter_view": _make_view,
    "cuda_tile.make_partition_view": _make_view,
    "cuda_tile.make_strided_view": _make_view,
    "cuda_tile.make_tensor_view": _make_tensor_view,
    "cuda_tile.store_view_tko": _store,
}
"""The rule of each operation, by name."""
