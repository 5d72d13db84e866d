"""Prints XeGPU in the RFC's form; everything else stays MLIR.

`limits.py` says what the form cannot say; a module is checked by it before it is printed.

Source: RFC, the example of each operation; `print_terms.py` has their types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr
from xdsl.ir import Operation, SSAValue

from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.xegpu.assembly import integers
from xtile.dialects.xegpu.attributes import CachePolicyAttr
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.barriers import AllocNbarrierOp, FenceOp
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.descriptors import CreateDescOp, CreateNdDescOp, UpdateNdOffsetOp
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.rfc.names import (
    BOUNDARY_CHECK,
    MEMORY_SPACES,
    MODE,
    RFC_ATTRIBUTES,
    TRANSPOSE,
    TRANSPOSE_BIT_WIDTH,
    VNNI_AXIS,
)
from xtile.dialects.xegpu.rfc.operations import CreateNbarrierOp, MfenceOp
from xtile.dialects.xegpu.rfc.print_terms import Entry, TermPrinter
from xtile.dialects.xegpu.rfc.verifier import VNNI_BITS
from xtile.dialects.xegpu.types import TensorDescType

_MEMORY_KINDS = {space: kind for kind, space in MEMORY_SPACES.items()}


def print_access(printer: TermPrinter, op: Operation) -> None:
    """Prints loads, stores, prefetches and `update_offset`."""
    types = [operand.type for operand in op.operands]
    entries = [*_order(op), *_hints(op), *_mode(op), *_rest(op)]
    printer.print_operation_text(op.operands, entries, types, op.result_types)


def print_create_nd_tdesc(printer: TermPrinter, op: Operation) -> None:
    """Prints `create_nd_tdesc %base, %row, %column`, or lists in brackets if they have numbers."""
    create = cast("CreateNdDescOp", op)
    lists = [
        (create.offsets, integers(create.const_offsets)),
        (create.shape, integers(create.const_shape)),
        (create.strides, integers(create.const_strides)),
    ]
    check: list[Entry] = [(BOUNDARY_CHECK, "false")] if BOUNDARY_CHECK in op.attributes else []
    entries = [*check, *_mode(op), *_rest(op)]
    if all(number == DYNAMIC_INDEX for _, numbers in lists for number in numbers):
        types = [operand.type for operand in op.operands]
        printer.print_operation_text(op.operands, entries, types, op.result_types)
        return
    printer.print_string(" ")
    printer.print_ssa_value(create.source)
    for position, (values, numbers) in enumerate(lists):
        if numbers:
            printer.print_string(", " if position else "")
            _print_indices(printer, values, numbers)
    printer.print_entries(entries)
    printer.print_types([create.source.type], op.result_types)


def print_update_nd_offset(printer: TermPrinter, op: Operation) -> None:
    """Prints `update_nd_offset %t, %row, %column`, or a list in brackets if it has numbers."""
    update = cast("UpdateNdOffsetOp", op)
    numbers = integers(update.const_offsets)
    if all(number == DYNAMIC_INDEX for number in numbers):
        print_access(printer, op)
        return
    printer.print_string(" ")
    printer.print_ssa_value(update.TensorDesc)
    printer.print_string(", ")
    _print_indices(printer, update.offsets, numbers)
    printer.print_entries([*_mode(op), *_rest(op)])
    printer.print_types([update.TensorDesc.type], op.result_types)


def print_create_tdesc(printer: TermPrinter, op: Operation) -> None:
    """Prints `create_tdesc %base, %offsets {chunk_size_per_lane = 8, mode = vc}`."""
    create = cast("CreateDescOp", op)
    descriptor = cast("TensorDescType", create.TensorDesc.type)
    size = descriptor.chunk_size
    chunk: list[Entry] = [] if size == 1 else [("chunk_size_per_lane", str(size))]
    types = [operand.type for operand in op.operands]
    entries = [*chunk, *_mode(op), *_rest(op)]
    printer.print_operation_text(op.operands, entries, types, op.result_types)


def print_dpas(printer: TermPrinter, op: Operation) -> None:
    """Prints `dpas %a, %b, %c {mode = vc}`."""
    product = cast("DpasOp", op)
    layouts = [product.layout_a, product.layout_b, product.layout_cd]
    given: list[Entry] = [
        (name, layout)
        for name, layout in zip(("layout_a", "layout_b", "layout_cd"), layouts, strict=True)
        if layout is not None
    ]
    is_simt = product.is_for_lane or op.attributes.get(MODE) == StringAttr("simt")
    mode: list[Entry] = [("mode", "simt" if is_simt else "vc")]
    types = [operand.type for operand in op.operands]
    printer.print_operation_text(op.operands, [*given, *mode, *_rest(op)], types, op.result_types)


def print_atomic_rmw(printer: TermPrinter, op: Operation) -> None:
    """Prints `atomic_rmw "addf" %v, %t, %mask {mode = vc}`."""
    atomic = cast("AtomicRMWOp", op)
    printer.print_string(f' "{kind_of(atomic.kind).name}"')
    operands = (atomic.value, atomic.tensorDesc, atomic.mask)
    types = [operand.type for operand in operands]
    printer.print_operation_text(operands, [*_mode(op), *_rest(op)], types, op.result_types)


def print_alloc_nbarrier(printer: TermPrinter, op: Operation) -> None:
    """Prints `alloc_nbarrier 8`."""
    printer.print_string(f" {cast('AllocNbarrierOp', op).nbarrier_num.value.data}")
    printer.print_entries(_rest(op))


def print_init_nbarrier(printer: TermPrinter, op: Operation) -> None:
    """Prints `init_nbarrier %id, %threads : i8, i8 into nbarrier`."""
    types = [operand.type for operand in op.operands]
    printer.print_operation_text(op.operands, _rest(op), types, op.result_types)


def print_nbarrier(printer: TermPrinter, op: Operation) -> None:
    """Prints `nbarrier_wait %b`."""
    printer.print_operation_text(op.operands, _rest(op), [])


def print_fence(printer: TermPrinter, op: Operation) -> None:
    """Prints `fence {scope = "gpu", memory_kind = "global"}`."""
    fence = cast("FenceOp", op)
    space = fence.memory_kind.data.value
    entries: list[Entry] = [
        ("scope", f'"{fence.fence_scope.data.value}"'),
        ("memory_kind", f'"{_MEMORY_KINDS.get(space, space)}"'),
    ]
    printer.print_entries([*entries, *_rest(op)])


def print_compile_hint(printer: TermPrinter, op: Operation) -> None:
    """Prints `compile_hint {hint = schedule_barrier}`."""
    hint = op.properties.get("hint")
    entries: list[Entry] = [("hint", hint.data)] if isinstance(hint, StringAttr) else []
    printer.print_entries([*entries, *_rest(op)])


def print_create_nbarrier(printer: TermPrinter, op: Operation) -> None:
    """Prints `create_nbarrier %id, %role {num_producers = 8 : i8, num_consumers = 8 : i8}`."""
    create = cast("CreateNbarrierOp", op)
    entries: list[Entry] = [
        ("num_producers", create.num_producers),
        ("num_consumers", create.num_consumers),
    ]
    types = [operand.type for operand in op.operands]
    printer.print_operation_text(op.operands, [*entries, *_rest(op)], types, op.result_types)


def print_mfence(printer: TermPrinter, op: Operation) -> None:
    """Prints `mfence {memory_kind = "ugm", fence_op = "none", fence_scope = "local"}`."""
    fence = cast("MfenceOp", op)
    entries: list[Entry] = [
        ("memory_kind", fence.memory_kind),
        ("fence_op", fence.fence_op),
        ("fence_scope", fence.fence_scope),
    ]
    printer.print_entries([*entries, *_rest(op)])


PRINTERS: dict[str, Callable[[TermPrinter, Operation], None]] = {
    "xegpu.alloc_nbarrier": print_alloc_nbarrier,
    "xegpu.atomic_rmw": print_atomic_rmw,
    "xegpu.compile_hint": print_compile_hint,
    "xegpu.create_nbarrier": print_create_nbarrier,
    "xegpu.create_nd_tdesc": print_create_nd_tdesc,
    "xegpu.create_tdesc": print_create_tdesc,
    "xegpu.dpas": print_dpas,
    "xegpu.fence": print_fence,
    "xegpu.init_nbarrier": print_init_nbarrier,
    "xegpu.load": print_access,
    "xegpu.load_nd": print_access,
    "xegpu.mfence": print_mfence,
    "xegpu.nbarrier_arrive": print_nbarrier,
    "xegpu.nbarrier_wait": print_nbarrier,
    "xegpu.prefetch": print_access,
    "xegpu.prefetch_nd": print_access,
    "xegpu.store": print_access,
    "xegpu.store_nd": print_access,
    "xegpu.update_nd_offset": print_update_nd_offset,
    "xegpu.update_offset": print_access,
}
"""What prints the text of an operation after its name."""


def _order(op: Operation) -> Iterator[Entry]:
    """Yields how a load or a store orders its elements."""
    if "packed" in op.properties:
        yield "vnni_axis", "0"
    if VNNI_AXIS in op.attributes:
        yield "vnni_axis", "1"
    transpose = op.properties.get("transpose") or op.attributes.get(TRANSPOSE)
    if transpose is not None:
        yield "transpose", str(list(integers(transpose)))
    if TRANSPOSE_BIT_WIDTH in op.attributes:
        yield "transpose_bit_width", str(VNNI_BITS)


def _hints(op: Operation) -> Iterator[Entry]:
    """Yields the cache hints."""
    for level in (1, 2, 3):
        hint = op.properties.get(f"l{level}_hint")
        if isinstance(hint, CachePolicyAttr):
            yield f"L{level}_hint", hint.data.value


def _mode(op: Operation) -> Iterator[Entry]:
    """Yields `mode = vc`, unless a descriptor has a `sg_map`, which excludes it."""
    if MODE in op.attributes or (isinstance(op, LoadNdOp | StoreNdOp) and op.is_for_lane):
        return
    types = [*(operand.type for operand in op.operands), *op.result_types]
    descriptors = [type for type in types if isinstance(type, TensorDescType)]
    if all(descriptor.layout_or_none is None for descriptor in descriptors):
        yield "mode", "vc"


def _rest(op: Operation) -> Iterator[Entry]:
    """Yields the attributes that are no part of the RFC's form."""
    own = RFC_ATTRIBUTES.get(op.name, frozenset())
    for name, value in op.attributes.items():
        if name not in own:
            yield name, value


def _print_indices(
    printer: TermPrinter, values: Sequence[SSAValue], numbers: Sequence[int]
) -> None:
    """Prints `[%row, 16]`."""
    operands = iter(values)
    elements = [next(operands) if number == DYNAMIC_INDEX else number for number in numbers]
    with printer.in_square_brackets():
        printer.print_list(elements, lambda element: _print_index(printer, element))


def _print_index(printer: TermPrinter, element: SSAValue | int) -> None:
    if isinstance(element, int):
        printer.print_int(element)
    else:
        printer.print_ssa_value(element)


class XeGPUPrinter(TermPrinter):
    """Prints MLIR text in which XeGPU has the RFC's form."""

    @override
    def _print_custom(self, op: Operation) -> None:
        print_operation = PRINTERS.get(op.name)
        if print_operation is None:
            super()._print_custom(op)
        else:
            print_operation(self, op)
