"""The rules of each dialect, whose modules are loaded when a kernel has an operation of it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.rebuilder import RuleTable
from xtile.translate.xegpu_to_spirv.carried import Carried

_MODULES = {
    "arith": ("arithmetic", "comparisons", "conversions", "divisions", "literals"),
    "builtin": ("views",),
    "cf": ("printing",),
    "complex": ("memory",),
    "core": ("cooperative_matrices", "pointers"),
    "func": ("functions", "regions"),
    "gpu": ("functions", "gpu", "printing", "subgroup"),
    "index": ("arithmetic", "comparisons", "conversions", "divisions", "literals"),
    "math": ("mathematics",),
    "memref": ("allocation", "atomics", "memory", "regions", "reshapes", "views"),
    "scf": ("control", "regions"),
    "spirv": ("extended_functions",),
    "ub": ("literals",),
    "vector": (
        "mathematics",
        "vectors.arithmetic",
        "vectors.masks",
        "vectors.memory",
        "vectors.positions",
        "vectors.shapes",
        "vectors.transfers",
    ),
    "xegpu": ("xegpu.rules",),
}
"""For each dialect the modules with the RULES of its operations, by name."""

RULES = RuleTable(
    modules={
        dialect: [f"xtile.translate.xegpu_to_spirv.{name}" for name in names]
        for dialect, names in _MODULES.items()
    }
)
"""What becomes of each operation; one without a rule is refused."""


def rebuilt(type_: Attribute, values: Iterator[SSAValue]) -> Carried:
    """What a value of a type of XeGPU is, made from the next of some values."""
    from xtile.translate.xegpu_to_spirv.xegpu import rules

    return rules.rebuilt(type_, values)
