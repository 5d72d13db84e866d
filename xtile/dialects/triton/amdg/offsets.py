"""What is known of the offsets of buffer operations, and what of them cannot be right.

Source: Triton 3.9, `third_party/amd`, `ConvertToBufferOps.cpp`; AMD, "CDNA3 Instruction Set
Architecture" (buffer resources).
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr
from xtile.dialects.triton.operation import encoding_of
from xtile.dialects.triton.tt.types import PointerType

MOST_BYTES = 2**31
"""The bytes that offsets of a buffer stay below."""


class Bounds(NamedTuple):
    """The least and the greatest number that a value may be."""

    low: int
    high: int


_SAME_NUMBERS = ("tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "ttg.convert_layout")
_ARITHMETIC = ("arith.addi", "arith.muli")


def bounds_of(value: SSAValue, depth: int = 8) -> Bounds | None:
    """The bounds of an integer, or of all elements of a tensor; None where nothing is known."""
    operation = value.owner
    if not isinstance(operation, Operation) or depth == 0:
        return None
    if operation.name == "arith.constant":
        return _of_constant(operation.properties.get("value"))
    if operation.name == "tt.make_range":
        start, end = operation.properties["start"], operation.properties["end"]
        if isinstance(start, IntegerAttr) and isinstance(end, IntegerAttr):
            return Bounds(start.value.data, end.value.data - 1)
    if operation.name in _SAME_NUMBERS:
        return bounds_of(operation.operands[0], depth - 1)
    if operation.name not in _ARITHMETIC:
        return None
    left = bounds_of(operation.operands[0], depth - 1)
    right = None if left is None else bounds_of(operation.operands[1], depth - 1)
    if left is None or right is None:
        return None
    if operation.name == "arith.addi":
        return Bounds(left.low + right.low, left.high + right.high)
    products = [a * b for a in left for b in right]
    return Bounds(min(products), max(products))


def _of_constant(value: Attribute | None) -> Bounds | None:
    if isinstance(value, IntegerAttr):
        return Bounds(value.value.data, value.value.data)
    if isinstance(value, DenseIntOrFPElementsAttr):
        numbers = [int(number) for number in value.get_values()]
        return Bounds(min(numbers), max(numbers))
    return None


def verify_offsets(pointer: SSAValue, offsets: SSAValue, mask: SSAValue | None) -> None:
    """Checks that no offset is certainly negative or beyond what a buffer holds.

    Raises:
        VerifyException: Some elements are certainly outside, and no mask leaves them out.
    """
    if mask is not None or not isinstance(pointer.type, PointerType):
        return
    bounds = bounds_of(offsets)
    if bounds is None:
        return
    size = max(1, getattr(pointer.type.pointee, "bitwidth", 64) // 8)
    if bounds.low < 0:
        raise VerifyException(
            f"an offset is {bounds.low}; offsets of buffers are not negative, so begin with a "
            "pointer to the first element"
        )
    if (bounds.high + 1) * size > MOST_BYTES:
        raise VerifyException(
            f"an offset is {bounds.high} elements of {size} bytes; a buffer has less than 2^31 "
            "bytes, so use tt.addptr and tt.load or tt.store"
        )


def verify_contiguity(operation: IRDLOperation, offsets: SSAValue, accessed: Attribute) -> None:
    """Checks that one access can take as many elements as `contiguity` says.

    Raises:
        VerifyException: It cannot.
    """
    given = operation.properties.get("contiguity")
    if not isinstance(given, IntegerAttr):
        return
    count = given.value.data
    if count < 1 or count & (count - 1):
        raise VerifyException(f"contiguity is {count}; it must be a power of two")
    layout = encoding_of(accessed)
    if isinstance(layout, BlockedEncodingAttr):
        held = layout.size_per_thread.data[layout.order.data[0]]
        if count > held:
            raise VerifyException(
                f"contiguity is {count}, but a thread holds {held} elements in a row; it is at "
                f"most {held}"
            )
    _verify_rows(offsets, count)


def _verify_rows(offsets: SSAValue, count: int) -> None:
    """Checks that offsets that are all known rise by one within each group of so many."""
    operation = offsets.owner
    value = operation.properties.get("value") if isinstance(operation, Operation) else None
    if count == 1 or not isinstance(value, DenseIntOrFPElementsAttr):
        return
    if not isinstance(offsets.type, TensorType):
        return
    numbers = [int(number) for number in value.get_values()]
    if len(numbers) == 1 or len(set(numbers)) == 1:
        raise VerifyException(
            f"contiguity is {count}, but all offsets are {numbers[0]}; say 1, or leave it out"
        )
