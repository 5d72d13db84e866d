"""The rules of each dialect, whose modules are loaded when a kernel has an operation of it."""

from __future__ import annotations

from xtile.rewrite.rebuilder import RuleTable
from xtile.translate.tiles.rules import SHARED

_MODULES = {
    "arith": ("arithmetic",),
    "complex": ("memory",),
    "core": ("atomics", "elements", "gathers", "messages", "pointers"),
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

RULES = RuleTable(
    modules={
        dialect: [
            *(f"xtile.translate.tiles.{name}" for name in SHARED.get(dialect, ())),
            *(f"xtile.translate.core_to_triton.{name}" for name in names),
        ]
        for dialect, names in _MODULES.items()
    },
    keeps_rounding=True,
)
"""What becomes of each operation; one without a rule is refused."""
