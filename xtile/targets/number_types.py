"""The types that the tables of chips name."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import FixedBitwidthType, bf16, f16, f32, f64, i8, i16, i32, i64

from xtile.targets.target import Number

BUILTIN_TYPES: Mapping[Number, FixedBitwidthType] = {
    "f64": f64,
    "f32": f32,
    "f16": f16,
    "bf16": bf16,
    "i64": i64,
    "i32": i32,
    "i16": i16,
    "i8": i8,
}
"""Those that are xDSL's own."""
