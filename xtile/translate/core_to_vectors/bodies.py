"""Regions on numbers, executed for several components at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.core.subgroup import YieldOp
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.tile import piece_type
from xtile.translate.core_to_xegpu.copying import emit_on


def combined(
    lowering: Vectors, body: Block, first: Sequence[SSAValue], second: Sequence[SSAValue]
) -> list[SSAValue]:
    """What a region on two tuples of numbers yields, for numbers or vectors of them."""
    type_ = first[0].type
    width = type_.get_shape()[0] if isinstance(type_, VectorType) else 1
    values: dict[SSAValue, SSAValue] = dict(zip(body.args, (*first, *second), strict=True))
    if width > 1:
        return Body(lowering, width, values).run(body)
    for argument, value in values.items():
        lowering.define(argument, value)
    for operation in body.ops:
        if isinstance(operation, YieldOp):
            return lowering.values(operation.values)
        lowering.translate(operation)
    raise AssertionError("a region of core ends with core.yield")


class Body:
    """A region on neighbouring components.

    Args:
        lowering: Where to emit.
        width: The number of components.
        vectors: What values of the source are for each of the components.
    """

    def __init__(self, lowering: Vectors, width: int, vectors: Mapping[SSAValue, SSAValue]) -> None:
        self._lowering = lowering
        self._width = width
        self._vectors = dict(vectors)

    def run(self, block: Block) -> list[SSAValue]:
        """What a block yields."""
        for operation in block.ops:
            if isinstance(operation, YieldOp | scf.YieldOp):
                return [self._vector(operand) for operand in operation.operands]
            self.execute(operation)
        return []

    def execute(self, operation: Operation) -> None:
        """Executes an operation; what is the same for all components is a number."""
        if isinstance(operation, scf.IfOp):
            self._choose(operation)
        elif not any(operand in self._vectors for operand in operation.operands):
            self._lowering.translate(operation)
        else:
            operands = [self._vector(operand) for operand in operation.operands]
            type_ = piece_type(operation.results[0].type, self._width)
            made = emit_on(operation, operands, [type_], self._lowering)
            self.define(operation.results[0], made[0])

    def define(self, old: SSAValue, new: SSAValue) -> None:
        """Records what a value of the source is for each of the components."""
        self._vectors[old] = new

    def _choose(self, operation: scf.IfOp) -> None:
        """Both sides are computed; they are arithmetic that cannot fail."""
        condition = self._vector(operation.cond)
        first = self.run(operation.true_region.block)
        second = self.run(operation.false_region.block)
        for result, a, b in zip(operation.results, first, second, strict=True):
            self.define(result, self._lowering.select(condition, a, b))

    def _vector(self, value: SSAValue) -> SSAValue:
        """What a value is for each of the components."""
        if value in self._vectors:
            return self._vectors[value]
        return self._lowering.broadcast(self._lowering.value(value), self._width)
