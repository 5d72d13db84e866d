"""Reads and writes of single elements, and of the memrefs of groups."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.ops import memory
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.pointers import from_memory, to_memory
from xtile.translate.tiles.accesses import memref_of, parts_of, pointer_to
from xtile.translate.tiles.descriptors import Complex, Group


def _load(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    numbers = lowering.numbers(indices)
    meaning = lowering.meaning(source)
    if isinstance(meaning, Group):
        memref = memref_of(lowering, meaning, numbers[0])
        lowering.define(result, replace(memref, alias_set=lowering.alias_set_of(result)))
        return
    described = lowering.descriptor(source)
    token = lowering.order.before_read(described.alias_set)
    values: list[SSAValue] = []
    for part in parts_of(described):
        pointer = pointer_to(lowering, described, numbers, part)
        value, done = lowering.emit(memory.LoadPtrTkoOp(pointer, None, None, token)).results
        lowering.order.after_read(operation, described.alias_set, done)
        values.append(from_memory(lowering, value, result.type))
    lowering.define(result, Complex(*values) if len(values) > 1 else values[0])


def _store(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    described, numbers = lowering.descriptor(target), lowering.numbers(indices)
    meaning = lowering.meaning(value)
    parts = (meaning.real, meaning.imaginary) if isinstance(meaning, Complex) else (meaning,)
    for part, number in enumerate(parts):
        token = lowering.order.before_write(described.alias_set)
        pointer = pointer_to(lowering, described, numbers, part)
        given = to_memory(lowering, number)
        stored = lowering.emit(memory.StorePtrTkoOp(pointer, given, None, token))
        lowering.order.after_write(described.alias_set, stored.results[0])


RULES: dict[str, Rule] = {
    "memref.load": _load,
    "memref.store": _store,
}
"""The rule of each operation, by name."""
