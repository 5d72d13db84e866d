"""The types that sums are computed in. Translations need them too, so this loads no numpy."""

from __future__ import annotations

from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types

_ACCUMULATION_TYPES: dict[Attribute, Attribute] = {
    types.I8: types.I32,
    types.BF16: types.F32,
    types.F16: types.F32,
}


def accumulation_type(type: Attribute) -> Attribute:
    """The type in which products and sums that end in `type` are computed before one rounding."""
    return _ACCUMULATION_TYPES.get(type, type)
