"""Memrefs with the elements of others in another shape, and copies.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`; docs/semantics.md, 7, "Memory".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of, number_lists
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.loops import counted_loop
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import load_piece, location, store_piece
from xtile.translate.xegpu_to_spirv.types import memref_type


def _groups(operation: Operation) -> list[list[int]]:
    """For each dimension of the smaller rank those of the larger one."""
    groups = cast(Any, operation.properties["reassociation"]).data
    return [[index.value.data for index in group.data] for group in groups]


def _expand_shape(operation: Operation, lowering: Lowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    (sizes,) = number_lists(operation, lowering.numbers(operation.operands[1:]), "output_shape")
    strides: list[Index] = []
    for stride, group in zip(source.strides, _groups(operation), strict=False):
        own: list[Index] = []
        for dimension in reversed(group):
            own.insert(0, stride)
            stride = lowering.multiply(stride, sizes[dimension])
        strides += own
    # Without groups, all dimensions of the result have size 1.
    strides += [1] * (len(sizes) - len(strides))
    lowering.define(operation.results[0], source.moved(source.offset, sizes, strides))


def _collapse_shape(operation: Operation, lowering: Lowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    told = layout_of(memref_type(operation.results[0].type)).strides
    sizes: list[Index] = []
    strides: list[Index] = []
    for group, stride in zip(_groups(operation), told, strict=True):
        size: Index = 1
        for dimension in group:
            size = lowering.multiply(size, source.sizes[dimension])
        sizes.append(size)
        strides.append(_collapsed_stride(lowering, source, group) if stride is None else stride)
    lowering.define(operation.results[0], source.moved(source.offset, sizes, strides))


def _collapsed_stride(lowering: Lowering, source: Descriptor, group: Sequence[int]) -> Index:
    """The stride of the innermost dimension whose size is not 1; that of others has no effect."""
    stride = source.strides[group[0]]
    for dimension in group[1:]:
        size, own = source.sizes[dimension], source.strides[dimension]
        if isinstance(size, int):
            stride = stride if size == 1 else own
        else:
            is_one = lowering.shared_compute("IEqual", i1, size, lowering.integer(1, i64))
            stride = lowering.select(is_one, lowering.as_value(stride), lowering.as_value(own))
    return stride


# --- copies ---


def _copy(operation: Operation, lowering: Lowering) -> None:
    """Copies element by element; memrefs that overlap are not told apart."""
    source, target = (lowering.descriptor(operand) for operand in operation.operands)
    sizes = [
        own if isinstance(own, int) else other
        for own, other in zip(source.sizes, target.sizes, strict=True)
    ]
    _copy_along(lowering, source, target, sizes, ())


def _copy_along(
    lowering: Lowering,
    source: Descriptor,
    target: Descriptor,
    sizes: Sequence[Index],
    indices: tuple[Index, ...],
) -> None:
    """Copies what lies along the dimensions after those whose indices are given."""
    if len(indices) == len(sizes):
        value = load_piece(lowering, source, location(lowering, source, indices), 1)
        store_piece(lowering, target, location(lowering, target, indices), value)
        return
    zero, one = (lowering.integer(number, i64) for number in (0, 1))
    size = lowering.as_value(sizes[len(indices)])

    def emit(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        _copy_along(lowering, source, target, sizes, (*indices, index))
        return ()

    counted_loop(lowering, (zero, size, one), (), emit)


RULES: dict[str, Rule] = {
    "memref.collapse_shape": _collapse_shape,
    "memref.copy": _copy,
    "memref.expand_shape": _expand_shape,
}
"""The rule of each operation, by name."""
