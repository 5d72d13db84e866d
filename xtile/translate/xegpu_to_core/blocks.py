"""Loads, stores and prefetches of blocks: transfers of the last dimensions of memory; products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, Signedness, VectorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.subgroup import PrefetchOp
from xtile.dialects.shared_attributes import numbers_attribute
from xtile.dialects.xegpu.attributes import BlockTensorDescAttr
from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.block import LoadNdOp, PrefetchNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_core.descriptors import flat, moved
from xtile.translate.xegpu_to_core.raising import Block, Raising
from xtile.translate.xegpu_to_core.vectors import shape_of


def _load_nd(operation: LoadNdOp, raising: Raising) -> None:
    if operation.is_for_lane:
        raise _of_lane(raising, "xegpu.load_nd")
    type_ = tensor_desc(operation.TensorDesc)
    block = _accessed(raising, operation.TensorDesc, operation.mixed_offsets)
    *outer, last = type_.get_shape()
    order = operation.permutation or tuple(range(type_.rank))
    value = raising.read(
        block.memory,
        block.offsets,
        (*outer, last * type_.array_length),
        is_checked=_is_checked(type_),
        order=order,
    )
    if type_.array_length > 1:
        value = _side_by_side(raising, value, order.index(type_.rank - 1), type_.array_length)
    # Upstream ignores `packed` on a block of one dimension.
    if operation.packed is not None and type_.rank > 1:
        rows = value
        value = packed(raising, rows, shape_of(operation.value)[-1])
        raising.unpacked[operation.value] = rows
    raising.define(operation.value, value)


def _side_by_side(raising: Raising, value: SSAValue, axis: int, count: int) -> SSAValue:
    """Cuts what was loaded into blocks that follow each other along a new first dimension."""
    shape = shape_of(value)
    size = shape[axis] // count
    cut = raising.reshaped(value, (*shape[:axis], count, size, *shape[axis + 1 :]))
    others = (dimension for dimension in range(len(shape) + 1) if dimension != axis)
    return raising.transposed(cut, (axis, *others))


def packed(raising: Raising, value: SSAValue, pack: int) -> SSAValue:
    """Puts elements of several rows next to each other, in a last dimension of their own."""
    *outer, rows, columns = shape_of(value)
    cut = raising.reshaped(value, (*outer, rows // pack, pack, columns))
    first = len(outer)
    return raising.transposed(cut, (*range(first), first, first + 2, first + 1))


def unpacked(raising: Raising, old: SSAValue) -> SSAValue:
    """The rows of a matrix that may be packed."""
    value = raising.value(old)
    if old in raising.unpacked and len(shape_of(raising.unpacked[old])) == 2:
        return raising.unpacked[old]
    if len(shape_of(value)) == 2:
        return value
    rows, columns, pack = shape_of(value)
    return raising.reshaped(raising.transposed(value, (0, 2, 1)), (rows * pack, columns))


def _store_nd(operation: StoreNdOp, raising: Raising) -> None:
    if operation.is_for_lane:
        raise _of_lane(raising, "xegpu.store_nd")
    type_ = tensor_desc(operation.TensorDesc)
    block = _accessed(raising, operation.TensorDesc, operation.mixed_offsets)
    value = raising.value(operation.value)
    raising.write(value, block.memory, block.offsets, is_checked=_is_checked(type_))


def _prefetch_nd(operation: PrefetchNdOp, raising: Raising) -> None:
    """A subgroup's prefetch of a matrix; tiles are fetched by whoever holds them."""
    type_ = tensor_desc(operation.TensorDesc)
    block = moved(raising, raising.meaning(operation.TensorDesc), operation.mixed_offsets)
    if raising.is_of_tiles or type_.rank != 2 or block.rank != 2:
        return
    rows, columns = type_.get_shape()
    raising.emit(
        PrefetchOp.build(
            operands=[block.memory, [raising.as_value(offset) for offset in block.offsets]],
            properties={
                "block": numbers_attribute((rows, columns * type_.array_length)),
                "level": IntegerAttr(0 if operation.l1_hint is not None else 1, i64),
            },
        )
    )


def _accessed(raising: Raising, descriptor: SSAValue, offsets: Sequence[SSAValue | int]) -> Block:
    """The block that an access moves; one of one dimension may go on in the next row."""
    type_ = tensor_desc(descriptor)
    block = moved(raising, raising.meaning(descriptor), list(offsets))
    if type_.rank > 1 or block.rank == 1:
        return block
    last = cast("MemRefType[Attribute]", block.memory.type).get_shape()[-1]
    return block if last >= type_.get_shape()[0] * type_.array_length else flat(raising, block)


def _is_checked(type_: TensorDescType) -> bool:
    """Whether what lies outside of the region is left out; blocks of one dimension never are."""
    encoding = type_.encoding
    assert isinstance(encoding, BlockTensorDescAttr)
    return type_.rank > 1 and encoding.is_boundary_checked


def _of_lane(raising: Raising, name: str) -> Exception:
    return raising.error(
        f"{name} moves the part of one lane, but the kernel is one of whole blocks; the vector "
        "must have the shape of the block"
    )


# --- products: contractions of matrices, of which the right one may have been packed ---


def _dpas(operation: DpasOp, raising: Raising) -> None:
    if operation.is_for_lane:
        raise raising.error(
            "xegpu.dpas multiplies the parts of one lane, but the kernel is one of whole matrices"
        )
    type_ = cast("VectorType[Attribute]", operation.result.type)
    for each in (operation.lhs.type, operation.rhs.type, type_):
        _check_sign(raising, cast("VectorType[Attribute]", each).element_type)
    if operation.acc is None:
        total = raising.splat(0, type_.element_type, type_.get_shape())
    else:
        total = raising.value(operation.acc)
    lhs, rhs = raising.value(operation.lhs), unpacked(raising, operation.rhs)
    raising.define(operation.result, raising.product(lhs, rhs, total))


def _check_sign(raising: Raising, element: Attribute) -> None:
    """Raises a DiagnosticError for integers that `arith` and `vector` do not have."""
    if isa(element, IntegerType) and element.signedness.data is not Signedness.SIGNLESS:
        raise raising.error(
            f"the core form has no {element}; use i{element.width.data}, whose products have signs"
        )


RULES: dict[str, Rule] = {
    DpasOp.name: _dpas,
    LoadNdOp.name: _load_nd,
    PrefetchNdOp.name: _prefetch_nd,
    StoreNdOp.name: _store_nd,
}
"""The rule of each operation, by name."""
