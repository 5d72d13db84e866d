"""Which types are those of pointers, in all languages; importing the dialects is not needed."""

from __future__ import annotations

from xdsl.ir import Attribute

_NAMES = frozenset({"core.ptr", "cuda_tile.ptr", "spirv.ptr", "tt.ptr"})


def is_pointer(type: Attribute) -> bool:
    """Whether a type is that of a pointer."""
    return type.name in _NAMES
