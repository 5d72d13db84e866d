"""The `math` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

VALUES = "%x: f32, %w: vector<4xf16>, %i: i32, %v: vector<4xi32>, %n: index, %b: bf16"

FLOAT_UNARY = (
    "absf", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh",
    "erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "round",
    "roundeven", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
FLOAT_BINARY = ("atan2", "copysign", "powf")
INTEGER_UNARY = ("absi", "ctlz", "ctpop", "cttz")
CLASSIFICATION = ("isfinite", "isinf", "isnan", "isnormal")


def piece(*lines: str) -> str:
    body = "\n".join(f"%{index} = math.{line}" for index, line in enumerate(lines))
    return in_function(VALUES, body)


RIGHT = {
    **{
        name: piece(
            f"{name} %x : f32",
            f"{name} %w fastmath<fast> : vector<4xf16>",
            f"{name} %b fastmath<nnan,ninf> {{a}} : bf16",
        )
        for name in FLOAT_UNARY
    },
    **{
        name: piece(
            f"{name} %x, %x : f32", f"{name} %w, %w fastmath<contract> {{a}} : vector<4xf16>"
        )
        for name in FLOAT_BINARY
    },
    **{
        name: piece(f"{name} %i : i32", f"{name} %v {{a}} : vector<4xi32>")
        for name in INTEGER_UNARY
    },
    **{
        name: piece(
            f"{name} %x : f32",
            f"{name} %w {{a, fastmath = #arith.fastmath<nnan>}} : vector<4xf16>",
        )
        for name in CLASSIFICATION
    },
    "fma": piece("fma %x, %x, %x : f32", "fma %w, %w, %w fastmath<fast> {a} : vector<4xf16>"),
    "clampf": piece(
        "clampf %x to [%x, %x] : f32", "clampf %w to [%w, %w] fastmath<fast> {a} : vector<4xf16>"
    ),
    "ipowi": piece("ipowi %i, %i : i32", "ipowi %v, %v {a} : vector<4xi32>"),
    "fpowi": piece(
        "fpowi %x, %i : f32, i32", "fpowi %w, %v fastmath<fast> {a} : vector<4xf16>, vector<4xi32>"
    ),
    "sincos": in_function(
        VALUES,
        "%0, %1 = math.sincos %x : f32\n%2:2 = math.sincos %w fastmath<fast> {a} : vector<4xf16>",
    ),
}

WRONG = {
    "exponential of an integer": (
        piece("exp %i : i32"),
        "Unexpected attribute i32",
    ),
    "absolute value of a float": (
        piece("absi %x : f32"),
        "Unexpected attribute f32",
    ),
    "power to a float": (
        piece("fpowi %x, %b : f32, bf16"),
        "Unexpected attribute bf16",
    ),
    "product and sum of two types": (
        in_function(VALUES, '%0 = "math.fma"(%x, %x, %b) : (f32, f32, bf16) -> f32'),
        "attribute f32 expected from variable 'T', but got bf16",
    ),
    "classification to an integer": (
        in_function(VALUES, '%0 = "math.isnan"(%x) : (f32) -> i32'),
        "expected an i1, or a vector or tensor of i1, got i32",
    ),
    "unknown fast mathematics": (
        piece("sqrt %x fastmath<slow> : f32"),
        "Expected `reassoc`, `nnan`",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
