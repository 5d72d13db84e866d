"""The rules of each dialect, whose modules are loaded when a kernel has an operation of it."""

from __future__ import annotations

from xtile.translate.tiles.rules import rules_of

_MODULES = {
    "arith": ("arithmetic",),
    "core": ("atomics", "elements", "gathers", "messages", "pointers", "scaled_products"),
    "func": ("functions",),
    "gpu": ("functions", "messages"),
    "math": ("arithmetic",),
    "cf": ("messages",),
    "memref": ("atomics", "memory"),
    "scf": ("control",),
    "ub": ("arithmetic",),
    "vector": ("gathers", "memory", "products"),
}
"""For each dialect the modules with the RULES of its operations, by name."""

RULES = rules_of("xtile.translate.core_to_triton", _MODULES)
"""What becomes of each operation; one without a rule is refused."""
