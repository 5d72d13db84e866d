"""From the core form at subgroup level to XeGPU whose vectors belong to a subgroup.

What becomes of vectors, memory and pointers is what becomes of them for a work-group
(`xtile/translate/tiles_to_xegpu`), but for layouts, of which a subgroup's vectors need none.
Scalars stay those of each work-item. `xtile/translate/xegpu_to_core` is the way back.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.translate.subgroups_to_xegpu import lanes, maps, transfers
from xtile.translate.tiles_to_xegpu import COMMON_ROWS, lowered, others
from xtile.translate.tiles_to_xegpu.lowering import Lowering

RULES = RuleTable(
    {**COMMON_ROWS, **lanes.RULES, **maps.RULES, **transfers.RULES},
    otherwise=others.copy,
    keeps_rounding=True,
)
"""What becomes of each operation that does not stay what it is."""


def translate_module(
    module: ModuleOp, target: LaneTarget, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Translates kernels at subgroup level.

    Args:
        module: The module, with one or more `gpu.module`.
        target: The GPU.
        diagnostics: Where remarks go; None drops them.

    Raises:
        DiagnosticError: Something has no words in XeGPU.
    """
    return lowered(module, Lowering(RULES, target, source_of(module), diagnostics))
