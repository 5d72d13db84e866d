"""What the lowerings of tiles share: memory by pointers and numbers, loops, shapes, products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xtile.rewrite.rebuilder import RuleTable

_SHARED = {
    "arith": ("casts", "divisions", "extended"),
    "complex": ("casts",),
    "core": ("reductions", "refusals", "views"),
    "gpu": ("refusals",),
    "math": ("bits",),
    "memref": ("views",),
    "vector": ("products", "reductions", "shapes"),
}
"""For each dialect the modules of this package with the RULES of its operations, by name."""


def rules_of(package: str, own: Mapping[str, Sequence[str]]) -> RuleTable:
    """The shared rules and those of a lowering; an operation without a rule is refused.

    Args:
        package: The lowering's package.
        own: For each dialect the package's modules with the RULES of its operations, by name.
    """
    return RuleTable(
        modules={
            dialect: [
                *(f"xtile.translate.tiles.{name}" for name in _SHARED.get(dialect, ())),
                *(f"{package}.{name}" for name in own.get(dialect, ())),
            ]
            for dialect in sorted({*_SHARED, *own})
        },
        keeps_rounding=True,
    )
