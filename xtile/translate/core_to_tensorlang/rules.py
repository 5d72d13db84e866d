"""The rules of each dialect, whose modules are loaded when a kernel has an operation of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xtile.dialects.core.attributes import Level
from xtile.rewrite.rebuilder import RuleTable

_PACKAGE = "xtile.translate.core_to_tensorlang"

_MODULES: Mapping[str, Sequence[str]] = {
    "arith": ("literals", "numbers"),
    "cf": ("control",),
    "complex": ("literals", "numbers"),
    "core": ("collective", "gpu", "numbers"),
    "func": ("functions",),
    "gpu": ("functions", "gpu"),
    "math": ("numbers",),
    "memref": ("functions", "views"),
    "scf": ("control",),
    "ub": ("literals",),
    "vector": ("numbers",),
    "xegpu": (),
}
"""For each dialect the modules with the RULES of its operations, by name."""

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
            dialect: [f"{_PACKAGE}.{name}" for name in (*names, *more.get(dialect, ()))]
            for dialect, names in _MODULES.items()
        },
    )


RULES = {level: _table(level) for level in _OF_LEVEL}
"""What becomes of each operation at each level; one without a rule is refused."""
