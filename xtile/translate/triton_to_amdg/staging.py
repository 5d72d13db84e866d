"""Operands of products through local memory: how they are loaded, and how they lie there.

A lane of an operand needs neighbours along K. Where memory has its rows along the other dimension,
each lane loads a small box, transposes it in its registers and writes neighbours along K at once.

Source: Triton 3.9, `third_party/amd`, `InThreadTranspose.cpp`;
`lib/Dialect/TritonGPU/IR/Dialect.cpp` (swizzles for MFMA and WMMA).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.triton.amdg.ops import InThreadTransposeOp
from xtile.dialects.triton.amdg.ops.registers import transposed_in_thread
from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import (
    AMDMfmaEncodingAttr,
    DotOperandEncodingAttr,
)
from xtile.dialects.triton.encodings.shared import (
    AMDRotatingSharedEncodingAttr,
    SwizzledSharedEncodingAttr,
)
from xtile.dialects.triton.operation import element_of, encoding_of, shape_of
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.translate.triton_to_amdg.blocked import Machine
from xtile.translate.triton_to_amdg.shapes import linear

_BANKS = 32
"""The banks of local memory, of 4 bytes each."""

_LANES_AT_ONCE = 16
"""The lanes that read vectors from local memory at once."""

_NEWEST_TRANSPOSED = 3
"""The last version of MFMA without loads from local memory that transpose."""


def inner_dimension(operand: DotOperandEncodingAttr, rank: int) -> int:
    """The dimension of K in an operand."""
    return rank - 1 if operand.op_idx.data == 0 else rank - 2


def layout_of_load(
    operand: DotOperandEncodingAttr,
    layout: BlockedEncodingAttr,
    shape: Sequence[int],
    machine: Machine,
) -> BlockedEncodingAttr:
    """The layout in which an operand is loaded, by that in which it would be without a product."""
    inner, rank = inner_dimension(operand, len(shape)), len(shape)
    fast, width = layout.order.data[0], operand.k_width.data
    fair = prod(shape) // (machine.lanes * machine.warps)
    parent = operand.parent
    is_transposed = isinstance(parent, AMDMfmaEncodingAttr) and (
        parent.version.data <= _NEWEST_TRANSPOSED
    )
    if rank != 2 or fast == inner or not is_transposed or fair < 2 * width or width == 1:
        return layout
    held = min(layout.size_per_thread.data[fast], fair // width)
    return machine.blocked(shape, layout.order.data, held, width)


def is_box(layout: Attribute, operand: DotOperandEncodingAttr, rank: int) -> bool:
    """Whether lanes hold boxes that they transpose."""
    if not isinstance(layout, BlockedEncodingAttr) or rank != 2:
        return False
    inner = inner_dimension(operand, rank)
    held = layout.size_per_thread.data
    return layout.order.data[0] != inner and min(held) > 1 and held[inner] == operand.k_width.data


def memory_of(value: SSAValue, operand: DotOperandEncodingAttr) -> MemDescType:
    """The local memory that holds an operand, so that its lanes read without conflicts."""
    shape, element = shape_of(value.type), element_of(value.type)
    layout, rank = encoding_of(value.type), len(shape)
    assert isinstance(layout, BlockedEncodingAttr)
    inner = inner_dimension(operand, rank)
    order = list(layout.order.data)
    is_boxed = is_box(layout, operand, rank)
    if is_boxed:
        order = [inner, order[0]]
    if order[0] != inner:
        return MemDescType(shape, element, SwizzledSharedEncodingAttr(1, 1, 1, order), mutable=True)
    bits, width = getattr(element, "bitwidth", 8), operand.k_width.data
    rows_at_once = max(1, _BANKS * 32 // bits // shape[inner])
    phases = max(1, min(_LANES_AT_ONCE // rows_at_once, shape[inner] // width))
    kind = AMDRotatingSharedEncodingAttr if is_boxed else SwizzledSharedEncodingAttr
    return MemDescType(shape, element, kind(width, rows_at_once, phases, order), mutable=True)


def to_write(value: SSAValue, operand: DotOperandEncodingAttr) -> Operation | None:
    """What transposes a loaded operand in its lanes; None where it is written as it is."""
    layout, shape = encoding_of(value.type), shape_of(value.type)
    if not isinstance(layout, BlockedEncodingAttr) or not is_box(layout, operand, len(shape)):
        return None
    turned = linear(transposed_in_thread(layout, shape))
    return InThreadTransposeOp(value, TensorType(element_of(value.type), shape, turned))


def bytes_in(memory: MemDescType) -> int:
    """The bytes of local memory."""
    return prod(memory.get_shape()) * getattr(memory.element_type, "bitwidth", 8) // 8
