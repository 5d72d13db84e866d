"""Which types of vectors there are, against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal

RIGHT = tuple(
    f"func.func private @f({type})\n"
    for type in (
        "vector<4x8xf32>",
        "vector<i1>",
        "vector<2x[4]xindex>",
        "vector<3xsi8>",
        "vector<3xf8E4M3FN>",
        "vector<4x!llvm.ptr>",
    )
)
_HOLDS = "a vector holds integers, indices, floats or pointers, got"
WRONG = tuple(
    (f"func.func private @f({type})\n", message)
    for type, message in (
        ("vector<0xf32>", "the sizes of a vector must be at least 1, got 0"),
        ("vector<4x[0]xf32>", "the sizes of a vector must be at least 1, got 0"),
        ("vector<4xcomplex<f32>>", f"{_HOLDS} complex<f32>"),
        ("vector<4xvector<2xf32>>", f"{_HOLDS} vector<2xf32>"),
        ("vector<4xtensor<2xf32>>", f"{_HOLDS} tensor<2xf32>"),
        ("vector<4xmemref<2xf32>>", f"{_HOLDS} memref<2xf32>"),
        ("vector<4xnone>", f"{_HOLDS} none"),
        ("vector<4x() -> ()>", f"{_HOLDS} () -> ()"),
        ("vector<4xtuple<f32>>", f"{_HOLDS} tuple<f32>"),
    )
)


@pytest.mark.parametrize("index", range(len(RIGHT)))
def test_reads_and_prints_as_mlir_opt(index: int) -> None:
    check_agreement(dict(enumerate(RIGHT)), index)


@pytest.mark.parametrize("index", range(len(WRONG)))
def test_refuses_as_mlir_opt(index: int) -> None:
    check_refusal(dict(enumerate(WRONG)), index)
