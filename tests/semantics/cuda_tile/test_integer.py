"""Integer arithmetic of CUDA Tile IR against Python's exact integers, and broken promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.semantics.cuda_tile.tiles import (
    INTEGERS,
    NUMBERS,
    evaluate,
    random_integers,
    signed,
    tile,
    unsigned,
)
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonPredicate,
    IntegerOverflow,
    RoundingMode,
    Signedness,
)
from xtile.dialects.cuda_tile.ops import bitwise, conversions
from xtile.dialects.cuda_tile.ops import integer as ops
from xtile.semantics.errors import ExecutionError
from xtile.semantics.sanitizer.report import Kind
from xtile.semantics.sanitizer.sanitizer import Sanitizer

SHAPE = (4, 64)
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED


def expected(values: list[int], type: str) -> Any:
    """Exact results, wrapped around."""
    number = NUMBERS[type]
    wide = np.array([value % 2**64 for value in values], np.uint64).astype(np.int64)
    return number.wrapped(wide).reshape(SHAPE)


def pairs(a: Any, b: Any, type: str, signedness: Signedness) -> list[tuple[int, int]]:
    """The elements of two tiles as numbers."""
    read = signed if signedness is SIGNED else unsigned
    both = zip(a.reshape(-1), b.reshape(-1), strict=True)
    return [(read(x, type), read(y, type)) for x, y in both]


def truncated(a: int, b: int) -> int:
    """A quotient rounded towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


WRAPPING: dict[Any, Callable[[int, int], int]] = {
    ops.AddIOp: lambda a, b: a + b,
    ops.SubIOp: lambda a, b: a - b,
    ops.MulIOp: lambda a, b: a * b,
    bitwise.AndIOp: lambda a, b: a & b,
    bitwise.OrIOp: lambda a, b: a | b,
    bitwise.XOrIOp: lambda a, b: a ^ b,
}


@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize("make", WRAPPING)
def test_results_wrap_around(make: Any, type: str) -> None:
    a, b = random_integers(type, SHAPE), random_integers(type, SHAPE)
    result = evaluate(make, (a, type), (b, type))
    for signedness in (SIGNED, UNSIGNED):
        exact = [WRAPPING[make](x, y) for x, y in pairs(a, b, type, signedness)]
        assert np.array_equal(result, expected(exact, type))


@pytest.mark.parametrize("type", INTEGERS)
def test_the_high_half_of_unsigned_products(type: str) -> None:
    a, b = random_integers(type, SHAPE), random_integers(type, SHAPE)
    result = evaluate(ops.MulhiIOp, (a, type), (b, type))
    bits = NUMBERS[type].bits
    exact = [(x * y) >> bits for x, y in pairs(a, b, type, UNSIGNED)]
    assert np.array_equal(result, expected(exact, type))


@pytest.mark.parametrize("type", INTEGERS)
def test_negative_and_absolute_numbers(type: str) -> None:
    a = random_integers(type, SHAPE)
    values = [signed(x, type) for x in a.reshape(-1)]
    assert np.array_equal(
        evaluate(ops.NegIOp, (a, type)), expected([-value for value in values], type)
    )
    absolute = evaluate(ops.AbsIOp, (a, type))
    assert [unsigned(x, type) for x in absolute.reshape(-1)] == [abs(value) for value in values]


