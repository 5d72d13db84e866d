"""Views: how they are made, their sizes, and loads and stores of tiles.

Source: CUDA Tile IR specification, "Operations", "Views"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.ops.atomics import AtomicRedViewTkoOp
from xtile.dialects.cuda_tile.ops.view_access import LoadViewTkoOp, StoreViewTkoOp
from xtile.dialects.cuda_tile.ops.views import MakeTensorViewOp
from xtile.dialects.cuda_tile.types import TensorViewType, TileView
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.numbers import element_number
from xtile.semantics.cuda_tile.ordering import Ordering
from xtile.semantics.cuda_tile.tensor_views import Box, TensorView, Tiling
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.observer import AccessKind
from xtile.semantics.state import State
from xtile.semantics.storage import Storage, check_writable, storage_of
from xtile.semantics.unspecified import STORED, forget, leave_unspecified, reach
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Array, Value, interpreted


def _make_tensor_view(operation: MakeTensorViewOp, compiler: Compiler) -> Step:
    (made,) = operation.results
    type_ = made.type
    if not isinstance(type_, TensorViewType):
        raise ValueError(f"expected a tensor_view, but got {type_}")
    base, result = compiler.slots((operation.base, made))
    shape = _extents(type_.get_shape(), operation.dynamic_shape, "size", compiler)
    strides = _extents(type_.get_strides(), operation.dynamic_strides, "stride", compiler)

    def step(state: State) -> None:
        address = int(state.values[base])
        state.values[result] = TensorView(address, shape(state), strides(state))

    return step


def _extents(
    static: Sequence[int], dynamic: Sequence[SSAValue], what: str, compiler: Compiler
) -> Callable[[State], Sequence[int]]:
    """What gives sizes or strides, of which some are known at run time."""
    if DYNAMIC_INDEX not in static:
        return lambda state: static
    given = iter(compiler.slots(dynamic))
    sources = [(size, next(given) if size == DYNAMIC_INDEX else -1) for size in static]

    def extents(state: State) -> Sequence[int]:
        sizes = [size if slot < 0 else int(state.values[slot]) for size, slot in sources]
        if min(sizes) < 0:
            raise UnlocatedError(
                f"a {what} of a tensor_view cannot be negative, but {sizes} are given"
            )
        return sizes

    return extents


def _make_view(operation: Operation, compiler: Compiler) -> Step:
    """A view's type says how it cuts the tensor, so it is held as the tensor."""
    (source,) = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        state.values[result] = state.values[source]

    return step


def _get_tensor_shape(operation: Operation, compiler: Compiler) -> Step:
    return _shape(operation, compiler, lambda tensor: tensor.shape)


def _get_index_space_shape(operation: Operation, compiler: Compiler) -> Step:
    return _shape(operation, compiler, Tiling(view_type(operation.operands[0])).index_space)


def _shape(
    operation: Operation, compiler: Compiler, function: Callable[[TensorView], Sequence[int]]
) -> Step:
    """Gives sizes as the results of an operation."""
    (source,) = compiler.slots(operation.operands)
    results = compiler.slots(operation.results)
    number = element_number(operation.results[0].type)

    def step(state: State) -> None:
        for result, size in zip(results, function(state.values[source]), strict=True):
            if size >= 2**number.bits:
                raise UnlocatedError(f"the size {size} does not fit into {number.text}")
            state.values[result] = number.number(size)

    return step


def view_type(view: SSAValue) -> TileView:
    """The type of a value that cuts a tensor into tiles.

    Raises:
        ValueError: The value is no such view.
    """
    if not isinstance(view.type, TileView):
        raise ValueError(f"expected a view of tiles, but got {view.type}")
    return cast("TileView", view.type)


class TileAccess:
    """An operation's access to the tile at an index of a view."""

    def __init__(
        self, operation: LoadViewTkoOp | StoreViewTkoOp | AtomicRedViewTkoOp, compiler: Compiler
    ) -> None:
        """Compiles what says which tile is accessed."""
        self._operation = operation
        type_ = view_type(operation.view)
        self.tiling = Tiling(type_)
        self.storage = storage_of(type_.tensor_view.element_type)
        self._view = compiler.slot(operation.view)
        self._index = [(compiler.slot(each), element_number(each.type)) for each in operation.index]
        self._inside = _inside_dimensions(operation)

    def reach(self, state: State) -> None:
        """Tells the observer if the index depends on something unspecified."""
        for slot, _ in self._index:
            reach(state, self._operation, slot, "the index")

    @property
    def is_block(self) -> bool:
        """Whether the memory of a tile can be accessed as an array."""
        return not self.tiling.is_sparse and not self.storage.is_packed

    def tensor_and_box(self, state: State) -> tuple[TensorView, Box | None]:
        """The tensor and the part of the tile that lies in it.

        None where the index lies outside of the view's index space: that is undefined, but devices
        mask such a tile, and kernels rely on it. So it is a warning, but an observer's error.

        Raises:
            UnlocatedError: There is an observer and the index lies outside, or the tile leaves the
                tensor where it must not.
        """
        tensor: TensorView = state.values[self._view]
        if state.unspecified:
            self.reach(state)
        indices = [_unsigned(state.values[slot], number) for slot, number in self._index]
        box = self.tiling.box(tensor, indices)
        for dimension in self._inside:
            if box.shape[dimension] < self.tiling.tile_shape[dimension]:
                raise UnlocatedError(
                    f"the tile leaves the tensor in dimension {dimension}, for which inbounds is "
                    "promised"
                )
        if box.outside is None:
            return tensor, box
        message = self.tiling.outside_message(tensor, indices, box.outside)
        if state.observer is not None:
            raise UnlocatedError(message)
        state.warnings.add(self._operation, f"{message}; {_MASKED}")
        return tensor, None


