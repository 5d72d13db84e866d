"""The rules that all lowerings of tiles have."""

from __future__ import annotations

SHARED = {
    "arith": ("casts", "divisions", "extended"),
    "core": ("reductions", "refusals", "views"),
    "gpu": ("refusals",),
    "math": ("bits",),
    "memref": ("views",),
    "vector": ("products", "reductions", "shapes"),
}
"""For each dialect the modules of this package with the RULES of its operations, by name."""
