"""From the core form at subgroup level to XeGPU whose vectors belong to a subgroup.

What becomes of vectors, memory and pointers is what becomes of them for a work-group
(`xtile/translate/tiles_to_xegpu`), but for layouts, of which a subgroup's vectors need none.
Scalars stay those of each work-item. `xtile/translate/xegpu_to_core` is the way back.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnitAttr

from xtile.rewrite.kernels import with_device_code_rebuilt
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.compose_narrow import compose_narrow
from xtile.transforms.split_complex import split_complex
from xtile.translate.subgroups_to_xegpu import kernels, lanes, maps, transfers
from xtile.translate.tiles_to_xegpu import (
    atomics,
    control,
    memory,
    others,
    pointers,
    points,
    products,
    reductions,
)
from xtile.translate.tiles_to_xegpu.lowering import Lowering

_ROWS: dict[str, Rule] = {
    **atomics.RULES,
    **control.RULES,
    **memory.RULES,
    **others.RULES,
    **pointers.RULES,
    **points.RULES,
    **products.RULES,
    **reductions.RULES,
    **kernels.RULES,
    **lanes.RULES,
    **maps.RULES,
    **transfers.RULES,
}
"""The rule of each operation that does not stay what it is."""

RULES = RuleTable(_ROWS, otherwise=others.copy, keeps_rounding=True)
"""What becomes of each operation."""


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
    module = compose_narrow(split_complex(module))
    lowering = Lowering(RULES, target, source_of(module), diagnostics)
    result = with_device_code_rebuilt(module, lowering)
    result.attributes["gpu.container_module"] = UnitAttr()
    remove_dead_code(result)
    return result
