"""The operations of the `memref` dialect that give the same elements another shape.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, NoneAttr
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.fused_modes import fused_modes
from xtile.semantics.memory import Index, Mask, View, as_index, uniform_integers, where_active
from xtile.semantics.state import State
from xtile.semantics.upstream.access import read_elements
from xtile.semantics.upstream.memref_views import changed, mixed_of
from xtile.semantics.upstream.numbers import memref_type
from xtile.semantics.values import first_where


def _groups(operation: Operation) -> list[list[int]]:
    """The reassociation: for each dimension of the smaller rank those of the larger one."""
    groups: Any = operation.properties["reassociation"]
    return [[index.value.data for index in group.data] for group in groups.data]


def _expand_shape(operation: Operation, compiler: Compiler) -> Step:
    groups = _groups(operation)
    (sizes,) = mixed_of(operation, compiler, "output_shape")

    def change(view: View, state: State, mask: Mask) -> View:
        shape = sizes.numbers(state.values)
        strides: list[Index] = []
        for source, group in enumerate(groups):
            extents = [shape[dimension] for dimension in group]
            _check_product(extents, view.shape[source], source, mask)
            stride = view.strides[source]
            backwards: list[Index] = []
            for extent in reversed(extents):
                backwards.append(stride)
                stride = stride * extent
            strides += reversed(backwards)
        # Without groups, all dimensions of the result have size 1.
        strides += [1] * (len(shape) - len(strides))
        return View(view.buffer, view.offset, tuple(shape), tuple(strides))

    return changed(operation, compiler, change)


def _check_product(extents: Sequence[Index], size: Index, dimension: int, mask: Mask) -> None:
    count: Index = 1
    for extent in extents:
        count = count * extent
    wrong = where_active(np.asanyarray(count != size), mask)
    if wrong.any():
        raise UnlocatedError(
            f"dimension {dimension} has size {first_where(size, wrong)}, but the product of the "
            f"sizes that it becomes is {first_where(count, wrong)}"
        )


def _collapse_shape(operation: Operation, compiler: Compiler) -> Step:
    groups = _groups(operation)
    told = memref_type(operation.results[0].type).get_strides() or [None] * len(groups)

    def change(view: View, state: State, mask: Mask) -> View:
        shape: list[Index] = []
        strides: list[Index] = []
        for group, known in zip(groups, told, strict=True):
            size, stride = fused_modes(view, group[::-1], known, mask, "dimension")
            shape.append(size)
            strides.append(stride)
        return View(view.buffer, view.offset, tuple(shape), tuple(strides))

    return changed(operation, compiler, change)


def _transpose(operation: Operation, compiler: Compiler) -> Step:
    attribute = cast("AffineMapAttr", operation.get_attr_or_prop("permutation"))
    order: list[int] = [cast("Any", result).position for result in attribute.data.results]

    def change(view: View, state: State, mask: Mask) -> View:
        return View(
            view.buffer,
            view.offset,
            tuple(view.shape[dimension] for dimension in order),
            tuple(view.strides[dimension] for dimension in order),
        )

    return changed(operation, compiler, change)


def _reshape(operation: Operation, compiler: Compiler) -> Step:
    source_type = operation.operands[0].type
    if isinstance(source_type, MemRefType) and not isinstance(source_type.layout, NoneAttr):
        raise ValueError("a reshape needs a memref whose elements follow each other")
    shape_slot = compiler.slot(operation.operands[1])

    def change(view: View, state: State, mask: Mask) -> View:
        sizes: View = state.values[shape_slot]
        (rank,) = uniform_integers(sizes.shape)
        shape = [as_index(read_elements(state, operation, sizes, [i])) for i in range(rank)]
        strides: list[Index] = []
        stride: Index = 1
        for size in reversed(shape):
            strides.insert(0, stride)
            stride = stride * size
        return View(view.buffer, view.offset, tuple(shape), tuple(strides))

    return changed(operation, compiler, change)


HANDLERS: dict[str, Handler] = {
    "memref.collapse_shape": _collapse_shape,
    "memref.expand_shape": _expand_shape,
    "memref.reshape": _reshape,
    "memref.transpose": _transpose,
}
"""The handler of each operation, by name."""
