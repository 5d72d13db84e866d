"""Loads, stores and prefetches of blocks.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `load_nd`, `store_nd` and `prefetch_nd`;
docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.xegpu.attributes import BlockTensorDescAttr
from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.block import LoadNdOp, PrefetchNdOp, StoreNdOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import require_full_subgroups
from xtile.semantics.instructions.events import require_converged, require_uniform
from xtile.semantics.memory import Index, View, parts
from xtile.semantics.state import State, merged
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Value, choose, with_axes
from xtile.semantics.xegpu.block_coordinates import Coordinates, coordinates
from xtile.semantics.xegpu.descriptors import BlockDescriptor, Numbers
from xtile.semantics.xegpu.levels import (
    acting,
    agreed,
    agreed_memref,
    level_of,
    spread,
)


class _BlockElements:
    """The elements of memory that a block access touches, relative to the block's start."""

    def __init__(self, block: Coordinates, is_checked: bool) -> None:
        self._block = block
        self._axes = block[0].ndim - 2
        self._limits = [(int(numbers.min()), int(numbers.max())) for numbers in block]
        self._is_checked = is_checked

    def indices(self, start: Sequence[Index]) -> list[Index]:
        """The index of each element in each dimension of the region."""
        outer = len(start) - len(self._block)
        moved = [
            spread(first, self._axes) + numbers
            for first, numbers in zip(start[outer:], self._block, strict=True)
        ]
        return [*(spread(first, self._axes) for first in start[:outer]), *moved]

    def inside(self, start: Sequence[Index], indices: Sequence[Index], view: View) -> Value:
        """Which elements lie in the region; None: all, or the region's shape does not matter."""
        if not self._is_checked:
            return None
        where: Value = None
        outer = len(start) - len(self._block)
        for dimension, (least, largest) in enumerate(self._limits, outer):
            first, size = start[dimension], view.shape[dimension]
            if np.all((first + least >= 0) & (first + largest < size)):
                continue
            index = indices[dimension]
            near = (index >= 0) & (index < spread(size, self._axes))
            where = near if where is None else where & near
        return where


def _positions(operation: LoadNdOp | StoreNdOp, compiler: Compiler) -> _BlockElements:
    """The elements that an access touches.

    Raises:
        ValueError: The vector is no lane's part of the block, or lanes are missing.
    """
    type = tensor_desc(operation.TensorDesc)
    block = coordinates(operation, type, compiler.configuration.subgroup_size)
    is_of_lanes = block[0].shape[1] != 1
    if is_of_lanes:
        require_full_subgroups(compiler.configuration)
    return _BlockElements(block, _is_checked(type))


def _is_checked(descriptor: TensorDescType) -> bool:
    """Whether what lies outside of the region is left out; blocks of one dimension never are."""
    encoding = descriptor.encoding
    assert isinstance(encoding, BlockTensorDescAttr)
    return descriptor.rank > 1 and encoding.is_boundary_checked


def _load_nd(operation: LoadNdOp, compiler: Compiler) -> Step:
    positions = _positions(operation, compiler)
    zero = number_of(operation.value.type).number(0)
    descriptor, result = compiler.slots((operation.TensorDesc, operation.value))
    offsets = Numbers(operation.mixed_offsets, compiler)
    level = level_of(operation)

    def step(state: State) -> None:
        block: BlockDescriptor = state.values[descriptor]
        given = _agreed(state, operation, block.moved(offsets.values(state)))
        loaded: Value = None
        with acting(state, level):
            indices = positions.indices(given.offsets)
            for view, mask in parts(given.region, state.mask):
                where = positions.inside(given.offsets, indices, view)
                value = read_elements(state, operation, view, indices, _both(where, mask))
                value = value if where is None else choose(where, value, zero)
                loaded = value if loaded is None or mask is None else merged(mask, value, loaded)
        state.values[result] = loaded

    return step


def _store_nd(operation: StoreNdOp, compiler: Compiler) -> Step:
    positions = _positions(operation, compiler)
    value, descriptor = compiler.slots((operation.value, operation.TensorDesc))
    offsets = Numbers(operation.mixed_offsets, compiler)
    level = level_of(operation)

    def step(state: State) -> None:
        block: BlockDescriptor = state.values[descriptor]
        given = _agreed(state, operation, block.moved(offsets.values(state)))
        with acting(state, level):
            indices = positions.indices(given.offsets)
            for view, mask in parts(given.region, state.mask):
                where = positions.inside(given.offsets, indices, view)
                stored = state.values[value]
                write_elements(state, operation, view, indices, stored, _both(where, mask))

    return step


def _prefetch_nd(operation: PrefetchNdOp, compiler: Compiler) -> Step:
    """Fetches nothing. Kernels that fetch ahead go past the end of memory, which devices ignore."""
    descriptor = compiler.slot(operation.TensorDesc)
    offsets = Numbers(operation.mixed_offsets, compiler)

    def step(state: State) -> None:
        block: BlockDescriptor = state.values[descriptor]
        _agreed(state, operation, block.moved(offsets.values(state)))

    return step


def _agreed(state: State, operation: Operation, descriptor: BlockDescriptor) -> BlockDescriptor:
    """A descriptor that the work-items of a subgroup, which act together, agree on."""
    require_converged(state, operation)
    for offset in descriptor.offsets:
        require_uniform(state, operation, "an offset of the block", offset)
    offsets = tuple(agreed(offset, state) for offset in descriptor.offsets)
    return BlockDescriptor(agreed_memref(descriptor.region, state), offsets)


def _both(where: Value, mask: Value) -> Value:
    """The elements for which both hold, where a mask says something of rows and lanes."""
    if mask is None or where is None:
        return where if mask is None else mask
    return where & with_axes(mask, where.ndim - 2)


HANDLERS: dict[str, Handler] = {
    "xegpu.load_nd": _load_nd,
    "xegpu.prefetch_nd": _prefetch_nd,
    "xegpu.store_nd": _store_nd,
}
"""The handler of each operation, by name."""
