"""Atomic accesses and updates of memory.

What there is no instruction for is a loop of compare-and-swap, elements of 8 bits as part of their
word.

Source: Triton 3.9, `TritonOps.td`; docs/semantics.md, 7, "Memory".
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import Float16Type, Float32Type, Float64Type, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core import atomics, scattered
from xtile.dialects.core.attributes import MemoryOrder
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.memory_orders import RELAXED, Ordering, ordering_of
from xtile.dialects.triton.tt import ops as tt
from xtile.dialects.triton.tt.enumerations import MemSemantic, MemSyncScope, RMWOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.core_to_triton.memory import store
from xtile.translate.tiles.accesses import pointer_to, pointers_of
from xtile.translate.tiles.casts import width_of
from xtile.translate.tiles.combining import combine
from xtile.translate.tiles.reductions import holds_anywhere, reduce
from xtile.translate.tiles.types import shape_of
from xtile.translate.tiles.updates import kept, update_of
from xtile.translate.tiles.words import Word, have_equal_bits, word_of

_OF_INTEGERS = {
    "addi": RMWOp.ADD,
    "andi": RMWOp.AND,
    "maxs": RMWOp.MAX,
    "maxu": RMWOp.UMAX,
    "mins": RMWOp.MIN,
    "minu": RMWOp.UMIN,
    "ori": RMWOp.OR,
    "xori": RMWOp.XOR,
}
"""The updates of integers of 32 and 64 bits that there are instructions for."""

_WIDTHS = (32, 64)
"""The bits of elements that `tt.atomic_rmw` updates; f16 is added, too."""

_LEAST = 16
"""The bits of the smallest elements that `tt.atomic_cas` takes, of 16, 32 and 64."""


def _mode(kind: str, element: Attribute) -> RMWOp | None:
    """The instruction of an update; None if there is none that all releases and chips have."""
    if kind == "assign":
        return RMWOp.EXCH if width_of(element) in _WIDTHS else None
    if isa(element, IntegerType):
        return _OF_INTEGERS.get(kind) if element.width.data in _WIDTHS else None
    is_added = isinstance(element, Float16Type | Float32Type | Float64Type)
    return RMWOp.FADD if kind == "addf" and is_added else None


def _said(how: Ordering) -> dict[str, Any]:
    """The arguments of an operation that say what it orders, and for whom."""
    semantic, scope = how.words(MemSemantic, MemSyncScope)
    return {"sem": semantic, "scope": scope}


def update(
    lowering: Lowering,
    kind: str,
    pointers: SSAValue,
    value: SSAValue,
    mask: SSAValue | None,
    is_used: bool,
    how: Ordering,
) -> SSAValue | None:
    """Updates elements atomically.

    Args:
        lowering: Where to emit.
        kind: How, such as `addf`.
        pointers: Points to the elements.
        value: The operands.
        mask: Which elements are updated; None: all.
        is_used: Whether anybody looks at what they were before.
        how: What else is ordered, and for whom.

    Returns:
        What the elements were before, where the mask holds; None if nobody looks at it.
    """
    mode = _mode(kind, lowering.element(value))
    if mode is not None:
        made = tt.AtomicRMWOp(mode, pointers, value, mask, **_said(how))
        return lowering.emit(made).results[0]
    if kind == "assign" and not is_used and how == RELAXED:
        store(lowering, pointers, value, mask)
        return None

    def change(old: SSAValue) -> SSAValue:
        return value if kind == "assign" else combine(lowering, kind, old, value)

    return _swapped(lowering, change, pointers, value, mask, how)


# --- loops of compare-and-swap ---


def _swapped(
    lowering: Lowering,
    change: Callable[[SSAValue], SSAValue],
    pointers: SSAValue,
    value: SSAValue,
    mask: SSAValue | None,
    how: Ordering,
) -> SSAValue:
    """Tries to replace elements until nobody else did meanwhile.

    Args:
        lowering: Where to emit.
        change: What elements become.
        pointers: Points to the elements.
        value: The operands, which have the elements' type.
        mask: Which elements are updated; None: all.
        how: What the exchange orders, and for whom.

    Returns:
        What the elements were before, where the mask holds.
    """
    if mask is None:
        everywhere = lowering.constant(1, lowering.tile(i1, lowering.shape(value)))
        return _exchanged(lowering, change, pointers, value, everywhere, how)

    def exchange() -> SSAValue:
        targets = _only_valid(lowering, pointers, mask)
        return _exchanged(lowering, change, targets, value, mask, how)

    def nothing() -> SSAValue:
        return lowering.like(0, value)

    return _chosen(lowering, holds_anywhere(lowering, mask), exchange, nothing)


def _chosen(
    lowering: Lowering,
    condition: SSAValue,
    then: Callable[[], SSAValue],
    otherwise: Callable[[], SSAValue],
) -> SSAValue:
    first, second = Block(), Block()
    with lowering.at_end_of(first):
        value = then()
        lowering.emit(scf.YieldOp(value))
    with lowering.at_end_of(second):
        lowering.emit(scf.YieldOp(otherwise()))
    made = scf.IfOp(condition, [value.type], Region(first), Region(second))
    return lowering.emit(made).results[0]


def _only_valid(lowering: Lowering, pointers: SSAValue, mask: SSAValue) -> SSAValue:
    """The pointers, and instead of those that a mask leaves out one of the others.

    `tt.atomic_cas` has no mask; elements that are left out are compared and never changed.
    """
    shape = lowering.shape(pointers)
    if not shape:
        return pointers
    address = lowering.address(pointers)
    chosen = lowering.select(mask, address, lowering.like(0, address))
    some = reduce(lowering, "maxui", lowering.reshape(chosen, (prod(shape),)), 0)
    valid = lowering.select(mask, address, lowering.spread(some, shape))
    return lowering.emit(tt.IntToPtrOp(valid, pointers.type)).results[0]


def _exchanged(
    lowering: Lowering,
    change: Callable[[SSAValue], SSAValue],
    pointers: SSAValue,
    value: SSAValue,
    mask: SSAValue,
    how: Ordering,
) -> SSAValue:
    """The loop; all pointers are valid, and where the mask is false nothing changes."""
    word = word_of(lowering, pointers, value, _LEAST)
    first = _read(lowering, word, how._replace(order=MemoryOrder.RELAXED))
    types = [mask.type, first.type]
    before, after = Block(arg_types=types), Block(arg_types=types)
    with lowering.at_end_of(before):
        left, known = before.args
        changed = word.with_element(known, change(word.element(known)))
        new = lowering.select(left, changed, known)
        found = _swap(lowering, word.pointers, known, new, how)
        failed = lowering.arith("andi", left, lowering.cmpi("ne", found, known))
        goes_on = holds_anywhere(lowering, failed)
        lowering.emit(scf.ConditionOp(goes_on, failed, lowering.select(left, found, known)))
    with lowering.at_end_of(after):
        lowering.emit(scf.YieldOp(*after.args))
    loop = scf.WhileOp([mask, first], types, Region(before), Region(after))
    return word.element(lowering.emit(loop).results[1])


def _read(lowering: Lowering, word: Word, how: Ordering) -> SSAValue:
    """What words are, read in one step, as others update them meanwhile.

    It is an update that changes nothing: Triton 3.4 to 3.8 have no atomic loads.
    """
    zero = lowering.constant(0, word.type)
    if width_of(lowering.element(zero)) not in _WIDTHS:
        return _swap(lowering, word.pointers, zero, zero, how)
    made = tt.AtomicRMWOp(RMWOp.OR, word.pointers, zero, **_said(how))
    return lowering.emit(made).results[0]


def _swap(
    lowering: Lowering, pointers: SSAValue, expected: SSAValue, new: SSAValue, how: Ordering
) -> SSAValue:
    swap = tt.AtomicCASOp(pointers, expected, new, **_said(how))
    return lowering.emit(swap).results[0]


# --- rules ---


def _define(
    operation: Operation, lowering: Lowering, old: SSAValue | None, mask: SSAValue | None
) -> None:
    (result,) = operation.results
    if old is not None and result.uses:
        lowering.define(result, kept(lowering, old, mask))


def _atomic_rmw(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    kind = AtomicRMWKind(cast(Any, operation.properties["kind"]).value.data).name
    pointer = pointer_to(lowering, lowering.descriptor(target), lowering.numbers(indices))
    is_used = bool(operation.results[0].uses)
    number, how = lowering.value(value), ordering_of(operation)
    old = update(lowering, kind, pointer, number, None, is_used, how)
    _define(operation, lowering, old, None)


def _atomic_update(operation: AtomicUpdateOp, lowering: Lowering) -> None:
    pointers, mask = update_of(operation, lowering)
    kind, value = str(operation.kind.data.value), lowering.value(operation.value)
    is_used, how = bool(operation.results[0].uses), ordering_of(operation)
    old = update(lowering, kind, pointers, value, mask, is_used, how)
    _define(operation, lowering, old, mask)


def _rmw_elements(operation: atomics.AtomicRMWOp, lowering: Lowering) -> None:
    pointers = pointers_of(lowering, operation, shape_of(operation.value.type))
    mask = lowering.optional_value(operation.mask)
    value, kind = lowering.value(operation.value), kind_of(operation.kind).name
    is_used, how = bool(operation.result.uses), ordering_of(operation)
    old = update(lowering, kind, pointers, value, mask, is_used, how)
    _define(operation, lowering, old, mask)


def _compare_and_swap(operation: atomics.AtomicCompareAndSwapOp, lowering: Lowering) -> None:
    pointers = pointers_of(lowering, operation, shape_of(operation.value.type))
    mask = lowering.optional_value(operation.mask)
    expected, value = lowering.values((operation.expected, operation.value))
    how = ordering_of(operation)
    if mask is None and width_of(lowering.element(value)) >= _LEAST:
        word = word_of(lowering, pointers, value, _LEAST)
        bits, new = (word.with_element(expected, each) for each in (expected, value))
        old = word.element(_swap(lowering, word.pointers, bits, new, how))
    else:

        def change(old: SSAValue) -> SSAValue:
            return lowering.select(have_equal_bits(lowering, old, expected), value, old)

        old = _swapped(lowering, change, pointers, value, mask, how)
    _define(operation, lowering, old, mask)


# --- loads and stores ---


def load_atomically(
    operation: scattered.GatherLoadOp, lowering: Lowering, pointers: SSAValue
) -> SSAValue:
    """An atomic load, which is an update that changes nothing: Triton 3.4 to 3.8 have no other."""
    type_, shape = operation.result.type, lowering.shape(pointers)
    element = lowering.element_of(type_)
    if width_of(element) not in _WIDTHS:
        raise lowering.error(f"atomic loads are of 32 or 64 bits in Triton, not of {element}")
    mask = lowering.optional_value(operation.mask)
    bits = IntegerType(width_of(element))
    zero = lowering.constant(0, lowering.tile(bits, shape))
    targets = lowering.pointer_cast(pointers, bits)
    made = tt.AtomicRMWOp(RMWOp.OR, targets, zero, mask, **_said(ordering_of(operation)))
    loaded = lowering.bitcast(lowering.emit(made).results[0], element)
    if mask is None or operation.padding is None:
        return loaded
    return lowering.select(mask, loaded, lowering.value(operation.padding))


def store_atomically(
    operation: scattered.ScatterStoreOp, lowering: Lowering, pointers: SSAValue
) -> None:
    """An atomic store, which is an exchange of which nobody sees the result."""
    value, mask = lowering.value(operation.value), lowering.optional_value(operation.mask)
    element = lowering.element(value)
    if width_of(element) not in _WIDTHS:
        raise lowering.error(f"atomic stores are of 32 or 64 bits in Triton, not of {element}")
    how = _said(ordering_of(operation))
    lowering.emit(tt.AtomicRMWOp(RMWOp.EXCH, pointers, value, mask, **how))


RULES: dict[str, Rule] = {
    "core.atomic_compare_and_swap": _compare_and_swap,
    "core.atomic_rmw": _rmw_elements,
    "core.atomic_update": _atomic_update,
    "memref.atomic_rmw": _atomic_rmw,
}
"""The rule of each operation, by name."""
