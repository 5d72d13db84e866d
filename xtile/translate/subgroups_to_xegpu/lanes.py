"""Kernels and their lanes: how many there are, and what work-items do on their own."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import given_subgroup_size
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.tiles_to_xegpu.kernels import RULES as OF_TILES
from xtile.translate.tiles_to_xegpu.kernels import emit_kernel
from xtile.translate.tiles_to_xegpu.lowering import Lowering, storage_type, vector_like
from xtile.translate.tiles_to_xegpu.memory import line_of, position_of
from xtile.translate.tiles_to_xegpu.points import descriptor_of_points


def _function(operation: FuncOp, lowering: Lowering) -> None:
    """A kernel of subgroups; others stay what they are."""
    if level_of(operation) is not Level.SUBGROUP:
        lowering.keep(operation)
        return
    lowering.lanes = given_subgroup_size(operation) or lowering.target.chip.subgroup_size
    emit_kernel(operation, lowering, lowering.lanes)


_REASONS = {
    "core.fragment_extract": "which element is whose only lanes know; ask for level lane",
    "core.fragment_insert": "which element is whose only lanes know; ask for level lane",
    "core.subgroup_scan": "XeGPU has no scans of a subgroup; ask for level lane",
    "memref.generic_atomic_rmw": "XeGPU has no compare-and-swap; use memref.atomic_rmw",
}
"""For each operation why it is refused."""


def _refuse(operation: Operation, lowering: Lowering) -> None:
    name, reason = spelling_of(operation), _REASONS[operation.name]
    raise lowering.error(f"{name} cannot be translated to {lowering.result_name}: {reason}")


def _update(operation: Operation, lowering: Lowering) -> None:
    """An update of one element, which each work-item does that comes here."""
    value, target, *indices = operation.operands
    memory = lowering.memory(target)
    at = lowering.as_value(position_of(lowering, memory, lowering.numbers(indices)))
    base, element = line_of(lowering, memory), storage_type(memory.element)
    descriptor = descriptor_of_points(lowering, base, lowering.reshape(at, [1]), element)
    given = lowering.reshape(lowering.value(value), [1])
    mask = lowering.constant(1, vector_like([1], i1))
    kind = kind_of(operation.properties["kind"])
    made = lowering.emit(AtomicRMWOp(kind, descriptor, mask, given))
    made.attributes |= ordering_of(operation).attributes
    lowering.define(operation.results[0], lowering.part(made.result, [0]))


RULES: dict[str, Rule] = {
    **OF_TILES,
    FuncOp.name: _function,
    **dict.fromkeys(_REASONS, _refuse),
    "memref.atomic_rmw": _update,
}
"""The rule of each operation, by name."""
