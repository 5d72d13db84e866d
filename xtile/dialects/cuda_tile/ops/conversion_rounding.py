"""How conversions between floats may be rounded.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, `FToFOp::verify`; for 13.4 cuda-tile 1.7.0 (the
Python package), `_ir/ops_utils.py`, and what tileirdisasm 13.5.37 accepts of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
)
from xdsl.ir import Attribute

from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.versions import V13_1, V13_4, Version

_SMALL = (Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType)
_HALF = (Float16Type, BFloat16Type)

_TOWARDS_INFINITY: Mapping[type[Attribute], tuple[type[Attribute], ...]] = MappingProxyType(
    {
        Float16Type: _SMALL,
        BFloat16Type: _SMALL,
        FloatTF32Type: (*_SMALL, *_HALF),
        Float32Type: (*_SMALL, *_HALF, FloatTF32Type, Float64Type),
        Float64Type: (*_SMALL, *_HALF, FloatTF32Type, Float32Type, Float8E8M0FNUType),
    }
)
"""From which types conversions to a type may be rounded down and up, since 13.4.

Those to the keys from any type may be rounded to zero.
"""

_AWAY: Mapping[type[Attribute], tuple[type[Attribute], ...]] = MappingProxyType(
    {
        **_TOWARDS_INFINITY,
        FloatTF32Type: (*_SMALL, *_HALF, Float32Type),
        Float32Type: (*_SMALL, *_HALF, FloatTF32Type),
    }
)
"""From which types conversions to a type may be rounded to nearest with ties away from zero, since
13.4; only from f32 to tf32 anything is rounded."""

SCALE_MODES = (RoundingMode.ZERO, RoundingMode.POSITIVE_INF)
"""How conversions to f8E8M0FNU are rounded, which has only powers of two."""


def conversion_modes(source: Attribute, target: Attribute) -> dict[RoundingMode, Version]:
    """The rounding modes of a conversion between two types of floats, and since when they exist."""
    if isinstance(target, Float8E8M0FNUType):
        return dict.fromkeys(SCALE_MODES, V13_1)
    modes = {RoundingMode.NEAREST_EVEN: V13_1}
    sources = _TOWARDS_INFINITY.get(target.__class__)
    if sources is not None:
        modes[RoundingMode.ZERO] = V13_4
        if isinstance(source, sources):
            modes |= dict.fromkeys((RoundingMode.NEGATIVE_INF, RoundingMode.POSITIVE_INF), V13_4)
    if isinstance(source, _AWAY.get(target.__class__, ())):
        modes[RoundingMode.NEAREST_AWAY] = V13_4
    return modes
