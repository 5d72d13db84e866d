"""What the rules of tile level to CUDA Tile IR share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from typing_extensions import override
from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E5M2Type,
    FloatTF32Type,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.signature import source_language
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.dialects.cuda_tile.ops import floating_point, matrix_multiply
from xtile.dialects.cuda_tile.types import is_integer
from xtile.dialects.gpu.functions import FuncOp
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.target import Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.translate.core_to_cuda_tile.index_builder import IndexBuilder
from xtile.translate.core_to_cuda_tile.memory_order import MemoryOrder
from xtile.translate.core_to_cuda_tile.memory_plan import MemoryPlan
from xtile.translate.core_to_cuda_tile.types import element_type
from xtile.translate.tiles.elementwise import Compute

TARGET = "CUDA Tile IR"


class Lowering(IndexBuilder):
    """Rebuilds kernels at tile level as entries of CUDA Tile IR.

    Args:
        rules: What becomes of each operation.
        target: What the code is for.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        target: What the code is for.
        plan: What must be ordered in the kernel that is being translated.
        order: The tokens of that kernel.
        computes_as_triton: Whether the kernel is one of Triton, whose f32 is what Triton's compiler
            makes of it for NVIDIA's GPUs (docs/nvidia.md, "Kernels of Triton").
    """

    plan: MemoryPlan
    order: MemoryOrder
    computes_as_triton: bool = False

    def __init__(
        self,
        rules: RuleTable,
        target: Target,
        source: Source | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        super().__init__(rules, TARGET, source, diagnostics)
        self.target = target

    def start_function(self, function: FuncOp) -> None:
        """Forgets what held for the last kernel."""
        self.computes_as_triton = source_language(function) == "triton"
        self.plan = MemoryPlan(function)
        self.order = MemoryOrder(self, self.plan)

    @override
    def alias_set_of(self, memory: SSAValue) -> Hashable:
        return self.plan.alias_set_of(memory)

    @override
    def has_matrix_unit(self, factor: Attribute, total: Attribute) -> bool:
        return (factor, total) in _MATRIX_UNITS

    @override
    def multiplied(self, a: SSAValue, b: SSAValue, sums: SSAValue) -> SSAValue:
        if not is_integer(element_type(a)):
            return self.compute(matrix_multiply.MmaFOp, a, b, sums)
        signed = Signedness.SIGNED
        return self.compute(
            matrix_multiply.MmaIOp, a, b, sums, signedness_lhs=signed, signedness_rhs=signed
        )

    @override
    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        return self.compute(floating_point.FmaOp, a, b, c)


_MATRIX_UNITS: frozenset[tuple[Attribute, Attribute]] = frozenset(
    {
        (f16, f32),
        (bf16, f32),
        (f32, f32),
        (f64, f64),
        (FloatTF32Type(), f32),
        (Float8E4M3FNType(), f32),
        (Float8E5M2Type(), f32),
        (i8, i32),
    }
)
"""The types of factors and sums that `mmaf` and `mmai` multiply exactly.

tileiras 13.5 computes mmaf of f32 with fused multiply-adds in f32 (its remark: "it is using FMA
instructions instead"), never in tf32.
"""


def emitted(kind: Callable[..., Operation], **properties: Any) -> Compute:
    """Emits one operation of CUDA Tile IR."""

    def compute(lowering: Lowering, *operands: SSAValue) -> SSAValue:
        return lowering.compute(kind, *operands, **properties)

    return compute
