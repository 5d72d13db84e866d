"""Inline assembly, as operations of `arith` and `math`.

What instructions compute stands in `xtile/semantics/triton/assembly_instructions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IntegerAttr, VectorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.triton.tt.ops import ElementwiseInlineAsmOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.semantics.triton.assembly import Program
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
        if isinstance(type, AnyFloat):
            number = arith.CMPF_COMPARISON_OPERATIONS.index(predicate)
            kind: Any = arith.CmpfOp
        else:
            number = arith.CMPI_COMPARISON_OPERATIONS.index(predicate)
            kind = arith.CmpiOp
        properties = {"predicate": IntegerAttr(number, i64)}
        return self.raising.compute(kind, operands, self._of(i1), properties)

    def select(
        self, condition: SSAValue, operands: Sequence[SSAValue], type: Attribute
    ) -> SSAValue:
        return self.raising.compute(SelectOp, [condition, *operands], self._of(type))

    def convert(self, name: str, value: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
        return self.raising.compute(_operations()[name], [value], self._of(target))

    def _of(self, type: Attribute) -> Attribute:
        return VectorType(type, self.shape) if self.shape else type


def _inline_assembly(operation: ElementwiseInlineAsmOp, raising: Raising) -> None:
    pack = operation.packed_element.value.data
    shape = shape_of(raising.type(operation.results[0].type))
    values = raising.values(operation.args)
    operands = [(_groups(raising, value, pack), value_type(value.type)) for value in values]
    types = [value_type(raising.type(each.type)) for each in operation.results]
    inside = shape if pack == 1 else (prod(shape) // pack,)
    try:
        program = Program(operation.asm_string.data, operation.constraints.data)
        made = program.run(_Emitting(raising, inside), operands, types)
    except ValueError as error:
        raise raising.error(str(error)) from None
    for result, parts in zip(operation.results, made, strict=True):
        whole = parts[0] if pack == 1 else raising.joined(parts, 1)
        raising.define(result, raising.reshape(whole, shape))


def _groups(raising: Raising, value: SSAValue, pack: int) -> list[SSAValue]:
    """The elements of all groups that are first in them, those that are second, and so on."""
    if pack == 1:
        return [value]
    shape = shape_of(value.type)
    rows = raising.reshape(value, [prod(shape) // pack, pack])
    columns = raising.transposed(rows, [1, 0])
    return [raising.part(columns, [number]) for number in range(pack)]


RULES: dict[str, Rule] = {"tt.elementwise_inline_asm": _inline_assembly}
"""The rule of each operation, by name."""
