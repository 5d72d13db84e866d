"""From CUDA Tile IR to level "tile" of the core form (docs/core-form-sources.md)."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xtile.rewrite.rebuilder import RuleTable
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.translate.cuda_tile_to_core import (
    arithmetic,
    control,
    conversions,
    kernels,
    memory,
    messages,
    reductions,
    shapes,
    views,
)
from xtile.translate.cuda_tile_to_core.raising import Raising

RULES = RuleTable(
    {
        **arithmetic.RULES,
        **control.RULES,
        **conversions.RULES,
        **kernels.RULES,
        **memory.RULES,
        **messages.RULES,
        **reductions.RULES,
        **shapes.RULES,
        **views.RULES,
    }
)
"""What becomes of each operation; one without a rule is refused."""


def translate_module(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Translates the modules of CUDA Tile IR in a module.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with a `gpu.module` for each `cuda_tile.module`; everything else is what it was.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    return Raising(RULES, "the core form", source_of(module), diagnostics).module(module)
