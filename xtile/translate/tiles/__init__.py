"""What the lowerings of tiles share: memory by pointers and numbers, loops, shapes, products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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


SHARED = "shared"
"""Where the shared modules of a dialect stand among those of a lowering."""


def rules_of(package: str, own: Mapping[str, Sequence[str]]) -> RuleTable:
    """The shared rules and those of a lowering; an operation without a rule is refused.

    Args:
        package: The lowering's package.
        own: For each dialect the package's modules with the RULES of its operations, by name, in
            the order in which they are searched: those that kernels need most stand first, as
            each is loaded when it is searched. The shared modules come last, or at `SHARED`.
    """
    return RuleTable(
        modules={
            dialect: list(_in_order(package, dialect, own.get(dialect, ())))
            for dialect in sorted({*_SHARED, *own})
        },
        keeps_rounding=True,
    )


def _in_order(package: str, dialect: str, own: Sequence[str]) -> Iterator[str]:
    """The full names of the modules of a dialect."""
    for name in own if SHARED in own else (*own, SHARED):
        if name == SHARED:
            yield from (f"{__name__}.{shared}" for shared in _SHARED.get(dialect, ()))
        else:
            yield f"{package}.{name}"
