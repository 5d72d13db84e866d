"""From the core form at subgroup level to XeGPU at lane level.

LLVM's own pipeline distributes subgroup-level XeGPU only where all of a kernel is vectors; kernels
that also compute with each lane's scalars, as the tensor language's do, must be at lane level.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation

from xtile.dialects.core.subgroup import PrefetchOp
from xtile.dialects.shapes import has_vectors
from xtile.dialects.walk import walk
from xtile.rewrite.kernels import with_device_code_rebuilt
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.split_complex import split_complex
from xtile.translate.core_to_xegpu import (
    atomics,
    constants,
    control,
    functions,
    memory,
    subgroup,
    tf32,
)
from xtile.translate.core_to_xegpu.copying import copy
from xtile.translate.core_to_xegpu.lowering import Lowering

RULES: dict[str, Rule] = {
    **atomics.RULES,
    **constants.RULES,
    **control.RULES,
    **functions.RULES,
    **memory.RULES,
    **subgroup.RULES,
}
"""The rule of each operation that does not stay what it is, in kernels without matrices."""


def rules_of(kernels: Operation) -> RuleTable:
    """The rules that kernels need: those of matrices load two large dialects."""
    has_prefetch = any(isinstance(operation, PrefetchOp) for operation in walk(kernels))
    if not has_prefetch and not has_vectors(kernels):
        return RuleTable(RULES, otherwise=copy, keeps_rounding=True)
    from xtile.translate.core_to_xegpu import blocks, matrices, moves, points, products

    rows = {
        **RULES,
        **blocks.RULES,
        **matrices.RULES,
        **moves.RULES,
        **points.RULES,
        **products.RULES,
    }
    return RuleTable(rows, otherwise=copy, keeps_rounding=True)


def translate_module(
    module: ModuleOp, target: LaneTarget, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Translates kernels at subgroup level.

    Args:
        module: The module, with one or more `gpu.module`.
        target: The GPU whose instructions are used.
        diagnostics: Where remarks go; None drops them.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    module = split_complex(module)
    lowering = Lowering(rules_of(module), target, source_of(module), diagnostics)
    tf32.check(module, lowering)
    result = with_device_code_rebuilt(module, lowering)
    result.attributes["gpu.container_module"] = UnitAttr()
    remove_dead_code(result)
    if any(operation.name == "xegpu.dpas" for operation in walk(result)):
        from xtile.translate.core_to_xegpu.late_loads import delay_loads

        delay_loads(result)
    return result
