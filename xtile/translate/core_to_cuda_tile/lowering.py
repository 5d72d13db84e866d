"""What the rules of tile level to CUDA Tile IR share."""

from __future__ import annotations

from collections.abc import Hashable

from typing_extensions import override
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.target import Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.translate.core_to_cuda_tile.index_builder import IndexBuilder
from xtile.translate.core_to_cuda_tile.memory_order import MemoryOrder
from xtile.translate.core_to_cuda_tile.memory_plan import MemoryPlan

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
    """

    plan: MemoryPlan
    order: MemoryOrder

    def __init__(
        self,
        rules: RuleTable,
        target: Target,
        source: Source | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        super().__init__(rules, TARGET, source, diagnostics)
        self.target = target

    def start_function(self, function: Operation) -> None:
        """Forgets what held for the last kernel."""
        self.plan = MemoryPlan(function)
        self.order = MemoryOrder(self, self.plan)

    @override
    def alias_set_of(self, memory: SSAValue) -> Hashable:
        return self.plan.alias_set_of(memory)
