"""How far apart the results of two devices may be: one table by instruction and type.

What is not in the table is exact: integers, bits, comparisons, casts, moves, and floating
arithmetic that IEEE 754 rounds once (docs/semantics.md, 1.1), division too, for which OpenCL C
would allow 2.5 units in f32. There every bit must agree, except for which NaN a NaN is and the sign
of a zero that is a maximum or a minimum (1.6). What products, quotients and functions make of
complex numbers that are not finite, or that have such results, is not specified.

Sources:

- OpenCL C 3.0, section 7.4 "Relative Error as ULPs", full profile: what a device may be off.
- The extension cl_khr_fp16, "Relative Error as ULPs": the same for f16.
- docs/semantics.md 1.10: the reference device is within 4 units in f32 and f64.
- Brent, Percival and Zimmermann, "Error bounds on complex floating-point multiplication", 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Attribute

from xtile.dialects.tensorlang.types import (
    BF16,
    C32,
    C64,
    F16,
    F32,
    F64,
)


@dataclass(frozen=True)
class Tolerance:
    """How far apart two results of one instruction on equal operands may be.

    Attributes:
        ulps: For each type, units in the last place of the result; of its modulus, if it is
            complex. What the device and the reference device may be off, together. A type that
            is missing is exact.
        reason: Where the numbers come from.
    """

    ulps: Mapping[Attribute, float]
    reason: str


_REFERENCE = 4.0
"""What the reference device may be off in f32 and f64, in units in the last place."""


def _function(f32: float, f16: float, f64: float) -> Tolerance:
    """A function for which the specification allows the device these errors."""
    return Tolerance(
        {F32: f32 + _REFERENCE, F64: f64 + _REFERENCE, F16: f16 + 1.0, BF16: 1.0},
        "the device's error by OpenCL C and cl_khr_fp16, and the reference device's; bf16 is "
        "computed in f32 and rounded, so that two errors in f32 move it to the next number at most",
    )


_REAL_FUNCTIONS = {
    "exp": _function(3.0, 2.0, 3.0),
    "exp2": _function(3.0, 2.0, 3.0),
    "log": _function(3.0, 2.0, 3.0),
    "log2": _function(3.0, 2.0, 3.0),
    "cos": _function(4.0, 2.0, 4.0),
    "sin": _function(4.0, 2.0, 4.0),
}

_COMPLEX_EXPONENTIAL = 2 * (4.0 + 4.0 + 2.0)
"""e^x (cos y + i sin y): both factors are within 4 units on both devices, and are rounded."""


def _with_complex(function: Tolerance) -> Tolerance:
    parts = dict.fromkeys((C32, C64), _COMPLEX_EXPONENTIAL)
    return Tolerance({**function.ulps, **parts}, function.reason)


_FUNCTIONS = {
    **_REAL_FUNCTIONS,
    "exp": _with_complex(_REAL_FUNCTIONS["exp"]),
    "exp2": _with_complex(_REAL_FUNCTIONS["exp2"]),
}

_NATIVE_ULPS = 4096.0
"""In f32: OpenCL C leaves it to the device. Intel's CPU runtime 2026.2 was up to 3814 (`exp`), 15
(`exp2`), 59 (`log`), 29 (`log2`), 2535 (`cos`) and 2523 (`sin`) units off for random numbers of all
sizes on a CPU with AVX-512, and 1774, 1230, 1565, 889, 2535 and 2524 on one that has AVX2 only."""


def _native(name: str) -> Tolerance:
    """The native form of a function, in f32 and, as the functions of its parts, in c32."""
    ulps = {**_FUNCTIONS[name].ulps, F32: _NATIVE_ULPS}
    if C32 in ulps:
        ulps[C32] = 2 * (2 * _NATIVE_ULPS)
    return Tolerance(ulps, "measured on Intel's CPU runtime; OpenCL C leaves it to the device")


_PRODUCT = Tolerance(
    {C32: 5.0, C64: 5.0},
    "each product is within sqrt(5) units of roundoff of its modulus, fused or not",
)

TOLERANCES: Mapping[str, Tolerance] = {
    **_FUNCTIONS,
    **{f"native_{name}": _native(name) for name in _FUNCTIONS},
    "mul": _PRODUCT,
    "cooperative_matrix_scale": _PRODUCT,
    "div": Tolerance(
        {C32: 16.0, C64: 16.0},
        "7 roundings on each device, each of them at most a unit of the modulus, and 2 more for "
        "what Smith's method leaves out of the smaller part",
    ),
    "abs": Tolerance(
        {C32: 4.0 + 1.0, C64: 4.0 + 1.0},
        "the root is within 3 units in OpenCL C, the sum of squares moves it by 1, and numpy's is "
        "within 1",
    ),
}
"""The tolerance of each instruction that is not exact and does not add up."""

SUMS = frozenset(
    {
        *("axpby", "cumsum", "gemm", "gemv", "ger", "hadamard", "sum"),
        *("atomic_add", "cooperative_matrix_atomic_add"),
        *("cooperative_matrix_mul_add", "cooperative_matrix_reduce_add"),
        *("subgroup_reduce_add", "subgroup_inclusive_scan_add", "subgroup_exclusive_scan_add"),
    }
)
"""The instructions that add up in an order that is not specified: no table bounds their errors."""
