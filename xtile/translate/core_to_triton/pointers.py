"""Pointers, memrefs that are made of them, and what is assumed of numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation

from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.pointers import PointerAddOp, pointer_of
from xtile.dialects.triton.tt import ops as tt
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.tiles.types import parts_per_element


def _pointer_add(operation: PointerAddOp, lowering: Lowering) -> None:
    pointers, offsets = lowering.values((operation.pointers, operation.offsets))
    if lowering.element(offsets) not in (i32, i64):
        offsets = lowering.resize(offsets, i64)
    pointer = pointer_of(operation.pointers.type)
    assert pointer is not None
    parts = parts_per_element(pointer.pointee_type)
    if parts > 1:
        wide = lowering.resize(offsets, i64)
        offsets = lowering.arith("muli", wide, lowering.like(parts, wide))
    lowering.define(operation.result, lowering.offset(pointers, offsets))


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


def _assume(operation: AssumeOp, lowering: Lowering) -> None:
    """Arguments say it (`functions.py`); of other numbers it is known here only."""
    value = lowering.value(operation.value)
    if operation.run is None and operation.divisor > 1:
        lowering.facts.learn_divisor(value, operation.divisor)
    lowering.define(operation.result, value)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_CASTS, _cast),
    "core.assume": _assume,
    "core.pointer_add": _pointer_add,
}
"""The rule of each operation, by name."""
