"""From the core form at tile level to XeGPU whose vectors belong to the work-group.

Vectors stay what they are, and layouts say which part of each a subgroup holds (`layouts.py`).
Accesses of boxes become those of blocks, others those of points; products go to the matrix unit.
`xtile/translate/xegpu_to_core` is the way back.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnitAttr

from xtile.rewrite.kernels import with_device_code_rebuilt
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.compose_flush import compose_flush
from xtile.transforms.compose_narrow import compose_narrow
from xtile.transforms.split_complex import split_complex
from xtile.translate.tiles_to_xegpu import (
    atomics,
    control,
    elements,
    kernels,
    memory,
    others,
    pointers,
    points,
    products,
    reductions,
    transfers,
)
from xtile.translate.tiles_to_xegpu.layouts import WorkGroupLowering
from xtile.translate.tiles_to_xegpu.lowering import Lowering

COMMON_ROWS: dict[str, Rule] = {
    **atomics.RULES,
    **control.RULES,
    **memory.RULES,
    **others.RULES,
    **pointers.RULES,
    **points.RULES,
    **products.RULES,
    **reductions.RULES,
}
"""The rules of operations on vectors of work-groups, and as well of subgroups."""

RULES = RuleTable(
    {**COMMON_ROWS, **elements.RULES, **kernels.RULES, **transfers.RULES},
    otherwise=others.copy,
    keeps_rounding=True,
)
"""What becomes of each operation that does not stay what it is."""


def translate_module(
    module: ModuleOp, target: LaneTarget, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Translates kernels at tile level.

    Args:
        module: The module, with one or more `gpu.module`.
        target: The GPU.
        diagnostics: Where remarks go; None drops them.

    Raises:
        DiagnosticError: Something has no words in XeGPU.
    """
    return lowered(module, WorkGroupLowering(RULES, target, source_of(module), diagnostics))


def lowered(module: ModuleOp, lowering: Lowering) -> ModuleOp:
    """A module whose device code is lowered to XeGPU, without what nobody uses any more."""
    result = with_device_code_rebuilt(
        compose_narrow(compose_flush(split_complex(module))), lowering
    )
    result.attributes["gpu.container_module"] = UnitAttr()
    remove_dead_code(result)
    return result
