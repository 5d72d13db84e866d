"""Memory through pointers: accesses and atomic updates.

Source: Triton 3.9, `TritonOps.td`; docs/core-form.md, "Pointers", "Gathers and scatters", "Atomic
updates".
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerAddOp,
    PointerCastOp,
    PointerToIntegerOp,
    pointer_of,
)
from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.memory_orders import Ordering
from xtile.dialects.triton.amdg.ops import MaskedLoadOp, MaskedStoreOp
from xtile.dialects.triton.tt.enumerations import RMWOp
from xtile.dialects.triton.tt.ops import (
    AddPtrOp,
    AtomicCASOp,
    AtomicLoadOp,
    AtomicPollOp,
    AtomicStoreOp,
    LoadOp,
    StoreOp,
)
from xtile.dialects.triton.tt.ops import (
    AtomicRMWOp as TritonAtomicRMWOp,
)
from xtile.dialects.triton.tt.ops.atomics import AtomicOperation
from xtile.dialects.triton.tt.types import PointerType
from xtile.rewrite.rebuilder import Rule
from xtile.translate.triton_to_core.blocks import BlockPointer, load_block, store_block
from xtile.translate.triton_to_core.raising import Raising

KINDS = {
    RMWOp.AND: AtomicRMWKind.andi,
    RMWOp.OR: AtomicRMWKind.ori,
    RMWOp.XOR: AtomicRMWKind.xori,
    RMWOp.ADD: AtomicRMWKind.addi,
    RMWOp.FADD: AtomicRMWKind.addf,
    RMWOp.MAX: AtomicRMWKind.maxs,
    RMWOp.MIN: AtomicRMWKind.mins,
    RMWOp.UMAX: AtomicRMWKind.maxu,
    RMWOp.UMIN: AtomicRMWKind.minu,
    RMWOp.EXCH: AtomicRMWKind.assign,
}
"""What each update is called in the core form."""


def _ordering(operation: AtomicOperation) -> dict[str, Attribute]:
    return Ordering.said(operation.semantic, operation.sync_scope).properties


# --- pointers ---


def _add(operation: AddPtrOp, raising: Raising) -> None:
    pointers, offsets = raising.values((operation.ptr, operation.offset))
    made = raising.compute(PointerAddOp, [pointers, offsets], pointers.type)
    raising.define(operation.result, raising.promised(made, operation.attributes))


def _cast(kind: type[IRDLOperation]) -> Rule:
    def rule(operation: Operation, raising: Raising) -> None:
        (source,), (result,) = raising.values(operation.operands), operation.results
        raising.define(result, raising.compute(kind, [source], raising.type(result.type)))

    return rule


# --- accesses ---


def _load(operation: LoadOp, raising: Raising) -> None:
    pointer = raising.meaning(operation.ptr)
    if isinstance(pointer, BlockPointer):
        raising.define(operation.result, load_block(operation, pointer, raising))
        return
    mask, other = raising.optional(operation.mask), raising.optional(operation.other)
    type_ = raising.type(operation.result.type)
    made = raising.compute(GatherLoadOp, [pointer, [], mask, other], type_)
    raising.define(operation.result, made)


def _store(operation: StoreOp, raising: Raising) -> None:
    pointer, value = raising.meaning(operation.ptr), raising.value(operation.value)
    if isinstance(pointer, BlockPointer):
        store_block(operation, pointer, value, raising)
        return
    mask = raising.optional(operation.mask)
    raising.emit(ScatterStoreOp.build(operands=[value, pointer, [], mask]))


# --- accesses of a lane on a condition ---


def _cast_pointer(operation: Operation, raising: Raising) -> None:
    """A pointer of LLVM is the pointer that it was made of.

    Raises:
        DiagnosticError: Something else is cast.
    """
    (source,), (result,) = operation.operands, operation.results
    if not isinstance(source.type, PointerType) or result.type.name != "llvm.ptr":
        raise raising.error("only pointers become pointers of LLVM here")
    raising.define(result, raising.value(source))


def _to(raising: Raising, pointer: SSAValue, element: Attribute) -> SSAValue:
    """A pointer to elements of a type."""
    given = pointer_of(pointer.type)
    assert given is not None
    if given.pointee_type == element:
        return pointer
    type_ = CorePointerType(element, given.memory_space)
    return raising.compute(PointerCastOp, [pointer], type_)


def _masked_load(operation: MaskedLoadOp, raising: Raising) -> None:
    _refuse_vector(operation.result.type, raising)
    mask, other = raising.values((operation.mask, operation.falseVal))
    pointer = _to(raising, raising.value(operation.ptr), other.type)
    made = raising.compute(GatherLoadOp, [pointer, [], [mask], [other]], other.type)
    raising.define(operation.result, made)


def _masked_store(operation: MaskedStoreOp, raising: Raising) -> None:
    _refuse_vector(operation.value.type, raising)
    value, mask = raising.values((operation.value, operation.mask))
    pointer = _to(raising, raising.value(operation.ptr), value.type)
    raising.emit(ScatterStoreOp.build(operands=[value, pointer, [], [mask]]))


def _refuse_vector(type_: Attribute, raising: Raising) -> None:
    if isinstance(type_, VectorType):
        raise raising.error(f"{type_} of one lane has no counterpart here; access each element")


# --- atomic accesses ---


def _update(operation: TritonAtomicRMWOp, raising: Raising) -> None:
    value, pointers = raising.values((operation.val, operation.ptr))
    properties = {"kind": kind_attribute(KINDS[operation.update]), **_ordering(operation)}
    operands = [value, pointers, [], raising.optional(operation.mask)]
    raising.define(operation.result, raising.compute(AtomicRMWOp, operands, value.type, properties))


def _compare_and_swap(operation: AtomicCASOp, raising: Raising) -> None:
    expected, value, pointers = raising.values((operation.cmp, operation.val, operation.ptr))
    made = raising.compute(
        AtomicCompareAndSwapOp,
        [expected, value, pointers, [], []],
        value.type,
        _ordering(operation),
    )
    raising.define(operation.result, made)


def _atomic_load(operation: AtomicLoadOp, raising: Raising) -> None:
    pointers, mask = raising.value(operation.ptr), raising.optional(operation.mask)
    type_ = raising.type(operation.result.type)
    made = raising.compute(GatherLoadOp, [pointers, [], mask, []], type_, _ordering(operation))
    raising.define(operation.result, made)


def _atomic_store(operation: AtomicStoreOp, raising: Raising) -> None:
    value, pointers = raising.values((operation.value, operation.ptr))
    operands = [value, pointers, [], raising.optional(operation.mask)]
    raising.emit(ScatterStoreOp.build(operands=operands, properties=_ordering(operation)))


def _poll(operation: AtomicPollOp, raising: Raising) -> None:
    """A loop that loads until all elements are what is expected."""
    if operation.timeout is not None:
        raise raising.error(
            "tt.atomic_poll with a timeout cannot be translated to the core form, which has no "
            "clock; wait without one"
        )
    pointers, expected = raising.values((operation.ptr, operation.expected))
    before, after = Block(), Block()
    with raising.at_end_of(before):
        operands: list[Any] = [pointers, [], [], []]
        found = raising.compute(GatherLoadOp, operands, expected.type, _ordering(operation))
        differs = raising.compare("ne", found, expected)
        raising.emit(scf.ConditionOp(raising.combined(differs, CombiningKindFlag.OR)))
    with raising.at_end_of(after):
        raising.emit(scf.YieldOp())
    raising.emit(scf.WhileOp([], [], Region(before), Region(after)))
    type_ = raising.type(operation.result.type)
    raising.define(operation.result, raising.constant(1, type_))


def _forget(operation: Operation, raising: Raising) -> None:
    """What tells of other launches, which are over when this one begins."""


RULES: dict[str, Rule] = {
    "amdg.masked_load": _masked_load,
    "amdg.masked_store": _masked_store,
    "builtin.unrealized_conversion_cast": _cast_pointer,
    "tt.addptr": _add,
    "tt.atomic_cas": _compare_and_swap,
    "tt.atomic_load": _atomic_load,
    "tt.atomic_poll": _poll,
    "tt.atomic_rmw": _update,
    "tt.atomic_store": _atomic_store,
    "tt.grid_dependency_launch_dependents": _forget,
    "tt.grid_dependency_wait": _forget,
    "tt.int_to_ptr": _cast(IntegerToPointerOp),
    "tt.load": _load,
    "tt.ptr_to_int": _cast(PointerToIntegerOp),
    "tt.store": _store,
}
"""The rule of each operation, by name."""
