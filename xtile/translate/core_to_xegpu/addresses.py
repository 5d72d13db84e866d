"""Addresses in global memory as integers, for descriptors and gathers."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xtile.dialects.core.pointers import PointerToIntegerOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.memref import views
from xtile.rewrite.indices import Index
from xtile.translate.core_to_xegpu.lowering import INDEX, Lowering


def address_of(lowering: Lowering, root: SSAValue, offset: Index, size: int) -> SSAValue:
    """The address of an element as an i64.

    Args:
        lowering: Where to emit.
        root: The memref whose memory it is.
        offset: Elements from the first element of the memory.
        size: Bytes of an element.
    """
    base = lowering.shared(("address", root), (root,), lambda: _base(lowering, root))
    bytes_ = lowering.multiply(offset, size)
    if bytes_ == 0:
        return base
    distance = lowering.as_i64(lowering.as_value(bytes_))
    return lowering.shared(
        ("address", root, distance),
        (base, distance),
        lambda: lowering.emit(arith.AddiOp(base, distance)).result,
    )


def _base(lowering: Lowering, root: SSAValue) -> SSAValue:
    owner = root.owner
    if isinstance(owner, ViewOp):
        # The memory of a view may begin long before the pointer.
        address = PointerToIntegerOp.build(operands=[owner.pointer], result_types=[i64])
        return lowering.emit(address).result
    pointer = views.ExtractAlignedPointerAsIndexOp.build(operands=[root], result_types=[INDEX])
    return lowering.as_i64(lowering.emit(pointer).results[0])
