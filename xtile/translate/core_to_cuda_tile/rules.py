"""The rules of each dialect, whose modules are loaded when a kernel has an operation of it."""

from __future__ import annotations

from xtile.translate.tiles.rules import rules_of

_MODULES = {
    "arith": ("arithmetic", "comparisons", "conversions", "literals"),
    "cf": ("messages",),
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

RULES = rules_of("xtile.translate.core_to_cuda_tile", _MODULES)
"""What becomes of each operation; one without a rule is refused."""
