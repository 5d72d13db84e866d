"""Descriptors of blocks and of scattered points: what they are at run time, making and moving them.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `create_nd_tdesc`, `update_nd_offset`,
`create_tdesc` and `update_offset`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.descriptors import (
    CreateDescOp,
    CreateNdDescOp,
    UpdateNdOffsetOp,
    UpdateOffsetOp,
)
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Index, Memref, View, as_index, transform
from xtile.semantics.state import State
from xtile.semantics.state import merged as merged_value
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Value


@dataclass(frozen=True, slots=True)
class BlockDescriptor:
    """A block of a memory region.

    Attributes:
        region: The memory, with the region's shape and strides.
        offsets: Where the block starts in each dimension of the region, in elements.
    """

    region: Memref
    offsets: tuple[Index, ...]

    def moved(self, offsets: Sequence[Index]) -> BlockDescriptor:
        """The descriptor further by offsets in the last dimensions."""
        first = len(self.offsets) - len(offsets)
        last = (old + new for old, new in zip(self.offsets[first:], offsets, strict=True))
        return BlockDescriptor(self.region, (*self.offsets[:first], *last))

    def merged(self, mask: npt.NDArray[np.bool_], other: BlockDescriptor) -> BlockDescriptor:
        """This descriptor where the mask is set, `other` elsewhere."""
        offsets = (
            chosen if _is_same(chosen, rest) else np.where(mask, chosen, rest)
            for chosen, rest in zip(self.offsets, other.offsets, strict=True)
        )
        return BlockDescriptor(self.region.merged(mask, other.region), tuple(offsets))


def _is_same(index: Index, other: Index) -> bool:
    """Whether two numbers are the same for all work-items."""
    return isinstance(index, int) and isinstance(other, int) and index == other


@dataclass(frozen=True, slots=True)
class ScatteredDescriptor:
    """Scattered points of memory.

    Attributes:
        base: The memory from the position that offsets are counted from, with one dimension.
        offsets: The offset of each point in elements; a vector.
    """

    base: Memref
    offsets: Value

    def merged(
        self, mask: npt.NDArray[np.bool_], other: ScatteredDescriptor
    ) -> ScatteredDescriptor:
        """This descriptor where the mask is set, `other` elsewhere."""
        offsets = merged_value(mask, self.offsets, other.offsets)
        return ScatteredDescriptor(self.base.merged(mask, other.base), offsets)


class Numbers:
    """A list of operands and numbers, such as `[%i, 4]`."""

    def __init__(self, entries: Sequence[SSAValue | int], compiler: Compiler) -> None:
        self._entries = [
            (entry, None) if isinstance(entry, int) else (0, compiler.slot(entry))
            for entry in entries
        ]

    def values(self, state: State) -> tuple[Index, ...]:
        """What they are at run time."""
        return tuple(
            number if slot is None else as_index(state.values[slot])
            for number, slot in self._entries
        )


def base_of(state: State, source: Value, dtype: np.dtype[Any]) -> Memref:
    """The memory that an address or a memref leads to, with one dimension of stride 1.

    Args:
        state: The work-group.
        source: The address in bytes, or the memref.
        dtype: The type of the elements at an address.

    Raises:
        UnlocatedError: An active work-item's address belongs to no memory.
    """
    if _is_address(source):
        source = state.addresses.memory_at(as_index(source), dtype, state.mask)
    return transform(source, lambda view, _: _to_end(view), state.mask)


def _to_end(view: View) -> View:
    """What begins where a view does and ends with its memory."""
    return View(view.buffer, view.offset, (view.buffer.size - view.offset,), (1,))


def _is_address(source: Value) -> bool:
    return isinstance(source, np.ndarray | np.generic)


def _create_nd_tdesc(operation: CreateNdDescOp, compiler: Compiler) -> Step:
    descriptor = tensor_desc(operation.TensorDesc)
    dtype = number_of(descriptor.element_type).dtype
    source, result = compiler.slots((operation.source, operation.TensorDesc))
    is_given = operation.const_shape is not None or bool(operation.shape)
    shape = strides = Numbers((), compiler)
    if is_given:
        shape = Numbers(cast("list[SSAValue | int]", operation.mixed_sizes), compiler)
        strides = Numbers(cast("list[SSAValue | int]", operation.mixed_strides), compiler)
    offsets = Numbers(operation.mixed_offsets, compiler)

    def step(state: State) -> None:
        region = state.values[source]
        if is_given:
            sizes = shape.values(state), strides.values(state)
            base = base_of(state, region, dtype)
            region = transform(
                base, lambda view, _: View(view.buffer, view.offset, *sizes), state.mask
            )
        start = offsets.values(state) or (0,) * len(_shape(region))
        state.values[result] = BlockDescriptor(region, start)

    return step


def _shape(memref: Memref) -> tuple[Index, ...]:
    if isinstance(memref, View):
        return memref.shape
    return next(iter(memref.views.values())).shape


def _update_nd_offset(operation: UpdateNdOffsetOp, compiler: Compiler) -> Step:
    descriptor, result = compiler.slots((operation.TensorDesc, operation.result))
    offsets = Numbers(operation.mixed_offsets, compiler)

    def step(state: State) -> None:
        moved: BlockDescriptor = state.values[descriptor].moved(offsets.values(state))
        state.values[result] = moved

    return step


def _create_tdesc(operation: CreateDescOp, compiler: Compiler) -> Step:
    dtype = number_of(tensor_desc(operation.TensorDesc).element_type).dtype
    source, offsets, result = compiler.slots(
        (operation.source, operation.offsets, operation.TensorDesc)
    )

    def step(state: State) -> None:
        values = state.values
        base = base_of(state, values[source], dtype)
        values[result] = ScatteredDescriptor(base, values[offsets])

    return step


def _update_offset(operation: UpdateOffsetOp, compiler: Compiler) -> Step:
    descriptor, offsets, result = compiler.slots(
        (operation.TensorDesc, operation.offsets, operation.result)
    )

    def step(state: State) -> None:
        before: ScatteredDescriptor = state.values[descriptor]
        moved = before.offsets + state.values[offsets]
        state.values[result] = ScatteredDescriptor(before.base, moved)

    return step


HANDLERS: dict[str, Handler] = {
    "xegpu.create_nd_tdesc": _create_nd_tdesc,
    "xegpu.create_tdesc": _create_tdesc,
    "xegpu.update_nd_offset": _update_nd_offset,
    "xegpu.update_offset": _update_offset,
}
"""The handler of each operation, by name."""
