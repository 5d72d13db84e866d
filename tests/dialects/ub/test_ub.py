"""The `ub` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

RIGHT = {
    "numbers": in_function("", "%0 = ub.poison : f32\n%1 = ub.poison {a} : index"),
    "vectors and memory": in_function(
        "", "%0 = ub.poison <#ub.poison> : vector<4xi8>\n%1 = ub.poison : memref<4xf32>"
    ),
    "unreachable": "func.func @f() {\nub.unreachable\n}\n",
    "padding": in_function(
        "%m: memref<7xf32>, %i: index",
        "%p = ub.poison : f32\n%v = vector.transfer_read %m[%i], %p : memref<7xf32>, vector<8xf32>",
    ),
}

WRONG = {
    "part of a value": (
        in_function("", "%0 = ub.poison <dense<1> : vector<4xi32>> : vector<4xi32>"),
        "expected #ub.poison, the whole value, got dense<1> : vector<4xi32>",
    ),
    "a number": (in_function("", "%0 = ub.poison <4 : i32> : i32"), "expected #ub.poison"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