QUOTIENTS: dict[tuple[Signedness, RoundingMode], Callable[[int, int], int]] = {
    (SIGNED, RoundingMode.ZERO): truncated,
    (UNSIGNED, RoundingMode.ZERO): truncated,
    (SIGNED, RoundingMode.POSITIVE_INF): lambda a, b: -(-a // b),
    (UNSIGNED, RoundingMode.POSITIVE_INF): lambda a, b: -(-a // b),
    (SIGNED, RoundingMode.NEGATIVE_INF): lambda a, b: a // b,
}


@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize(("signedness", "mode"), QUOTIENTS)
def test_quotients(signedness: Signedness, mode: RoundingMode, type: str) -> None:
    a, b = random_integers(type, SHAPE), random_integers(type, SHAPE)
    b = np.where(b == 0, NUMBERS[type].number(1), b)
    result = evaluate(
        lambda x, y: ops.DivIOp(x, y, signedness=signedness, rounding=mode), (a, type), (b, type)
    )
    function = QUOTIENTS[signedness, mode]
    exact = [function(x, y) for x, y in pairs(a, b, type, signedness)]
    assert np.array_equal(result, expected(exact, type))


@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize("signedness", Signedness)
def test_remainders(signedness: Signedness, type: str) -> None:
    a, b = random_integers(type, SHAPE), random_integers(type, SHAPE)
    b = np.where(b == 0, NUMBERS[type].number(1), b)
    result = evaluate(lambda x, y: ops.RemIOp(x, y, signedness=signedness), (a, type), (b, type))
    exact = [x - truncated(x, y) * y for x, y in pairs(a, b, type, signedness)]
    assert np.array_equal(result, expected(exact, type))


@pytest.mark.parametrize("make", [ops.DivIOp, ops.RemIOp])
@pytest.mark.parametrize("signedness", Signedness)
def test_division_by_zero_is_an_error(make: Any, signedness: Signedness) -> None:
    a, b = np.ones((2, 4), np.int32), np.ones((2, 4), np.int32)
    b[1, 2] = 0
    with pytest.raises(ExecutionError, match=r"division by zero in element \[1, 2\]"):
        evaluate(lambda x, y: make(x, y, signedness=signedness), (a, "i32"), (b, "i32"))
    with pytest.raises(ExecutionError, match="division by zero in the value"):
        evaluate(lambda x, y: make(x, y, signedness=signedness), (1, "i32"), (0, "i32"))


@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize("signedness", Signedness)
@pytest.mark.parametrize(("make", "function"), [(ops.MaxIOp, max), (ops.MinIOp, min)])
def test_extrema(make: Any, function: Any, signedness: Signedness, type: str) -> None:
    a, b = random_integers(type, SHAPE), random_integers(type, SHAPE)
    result = evaluate(lambda x, y: make(x, y, signedness=signedness), (a, type), (b, type))
    exact = [function(x, y) for x, y in pairs(a, b, type, signedness)]
    assert np.array_equal(result, expected(exact, type))


@pytest.mark.parametrize("type", INTEGERS)
def test_shifts(type: str) -> None:
    """Distances have no sign, and by the width or more all bits are lost."""
    bits = NUMBERS[type].bits
    a = random_integers(type, SHAPE)
    b = random_integers(type, SHAPE)
    near = NUMBERS[type].wrapped(np.arange(a.size).reshape(SHAPE) % (bits + 2))
    b[:2] = near[:2]
    distances = [min(unsigned(y, type), bits) for y in b.reshape(-1)]
    left = evaluate(ops.ShLIOp, (a, type), (b, type))
    exact = [signed(x, type) << d for x, d in zip(a.reshape(-1), distances, strict=True)]
    assert np.array_equal(left, expected(exact, type))
    for signedness, read in ((SIGNED, signed), (UNSIGNED, unsigned)):
        right = evaluate(
            lambda x, y, s=signedness: ops.ShRIOp(x, y, signedness=s), (a, type), (b, type)
        )
        exact = [read(x, type) >> d for x, d in zip(a.reshape(-1), distances, strict=True)]
        assert np.array_equal(right, expected(exact, type))


RELATIONS: dict[ComparisonPredicate, Callable[[int, int], bool]] = {
    ComparisonPredicate.EQUAL: lambda a, b: a == b,
    ComparisonPredicate.NOT_EQUAL: lambda a, b: a != b,
    ComparisonPredicate.LESS_THAN: lambda a, b: a < b,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: lambda a, b: a <= b,
    ComparisonPredicate.GREATER_THAN: lambda a, b: a > b,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: lambda a, b: a >= b,
}


@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize("signedness", Signedness)
@pytest.mark.parametrize("predicate", RELATIONS)
def test_comparisons(predicate: ComparisonPredicate, signedness: Signedness, type: str) -> None:
    a, b = random_integers(type, SHAPE), random_integers(type, SHAPE)
    b[0] = a[0]
    result = evaluate(
        lambda x, y: ops.CmpIOp(predicate, x, y, signedness=signedness), (a, type), (b, type)
    )
    exact = [RELATIONS[predicate](x, y) for x, y in pairs(a, b, type, signedness)]
    assert result.reshape(-1).tolist() == exact


NSW, NUW, NW = IntegerOverflow.NSW, IntegerOverflow.NUW, IntegerOverflow.NW

BROKEN: list[tuple[Any, str, list[int], IntegerOverflow, str]] = [
    (ops.AddIOp, "i8", [100, 28], NSW, "128 does not fit into i8"),
    (ops.AddIOp, "i64", [2**63 - 1, 1], NSW, f"{2**63} does not fit into i64"),
    (ops.AddIOp, "i8", [-1, 1], NUW, "256 does not fit into i8"),
    (ops.SubIOp, "i32", [0, 1], NUW, "-1 does not fit into i32"),
    (ops.SubIOp, "i32", [-(2**31), 1], NW, f"{-(2**31) - 1} does not fit into i32"),
    (ops.MulIOp, "i16", [256, 128], NSW, "32768 does not fit into i16"),
    (ops.MulIOp, "i64", [2**32, 2**32], NUW, f"{2**64} does not fit into i64"),
    (ops.ShLIOp, "i8", [64, 1], NSW, "128 does not fit into i8"),
    (ops.ShLIOp, "i8", [-128, 1], NUW, "256 does not fit into i8"),
    (ops.NegIOp, "i8", [-128], NSW, "128 does not fit into i8"),
]

KEPT: list[tuple[Any, str, list[int], IntegerOverflow]] = [
    (ops.AddIOp, "i8", [100, 27], NW),
    (ops.AddIOp, "i8", [-1, 1], NSW),
    (ops.AddIOp, "i8", [100, 28], NUW),
    (ops.AddIOp, "i8", [100, 28], IntegerOverflow.NONE),
    (ops.SubIOp, "i64", [-(2**63), 0], NSW),
    (ops.MulIOp, "i16", [-256, 128], NSW),
    (ops.ShLIOp, "i8", [-64, 1], NSW),
    (ops.ShLIOp, "i8", [127, 1], NUW),
    (ops.NegIOp, "i8", [-127], NSW),
]


def reports_of(make: Any, *operands: tuple[Any, str]) -> tuple[Any, list[str]]:
    """What an operation makes of numbers, and what the sanitizer says."""
    observer = Sanitizer()
    result = evaluate(make, *operands, observer=observer)
    assert all(report.kind is Kind.BROKEN_PROMISE for report in observer.reports)
    return result, [report.message for report in observer.reports]


@pytest.mark.parametrize(("make", "type", "values", "overflow", "message"), BROKEN)
def test_a_broken_promise_is_reported(
    make: Any, type: str, values: list[int], overflow: IntegerOverflow, message: str
) -> None:
    # The first element keeps the promise.
    tiles = [(np.array([0, value], NUMBERS[type].dtype), type) for value in values]
    result, messages = reports_of(lambda *v: make(*v, overflow=overflow), *tiles)
    assert messages == [
        f"{overflow} is promised, but {message}, in element [1]; in work-group (0,0,0)"
    ]
    assert np.array_equal(result, evaluate(make, *tiles))


@pytest.mark.parametrize(("make", "type", "values", "overflow"), KEPT)
def test_a_kept_promise_is_not_reported(
    make: Any, type: str, values: list[int], overflow: IntegerOverflow
) -> None:
    numbers = [(NUMBERS[type].number(value), type) for value in values]
    _, messages = reports_of(lambda *v: make(*v, overflow=overflow), *numbers)
    assert messages == []


@pytest.mark.parametrize(
    ("value", "overflow", "message"),
    [
        (255, NUW, None),
        (255, NSW, "no_signed_wrap is promised, but 255 does not fit into i8, in element [1]"),
        (-128, NSW, None),
        (-129, NW, "no_wrap is promised, but -129 does not fit into i8, in element [1]"),
        (-1, NUW, "no_unsigned_wrap is promised, but 4294967295 does not fit into i8"),
        (-1, IntegerOverflow.NONE, None),
    ],
)
def test_promises_of_truncations(
    value: int, overflow: IntegerOverflow, message: str | None
) -> None:
    given = np.array([0, value], np.int32)
    result, messages = reports_of(
        lambda v: conversions.TruncIOp(v, tile((2,), "i8"), overflow=overflow), (given, "i32")
    )
    assert result.tolist() == given.astype(np.int8).tolist()
    assert messages == [] if message is None else message in messages[0]


def test_far_shifts_and_quotients_that_do_not_fit_are_reported() -> None:
    _, messages = reports_of(ops.ShLIOp, (np.int8(1), "i8"), (np.int8(8), "i8"))
    assert "a shift of i8 by 8 bits or more" in messages[0]
    least = np.int32(-(2**31))
    result, messages = reports_of(
        lambda x, y: ops.DivIOp(x, y, signedness=SIGNED), (least, "i32"), (np.int32(-1), "i32")
    )
    assert "the quotient -2147483648 / -1 does not fit into i32" in messages[0]
    assert result == least
    _, messages = reports_of(
        lambda x, y: ops.DivIOp(x, y, signedness=UNSIGNED), (least, "i32"), (np.int32(-1), "i32")
    )
    assert messages == []
