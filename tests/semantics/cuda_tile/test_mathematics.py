"""Mathematical functions and comparisons of floats of CUDA Tile IR."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.cuda_tile.tiles import (
    BASE_FLOATS,
    FRACTION_BITS,
    NUMBERS,
    evaluate,
    random_bits,
    same,
)
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
)
from xtile.dialects.cuda_tile.ops import floating_point
from xtile.dialects.cuda_tile.ops import mathematics as ops

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

COUNT = 256

UNARY: dict[Any, tuple[Callable[[float], float], float, float]] = {
    ops.CosOp: (math.cos, -20.0, 20.0),
    ops.CosHOp: (math.cosh, -8.0, 8.0),
    ops.ExpOp: (math.exp, -8.0, 8.0),
    ops.Exp2Op: (math.exp2, -10.0, 10.0),
    ops.LogOp: (math.log, 0.01, 100.0),
    ops.Log2Op: (math.log2, 0.01, 100.0),
    ops.RsqrtOp: (lambda x: 1 / math.sqrt(x), 0.01, 100.0),
    ops.SinOp: (math.sin, -20.0, 20.0),
    ops.SinHOp: (math.sinh, -8.0, 8.0),
    ops.TanOp: (math.tan, -20.0, 20.0),
    ops.TanHOp: (math.tanh, -8.0, 8.0),
}
"""The functions with the range in which they are tested."""


def assert_near(result: Any, exact: list[float], type: str) -> None:
    """Checks that results are off by one unit in the last place at most, in f64 by four.

    Other types are rounded from f64, so that this bound is nearly twice what may happen; in f64 the
    functions are numpy's, which are good to four units (docs/semantics.md).
    """
    unit = 2.0 ** -FRACTION_BITS[type] * (4 if type == "f64" else 1)
    wide = np.array(exact)
    # No result is so small that it is subnormal.
    assert np.all(np.abs(result.astype(np.float64) - wide) <= unit * np.abs(wide))


@pytest.mark.parametrize("type", BASE_FLOATS)
@pytest.mark.parametrize("make", UNARY)
def test_functions(make: Any, type: str) -> None:
    function, low, high = UNARY[make]
    values = np.asarray(NUMBERS[type].rounded(fresh_generator().uniform(low, high, COUNT)))
    result = evaluate(make, (values, type))
    assert_near(result, [function(float(value)) for value in values], type)


@pytest.mark.parametrize("mode", [RoundingMode.FULL, RoundingMode.APPROX])
@pytest.mark.parametrize("make", [ops.ExpOp, ops.TanHOp])
def test_approximations_are_no_worse(make: Any, mode: RoundingMode) -> None:
    values = fresh_generator().uniform(-8, 8, COUNT).astype(np.float32)
    approximate = evaluate(lambda x: make(x, rounding_mode=mode), (values, "f32"))
    assert same(approximate, evaluate(make, (values, "f32")))


@pytest.mark.parametrize("type", BASE_FLOATS)
def test_functions_of_two_numbers(type: str) -> None:
    a = np.asarray(NUMBERS[type].rounded(fresh_generator().uniform(0.1, 4, COUNT)))
    b = np.asarray(NUMBERS[type].rounded(fresh_generator().uniform(-3, 3, COUNT)))
    power = evaluate(ops.PowOp, (a, type), (b, type))
    pairs = [(float(x), float(y)) for x, y in zip(a, b, strict=True)]
    assert_near(power, [math.pow(x, y) for x, y in pairs], type)
    # The first operand is above the second in the quotient whose angle it is.
    angle = evaluate(ops.Atan2Op, (b, type), (a, type))
    assert_near(angle, [math.atan2(y, x) for x, y in pairs], type)
    quadrants = np.array([1.0, 1.0, -1.0, -1.0], np.float32)
    others = np.array([1.0, -1.0, 1.0, -1.0], np.float32)
    found = evaluate(ops.Atan2Op, (quadrants, "f32"), (others, "f32"))
    assert np.allclose(found, np.array([1, 3, -1, -3]) * math.pi / 4, rtol=1e-6)


@pytest.mark.parametrize("type", BASE_FLOATS)
def test_special_values(type: str) -> None:
    values = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, -1.0, 1.0, 0.5])
    given = np.asarray(NUMBERS[type].rounded(values))

    def compute(make: Any) -> Any:
        return evaluate(make, (given, type)).astype(np.float64)

    nan, inf = math.nan, math.inf
    assert same(compute(ops.ExpOp)[:5], [inf, 0.0, nan, 1.0, 1.0])
    assert same(compute(ops.Exp2Op)[:7], [inf, 0.0, nan, 1.0, 1.0, 0.5, 2.0])
    assert same(compute(ops.LogOp)[:7], [inf, nan, nan, -inf, -inf, nan, 0.0])
    assert same(compute(ops.Log2Op)[:8], [inf, nan, nan, -inf, -inf, nan, 0.0, -1.0])
    assert same(compute(ops.RsqrtOp)[:7], [0.0, nan, nan, inf, -inf, nan, 1.0])
    assert same(compute(ops.SinOp)[:5], [nan, nan, nan, 0.0, -0.0])
    assert same(compute(ops.CosOp)[:5], [nan, nan, nan, 1.0, 1.0])
    assert same(compute(ops.TanHOp)[:5], [1.0, -1.0, nan, 0.0, -0.0])


def test_subnormal_numbers_are_flushed() -> None:
    given = np.array([-130.0, -126.0, 2.0**-130, -(2.0**-130)], np.float32)
    flushed = evaluate(lambda x: ops.Exp2Op(x, flush_to_zero=True), (given, "f32"))
    assert same(flushed, np.array([0.0, 2.0**-126, 1.0, 1.0], np.float32))
    kept = evaluate(ops.Exp2Op, (given[:2], "f32"))
    assert same(kept, np.array([2.0**-130, 2.0**-126], np.float32))


RELATIONS: dict[ComparisonPredicate, Callable[[float, float], bool]] = {
    ComparisonPredicate.EQUAL: lambda a, b: a == b,
    ComparisonPredicate.NOT_EQUAL: lambda a, b: a != b,
    ComparisonPredicate.LESS_THAN: lambda a, b: a < b,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: lambda a, b: a <= b,
    ComparisonPredicate.GREATER_THAN: lambda a, b: a > b,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: lambda a, b: a >= b,
}


@pytest.mark.parametrize("type", BASE_FLOATS)
@pytest.mark.parametrize("ordering", ComparisonOrdering)
@pytest.mark.parametrize("predicate", RELATIONS)
def test_comparisons(
    predicate: ComparisonPredicate, ordering: ComparisonOrdering, type: str
) -> None:
    special = np.array([0.0, -0.0, np.nan, np.inf, 1.0, -np.inf, 2.0, -1.0])
    a, b = random_bits(type, COUNT), random_bits(type, COUNT)
    for tile, chosen in ((a, special), (b, np.repeat(special, 8))):
        tile[:64] = np.resize(chosen, 64).astype(tile.dtype)
    result = evaluate(
        lambda x, y: floating_point.CmpFOp(predicate, ordering, x, y), (a, type), (b, type)
    )
    for x, y, found in zip(a.astype(np.float64), b.astype(np.float64), result, strict=True):
        if math.isnan(x) or math.isnan(y):
            assert found == (ordering is ComparisonOrdering.UNORDERED)
        else:
            assert found == RELATIONS[predicate](x, y)
