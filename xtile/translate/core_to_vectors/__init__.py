"""From the core form at subgroup level to lane level, where a work-item does a subgroup's work.

On a CPU the lanes of a subgroup are the elements of a vector register. A kernel whose lanes all do
the same becomes one in which each subgroup is a single work-item: its matrices are in private
memory, which is in the nearest cache, and every operation on them is a loop over vectors.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnitAttr

from xtile.dialects.core.attributes import Level
from xtile.rewrite.kernels import with_device_code_rebuilt
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.compose_narrow import compose_narrow
from xtile.transforms.split_complex import split_complex
from xtile.translate.core_to_vectors import (
    contractions,
    control,
    elements,
    elementwise,
    functions,
    maps,
    pointers,
    printing,
    reductions,
    scans,
    scattered,
    shapes,
    transfers,
)
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_xegpu import RULES as SCALAR_RULES
from xtile.translate.core_to_xegpu import tf32

_ROWS: dict[str, Rule] = {
    **SCALAR_RULES,
    **contractions.RULES,
    **control.RULES,
    **elements.RULES,
    **elementwise.RULES,
    **functions.RULES,
    **maps.RULES,
    **pointers.RULES,
    **printing.RULES,
    **reductions.RULES,
    **scans.RULES,
    **scattered.RULES,
    **shapes.RULES,
    **transfers.RULES,
}
"""The rule of each operation that is not emitted again as it is."""

RULES = RuleTable(_ROWS, otherwise=elementwise.copy_or_compute, keeps_rounding=True)
"""What becomes of each operation."""


def translate_module(
    module: ModuleOp,
    target: LaneTarget,
    diagnostics: Diagnostics | None = None,
    level: Level = Level.SUBGROUP,
) -> ModuleOp:
    """Translates kernels at subgroup or tile level for a device with a vector unit.

    Args:
        module: The module, with one or more `gpu.module`.
        target: The device.
        diagnostics: Where remarks go; None drops them.
        level: The level; kernels at others stay what they are.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    module = compose_narrow(split_complex(module))
    lowering = Vectors(RULES, target, source_of(module), diagnostics)
    lowering.level = level
    tf32.check(module, lowering)
    result = with_device_code_rebuilt(module, lowering)
    result.attributes["gpu.container_module"] = UnitAttr()
    remove_dead_code(result)
    return result
