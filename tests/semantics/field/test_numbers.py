"""Numbers of the field obey the laws that it promises, in draws that are new in each run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from xtile.semantics.field import functions
from xtile.semantics.field.algebra import Algebra
from xtile.semantics.field.arrays import made
from xtile.semantics.field.numbers import (
    Cells,
    Field,
    RefusedError,
    add,
    agree,
    computing_in,
    divide,
    exp,
    exp2,
    field,
    is_unknown,
    is_unseen,
    known,
    log,
    log2,
    matrix_product,
    multiply,
    negative,
    power,
    square_root,
    subtract,
    total,
    unknown,
    whole,
)
from xtile.semantics.upstream.numbers import FLOATS

COUNT = 40


@pytest.fixture(autouse=True)
def _draw() -> Iterator[None]:
    with computing_in(Field(int(fresh_generator().integers(2**48)))), np.errstate(all="ignore"):
        yield


def _random(*shape: int) -> Cells:
    primes = field().algebra.primes
    draws = fresh_generator().integers(1, primes, (*(shape or (COUNT,)), len(primes)))
    return unknown(draws)


def _positive() -> Cells:
    return functions.absolute(_random())


def _assert_equal(a: Cells, b: Cells) -> None:
    assert agree(a, b).all()


def _assert_different(a: Cells, b: Cells) -> None:
    """Two formulas that differ may be equal by chance, about once in a million numbers."""
    assert agree(a, b).mean() < 0.1


def test_rings() -> None:
    a, b, c = _random(), _random(), _random()
    _assert_equal(add(add(a, b), c), add(a, add(b, c)))
    _assert_equal(multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c)))
    _assert_equal(multiply(multiply(a, b), c), multiply(b, multiply(c, a)))
    _assert_equal(subtract(a, b), negative(subtract(b, a)))
    _assert_different(subtract(a, b), subtract(b, a))
    _assert_different(add(a, b), multiply(a, b))


def test_quotients() -> None:
    a, b, c = _random(), _random(), _random()
    _assert_equal(multiply(divide(a, b), b), a)
    _assert_equal(divide(add(a, b), c), add(divide(a, c), divide(b, c)))
    _assert_equal(divide(known(1.0), divide(known(1.0), a)), a)
    _assert_different(divide(a, b), divide(b, a))


def test_exponentials() -> None:
    a, b = _random(), _random()
    _assert_equal(exp(add(a, b)), multiply(exp(a), exp(b)))
    _assert_equal(exp(negative(a)), divide(known(1.0), exp(a)))
    _assert_equal(exp(multiply(a, known(2.0))), multiply(exp(a), exp(a)))
    _assert_equal(exp2(multiply(a, divide(known(1.0), known(np.log(2.0))))), exp(a))
    _assert_equal(exp(multiply(a, known(np.float32(np.log(2.0))))), exp2(a))
    _assert_different(exp(a), exp2(a))
    _assert_equal(exp(known(0.0)), known(1.0))
    _assert_equal(exp2(known(np.arange(-4.0, 5.0))), known(2.0 ** np.arange(-4, 5)))


def test_exponentials_of_exponentials() -> None:
    a, b = _random(), _random()
    _assert_equal(exp(exp(add(a, b))), exp(multiply(exp(a), exp(b))))
    deep = exp(exp(exp(a)))
    _assert_equal(deep, exp(exp(exp(subtract(add(a, b), b)))))
    _assert_different(deep, exp(exp(exp(b))))


def test_logarithms() -> None:
    a, b = _positive(), _positive()
    _assert_equal(log(multiply(a, b)), add(log(a), log(b)))
    _assert_equal(log(exp(a)), a)
    _assert_equal(exp(log(multiply(a, a))), multiply(a, a))
    _assert_equal(log2(a), multiply(log(a), known(np.float32(1 / np.log(2.0)))))
    _assert_equal(log2(known(np.array([1.0, 2.0, 8.0]))), known(np.array([0.0, 1.0, 3.0])))
    _assert_different(log(a), log(multiply(a, known(3.0))))
    assert np.isnan(log(negative(a))["key"]).all()
    assert (log(known(0.0))["key"] == -np.inf).all()


def test_roots() -> None:
    a, b = _positive(), _positive()
    _assert_equal(square_root(multiply(a, b)), multiply(square_root(a), square_root(b)))
    _assert_equal(multiply(square_root(a), square_root(a)), a)
    _assert_equal(exp(multiply(log(a), known(0.5))), square_root(a))
    assert (square_root(multiply(b, b))["key"] == b["key"]).all()
    assert np.isnan(square_root(negative(a))["key"]).all()
    whole_numbers = np.array([1.0, 4.0, 9.0, 64.0, 4096.0, 0.25])
    _assert_equal(square_root(known(whole_numbers)), known(np.sqrt(whole_numbers)))
    sizes = np.array([2.0, 12.0, 128.0, 96.0, 50.0])
    _assert_equal(
        known((1 / np.sqrt(sizes)).astype(np.float32)),
        divide(known(1.0), square_root(known(sizes))),
    )


def test_powers() -> None:
    a = _random()
    _assert_equal(power(a, known(3.0)), multiply(a, multiply(a, a)))
    _assert_equal(power(a, known(-2.0)), divide(known(1.0), multiply(a, a)))
    b = _positive()
    _assert_equal(power(b, known(0.5)), square_root(b))
    _assert_equal(power(known(2.0), known(10.0)), known(1024.0))
    _assert_equal(power(b, a), exp(multiply(a, log(b))))


def _odd(a: Cells) -> Cells:
    return subtract(exp(a), exp(negative(a)))


def _even(a: Cells) -> Cells:
    return add(exp(a), exp(negative(a)))


_FORMULAS: dict[str, Callable[[Cells], Cells]] = {
    "tanh": lambda a: divide(_odd(a), _even(a)),
    "expm1": lambda a: subtract(exp(a), known(1.0)),
    "log1p": lambda a: log(add(known(1.0), a)),
    "sinh": lambda a: divide(_odd(a), known(2.0)),
    "cosh": lambda a: divide(_even(a), known(2.0)),
    "hypot": lambda a: multiply(square_root(known(2.0)), square_root(multiply(a, a))),
}


@pytest.mark.parametrize("name", _FORMULAS)
def test_functions_by_others(name: str) -> None:
    a = _random()
    operands = (a, a) if name == "hypot" else (a,)
    result = functions.rule(getattr(np, name))(*operands)
    assert result.dtype == a.dtype
    _assert_equal(result, _FORMULAS[name](a))


def test_functions_without_laws_tell_operands_and_names_apart() -> None:
    a, b = _random(), _random()
    sin, cos, atan2 = (functions.rule(each) for each in (np.sin, np.cos, np.arctan2))
    _assert_equal(sin(add(a, b)), sin(add(b, a)))
    _assert_equal(sin(exp(add(a, b))), sin(multiply(exp(a), exp(b))))
    _assert_different(sin(a), sin(b))
    _assert_different(sin(a), cos(a))
    _assert_different(atan2(a, b), atan2(b, a))
    _assert_equal(cos(known(0.0)), known(1.0))


def test_sums_in_any_order() -> None:
    a, b = _random(5, 700), _random(700, 3)
    product = matrix_product(a, b)
    order = fresh_generator().permutation(700)
    _assert_equal(product, matrix_product(a[:, order], b[order]))
    terms = multiply(a[:, :, np.newaxis], b[np.newaxis])
    _assert_equal(product, total(terms, 1))
    _assert_different(product, total(terms[:, 1:], 1))


def test_the_order_cuts_numbers_in_half_and_agrees_with_itself() -> None:
    a, b = _random(2000), _random(2000)
    rules = functions.RULES
    assert 0.4 < rules["less"](a, known(0.0)).mean() < 0.6
    larger, smaller = rules["maximum"](a, b), rules["minimum"](a, b)
    _assert_equal(add(larger, smaller), add(a, b))
    assert (rules["greater"](a, b) == agree(larger, a)).all()
    _assert_equal(rules["absolute"](a), rules["maximum"](a, negative(a)))
    sizes = multiply(rules["absolute"](a), rules["absolute"](b))
    _assert_equal(rules["absolute"](multiply(a, b)), sizes)
    assert (multiply(a, a)["key"] > 0).all()
    assert (exp(a)["key"] > 0).all()
    _assert_different(rules["maximum"](a, known(0.0))[a["key"] < 0], a[a["key"] < 0])
    # Saturation to the range of a type changes nothing.
    _assert_equal(rules["clip"](a, known(-6.0), known(6.0)), a)


def test_numbers_that_share_a_residue_are_ordered() -> None:
    """One of a million pairs does, and then a maximum and a minimum must not be the same number."""
    primes = field().algebra.primes
    draws = fresh_generator().integers(1, primes, (2, 2000, len(primes)))
    draws[1, :, 0] = draws[0, :, 0]
    a, b = map(unknown, draws)
    larger, smaller = functions.RULES["maximum"](a, b), functions.RULES["minimum"](a, b)
    _assert_equal(add(larger, smaller), add(a, b))
    assert (larger["key"] > smaller["key"]).mean() > 0.99
    _assert_equal(functions.RULES["absolute"](negative(a)), functions.RULES["absolute"](a))


def test_the_order_knows_sums_and_products() -> None:
    a, b = _random(2000), _random(2000)
    rules = functions.RULES
    scale = rules["absolute"](_random(1))
    larger = rules["maximum"](multiply(a, scale), multiply(b, scale))
    _assert_equal(multiply(rules["maximum"](a, b), scale), larger)
    assert (rules["less"](a, b) == rules["less"](subtract(a, b), known(0.0))).all()
    assert (rules["less"](exp(a), exp(b)) == rules["less"](a, b)).all()


def test_rounding_errors_of_keys_do_not_count() -> None:
    a, b, c = _random(2000), _random(2000), _random(2000)
    rules = functions.RULES
    left, right = add(add(a, b), c), add(a, add(b, c))
    assert (left["key"] != right["key"]).any()
    assert rules["equal"](left, right).all()
    assert not rules["less"](left, right).any()
    assert rules["greater_equal"](left, right).all()
    assert (subtract(left, right)["key"] == 0).all()
    assert np.isinf(divide(known(1.0), subtract(left, right))["key"]).all()
    assert (whole(np.floor, multiply(divide(a, b), divide(b, a)))["key"] == 1).all()


def test_no_key_is_subnormal_or_infinite_in_f32() -> None:
    a = multiply(_random(200), known(1.0e6))
    powers = exp(a)
    keys = np.concatenate([powers["key"], multiply(powers, powers)["key"]])
    assert (keys > np.finfo(np.float32).tiny).all()
    assert (keys < np.finfo(np.float32).max).all()


def test_roundings_may_be_composed_of_others() -> None:
    a = multiply(_random(2000), known(10.0))
    composed = whole(np.floor, add(a, known(0.5)))
    assert (whole(np.rint, a)["key"] == composed["key"]).all()
    assert len(set(composed["key"])) > 20
    whole_part = whole(np.floor, a)
    power_of_part = exp2(subtract(a, whole_part))
    _assert_equal(multiply(known(2.0 ** whole_part["key"]), power_of_part), exp2(a))


def test_roots_of_numbers_that_are_no_squares_modulo_a_prime() -> None:
    a, b = (functions.absolute(_random(2000)) for _ in "ab")
    root_of_sum = square_root(add(a, b))
    _assert_equal(multiply(root_of_sum, root_of_sum), add(a, b))
    eleven = known(11.0)
    _assert_equal(square_root(multiply(a, eleven)), multiply(square_root(a), square_root(eleven)))
    _assert_equal(square_root(multiply(add(a, b), a)), multiply(root_of_sum, square_root(a)))
    # An eighth has no root modulo any of the primes, and says nothing in this draw.
    assert 0.05 < is_unseen(root_of_sum).mean() < 0.2
    differ = ~agree(root_of_sum, square_root(a))
    assert differ.mean() > 0.6
    sin = functions.rule(np.sin)
    _assert_equal(
        sin(multiply(root_of_sum, square_root(a))), sin(square_root(multiply(add(a, b), a)))
    )


def test_symbols() -> None:
    infinity, nan = known(np.inf), known(np.nan)
    a = _random()
    assert np.isnan(subtract(infinity, infinity)["key"])
    assert np.isnan(multiply(infinity, known(0.0))["key"])
    assert np.isnan(divide(known(0.0), known(0.0))["key"])
    assert divide(known(-1.0), known(0.0))["key"] == -np.inf
    assert np.isnan(add(a, nan)["key"]).all()
    _assert_equal(exp(negative(infinity)), known(0.0))
    _assert_equal(divide(a, infinity), known(np.zeros(COUNT)))
    _assert_equal(functions.RULES["fmax"](a, nan), a)
    assert agree(nan, nan)
    assert not agree(nan, infinity)
    assert not agree(a, nan).any()
    assert (functions.RULES["maximum"](a, negative(infinity))["key"] == a["key"]).all()


def test_known_numbers_keep_their_value() -> None:
    third = divide(known(1.0), known(3.0))
    assert not is_unknown(third).any()
    _assert_equal(third, known(np.float32(1) / np.float32(3)))
    _assert_equal(multiply(third, known(np.array([3, 6]))), known(np.array([1.0, 2.0])))
    assert whole(np.floor, multiply(known(7.0), third))["key"] == 2.0
    rounded = whole(np.floor, _random())
    assert not is_unknown(rounded).any()
    assert (rounded["key"] == np.rint(rounded["key"])).all()


@pytest.mark.parametrize("value", [0.75, 448.0, 65504.0, 1.0e-3, -0.1, 1 / 3, 123456.7, 2.0**-149])
def test_literals(value: float) -> None:
    single = known(np.float32(value))
    _assert_equal(add(single, negative(single)), known(0.0))
    _assert_equal(divide(single, known(2.0)), known(np.float64(np.float32(value)) / 2))


def test_what_literals_mean() -> None:
    log2_e = np.float32(np.log2(np.e))
    scale = np.float32(1 / np.sqrt(96.0))
    a = multiply(known(scale), known(log2_e))
    _assert_equal(a, known(np.float32(scale * log2_e)))
    _assert_equal(known(np.float32(0.1)), divide(known(1.0), known(10.0)))
    assert field().literals.meant[float(np.float32(0.1))] == "1/10"
    assert field().literals.meant[float(log2_e)] == "1 log2(e)"
    # An error of two units in the last place is another number.
    wrong = np.nextafter(np.nextafter(np.float32(0.1), np.float32(1)), np.float32(1))
    wrong = np.nextafter(wrong, np.float32(1))
    _assert_different(known(np.array([wrong])), known(np.array([np.float32(0.1)])))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, FLOATS["bf16"].dtype])
def test_signs_and_exponents_of_numbers_in_bits(dtype: Any) -> None:
    cells = _random(2000)
    numbers_ = made(cells, np.dtype(dtype))
    width = 8 * numbers_.itemsize
    bits = numbers_.view(f"i{numbers_.itemsize}")
    plain = cells["key"].astype(dtype)
    raw = plain.view(bits.dtype)
    sign = raw.dtype.type(-(2 ** (width - 1)))
    exponent = np.array(np.inf, dtype).view(raw.dtype)
    mantissa = int(exponent & -exponent).bit_length() - 1
    np.testing.assert_array_equal(bits & sign, raw & sign)
    np.testing.assert_array_equal(bits & exponent, raw & exponent)
    np.testing.assert_array_equal(bits >> raw.dtype.type(mantissa), raw >> mantissa)
    _assert_equal((bits & ~sign).view(dtype).numbers(), functions.absolute(cells))
    _assert_equal((bits ^ sign).view(dtype).numbers(), negative(cells))
    with pytest.raises(RefusedError, match="signs and exponents looked at"):
        bits & raw.dtype.type(1)
    with pytest.raises(RefusedError, match="signs and exponents looked at"):
        bits >> raw.dtype.type(1)
    # A flush to zero of what is subnormal, as ports spell it.
    flushed = np.where((bits & exponent) == 0, bits & sign, bits)
    is_normal = (raw & exponent) != 0
    _assert_equal(flushed.view(dtype).numbers()[is_normal], cells[is_normal])


@pytest.mark.slow
def test_draws_are_independent() -> None:
    seed = int(fresh_generator().integers(2**48))
    first, same, other = Algebra(seed), Algebra(seed), Algebra(seed + 1)
    assert (first.inputs("x", 100) == same.inputs("x", 100)).all()
    assert (first.inputs("x", 100) != other.inputs("x", 100)).any()
    assert (first.inputs("x", 100) != first.inputs("y", 100)).any()
