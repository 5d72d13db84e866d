"""Blocks in registers that may reach beyond their memory.

Where all of a block is inside it is accessed as vectors, and else element by element, in loops and
through private memory: code for each element would be as long as the block is large.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, VectorType
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from xtile.dialects.affine_maps import dimensions_of
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule, copy


def _read(operation: TransferReadOp, lowering: Emitter) -> None:
    """Reads a block at once where all of it is inside, and else element by element, in loops."""
    block = _Block.of(operation, operation.source, operation.indices, operation.result, lowering)
    if block is None or operation.mask is not None:
        copy(operation, lowering)
        return
    padding = lowering.value(operation.padding)

    def at_once() -> SSAValue:
        return block.read(lowering, block.memory, block.start, operation.permutation_map, padding)

    def by_elements() -> SSAValue:
        buffer = block.buffer(lowering)
        with block.each(lowering) as (place, index, inside):
            value = lowering.choose(
                inside, lambda: lowering.load(block.memory, index), lambda: padding
            )
            lowering.store(value, buffer, place)
        first = [0] * len(block.dimensions)
        return block.read(lowering, buffer, first, _identity(len(first)), padding)

    value = lowering.choose(block.is_inside(lowering), at_once, by_elements)
    lowering.define(operation.result, value)


def _write(operation: TransferWriteOp, lowering: Emitter) -> None:
    block = _Block.of(operation, operation.source, operation.indices, operation.vector, lowering)
    if block is None or operation.mask is not None:
        copy(operation, lowering)
        return
    value = lowering.value(operation.vector)

    def at_once() -> Sequence[SSAValue]:
        block.write(lowering, value, block.memory, block.start, operation.permutation_map)
        return ()

    def by_elements() -> Sequence[SSAValue]:
        buffer = block.buffer(lowering)
        first = [0] * len(block.dimensions)
        block.write(lowering, value, buffer, first, _identity(len(first)))
        with block.each(lowering) as (place, index, inside), lowering.when(inside):
            lowering.store(lowering.load(buffer, place), block.memory, index)
        return ()

    lowering.choose_all(block.is_inside(lowering), at_once, by_elements)


@dataclass(frozen=True)
class _Block:
    """A block of memory that may reach beyond it.

    Attributes:
        memory: The memory.
        start: The first index of each of its dimensions.
        dimensions: For each dimension of the vector that of memory.
        type: The vector.
        checked: The dimensions of memory along which it may reach beyond the end.
    """

    memory: SSAValue
    start: Sequence[Index]
    dimensions: Sequence[int]
    type: VectorType[Attribute]
    checked: Sequence[int]

    @classmethod
    def of(
        cls,
        operation: TransferReadOp | TransferWriteOp,
        memory: SSAValue,
        start: Sequence[SSAValue],
        vector: SSAValue,
        lowering: Emitter,
    ) -> _Block | None:
        """The block that a transfer moves; None where it is certainly inside, or repeats some."""
        flags = operation.in_bounds
        dimensions = dimensions_of(operation.permutation_map)
        known = [dimension for dimension in dimensions if dimension is not None]
        checked = [d for d, flag in zip(dimensions, flags, strict=True) if not flag]
        if len(known) < len(dimensions) or not checked:
            return None
        return cls(
            lowering.value(memory),
            [
                constant if (constant := constant_of(v)) is not None else lowering.value(v)
                for v in start
            ],
            known,
            cast("VectorType[Attribute]", vector.type),
            cast("list[int]", checked),
        )

    def size_of(self, lowering: Emitter, dimension: int) -> Index:
        """The size of memory along a dimension."""
        return lowering.size((self.memory, dimension))

    def is_inside(self, lowering: Emitter) -> SSAValue:
        """Whether all of it is inside."""
        holds: SSAValue | None = None
        for axis, dimension in enumerate(self.dimensions):
            if dimension not in self.checked:
                continue
            start, size = self.start[dimension], self.size_of(lowering, dimension)
            last = lowering.subtract(size, self.type.get_shape()[axis])
            for each in (lowering.compare("sge", start, 0), lowering.compare("sle", start, last)):
                holds = each if holds is None else _both(lowering, holds, each)
        assert holds is not None
        return holds

    def buffer(self, lowering: Emitter) -> SSAValue:
        """Private memory for it."""
        type_ = MemRefType(self.type.element_type, self.type.get_shape())

        def emit() -> SSAValue:
            return lowering.emit(AllocaOp.build(operands=[[], []], result_types=[type_])).results[0]

        return lowering.shared(("edge", type_), (), emit)

    @contextmanager
    def each(
        self, lowering: Emitter
    ) -> Generator[tuple[Sequence[Index], Sequence[Index], SSAValue]]:
        """Loops over its elements: each place in the block and in memory, and if it is inside."""
        with ExitStack() as loops:
            place = [
                loops.enter_context(lowering.loop(0, size)).index for size in self.type.get_shape()
            ]
            index = list(self.start)
            inside: SSAValue | None = None
            for dimension, own in zip(self.dimensions, place, strict=True):
                index[dimension] = lowering.add(self.start[dimension], own)
                if dimension in self.checked:
                    size = self.size_of(lowering, dimension)
                    # What is negative is large without a sign.
                    holds = lowering.compare("ult", index[dimension], size)
                    inside = holds if inside is None else _both(lowering, inside, holds)
            assert inside is not None
            yield place, index, inside

    def read(
        self,
        lowering: Emitter,
        memory: SSAValue,
        start: Sequence[Index],
        map: AffineMapAttr,
        padding: SSAValue,
    ) -> SSAValue:
        """Reads what is certainly inside."""
        at = [lowering.as_value(index) for index in start]
        flags = truth_attribute((True,) * len(self.dimensions))
        read = TransferReadOp(memory, at, padding, cast("Any", self.type), flags, map)
        return lowering.emit(read).result

    def write(
        self,
        lowering: Emitter,
        value: SSAValue,
        memory: SSAValue,
        start: Sequence[Index],
        map: AffineMapAttr,
    ) -> None:
        """Writes what is certainly inside."""
        at = [lowering.as_value(index) for index in start]
        flags = truth_attribute((True,) * len(self.dimensions))
        lowering.emit(TransferWriteOp(value, memory, at, flags, permutation_map=map))


def _identity(rank: int) -> AffineMapAttr:
    """The map of an access whose dimensions are those of memory."""
    return AffineMapAttr(AffineMap.identity(rank))


def _both(lowering: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    return lowering.pure(arith.AndIOp, a, b)


RULES: dict[str, Rule] = {TransferReadOp.name: _read, TransferWriteOp.name: _write}
