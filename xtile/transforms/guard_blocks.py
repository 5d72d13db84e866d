"""Tile blocks do nothing where all that they write lies beyond the end of memory.

Checked writes leave out what is beyond an end. Where a tile begins beyond it, that is all, so what
is computed for it is not needed either. Behind the comparison tiles are known to begin inside, as
views of CUDA Tile IR must.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.vector import TransferWriteOp
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.core.attributes import BEGINS_INSIDE_ATTRIBUTE, Level, level_of
from xtile.dialects.effects import is_pure, leaves_memory, only_reads, synchronizes
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.facts import constant_of
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import RuleTable, copy
from xtile.text.source import Source, source_of


def guard_blocks(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels of tiles compute nothing for tiles beyond the end of memory.

    Everything else stays as it is; without such a tile it is the module itself.

    Args:
        module: The module; it is not changed.
    """
    source = source_of(module)
    return with_kernels_replaced(
        module, _is_chosen, lambda kernel: rebuilt(kernel, _Guarding(source))
    )


def _is_chosen(kernel: FuncOp) -> bool:
    return level_of(kernel) is Level.TILE and any(
        True for each in walk(kernel) if isinstance(each, TransferWriteOp) for _ in _starts(each)
    )


@dataclass(frozen=True)
class _Start:
    """Where a tile begins along a dimension of memory.

    Attributes:
        index: The index.
        memory: The memory.
        dimension: The dimension.
    """

    index: SSAValue
    memory: SSAValue
    dimension: int


def _starts(write: TransferWriteOp) -> Iterator[_Start]:
    """Where a tile begins along dimensions of which nobody knows that it begins inside."""
    if BEGINS_INSIDE_ATTRIBUTE in write.attributes or not isinstance(write.source.type, MemRefType):
        return
    dimensions = dimensions_of(write.permutation_map)
    for dimension, flag in zip(dimensions, write.in_bounds, strict=True):
        if dimension is None or bool(flag.value.data):
            continue
        index = write.indices[dimension]
        if constant_of(index) is None and not _is_variable_of_loop(index):
            yield _Start(index, write.source, dimension)


def _is_variable_of_loop(index: SSAValue) -> bool:
    """Whether an index runs up to an end already."""
    return isinstance(index.owner, Block) and isinstance(index.owner.parent_op(), scf.ForOp)


class _Guarding(Emitter):
    """Rebuilds a kernel; the parts of blocks behind where tiles begin are under conditions."""

    def __init__(self, source: Source | None) -> None:
        super().__init__(RuleTable(otherwise=copy, keeps_rounding=True), "tiles", source)
        self._known: set[_Start] = set()

    @override
    def translate_block(self, old: Block) -> None:
        guard = [each for each in _guard_of(old) if each not in self._known]
        if not guard:
            super().translate_block(old)
            return
        self._known.update(guard)
        operations = list(old.ops)
        last = max(_position(value, operations) for each in guard for value in _values_of(each))
        for operation in operations[: last + 1]:
            self.translate(operation)
        conditions = [
            self.compare(
                "slt",
                self.value(each.index),
                self.size((self.value(each.memory), each.dimension)),
            )
            for each in guard
        ]
        condition, *others = conditions
        for other in others:
            condition = self.pure(arith.AndIOp, condition, other)
        with self.when(condition):
            for operation in operations[last + 1 : -1]:
                self.translate(operation)
        self.translate(operations[-1])


def _values_of(start: _Start) -> tuple[SSAValue, SSAValue]:
    return start.index, start.memory


def _position(value: SSAValue, operations: list[Operation]) -> int:
    """Which operation of a block a value is the result of; -1 if it is born outside."""
    owner = value.owner
    return operations.index(owner) if isinstance(owner, Operation) and owner in operations else -1


def _guard_of(block: Block) -> list[_Start]:
    """Where all tiles begin that the operations of a block write, as far as it is known there."""
    writes: list[TransferWriteOp] = []
    for outer in block.ops:
        for operation in walk(outer):
            if isinstance(operation, TransferWriteOp):
                writes.append(operation)
            elif not _is_harmless(operation):
                return []
    last = block.last_op
    # What a block hands on is computed in any case.
    if not writes or last is None or any(_is_in(each, block) for each in last.operands):
        return []
    others = [set(_starts(write)) for write in writes[1:]]
    return [
        each
        for each in _starts(writes[0])
        if all(each in starts for starts in others)
        and not any(_is_nested(value, block) for value in _values_of(each))
    ]


def _is_harmless(operation: Operation) -> bool:
    """Whether nobody misses an operation; not asked of those nested in it."""
    if operation.name in _CONTROL or is_pure(operation) or leaves_memory(operation):
        return True
    return only_reads(operation) and not synchronizes(operation)


_CONTROL = frozenset({"gpu.return", "scf.condition", "scf.for", "scf.if", "scf.while", "scf.yield"})


def _is_in(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return (owner if isinstance(owner, Block) else owner.parent) is block


def _is_nested(value: SSAValue, block: Block) -> bool:
    """Whether a value is born in a block that is in a block."""
    inner = value.owner if isinstance(value.owner, Block) else value.owner.parent
    around = inner.parent_block() if inner is not None else None
    while around is not None and around is not block:
        around = around.parent_block()
    return around is block