_MASKED = "that is undefined, and here the access is left out, as on NVIDIA's GPUs"


def _inside_dimensions(operation: Operation) -> list[int]:
    """The dimensions of a tile in which it is promised to lie in the tensor."""
    promised: Any = operation.properties.get("inbounds")
    values = () if promised is None else promised.get_values()
    return [dimension for dimension, is_inside in enumerate(values) if is_inside]


def _unsigned(index: Value, number: Number) -> Any:
    """An index as a Python integer, or indices as an array of unsigned numbers."""
    bits = number.unsigned(np.asanyarray(index))
    return int(bits) if bits.ndim == 0 else bits


def _padding(padding: PaddingValue | None, storage: Storage, shape: Sequence[int]) -> Array:
    """A tile as it is outside of the tensor: the padding, or anything without one."""
    if padding is None:
        return storage.undefined(shape)
    number = storage.number
    return interpreted(np.full(shape, number.number(_PADDING[padding]), number.dtype))


_PADDING: dict[PaddingValue, float] = {
    PaddingValue.ZERO: 0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: float("nan"),
    PaddingValue.POS_INF: float("inf"),
    PaddingValue.NEG_INF: float("-inf"),
}


def _load_view(operation: LoadViewTkoOp, compiler: Compiler) -> Step:
    access = TileAccess(operation, compiler)
    ordering = Ordering(operation, compiler)
    result = compiler.slot(operation.tile)
    shape, storage = access.tiling.tile_shape, access.storage

    def step(state: State) -> None:
        tensor, box = access.tensor_and_box(state)
        if box is None:
            ordering.observe(state, AccessKind.READ, (), storage)
            loaded = _padding(access.tiling.padding, storage, shape)
        else:
            loaded = read(state, tensor, box)
            if box.shape != shape:
                tile = _padding(access.tiling.padding, storage, shape)
                tile[box.kept] = loaded
                loaded = tile
        state.values[result] = loaded
        if state.unspecified is None:
            return
        if box is None or box.shape == shape or access.tiling.padding is not None:
            forget(state, result)
        else:
            missing = np.ones(shape, np.bool_)
            missing[box.kept] = False
            leave_unspecified(state, operation, result, storage.number, missing)

    def read(state: State, tensor: TensorView, box: Box) -> Array:
        if state.observer is None and access.is_block:
            ordering.observe(state, AccessKind.READ, (), storage)
            return storage.decoded(box.array(tensor, storage, state.addresses)).copy()
        position = box.position(tensor, storage, state.addresses)
        ordering.observe(state, AccessKind.READ, (position,), storage)
        return storage.read(position.buffer, position.elements)

    return step


def _store_view(operation: StoreViewTkoOp, compiler: Compiler) -> Step:
    access = TileAccess(operation, compiler)
    ordering = Ordering(operation, compiler)
    source = compiler.slot(operation.tile)
    storage = access.storage

    def step(state: State) -> None:
        tensor, box = access.tensor_and_box(state)
        if box is None:
            ordering.observe(state, AccessKind.WRITE, (), storage)
            return
        tile = np.asanyarray(state.values[source])
        if state.unspecified:
            reach(state, operation, source, STORED, box.kept)
        if state.observer is None and access.is_block:
            ordering.observe(state, AccessKind.WRITE, (), storage)
            array = box.array(tensor, storage, state.addresses)
            if not array.flags.writeable:
                check_writable(box.position(tensor, storage, state.addresses).buffer)
            array[...] = storage.encoded(tile[box.kept])
            return
        position = box.position(tensor, storage, state.addresses)
        ordering.observe(state, AccessKind.WRITE, (position,), storage, tile)
        storage.write(position.buffer, position.elements, tile[box.kept])

    return step


HANDLERS: dict[str, Handler] = {
    "cuda_tile.get_index_space_shape": _get_index_space_shape,
    "cuda_tile.get_tensor_shape": _get_tensor_shape,
    "cuda_tile.load_view_tko": _load_view,
    "cuda_tile.make_gather_scatter_view": _make_view,
    "cuda_tile.make_partition_view": _make_view,
    "cuda_tile.make_strided_view": _make_view,
    "cuda_tile.make_tensor_view": _make_tensor_view,
    "cuda_tile.store_view_tko": _store_view,
}
"""The handler of each operation, by name."""
