"""The `complex` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

VALUES = "%z: complex<f32>, %d: complex<f64>, %x: f32, %y: f64, %i: i32, %v: vector<2xf32>"

UNARY = (
    "conj", "cos", "exp", "expm1", "log", "log1p", "neg", "rsqrt", "sign", "sin", "sqrt", "tan",
    "tanh",
)  # fmt: skip
BINARY = ("add", "atan2", "div", "mul", "pow", "sub")
TO_REAL = ("abs", "angle", "im", "re")


def piece(*lines: str) -> str:
    body = "\n".join(f"%{index} = complex.{line}" for index, line in enumerate(lines))
    return in_function(VALUES, body)


RIGHT = {
    **{
        name: piece(f"{name} %z : complex<f32>", f"{name} %d fastmath<fast> {{a}} : complex<f64>")
        for name in UNARY + TO_REAL
    },
    **{
        name: piece(
            f"{name} %z, %z : complex<f32>",
            f"{name} %d, %d fastmath<nnan,contract> {{a}} : complex<f64>",
        )
        for name in BINARY
    },
    **{
        name: piece(f"{name} %z, %z : complex<f32>", f"{name} %d, %d {{a}} : complex<f64>")
        for name in ("eq", "neq")
    },
    "create": piece("create %x, %x : complex<f32>", "create %y, %y {a} : complex<f64>"),
    "constant": piece(
        "constant [1.0, -1.0] : complex<f64>",
        "constant [0.1 : f32, 2.0 : f32] : complex<f32>",
        "constant [1.0 : f16, 2.0 : f16] {a} : complex<f16>",
    ),
    "bitcast": piece("bitcast %z : complex<f32> to i64", "bitcast %y {a} : f64 to complex<f32>"),
    "powi": piece(
        "powi %z, %i : complex<f32>, i32", "powi %d, %i fastmath<fast> {a} : complex<f64>, i32"
    ),
    "in memory": in_function(
        "%a: memref<4xcomplex<f32>>, %i: index",
        "%0 = memref.load %a[%i] : memref<4xcomplex<f32>>\n"
        "%1 = complex.mul %0, %0 : complex<f32>\n"
        "memref.store %1, %a[%i] : memref<4xcomplex<f32>>",
    ),
}

WRONG = {
    "sum of reals": (piece("add %x, %x : f32"), "f32 should be of base attribute complex"),
    "real part of another type": (
        in_function(VALUES, '%0 = "complex.re"(%z) : (complex<f32>) -> f64'),
        "attribute f32 expected from variable 'T', but got f64",
    ),
    "number of other parts": (
        in_function(VALUES, '%0 = "complex.create"(%x, %y) : (f32, f64) -> complex<f32>'),
        "attribute f32 expected from variable 'T', but got f64",
    ),
    "constant of one part": (piece("constant [1.0] : complex<f64>"), "incorrect length"),
    "constant of integers": (
        piece("constant [1 : i32, 2 : i32] : complex<f64>"),
        "attribute f64 expected from variable",
    ),
    "bitcast to another width": (
        piece("bitcast %z : complex<f32> to i32"),
        "to be bitcast between complex and equal",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
