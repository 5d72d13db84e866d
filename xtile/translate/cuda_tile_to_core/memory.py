"""Memory through pointers: accesses, atomic updates, variables; and tokens, which become nothing.

The core form has the order of the text, which is one of those that tokens allow.

Source: CUDA Tile IR specification, "Memory", "Atomics"; docs/core-form.md, "Pointers", "Gathers and
scatters", "Atomic updates".
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerAddOp,
    PointerCastOp,
    PointerToIntegerOp,
)
from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.cuda_tile import enumerations
from xtile.dialects.cuda_tile.attributes import member_of
from xtile.dialects.cuda_tile.enumerations import (
    AtomicRMWMode,
    MemoryOrderingSemantics,
    SymbolVisibility,
)
from xtile.dialects.cuda_tile.ops.atomics import AtomicCASTkoOp, AtomicRMWTkoOp
from xtile.dialects.cuda_tile.ops.global_variables import GetGlobalOp, GlobalOp
from xtile.dialects.cuda_tile.ops.memory import AllocaOp, LoadPtrTkoOp, StorePtrTkoOp
from xtile.dialects.memory_orders import Ordering
from xtile.dialects.memref.allocation import GlobalOp as MemRefGlobalOp
from xtile.dialects.memref.views import ExtractAlignedPointerAsIndexOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.cuda_tile_to_core.raising import Raising

# --- orders ---


def ordering_of(operation: Operation) -> dict[str, Attribute]:
    """The properties that say what an access orders, and for whom; none where it is weak."""
    given = operation.properties
    semantics = member_of(MemoryOrderingSemantics, given["memory_ordering_semantics"])
    if semantics is MemoryOrderingSemantics.WEAK:
        return {}
    scope = member_of(enumerations.MemoryScope, given["memory_scope"])
    return Ordering.said(semantics, scope).properties


# --- pointers ---


def _offset(operation: Operation, raising: Raising) -> None:
    pointers, offsets = raising.values(operation.operands)
    made = raising.compute(PointerAddOp, [pointers, offsets], pointers.type)
    raising.define(operation.results[0], made)


def _cast(kind: type[IRDLOperation]) -> Rule:
    def rule(operation: Operation, raising: Raising) -> None:
        (source,), (result,) = raising.values(operation.operands), operation.results
        type_ = raising.type(result.type)
        made = source if source.type == type_ else raising.compute(kind, [source], type_)
        raising.define(result, made)

    return rule


# --- accesses ---


def _given(value: SSAValue | None) -> list[SSAValue]:
    return [] if value is None else [value]


def _load(operation: LoadPtrTkoOp, raising: Raising) -> None:
    pointers, mask = raising.value(operation.source), raising.optional(operation.mask)
    # Where all elements are loaded, nobody sees the padding.
    padding = None if mask is None else raising.optional(operation.padding_value)
    made = raising.compute(
        GatherLoadOp,
        [pointers, [], _given(mask), _given(padding)],
        raising.type(operation.result.type),
        ordering_of(operation),
    )
    raising.define(operation.result, made)


def _store(operation: StorePtrTkoOp, raising: Raising) -> None:
    value, pointers = raising.values((operation.value, operation.destination))
    mask = raising.optional(operation.mask)
    raising.emit(
        ScatterStoreOp.build(
            operands=[value, pointers, [], _given(mask)], properties=ordering_of(operation)
        )
    )


# --- atomic updates ---

KINDS = {
    AtomicRMWMode.AND: AtomicRMWKind.andi,
    AtomicRMWMode.OR: AtomicRMWKind.ori,
    AtomicRMWMode.XOR: AtomicRMWKind.xori,
    AtomicRMWMode.ADD: AtomicRMWKind.addi,
    AtomicRMWMode.ADDF: AtomicRMWKind.addf,
    AtomicRMWMode.MAX: AtomicRMWKind.maxs,
    AtomicRMWMode.MIN: AtomicRMWKind.mins,
    AtomicRMWMode.UMAX: AtomicRMWKind.maxu,
    AtomicRMWMode.UMIN: AtomicRMWKind.minu,
    AtomicRMWMode.XCHG: AtomicRMWKind.assign,
}
"""What each mode of an update is called in the core form."""


def update(
    raising: Raising,
    operation: Operation,
    value: SSAValue,
    memory: SSAValue,
    indices: list[SSAValue],
    mask: SSAValue | None,
) -> SSAValue:
    """Emits the update that an operation with a mode is; returns what was there before."""
    kind = KINDS[member_of(AtomicRMWMode, operation.properties["mode"])]
    properties = {"kind": kind_attribute(kind), **ordering_of(operation)}
    operands = [value, memory, indices, _given(mask)]
    return raising.compute(AtomicRMWOp, operands, value.type, properties)


def _update(operation: AtomicRMWTkoOp, raising: Raising) -> None:
    value, pointers = raising.values((operation.arg, operation.pointers))
    mask = raising.optional(operation.mask)
    raising.define(operation.result, update(raising, operation, value, pointers, [], mask))


def _compare_and_swap(operation: AtomicCASTkoOp, raising: Raising) -> None:
    """Where the mask is false, the result is what memory is compared with."""
    expected, value, pointers = raising.values((operation.cmp, operation.val, operation.pointers))
    mask = raising.optional(operation.mask)
    found = raising.compute(
        AtomicCompareAndSwapOp,
        [expected, value, pointers, [], _given(mask)],
        value.type,
        ordering_of(operation),
    )
    if mask is not None:
        found = raising.compute(SelectOp, [mask, found, expected], found.type)
    raising.define(operation.result, found)


# --- memory of the kernel and of the module ---


def _pointer_to(raising: Raising, memory: SSAValue) -> SSAValue:
    """The address of a memref's first element."""
    element = cast("MemRefType[Attribute]", memory.type).element_type
    address = raising.compute(ExtractAlignedPointerAsIndexOp, [memory], IndexType())
    number = raising.compute(IndexCastOp, [address], i64)
    return raising.compute(IntegerToPointerOp, [number], CorePointerType.to(element))


