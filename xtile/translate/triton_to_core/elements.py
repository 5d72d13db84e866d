"""What computes each element on its own: inline assembly, and functions of scalars.

What instructions compute stands in `xtile/semantics/triton/assembly_instructions.py`. A function of
scalars becomes the same operations on vectors. Both of its ways are computed where it branches, and
of their results those are selected whose condition holds.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from xdsl.dialects import arith, cf, math, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.triton.tt.ops import ElementwiseInlineAsmOp, MapElementwiseOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.semantics.triton.assembly import Program
from xtile.text.diagnostics import DiagnosticError
from xtile.text.source import spelling_of
from xtile.translate.triton_to_core.raising import Raising


@cache
def _operations() -> dict[str, type[IRDLOperation]]:
    """The operations of `arith` and `math`, by their names in the dialect."""
    both = [*arith.Arith.operations, *math.Math.operations]
    return {kind.name.partition(".")[2]: kind for kind in both if issubclass(kind, IRDLOperation)}


@dataclass(frozen=True)
class _Emitting:
    """Emits what inline assembly does.

    Attributes:
        raising: Where to emit.
        shape: Of the values in registers.
    """

    raising: Raising
    shape: Sequence[int]

    def constant(self, number: float, type: Attribute) -> SSAValue:
        return self.raising.constant(number, self._of(type))

    def compute(self, name: str, operands: Sequence[SSAValue], type: Attribute) -> SSAValue:
        return self.raising.compute(_operations()[name], operands, self._of(type))

    def compare(self, predicate: str, operands: Sequence[SSAValue], type: Attribute) -> SSAValue:
        if not isinstance(type, AnyFloat):
            return self.raising.compare(predicate, *operands)
        number = IntegerAttr(arith.CMPF_COMPARISON_OPERATIONS.index(predicate), i64)
        return self.raising.compute(arith.CmpfOp, operands, self._of(i1), {"predicate": number})

    def select(
        self, condition: SSAValue, operands: Sequence[SSAValue], type: Attribute
    ) -> SSAValue:
        return self.raising.compute(SelectOp, [condition, *operands], self._of(type))

    def convert(self, name: str, value: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
        return self.raising.compute(_operations()[name], [value], self._of(target))

    def _of(self, type: Attribute) -> Attribute:
        return VectorType(type, self.shape) if self.shape else type


def _inline_assembly(operation: ElementwiseInlineAsmOp, raising: Raising) -> None:
    groups = _Groups(raising, operation.results[0], operation.packed_element.value.data)
    values = raising.values(operation.args)
    operands = [(groups.split(value), value_type(value.type)) for value in values]
    types = [value_type(raising.type(each.type)) for each in operation.results]
    try:
        program = Program(operation.asm_string.data, operation.constraints.data)
        made = program.run(_Emitting(raising, groups.inside), operands, types)
    except ValueError as error:
        raise raising.error(str(error)) from None
    for result, parts in zip(operation.results, made, strict=True):
        raising.define(result, groups.join(parts))


class _Groups:
    """Tensors as groups of elements that are computed at once.

    Args:
        raising: Where to emit.
        like: A tensor.
        pack: The elements of a group.

    Attributes:
        inside: The shape of what has one element of each group.
    """

    def __init__(self, raising: Raising, like: SSAValue, pack: int) -> None:
        self._raising, self._pack = raising, pack
        self._shape = shape_of(raising.type(like.type))
        self.inside = self._shape if pack == 1 else (prod(self._shape) // pack,)

    def split(self, value: SSAValue) -> list[SSAValue]:
        """The elements that are first in their group, those that are second, and so on."""
        if self._pack == 1:
            return [value]
        rows = self._raising.reshape(value, [*self.inside, self._pack])
        columns = self._raising.transposed(rows, [1, 0])
        return [self._raising.part(columns, [number]) for number in range(self._pack)]

    def join(self, parts: Sequence[SSAValue]) -> SSAValue:
        """The tensor of such parts."""
        whole = parts[0] if self._pack == 1 else self._raising.joined(parts, 1)
        return self._raising.reshape(whole, self._shape)


# --- functions of scalars ---

_COMPUTING = frozenset({"arith", "math"})
"""Dialects whose operations are the same on vectors."""

_OTHERS = frozenset(
    {
        "tt.approx_divf",
        "tt.bitcast",
        "tt.clampf",
        "tt.extern_elementwise",
        "tt.fp_to_fp",
        "tt.mulhiui",
        "tt.precise_divf",
        "tt.precise_sqrt",
    }
)
"""Others that are."""

_DIVISIONS = frozenset({"arith.divsi", "arith.divui", "arith.remsi", "arith.remui"})
"""Those that must not be computed where nothing asks for them."""


def _map(operation: MapElementwiseOp, raising: Raising) -> None:
    groups = _Groups(raising, operation.srcs[0], operation.pack.value.data)
    region = _ScalarRegion(raising, groups.inside)
    entry = operation.scalarOp.blocks[0]
    parts = [part for each in raising.values(operation.srcs) for part in groups.split(each)]
    region.give(entry.args, parts)
    made = region.run(entry, None)
    pack = len(made) // len(operation.results)
    for number, result in enumerate(operation.results):
        raising.define(result, groups.join(made[number * pack : (number + 1) * pack]))


class _ScalarRegion:
    """A function of scalars that is computed on vectors.

    Args:
        raising: Where to emit.
        shape: Of the vectors.
    """

    def __init__(self, raising: Raising, shape: Sequence[int]) -> None:
        self._raising, self._shape = raising, shape
        self._tensors: dict[SSAValue, SSAValue] = {}
        self._path: list[Block] = []

    def give(self, scalars: Iterable[SSAValue], vectors: Iterable[SSAValue]) -> None:
        """Says what scalars are."""
        for scalar, vector in zip(scalars, vectors, strict=True):
            block = Block(arg_types=[self._type(scalar.type)])
            self._tensors[scalar] = block.args[0]
            self._raising.define(block.args[0], vector)

    def run(self, block: Block, condition: SSAValue | None) -> list[SSAValue]:
        """Computes a block and those that follow it.

        Args:
            block: Its arguments are known.
            condition: For which elements its results count; None for all.

        Returns:
            What the last block gives.
        """
        if block in self._path:
            assert block.last_op is not None
            raise self._refused("branches back", block.last_op)
        self._path.append(block)
        for operation in list(block.ops)[:-1]:
            self._compute(operation, condition)
        last = block.last_op
        assert last is not None
        if isinstance(last, cf.BranchOp):
            made = self._go(last.successor, last.arguments, condition)
        elif isinstance(last, cf.ConditionalBranchOp):
            ways = [
                self._successor(last.then_block, last.then_arguments),
                self._successor(last.else_block, last.else_arguments),
            ]
            made = self._selected(last.cond, ways, condition)
        else:
            made = self._vectors(last.operands)
        self._path.pop()
        return made

    def _go(
        self, block: Block, arguments: Iterable[SSAValue], condition: SSAValue | None
    ) -> list[SSAValue]:
        self.give(block.args, self._vectors(arguments))
        return self.run(block, condition)

    def _successor(
        self, block: Block, arguments: Iterable[SSAValue]
    ) -> Callable[[SSAValue], list[SSAValue]]:
        return lambda here: self._go(block, arguments, here)

    def _selected(
        self,
        which: SSAValue,
        ways: Sequence[Callable[[SSAValue], list[SSAValue]]],
        condition: SSAValue | None,
    ) -> list[SSAValue]:
        """The results of one of two ways for each element."""
        (first,) = self._vectors([which])
        true = self._raising.constant(1, first.type)
        second = self._raising.compute(arith.XOrIOp, [first, true], first.type)
        results: list[list[SSAValue]] = []
        for here, way in zip((first, second), ways, strict=True):
            both = here
            if condition is not None:
                both = self._raising.compute(arith.AndIOp, [here, condition], here.type)
            results.append(way(both))
        return [
            self._raising.compute(SelectOp, [first, yes, no], yes.type)
            for yes, no in zip(*results, strict=True)
        ]

    def _compute(self, operation: Operation, condition: SSAValue | None) -> None:
        if isinstance(operation, scf.IfOp):
            ways = [self._way(region) for region in operation.regions]
            made = self._selected(operation.cond, ways, condition)
            self.give(operation.results, made)
            return
        if operation.dialect_name() not in _COMPUTING and operation.name not in _OTHERS:
            raise self._refused("is no arithmetic", operation)
        tensors = [self._tensor(each) for each in operation.operands]
        if operation.name in _DIVISIONS and condition is not None:
            tensors[1] = self._harmless(tensors[1], condition)
        clone = type(operation).create(
            operands=tensors,
            result_types=[self._type(each.type) for each in operation.results],
            properties=self._properties(operation),
            attributes=dict(operation.attributes),
        )
        clone.location = operation.location
        self._raising.translate(clone)
        self._tensors |= zip(operation.results, clone.results, strict=True)

    def _way(self, region: Region) -> Callable[[SSAValue], list[SSAValue]]:
        return lambda here: self.run(region.block, here) if region.blocks else []

    def _harmless(self, divisor: SSAValue, condition: SSAValue) -> SSAValue:
        """A divisor that is 1 where nothing asks for the quotient."""
        value = self._raising.value(divisor)
        one = self._raising.constant(1, value.type)
        made = self._raising.compute(SelectOp, [condition, value, one], value.type)
        block = Block(arg_types=[divisor.type])
        self._raising.define(block.args[0], made)
        return block.args[0]

    def _tensor(self, scalar: SSAValue) -> SSAValue:
        """What a scalar of the region is; one from outside is the same for all elements."""
        if scalar not in self._tensors:
            value = self._raising.spread(self._raising.value(scalar), self._shape)
            self.give([scalar], [value])
        return self._tensors[scalar]

    def _vectors(self, scalars: Iterable[SSAValue]) -> list[SSAValue]:
        return [self._raising.value(self._tensor(scalar)) for scalar in scalars]

    def _type(self, scalar: Attribute) -> Attribute:
        return TensorType(scalar, self._shape)

    def _properties(self, operation: Operation) -> dict[str, Attribute]:
        """Those of an operation; the value of a constant is that of all elements."""
        if not isinstance(operation, arith.ConstantOp):
            return dict(operation.properties)
        given: Any = operation.value
        type_ = TensorType(given.type, self._shape)
        return {"value": DenseIntOrFPElementsAttr.from_list(type_, [given.value.data])}

    def _refused(self, why: str, operation: Operation) -> DiagnosticError:
        return self._raising.error(
            f"{spelling_of(operation)} {why}; a function of elements that becomes the core form "
            "has operations of arith and math, and branches forward",
            operation,
        )


RULES: dict[str, Rule] = {
    "tt.elementwise_inline_asm": _inline_assembly,
    "tt.map_elementwise": _map,
}
"""The rule of each operation, by name."""
