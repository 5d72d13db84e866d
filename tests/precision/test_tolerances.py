"""The table of tolerances, and the units that it is in."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.precision.distances import is_inexact, sum_tolerance, unit_in_last_place, unit_roundoff
from tests.seeds import fresh_generator
from xtile.checking.tolerances import SUMS, TOLERANCES
from xtile.dialects.tensorlang.ops import OPERATIONS
from xtile.dialects.tensorlang.types import (
    BF16,
    C32,
    C64,
    COMPLEX_TYPES,
    F16,
    F32,
    F64,
    FLOATING_TYPES,
    INTEGER_TYPES,
    NUMBER_TYPES,
)
from xtile.semantics.numeric_types import NUMPY_TYPES


def test_every_row_is_an_instruction() -> None:
    names = {operation.name.removeprefix("tensorlang.") for operation in OPERATIONS}
    assert TOLERANCES.keys() <= names
    assert names >= SUMS
    assert not TOLERANCES.keys() & SUMS


def test_integers_and_what_is_rounded_once_are_exact() -> None:
    for name, tolerance in TOLERANCES.items():
        assert not tolerance.ulps.keys() & INTEGER_TYPES, name
        assert all(ulps > 0 for ulps in tolerance.ulps.values())
    assert not TOLERANCES.keys() & {"add", "sub", "rem", "max", "min", "neg", "conj", "cast"}
    for name in ("mul", "div", "abs", "cooperative_matrix_scale"):
        assert TOLERANCES[name].ulps.keys() == COMPLEX_TYPES


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_units_are_numpys(name: str) -> None:
    type_ = NUMBER_TYPES[name]
    dtype = NUMPY_TYPES[type_]
    numbers = np.array([1.0, -1.5, 2.0, 1e-5, 0.0, np.finfo(dtype).smallest_subnormal], dtype)
    np.testing.assert_array_equal(unit_in_last_place(numbers, type_), np.spacing(np.abs(numbers)))


def test_units_of_other_types() -> None:
    numbers = np.array([1.0, 3.0, 256.0], ml_dtypes.bfloat16)
    np.testing.assert_array_equal(unit_in_last_place(numbers, BF16), [2.0**-7, 2.0**-6, 2.0])
    complex_ = np.array([3 + 4j, 1e-30j], np.complex64)
    expected = np.spacing(np.array([5.0, 1e-30], np.float32))
    np.testing.assert_array_equal(unit_in_last_place(complex_, C32), expected)


def test_what_is_not_finite_has_no_unit() -> None:
    numbers = np.array([np.inf, -np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(unit_in_last_place(numbers, F32), [0.0, 0.0, 0.0])


def test_units_of_roundoff() -> None:
    roundoffs = {type_: unit_roundoff(type_) for type_ in (BF16, F16, F32, F64, C32, C64)}
    assert list(roundoffs.values()) == [2.0**-p for p in (8, 11, 24, 53, 24, 53)]
    assert all(is_inexact(type_) for type_ in FLOATING_TYPES | COMPLEX_TYPES)
    assert not any(is_inexact(type_) for type_ in INTEGER_TYPES)


def test_sums_in_any_order_are_within_the_tolerance() -> None:
    random = fresh_generator()
    numbers = (random.normal(size=(100, 57)) * 10.0 ** random.uniform(-3, 3, (100, 57))).astype(
        "f4"
    )
    terms, magnitudes = np.full(100, 57.0), np.abs(numbers.astype(float)).sum(1)
    forwards = np.add.accumulate(numbers, axis=1, dtype=np.float32)[:, -1]
    backwards = np.add.accumulate(numbers[:, ::-1], axis=1, dtype=np.float32)[:, -1]
    limit = sum_tolerance(terms, magnitudes, forwards, F32)
    assert (np.abs(forwards.astype(float) - backwards) <= limit).all()
    # A sum that forgets the largest number is outside of it.
    largest = np.abs(numbers).max(axis=1)
    assert (largest > limit).all()


def test_narrow_sums_may_be_neighbours() -> None:
    one = np.ones(1)
    limit = sum_tolerance(one, one, one.astype(np.float16), F16)
    assert 2.0**-10 < limit[0] < 2.0**-10 + 1e-5
