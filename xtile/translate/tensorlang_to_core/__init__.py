"""From the tensor language to the core form, level "block" (docs/core-form-sources.md)."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Region

from xtile.dialects.core.arguments import forget_noalias
from xtile.dialects.gpu.functions import ModuleOp as GpuModuleOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.rewrite.rebuilder import Rebuilder, Rules, RuleTable
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import attach_source, source_of
from xtile.translate.tensorlang_to_core import (
    arithmetic,
    builtins,
    collective,
    complex_matrices,
    control,
    cooperative_matrix,
    functions,
    matrix_access,
    memory,
    subgroup,
    views,
)

KERNELS = "kernels"
"""The name of the `gpu.module` that holds the translated functions."""

CONTAINER_MODULE = "gpu.container_module"
"""The attribute of a module that holds a `gpu.module`."""

_RULES: Rules = {
    **functions.RULES,
    **arithmetic.RULES,
    **memory.RULES,
    **views.RULES,
    **control.RULES,
    **collective.RULES,
    **builtins.RULES,
    **subgroup.RULES,
    **matrix_access.RULES,
    **cooperative_matrix.RULES,
}

_WITH_PARTS = complex_matrices.with_parts(_RULES, complex_matrices.RULES)

RULES = RuleTable({kind.name: rule for kind, rule in _WITH_PARTS.items()})
"""What each instruction becomes."""


def translate_module(
    module: ModuleOp, diagnostics: Diagnostics | None = None, *, may_overlap: bool = False
) -> ModuleOp:
    """Translates a verified module of the tensor language to the core form.

    Args:
        module: The tensor language's functions.
        diagnostics: Collects remarks; None drops them.
        may_overlap: Whether parameters may overlap although one of them is written, which the
            language's own compiler excludes (docs/semantics.md, 2.6).

    Returns:
        A module with one `gpu.module @kernels`, which holds one `gpu.func` for each function, and
        behind it what is not of the tensor language.

    Raises:
        DiagnosticError: An instruction has no counterpart (docs/core-form-sources.md).
    """
    source = source_of(module)
    rebuilder = Rebuilder(RULES, "the core form", source, diagnostics)
    body = Region([Block()])
    others = Block()
    for operation in module.body.block.ops:
        if isinstance(operation, FuncOp):
            with rebuilder.at_end_of(body.block):
                rebuilder.translate(operation)
        else:
            with rebuilder.at_end_of(others):
                rebuilder.keep(operation)
    translated = ModuleOp([GpuModuleOp(KERNELS, body)], {CONTAINER_MODULE: UnitAttr()})
    if may_overlap:
        forget_noalias(translated)
    for operation in list(others.ops):
        operation.detach()
        translated.body.block.add_op(operation)
    if source is not None:
        attach_source(translated, source)
    return translated