def _alloca(operation: AllocaOp, raising: Raising) -> None:
    pointer = cast("CorePointerType", raising.type(operation.result.type))
    type_ = MemRefType(pointer.pointee_type, [operation.num_elem.value.data])
    memory = raising.compute(memref.AllocaOp, [[], []], type_, {"alignment": operation.alignment})
    raising.define(operation.result, _pointer_to(raising, memory))


def _global(operation: GlobalOp, raising: Raising) -> None:
    value: Any = operation.value
    (size,), element = value.type.get_shape(), value.get_element_type()
    properties: dict[str, Attribute] = {
        "sym_name": operation.sym_name,
        "type": MemRefType(element, [size]),
        "initial_value": DenseIntOrFPElementsAttr(TensorType(element, [size]), value.data),
    }
    if operation.symbol_visibility.data is SymbolVisibility.PRIVATE:
        properties["sym_visibility"] = StringAttr("private")
    if operation.constant is not None:
        properties["constant"] = UnitAttr()
    if operation.alignment.value.data:
        properties["alignment"] = IntegerAttr(operation.alignment.value.data, i64)
    raising.emit(MemRefGlobalOp.build(properties=properties))


def _get_global(operation: GetGlobalOp, raising: Raising) -> None:
    name = operation.global_name
    (variable,) = (
        each
        for each in raising.old_module().walk()
        if isinstance(each, GlobalOp) and each.sym_name.data == name.root_reference.data
    )
    value: Any = variable.value
    type_ = MemRefType(value.get_element_type(), value.type.get_shape())
    memory = raising.compute(memref.GetGlobalOp, [], type_, {"name": name})
    raising.define(operation.result, _pointer_to(raising, memory))


# --- tokens ---


def _forget(operation: Operation, raising: Raising) -> None:
    """What only orders accesses: the text does."""


RULES: dict[str, Rule] = {
    "cuda_tile.alloca": _alloca,
    "cuda_tile.atomic_cas_tko": _compare_and_swap,
    "cuda_tile.atomic_rmw_tko": _update,
    "cuda_tile.gdc_launch_dependents_tko": _forget,
    "cuda_tile.gdc_wait_tko": _forget,
    "cuda_tile.get_global": _get_global,
    "cuda_tile.global": _global,
    "cuda_tile.int_to_ptr": _cast(IntegerToPointerOp),
    "cuda_tile.join_tokens": _forget,
    "cuda_tile.load_ptr_tko": _load,
    "cuda_tile.make_token": _forget,
    "cuda_tile.memory_fence_alias_tko": _forget,
    "cuda_tile.offset": _offset,
    "cuda_tile.ptr_to_int": _cast(PointerToIntegerOp),
    "cuda_tile.ptr_to_ptr": _cast(PointerCastOp),
    "cuda_tile.store_ptr_tko": _store,
}
"""The rule of each operation, by name."""
