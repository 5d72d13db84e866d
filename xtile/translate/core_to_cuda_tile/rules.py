"""The rules of each dialect, whose modules are loaded when a kernel has an operation of it."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from xtile.rewrite.rebuilder import Rule

_MODULES = {
    "arith": ("arithmetic", "comparisons", "conversions", "divisions", "literals"),
    "complex": ("complex_numbers", "literals"),
    "core": ("atomics", "gathers", "reductions", "refusals", "views"),
    "func": ("functions",),
    "gpu": ("functions", "gpu", "refusals"),
    "math": ("mathematics", "bits"),
    "memref": ("allocation", "atomics", "memory", "views"),
    "scf": ("control",),
    "ub": ("literals",),
    "vector": ("gathers", "products", "reductions", "shapes", "transfers"),
}
"""For each dialect the modules with the RULES of its operations, by name."""


@cache
def _rules_of(dialect: str) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for name in _MODULES.get(dialect, ()):
        rules.update(import_module(f"xtile.translate.core_to_cuda_tile.{name}").RULES)
    return rules


@cache
def rule_of(name: str) -> Rule | None:
    """The rule of an operation by its name; None if there is none."""
    return _rules_of(name.partition(".")[0]).get(name)
