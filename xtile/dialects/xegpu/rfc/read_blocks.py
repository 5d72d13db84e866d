"""The RFC's operations on blocks: `create_nd_tdesc` and what uses its descriptors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.xegpu.attributes import BlockTensorDescAttr
from xtile.dialects.xegpu.ops.block import LoadNdOp, PrefetchNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp, UpdateNdOffsetOp
from xtile.dialects.xegpu.rfc.common import (
    Properties,
    integer_array,
    leftover,
    memory_scope,
    result_type,
    simt,
    take_hints,
    take_mode,
    vector_type,
)
from xtile.dialects.xegpu.rfc.names import (
    BOUNDARY_CHECK,
    MEMORY_SCOPE,
    TRANSPOSE_BIT_WIDTH,
    VNNI_AXIS,
)
from xtile.dialects.xegpu.rfc.operands import (
    constants,
    descriptor_of,
    dynamic,
    resolve,
    resolve_indices,
    take_descriptor,
)
from xtile.dialects.xegpu.rfc.operation_text import OperationText
from xtile.dialects.xegpu.types import TensorDescType


def read_create_nd_tdesc(text: OperationText) -> Operation:
    """Reads `create_nd_tdesc %base, %offsets:2, %shape:2, %strides:2` or the lists in brackets."""
    values = resolve(text)
    if not values:
        text.error(f"{text.spelling} takes a memref or an address before the offsets")
    source, rest = values[0], values[1:]
    descriptor = result_type(text)
    if not isinstance(descriptor, TensorDescType):
        text.error(f"{text.spelling} makes a tensor_desc, not {descriptor}")
    take_mode(text, descriptor)
    check = _take_boundary_check(text, descriptor)
    lists = _lists(text, rest, source, descriptor)
    properties: Properties = {
        name: numbers for name, (_, numbers) in zip(_LISTS, lists, strict=False)
    }
    attributes = {**leftover(text), **check, **memory_scope(source, descriptor)}
    if len(lists) == 1 and not _is_memref(source):
        # LLVM 22 needs the shape of the memory that an address is the start of.
        attributes[MEMORY_SCOPE] = StringAttr(descriptor.memory_space)
    operands = [indices for indices, _ in lists]
    operands += [()] * (len(_LISTS) - len(operands))
    return CreateNdDescOp.build(
        operands=[source, *operands],
        properties=properties,
        attributes=attributes,
        result_types=[descriptor],
    )


_LISTS = ("const_offsets", "const_shape", "const_strides")
"""The properties beside the lists of operands."""


def read_update_nd_offset(text: OperationText) -> Operation:
    """Reads `update_nd_offset %t, %offsets:2` or `update_nd_offset %t, [%row, 0]`."""
    values = resolve(text)
    if not values:
        text.error(f"{text.spelling} takes a tensor_desc before the offsets")
    descriptor = descriptor_of(text, values[0])
    take_mode(text, descriptor)
    offsets, numbers = values[1:], dynamic(len(values) - 1)
    if text.lists:
        offsets, numbers = resolve_indices(text, text.lists[0]), constants(text.lists[0])
    return UpdateNdOffsetOp.build(
        operands=[values[0], offsets],
        properties={"const_offsets": numbers},
        attributes=leftover(text),
        result_types=[result_type(text, descriptor)],
    )


def read_prefetch_nd(text: OperationText) -> Operation:
    """Reads `prefetch_nd %t {L1_hint = cached}`."""
    (source,) = resolve(text, 1)
    take_mode(text, descriptor_of(text, source))
    return PrefetchNdOp.build(
        operands=[source, []],
        properties=take_hints(text),
        attributes=leftover(text),
        result_types=[],
    )


def read_load_nd(text: OperationText) -> Operation:
    """Reads `load_nd %t {vnni_axis = 0, mode = vc}`; axis 0 is LLVM 22's `packed`."""
    (source,) = resolve(text, 1)
    descriptor = descriptor_of(text, source)
    mode = take_mode(text, descriptor)
    value = vector_type(text, result_type(text))
    properties = take_hints(text)
    attributes: Properties = {}
    axis = text.take_integer("vnni_axis")
    if axis not in (None, 0, 1):
        text.error(f"vnni_axis is {axis}; it must be 0 or 1")
    if axis == 1:
        attributes[VNNI_AXIS] = IntegerAttr(1, i32)
    if text.take_flag("packed") or axis == 0:
        properties["packed"] = UnitAttr()
    if (transpose := text.take_integers("transpose")) is not None:
        properties["transpose"] = integer_array(transpose)
    if (bits := text.take_integer("transpose_bit_width")) is not None:
        attributes[TRANSPOSE_BIT_WIDTH] = IntegerAttr(bits, i32)
    return LoadNdOp.build(
        operands=[source, []],
        properties=properties,
        attributes={**leftover(text), **attributes, **simt(mode, value, descriptor)},
        result_types=[value],
    )


