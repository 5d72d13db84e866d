"""From the core form, at any level, to the tensor language (docs/core-form-targets.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from xtile.dialects.core.attributes import Level
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.rewrite.kernels import DEVICE_CODE
from xtile.rewrite.rebuilder import RuleTable
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of, with_body
from xtile.transforms.compose_flush import compose_flush
from xtile.translate.core_to_tensorlang.lowering import Lowering
from xtile.translate.core_to_tensorlang.tf32 import multiply_in_f32

_MODULES: Mapping[str, Sequence[str]] = {
    "arith": ("numbers",),
    "cf": ("control",),
    "complex": ("numbers",),
    "core": ("collective", "gpu", "numbers"),
    "func": ("functions",),
    "gpu": ("functions", "gpu"),
    "math": ("numbers",),
    "memref": ("functions", "views"),
    "scf": ("control",),
    "ub": ("numbers",),
    "vector": ("numbers",),
    "xegpu": (),
}
"""For each dialect the modules with the RULES of its operations, loaded when a kernel has one."""

_MATRICES = {"core": ("matrices",), "vector": ("matrices",)}

_TILES = ("tiles", "tile_memory", "tile_products", "tile_reductions")

_OF_LEVEL: Mapping[Level, Mapping[str, Sequence[str]]] = {
    Level.BLOCK: _MATRICES,
    Level.SUBGROUP: _MATRICES,
    Level.TILE: {"core": _TILES, "vector": _TILES},
    Level.LANE: {"core": _TILES, "vector": _TILES, "xegpu": ("lane_blocks",)},
}
"""The modules for the vectors of each level, and for what else it has."""


def _table(level: Level) -> RuleTable:
    more = _OF_LEVEL[level]
    return RuleTable(
        modules={
            dialect: [f"{__name__}.{name}" for name in (*names, *more.get(dialect, ()))]
            for dialect, names in _MODULES.items()
        },
    )


RULES = {level: _table(level) for level in _OF_LEVEL}
"""What becomes of each operation at each level; one without a rule is refused."""


def translate_module(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Translates kernels to functions of the tensor language.

    Args:
        module: The module, with one or more `gpu.module`.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with one function for each kernel, and the functions of the tensor language that
        were there already. Functions of the host have no text there and are left out.

    Raises:
        DiagnosticError: Something has no counterpart; the reasons are in docs/core-form-targets.md.
    """
    module = compose_flush(multiply_in_f32(module, diagnostics))
    lowering = Lowering(RULES[Level.BLOCK], source_of(module), diagnostics)
    body = Block()
    with lowering.at_end_of(body):
        for operation in module.body.block.ops:
            if isinstance(operation, DEVICE_CODE):
                lowering.translate(operation)
            elif isinstance(operation, FuncOp):
                lowering.keep(operation)
    return with_body(module, body, {})
