"""From XeGPU to the core form: subgroups to level subgroup, work-groups to level tile.

A descriptor becomes memory and offsets, an access of a block a transfer, one of points a gather or
a scatter, a product a contraction. What is left are upstream's dialects
(docs/core-form-sources.md, "From XeGPU").
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from xtile.dialects.xegpu.rfc.operations import CompileHintOp
from xtile.dialects.xegpu.rfc.to_llvm22 import to_llvm22
from xtile.rewrite.kernels import with_device_code_rebuilt
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import clone_with_source, source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.translate.xegpu_to_core import (
    barriers,
    blocks,
    control,
    descriptors,
    functions,
    matrices,
    points,
)
from xtile.translate.xegpu_to_core.raising import Raising

_ROWS: dict[str, Rule] = {
    **barriers.RULES,
    **blocks.RULES,
    **control.RULES,
    **descriptors.RULES,
    **functions.RULES,
    **matrices.RULES,
    **points.RULES,
}
"""The rule of each operation that is not emitted again as it is."""

RULES = RuleTable(_ROWS, otherwise=functions.copy_without_layouts, keeps_rounding=True)
"""What becomes of each operation."""


def translate_module(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Translates kernels of XeGPU whose vectors belong to a subgroup or a work-group.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with these kernels in the core form, at level "subgroup" or "tile"; everything
        else is what it was.

    Raises:
        DiagnosticError: Something has no counterpart.
    """
    source = source_of(module)
    module = clone_with_source(module)
    _drop_hints(module)
    to_llvm22(module)
    result = with_device_code_rebuilt(module, Raising(RULES, source, diagnostics))
    remove_dead_code(result)
    return result


def _drop_hints(module: ModuleOp) -> None:
    """Removes what only asks a compiler to keep the order of instructions, which means nothing."""
    for operation in [each for each in module.walk() if isinstance(each, CompileHintOp)]:
        Rewriter.erase_op(operation)
