"""The rules of each dialect, whose modules are loaded when a kernel has an operation of it."""

from __future__ import annotations

from xtile.rewrite.rebuilder import RuleTable

_MODULES = {
    "arith": ("arithmetic", "comparisons", "conversions", "divisions", "literals"),
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
        "reductions",
        "refusals",
        "scaled_products",
        "views",
    ),
    "func": ("functions",),
    "gpu": ("functions", "gpu", "messages", "refusals"),
    "math": ("mathematics", "bits"),
    "memref": ("allocation", "atomics", "memory", "views"),
    "scf": ("control",),
    "ub": ("literals",),
    "vector": ("gathers", "packing", "products", "reductions", "shapes", "transfers"),
}
"""For each dialect the modules with the RULES of its operations, by name."""

RULES = RuleTable(
    modules={
        dialect: [f"xtile.translate.core_to_cuda_tile.{name}" for name in names]
        for dialect, names in _MODULES.items()
    },
    keeps_rounding=True,
)
"""What becomes of each operation; one without a rule is refused."""
