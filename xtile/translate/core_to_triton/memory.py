"""Reads and writes of memory: tiles of pointers with masks.

Source: Triton 3.9, `TritonOps.td`; docs/core-form.md, "Gathers and scatters".
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import SymbolRefAttr, i1, i8
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.triton.operation import with_element
from xtile.dialects.triton.tt import ops as tt
from xtile.dialects.triton.tt.types import PointerType
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.lowering import TARGET, Lowering
from xtile.translate.tiles import pointer_tiles
from xtile.translate.tiles.accesses import (
    Access,
    access_of,
    mask_of,
    memref_of,
    parts_of,
    pointer_to,
    repeated,
    whole,
)
from xtile.translate.tiles.descriptors import Complex, Group
from xtile.translate.tiles.types import ADDRESS, is_of_pointers, shape_of
from xtile.translate.tiles.unspecified import leaves_out

# --- what memory holds ---


def _bytes_of(lowering: Lowering, pointers: SSAValue) -> SSAValue:
    """Pointers to truth values as pointers to bytes, which memory has of them."""
    element = lowering.element(pointers)
    assert isinstance(element, PointerType)
    if element.pointee != i1:
        return pointers
    return lowering.pure(tt.BitcastOp, pointers, with_element(pointers.type, PointerType(i8)))


def load(
    lowering: Lowering,
    pointers: SSAValue,
    type_: Attribute,
    mask: SSAValue | None = None,
    other: SSAValue | None = None,
) -> SSAValue:
    """Reads numbers of a type of the source.

    Args:
        lowering: Where to emit.
        pointers: Points to the numbers.
        type_: The type of the source.
        mask: Which are read; None: all.
        other: What the others are; None: anything.
    """
    pointers = _bytes_of(lowering, pointers)
    if other is not None:
        other = _in_memory(lowering, other)
    value = lowering.emit(tt.LoadOp(pointers, mask, other)).results[0]
    if lowering.element_of(type_) == i1:
        return lowering.cmpi("ne", value, lowering.like(0, value))
    if is_of_pointers(type_):
        element = lowering.element_of(type_)
        return lowering.emit(tt.IntToPtrOp(value, with_element(value.type, element))).results[0]
    return value


def _in_memory(lowering: Lowering, value: SSAValue) -> SSAValue:
    """What memory holds of a value: truth values are bytes and pointers integers."""
    element = lowering.element(value)
    if element == i1:
        return lowering.resize(value, i8, is_signed=False)
    if isinstance(element, PointerType):
        return lowering.emit(tt.PtrToIntOp(value, with_element(value.type, ADDRESS))).results[0]
    return value


def store(
    lowering: Lowering, pointers: SSAValue, value: SSAValue, mask: SSAValue | None = None
) -> None:
    """Writes numbers where the mask holds."""
    lowering.emit(tt.StoreOp(_bytes_of(lowering, pointers), _in_memory(lowering, value), mask))


# --- tiles ---


def _read(operation: TransferReadOp, lowering: Lowering) -> None:
    access = access_of(operation, operation.result, lowering)
    pointers = pointer_tiles.pointers(lowering, access)
    mask = lowering.both(mask_of(operation, lowering), pointer_tiles.is_inside(lowering, access))
    other: SSAValue | None = None
    if mask is not None and not leaves_out(operation.padding, operation.result):
        other = lowering.spread(lowering.value(operation.padding), access.shape)
    value = load(lowering, pointers, operation.result.type, mask, other)
    lowering.define(operation.result, repeated(operation, value, lowering))


def _write(operation: TransferWriteOp, lowering: Lowering) -> None:
    access = access_of(operation, operation.vector, lowering)
    mask = mask_of(operation, lowering)
    _store_tile(lowering, access, mask, lowering.value(operation.vector))


def _store_tile(lowering: Lowering, access: Access, mask: SSAValue | None, value: SSAValue) -> None:
    pointers = pointer_tiles.pointers(lowering, access)
    store(lowering, pointers, value, lowering.both(mask, pointer_tiles.is_inside(lowering, access)))


def _load_vector(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    access = whole(lowering.descriptor(source), lowering.numbers(indices), shape_of(result.type))
    pointers = pointer_tiles.pointers(lowering, access)
    lowering.define(result, load(lowering, pointers, result.type))


def _store_vector(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    starts, shape = lowering.numbers(indices), shape_of(value.type)
    access = whole(lowering.descriptor(target), starts, shape)
    _store_tile(lowering, access, None, lowering.value(value))


# --- single elements ---


def _load(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    numbers, meaning = lowering.numbers(indices), lowering.meaning(source)
    if isinstance(meaning, Group):
        lowering.define(result, memref_of(lowering, meaning, numbers[0]))
        return
    memory = lowering.descriptor(source)
    values = [
        load(lowering, pointer_to(lowering, memory, numbers, part), memory.element)
        for part in parts_of(memory)
    ]
    lowering.define(result, Complex(*values) if len(values) > 1 else values[0])


def _store(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    memory, numbers = lowering.descriptor(target), lowering.numbers(indices)
    meaning = lowering.meaning(value)
    parts = (meaning.real, meaning.imaginary) if isinstance(meaning, Complex) else (meaning,)
    for part, number in enumerate(parts):
        store(lowering, pointer_to(lowering, memory, numbers, part), number)


def _leave_out(operation: Operation, lowering: Lowering) -> None:
    """A variable, which may be one of the host; a kernel that uses it is refused there."""


def _get_global(operation: Operation, lowering: Lowering) -> None:
    name = cast("SymbolRefAttr", operation.properties["name"]).string_value()
    raise lowering.error(
        f"@{name} cannot be translated to {TARGET}, which has no variables in memory; give the "
        "kernel a memref for it"
    )


def _cast(operation: Operation, lowering: Lowering) -> None:
    (source,), (result,) = lowering.values(operation.operands), operation.results
    type_ = lowering.tile_of(result.type)
    if source.type != type_:
        source = lowering.make(_CASTS[operation.name], type_, source)
    lowering.define(result, source)


_CASTS = {
    "core.integer_to_pointer": tt.IntToPtrOp,
    "core.pointer_cast": tt.BitcastOp,
    "core.pointer_to_integer": tt.PtrToIntOp,
}

RULES: dict[str, Rule] = {
    **dict.fromkeys(_CASTS, _cast),
    "memref.get_global": _get_global,
    "memref.global": _leave_out,
    "memref.load": _load,
    "memref.store": _store,
    "vector.load": _load_vector,
    "vector.store": _store_vector,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The rule of each operation, by name."""