def read_store_nd(text: OperationText) -> Operation:
    """Reads `store_nd %v, %t {mode = vc}`."""
    values = resolve(text, 2)
    target = take_descriptor(text, values)
    descriptor = descriptor_of(text, target)
    mode = take_mode(text, descriptor)
    value = vector_type(text, values[0].type)
    return StoreNdOp.build(
        operands=[values[0], target, []],
        properties=take_hints(text),
        attributes={**leftover(text), **simt(mode, value, descriptor)},
        result_types=[],
    )


BLOCK_READERS: dict[str, Callable[[OperationText], Operation]] = {
    "xegpu.create_nd_tdesc": read_create_nd_tdesc,
    "xegpu.load_nd": read_load_nd,
    "xegpu.prefetch_nd": read_prefetch_nd,
    "xegpu.store_nd": read_store_nd,
    "xegpu.update_nd_offset": read_update_nd_offset,
}
"""What reads the operations of this module, by their names in the dialect."""


def _lists(
    text: OperationText, rest: Sequence[SSAValue], source: SSAValue, descriptor: TensorDescType
) -> list[tuple[Sequence[SSAValue], DenseArrayBase]]:
    """Returns the offsets, and the shape and the strides if they are given.

    Raises:
        ParseError: They are not one number for each dimension.
    """
    if text.lists:
        if rest or len(text.lists) not in (1, 3):
            text.error(
                f"{text.spelling} takes one list of offsets, or the lists of offsets, shape and "
                "strides"
            )
        return [(resolve_indices(text, given), constants(given)) for given in text.lists]
    memref = cast("MemRefType[Attribute]", source.type) if _is_memref(source) else None
    rank = descriptor.rank if memref is None else memref.get_num_dims()
    count = len(rest)
    if count == rank and (rank == 1 or memref is not None):
        return [(rest, dynamic(count))]
    if count == 0 or count % 3:
        text.error(
            f"{text.spelling} has {count} indices after the base; it takes the offsets, the shape "
            f"and the strides with {rank} indices each, or the offsets of a memref"
        )
    size = count // 3
    return [(rest[i : i + size], dynamic(size)) for i in range(0, count, size)]


def _is_memref(source: SSAValue) -> bool:
    return isinstance(source.type, MemRefType)


def _take_boundary_check(text: OperationText, descriptor: TensorDescType) -> Properties:
    """Takes what the first kernels write on the operation, and later ones in the result's type.

    Raises:
        ParseError: The type switches the check off and the operation on.
    """
    given = text.attributes.get(BOUNDARY_CHECK)
    check = text.take_flag(BOUNDARY_CHECK)
    encoding = descriptor.encoding
    in_type = not isinstance(encoding, BlockTensorDescAttr) or encoding.is_boundary_checked
    if check is None or check == in_type:
        return {}
    if check:
        position = None if given is None else given.position
        text.error("the result's type says boundary_check = false; leave this one out", position)
    return {BOUNDARY_CHECK: IntegerAttr.from_bool(False)}
