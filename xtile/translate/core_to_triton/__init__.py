"""From the core form at tile level to Triton's `tt` (docs/core-form-targets.md, "To Triton").

The text has no layouts, so that every release of Triton from 3.4 to 3.9 compiles it, for chips of
NVIDIA and AMD.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xtile.targets.target import Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.compose_flush import compose_flush
from xtile.transforms.compose_shuffles import compose_shuffles
from xtile.transforms.pad import pad
from xtile.transforms.read_once import read_once
from xtile.transforms.split_complex import split_complex
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.tiles import rules_of

_MODULES = {
    "arith": ("arithmetic",),
    "cf": ("functions",),
    "core": ("atomics", "functions", "gathers", "memory", "products"),
    "func": ("functions",),
    "gpu": ("functions",),
    "math": ("arithmetic",),
    "memref": ("atomics", "memory"),
    "scf": ("control",),
    "ub": ("arithmetic",),
    "vector": ("gathers", "memory", "products"),
}
"""For each dialect the modules with the RULES of its operations, loaded when a kernel has one."""

RULES = rules_of(__name__, _MODULES)
"""What becomes of each operation; one without a rule is refused."""


def translate_module(
    module: ModuleOp, target: Target, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Translates kernels at tile level.

    Args:
        module: The module, with one or more `gpu.module`.
        target: The chip, whose vendor's library has functions that Triton has no operation for.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with a public function for each kernel.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    module = pad(compose_shuffles(compose_flush(split_complex(module))), diagnostics)
    result = Lowering(RULES, target, source_of(module), diagnostics).module(module, {})
    remove_dead_code(result)
    read_once(result)
    return result
