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
    ),
    "func": ("functions",),
    "gpu": ("functions", "gpu", "messages", "refusals"),
    "math": ("mathematics", "bits"),
    "memref": ("allocation", "atomics", "memory"),
    "scf": ("control",),
    "ub": ("literals",),
    "vector": ("gathers", "packing", "products", "reductions", "shapes", "transfers"),
}
"""For each dialect the modules with the RULES of its operations, by name."""

_SHARED = {"core": ("views",), "memref": ("views",)}
"""The modules of those that all lowerings of tiles have."""

RULES = RuleTable(
    modules={
        dialect: [
            *(f"xtile.translate.core_to_cuda_tile.{name}" for name in names),
            *(f"xtile.translate.tiles.{name}" for name in _SHARED.get(dialect, ())),
        ]
        for dialect, names in _MODULES.items()
    },
    keeps_rounding=True,
)
"""What becomes of each operation; one without a rule is refused."""
