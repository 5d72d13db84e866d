"""What the tensor language promises of a parameter becomes promises of an argument."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute

import xtile
from xtile.dialects.core.arguments import promises_of
from xtile.dialects.core.source_promises import promised, with_promises_of_source
from xtile.rewrite.kernels import kernels_of

_TEXT = """
func @k(%a: memref<f16x?x?>{alignment=64, stride_gcd=[1,8], shape_gcd=[4]}, %n: index) {
    %one = constant 1.0 : f16
    axpby.n %one, %a, %one, %a
}
"""


def _numbers(*numbers: int) -> Attribute:
    return ArrayAttr(IntegerAttr(number, i64) for number in numbers)


def test_lanes_have_the_promises_of_their_source() -> None:
    lanes = xtile.translate(_TEXT, "xegpu", chip="pvc")
    (kernel,) = kernels_of(lanes)
    assert "core.alignment" not in promises_of(kernel, 0)
    known = with_promises_of_source(kernel)
    assert promises_of(known, 0) == {
        "core.alignment": IntegerAttr(64, i64),
        "core.shape_gcd": DenseArrayBase.from_list(i64, [1, 4]),
        "core.stride_gcd": DenseArrayBase.from_list(i64, [8, 1]),
        "core.noalias": UnitAttr(),
    }
    assert promises_of(known, 1) == {}
    assert with_promises_of_source(known) is known


@pytest.mark.parametrize(
    "given",
    [{"alignment": StringAttr("x")}, {"other": _numbers(1)}, {"stride_gcd": StringAttr("8")}],
)
def test_what_is_no_promise_is_left_out(given: dict[str, Attribute]) -> None:
    assert promised(given, (1, 0)) == {}
    words = {"stride_gcd": ArrayAttr([StringAttr("x")])}
    assert promised(words, (0,)) == {"core.stride_gcd": DenseArrayBase.from_list(i64, [1])}
