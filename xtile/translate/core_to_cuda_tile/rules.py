"""The rules of each dialect, whose modules are loaded when a kernel has an operation of it."""

from __future__ import annotations

from xtile.rewrite.rebuilder import RuleTable
from xtile.translate.tiles.rules import SHARED

_MODULES = {
    "arith": ("arithmetic", "comparisons", "conversions", "literals"),
    "cf": ("messages",),
    "complex": ("memory",),
    "core": (
        "assumptions",
        "atomics",
        "elements",
        "gathers",
        "messages",
        "packing",
        "pointers",
        "scaled_products",
    ),
    "func": ("functions",),
    "gpu": ("functions", "gpu", "messages"),
    "math": ("mathematics",),
    "memref": ("allocation", "atomics", "memory"),
    "scf": ("control",),
    "ub": ("literals",),
    "vector": ("gathers", "packing", "transfers"),
}
"""For each dialect the modules with the RULES of its operations, by name."""

RULES = RuleTable(
    modules={
        dialect: [
            *(f"xtile.translate.tiles.{name}" for name in SHARED.get(dialect, ())),
            *(f"xtile.translate.core_to_cuda_tile.{name}" for name in names),
        ]
        for dialect, names in _MODULES.items()
    },
    keeps_rounding=True,
)
"""What becomes of each operation; one without a rule is refused."""
