"""Kernels whose lanes differ: matrices are spread over them, beside vectors of each lane's own."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.gpu.functions import FuncOp
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.translate.core_to_xegpu import rules_of
from xtile.translate.core_to_xegpu.copying import emit_on
from xtile.translate.core_to_xegpu.fragments import Fragment
from xtile.translate.core_to_xegpu.lowering import Lowering, carried_type


class Spread(Lowering):
    """Rebuilds a kernel whose work-items are lanes.

    Args:
        function: The kernel.
        matrices: The vectors that belong to its subgroups.
        target: A chip without a matrix unit.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self,
        function: FuncOp,
        matrices: frozenset[SSAValue],
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(RuleTable(otherwise=_rebuild), target, source, diagnostics)
        self.of_subgroups = rules_of(function)
        self._matrices = matrices

    def is_of_lane(self, operation: Operation) -> bool:
        """Whether an operation is on a lane's own vectors."""
        values = (*operation.operands, *operation.results)
        has_vectors = any(isinstance(value.type, VectorType) for value in values)
        return has_vectors and not operation.regions and self._matrices.isdisjoint(values)

    @override
    def fragment(self, old: SSAValue) -> Fragment:
        meaning = self.meaning(old)
        owner = old.owner
        if isinstance(meaning, Fragment) or not isinstance(owner, Operation):
            return super().fragment(old)
        # A constant or a broadcast, which other work-items may use as it is.
        self.of_subgroups.rule_of(owner)(owner, self)
        fragment = super().fragment(old)
        self.define(old, meaning)
        return fragment

    @override
    def types(self, type_: Attribute) -> list[Attribute]:
        if isa(type_, VectorType) and type_.get_num_dims() == 1:
            return [VectorType(carried_type(type_.element_type), type_.get_shape())]
        return super().types(type_)

    @override
    def define_flat(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        remaining = list(new)
        for value in old:
            count = len(self.types(value.type))
            own, remaining = remaining[:count], remaining[count:]
            type_ = value.type
            if isa(type_, VectorType) and type_.get_num_dims() == 1:
                self.define(value, own[0])
            else:
                super().define_flat([value], own)


def _rebuild(operation: Operation, lowering: Spread) -> None:
    """Emits an operation on a lane's own vectors again; others are spread over the lanes."""
    if not lowering.is_of_lane(operation):
        lowering.of_subgroups.rule_of(operation)(operation, lowering)
        return
    operands = lowering.values(operation.operands)
    results = emit_on(operation, operands, operation.result_types, lowering)
    for old, new in zip(operation.results, results, strict=True):
        lowering.define(old, new)
