"""Emits XeGPU at lane level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    DenseArrayBase,
    MemRefType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.shared_attributes import vector_of
from xtile.dialects.xegpu.attributes import BlockTensorDescAttr
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp, prefetch_into
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.rewrite.indices import Index
from xtile.translate.core_to_xegpu.legality import Surface
from xtile.translate.core_to_xegpu.lowering import Lowering, carried_type
from xtile.translate.core_to_xegpu.views import (
    address_of,
    size_of,
    static_and_dynamic,
    static_strides,
)

_TRANSPOSED = DenseArrayBase.from_list(i64, [1, 0])


def descriptor(
    lowering: Lowering,
    surface: Surface,
    shape: tuple[int, int],
    element: Attribute,
    size: int | None = None,
    count: int = 1,
) -> SSAValue:
    """A descriptor of blocks in a surface, made once where the surface is known.

    Args:
        lowering: Where to emit.
        surface: The surface.
        shape: The rows and columns of a block.
        element: The type of its elements.
        size: Their bytes; None for those of the type.
        count: How many blocks side by side one access has.
    """
    # XeGPU moves bf16 as it is; other numbers that lanes hold as bits are bits in memory, too.
    is_moved = isinstance(element, BFloat16Type)
    type_ = _descriptor_type(shape, element if is_moved else carried_type(element), count)
    size = size or size_of(element)
    root = lowering.original(surface.view.root)
    numbers = (surface.height, surface.width, surface.pitch)
    known = (*numbers, surface.view.outer, surface.base)
    values = [root, *(n for n in known if isinstance(n, SSAValue))]

    def emit() -> SSAValue:
        if _is_whole(surface, root, element):
            operation = CreateNdDescOp.build(operands=[root, [], [], []], result_types=[type_])
            return lowering.emit(operation).results[0]
        address = surface.base
        if address is None:
            address = address_of(lowering, surface.view.root, surface.view.outer, size_of(element))
        sizes, dynamic_sizes = static_and_dynamic([surface.height, surface.width])
        strides, dynamic_strides = static_and_dynamic([surface.pitch, 1])
        operation = CreateNdDescOp.build(
            operands=[address, [], dynamic_sizes, dynamic_strides],
            result_types=[type_],
            properties={"const_shape": sizes, "const_strides": strides},
        )
        return lowering.emit(operation).results[0]

    return lowering.shared(("descriptor", root, *known, type_), values, emit)


@lru_cache(256)
def _descriptor_type(shape: tuple[int, int], element: Attribute, count: int) -> TensorDescType:
    return TensorDescType(shape, element, BlockTensorDescAttr(array_length=count))


def _is_whole(surface: Surface, root: SSAValue, element: Attribute) -> bool:
    """Whether a memref of static shape tells all that the descriptor needs."""
    type_ = cast("MemRefType[Attribute]", root.type)
    shape = type_.get_shape()
    return (
        type_.element_type == element
        and len(shape) == 2
        and DYNAMIC_INDEX not in shape
        and surface.view.outer == 0
        and surface.base is None
        and static_strides(type_) == (shape[1], 1)
        and (surface.height, surface.width, surface.pitch) == (shape[0], shape[1], shape[1])
    )


def as_words(lowering: Lowering, surface: Surface, per_word: int) -> Surface:
    """The same surface, in words of several elements."""
    return replace(
        surface,
        view=surface.view,
        width=lowering.divide(surface.width, per_word),
        pitch=lowering.divide(surface.pitch, per_word),
        column=lowering.divide_exactly(surface.column, per_word),
    )


def load_nd(
    lowering: Lowering,
    block: SSAValue,
    offsets: Sequence[Index],
    length: int,
    *,
    packed: bool = False,
    transpose: bool = False,
) -> SSAValue:
    """Loads a block; a lane gets `length` elements."""
    element = cast(TensorDescType, block.type).element_type
    static, dynamic = static_and_dynamic(offsets)
    operation = LoadNdOp.build(
        operands=[block, dynamic],
        result_types=[vector_of((length,), element)],
        properties={
            "const_offsets": static,
            "packed": UnitAttr() if packed else None,
            "transpose": _TRANSPOSED if transpose else None,
        },
    )
    return lowering.emit(operation).results[0]


def store_nd(
    lowering: Lowering, value: SSAValue, block: SSAValue, offsets: Sequence[Index]
) -> None:
    """Stores a block."""
    static, dynamic = static_and_dynamic(offsets)
    lowering.emit(
        StoreNdOp.build(operands=[value, block, dynamic], properties={"const_offsets": static})
    )


def prefetch_nd(lowering: Lowering, block: SSAValue, offsets: Sequence[Index], level: int) -> None:
    """Asks for a block to be brought into a cache, of which 0 is the nearest."""
    lowering.emit(prefetch_into(block, offsets, level))


def dpas(lowering: Lowering, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    """A product on the matrix unit, added to `c`."""
    return lowering.emit(made(DpasOp, (a, b, c), (c.type,))).results[0]
