"""From the core form at tile level to CUDA Tile IR.

Tiles get sizes that are powers of two. All kernels become entries of one module, with the arguments
of the calling convention.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from xtile.dialects.cuda_tile.ops.module import ModuleOp as CudaTileModuleOp
from xtile.targets.target import Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.compose_shuffles import compose_shuffles
from xtile.transforms.pad import pad
from xtile.transforms.read_once import read_once
from xtile.transforms.scans_of_one_warp import avoid_scans_of_one_warp
from xtile.transforms.split_complex import split_complex
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.tiles import SHARED, rules_of

_MODULES = {
    "arith": ("literals", "arithmetic", "comparisons"),
    "cf": ("functions",),
    "core": (
        "atomics",
        "elements",
        "functions",
        "gathers",
        "memory",
        "packing",
        "scaled_products",
    ),
    "func": ("functions",),
    "gpu": ("functions",),
    "math": ("arithmetic", "mathematics"),
    "memref": (SHARED, "memory", "allocation", "atomics"),
    "scf": ("control",),
    "ub": ("literals",),
    "vector": (SHARED, "memory", "gathers", "packing"),
}
"""For each dialect the modules with the RULES of its operations, in the order of the search."""

RULES = rules_of(__name__, _MODULES)
"""What becomes of each operation; one without a rule is refused."""


def translate_module(
    module: ModuleOp, target: Target, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Translates kernels at tile level.

    Args:
        module: The module, with one or more `gpu.module`.
        target: What the code is for.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with one `cuda_tile.module`.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    module = pad(compose_shuffles(split_complex(module)), diagnostics)
    lowering = Lowering(RULES, target, source_of(module), diagnostics)
    body = Block()
    with lowering.at_end_of(body):
        lowering.translate_block(module.body.block)
    kernels = CudaTileModuleOp("kernels", Region(body))
    remove_dead_code(kernels)
    read_once(kernels)
    avoid_scans_of_one_warp(kernels)
    return ModuleOp([kernels])
