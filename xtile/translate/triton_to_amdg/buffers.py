"""Which accesses are buffer operations: a pointer, and offsets of 32 bits that the chip checks.

Offsets in bytes are counted without a sign and lie below 2 GB. That is known in two ways:

- Their bounds say so, whatever the pointer is.
- The pointer is an argument with `tt.pointer_range = 32`, which promises that all memory accessed
  through it begins there and ends within 2 GB; then it is so for all elements that are accessed,
  and of others, which the mask leaves out, nothing is asked. The same holds for a pointer into
  such memory if what moved it and the offsets are not negative.

Source: Triton 3.9, `third_party/amd`, `ConvertToBufferOps.cpp`; AMD, "CDNA3 Instruction Set
Architecture" (buffer resources).
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.triton.amdg.offsets import MOST_BYTES, bounds_of
from xtile.dialects.triton.amdg.ops import (
    BufferAtomicRMWOp,
    BufferLoadOp,
    BufferStoreOp,
)
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr
from xtile.dialects.triton.operation import element_of, shape_of, with_element
from xtile.dialects.triton.tt.enumerations import MemSemantic, MemSyncScope, RMWOp, member
from xtile.dialects.triton.tt.ops import AddPtrOp, AtomicRMWOp, LoadOp, SplatOp, StoreOp
from xtile.dialects.triton.tt.types import PointerType
from xtile.targets.target import Target
from xtile.translate.triton_to_amdg.blocked import bytes_of, elements_at_once
from xtile.translate.triton_to_amdg.choice import Choice, is_zero
from xtile.translate.triton_to_amdg.lowering import Lowering
from xtile.translate.triton_to_amdg.pointers import is_in_reach

Layout = DistributedEncodingAttr

_WITH_ATOMICS = frozenset({"gfx942", "gfx950"})
"""The chips whose buffer atomics Triton knows."""


def as_buffer(operation: Operation, layout: Layout, lowering: Lowering) -> Operation | None:
    """The buffer operation that an access is; None, with a remark, where it is none."""
    reason = _reason_against(operation, lowering)
    if reason is not None:
        lowering.remark(f"{operation.name} is no buffer operation: {reason}")
        return None
    address: Any = operation.operands[0].owner
    splat: Any = address.ptr.owner
    base = lowering.value(splat.src)
    offsets = _narrow(lowering.in_layout(address.offset, layout), lowering)
    count = contiguity(operation.operands[0], layout, lowering.choice)
    given = operation.operands[1:]
    if isinstance(operation, LoadOp) and operation.other is not None and is_zero(operation.other):
        # Buffers give that by themselves.
        given = given[:1]
    others = lowering.all_in(given, layout)
    match operation:
        case LoadOp():
            policy = operation.cache_policy
            named = None if policy.is_default else policy
            return BufferLoadOp(base, offsets, *others, policy=named, contiguity=count)
        case StoreOp():
            policy = operation.cache_policy
            named = None if policy.is_default else policy
            value, *mask = others
            return BufferStoreOp(value, base, offsets, *mask, policy=named, contiguity=count)
        case AtomicRMWOp():
            return _atomic(operation, base, offsets, others)
        case _:
            return None


def _atomic(
    operation: AtomicRMWOp, base: SSAValue, offsets: SSAValue, others: list[SSAValue]
) -> Operation:
    value, *mask = others
    return BufferAtomicRMWOp(
        member(RMWOp, operation.atomic_rmw_op, RMWOp.ADD),
        base,
        offsets,
        value,
        *mask,
        sem=member(MemSemantic, operation.sem, MemSemantic.ACQ_REL),
        scope=member(MemSyncScope, operation.scope, MemSyncScope.GPU),
    )


def _narrow(offsets: SSAValue, lowering: Lowering) -> SSAValue:
    """Offsets in 32 bits, which have all that is needed of them."""
    if element_of(offsets.type) == i32:
        return offsets
    type_: Any = with_element(offsets.type, i32)
    kind = arith.TruncIOp if element_of(offsets.type) == i64 else arith.ExtSIOp
    return lowering.shared(
        ("narrow", offsets), [offsets], lambda: lowering.emit(kind(offsets, type_)).result
    )


def _reason_against(operation: Operation, lowering: Lowering) -> str | None:
    """Why an access is no buffer operation; None where it is one."""
    pointers = operation.operands[0]
    address = pointers.owner
    splat = address.ptr.owner if isinstance(address, AddPtrOp) else None
    if not isinstance(address, AddPtrOp) or not isinstance(splat, SplatOp):
        return "its pointers are not one pointer with offsets"
    return _reason_of_kind(operation, lowering.chip) or _reason_of_range(
        splat.src, address.offset, operation, lowering.choice
    )


def _reason_of_kind(operation: Operation, chip: Target) -> str | None:
    if isinstance(operation, LoadOp):
        volatile = operation.isVolatile
        is_volatile = volatile is not None and volatile.value.data != 0
        return "it is volatile" if is_volatile else None
    if isinstance(operation, StoreOp):
        return None
    if not isinstance(operation, AtomicRMWOp):
        return f"there is none like {operation.name}"
    if chip.name not in _WITH_ATOMICS:
        return f"Triton has no atomic buffer operations for {chip.name}"
    update = member(RMWOp, operation.atomic_rmw_op, RMWOp.ADD)
    if member(MemSyncScope, operation.scope, MemSyncScope.GPU) is MemSyncScope.SYS:
        return "its scope is the system"
    element = element_of(operation.operands[1].type)
    bits = getattr(element, "bitwidth", 0)
    if bits < 32:
        return f"there is no atomic buffer operation of {element} alone"
    if update is RMWOp.EXCH and not isinstance(element, IntegerType):
        return f"there is no exchange of {element}"
    return None


def _reason_of_range(
    base: SSAValue, offsets: SSAValue, operation: Operation, choice: Choice
) -> str | None:
    bounds = choice.facts.bounds
    if is_in_reach(offsets, operation.operands[0].type, bounds):
        return None
    moved: list[SSAValue] = []
    while isinstance(base.owner, AddPtrOp):
        moved.append(base.owner.offset)
        base = base.owner.ptr
    if not choice.is_small(base):
        low, high = bounds.of(offsets)
        return (
            f"its offsets are only known to be {low} to {high} elements, and its memory is not "
            "promised to end within 2 GB, as tt.pointer_range = 32 does"
        )
    if contradicts(offsets, operation.operands[0].type):
        return "its offsets reach beyond 2 GB"
    if moved and not all(map(bounds.is_not_negative, (*moved, offsets))):
        return "its pointer was moved, and its offsets may be negative"
    return None


def contradicts(offsets: SSAValue, pointers: Attribute) -> bool:
    """Whether some offsets certainly are not within 2 GB, whatever is promised."""
    found = bounds_of(offsets)
    pointee = element_of(pointers)
    assert isinstance(pointee, PointerType)
    size = bytes_of(pointee)
    return found is not None and (found.low < 0 or (found.high + 1) * size > MOST_BYTES)


def contiguity(pointers: SSAValue, layout: Layout, choice: Choice) -> int:
    """How many elements that a lane holds in a row are certainly next to each other."""
    shape = shape_of(pointers.type)
    axes = choice.facts.of(pointers)
    fast = max(range(len(shape)), key=lambda d: (axes[d].contiguity, d))
    held = 1
    for image in layout.layout(shape).images("register"):
        wanted = tuple(held if d == fast else 0 for d in range(len(shape)))
        if image != wanted:
            break
        held *= 2
    return min(held, elements_at_once(pointers, fast, choice.facts))
