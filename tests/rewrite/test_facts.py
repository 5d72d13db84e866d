"""What is known of integers holds for every value that they can have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    MemRefType,
    f32,
    i1,
)
from xdsl.ir import Block, SSAValue

from xtile.dialects.gpu.indices import LaneIdOp
from xtile.rewrite.facts import Facts, constant_of

INDEX = IndexType()


def constant(number: int) -> SSAValue:
    """An index constant."""
    return arith.ConstantOp(IntegerAttr(number, INDEX)).result


def test_constants() -> None:
    assert constant_of(constant(-3)) == -3
    assert constant_of(arith.AddiOp(constant(1), constant(2)).result) is None
    assert constant_of(_parameter()) is None


# --- single operations ---


def _parameter() -> SSAValue:
    return Block(arg_types=[INDEX]).args[0]


def _assumed(facts: Facts, divisor: int, is_not_negative: bool) -> SSAValue:
    value = _parameter()
    facts.assume(value, divisor, is_not_negative)
    return value


def test_nothing_is_known_of_a_parameter() -> None:
    facts, value = Facts(), _parameter()
    assert (facts.divisor(value), facts.is_not_negative(value)) == (1, False)


@pytest.mark.parametrize("number", [-12, 0, 12])
def test_numbers(number: int) -> None:
    facts = Facts()
    for value in (number, constant(number)):
        assert facts.divisor(value) == abs(number)
        assert facts.is_not_negative(value) == (number >= 0)


BINARY = {
    "add": (arith.AddiOp, 4, True),
    "sub": (arith.SubiOp, 4, False),
    "mul": (arith.MuliOp, 12 * 8, True),
    "divsi": (arith.DivSIOp, 1, True),
    "divui": (arith.DivUIOp, 1, True),
    "remsi": (arith.RemSIOp, 4, True),
    "remui": (arith.RemUIOp, 4, True),
    "maxsi": (arith.MaxSIOp, 4, True),
    "minsi": (arith.MinSIOp, 4, True),
    "andi": (arith.AndIOp, 1, True),
    "ori": (arith.OrIOp, 1, False),
}
"""Of two numbers that are not negative, multiples of 12 and of 8: the result's divisor and sign."""


@pytest.mark.parametrize("name", BINARY)
def test_operations(name: str) -> None:
    kind, divisor, is_not_negative = BINARY[name]
    facts = Facts()
    a, b = _assumed(facts, 12, True), _assumed(facts, 8, True)
    result = kind(a, b).result
    assert (facts.divisor(result), facts.is_not_negative(result)) == (divisor, is_not_negative)


def test_choices() -> None:
    facts = Facts()
    condition = Block(arg_types=[i1]).args[0]
    chosen = arith.SelectOp(condition, _assumed(facts, 12, True), _assumed(facts, 8, True)).result
    assert (facts.divisor(chosen), facts.is_not_negative(chosen)) == (4, True)
    other = arith.SelectOp(condition, _assumed(facts, 12, True), _assumed(facts, 8, False)).result
    assert not facts.is_not_negative(other)


def test_the_maximum_with_zero_is_not_negative() -> None:
    facts = Facts()
    assert facts.is_not_negative(arith.MaxSIOp(_parameter(), constant(0)).result)
    assert not facts.is_not_negative(arith.MinSIOp(_parameter(), constant(0)).result)


def test_ids_and_sizes_are_not_negative() -> None:
    facts = Facts()
    memory = Block(arg_types=[MemRefType(f32, [DYNAMIC_INDEX])]).args[0]
    for operation in (
        LaneIdOp(),
        memref.DimOp(memory, constant(0)),
    ):
        assert facts.is_not_negative(operation.results[0])
        assert facts.divisor(operation.results[0]) == 1


def test_unsigned_divisions_of_negative_numbers() -> None:
    facts = Facts()
    value = _parameter()
    assert not facts.is_not_negative(arith.DivUIOp(value, constant(1)).result)
    assert not facts.is_not_negative(arith.DivUIOp(value, _parameter()).result)
    assert facts.is_not_negative(arith.DivUIOp(value, constant(2)).result)
    assert facts.is_not_negative(arith.RemUIOp(value, constant(2)).result)
    assert not facts.is_not_negative(arith.RemUIOp(value, _parameter()).result)


# --- random expressions ---

_HALF = 2**63


def _unsigned(a: int) -> int:
    return a % 2**64


def _signed(a: int) -> int:
    return (a + _HALF) % 2**64 - _HALF


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS: dict[str, tuple[Any, Callable[[int, int], int]]] = {
    "addi": (arith.AddiOp, lambda a, b: a + b),
    "subi": (arith.SubiOp, lambda a, b: a - b),
    "muli": (arith.MuliOp, lambda a, b: a * b),
    "divsi": (arith.DivSIOp, _quotient),
    "remsi": (arith.RemSIOp, lambda a, b: a - _quotient(a, b) * b),
    "divui": (arith.DivUIOp, lambda a, b: _signed(_unsigned(a) // _unsigned(b))),
    "remui": (arith.RemUIOp, lambda a, b: _signed(_unsigned(a) % _unsigned(b))),
    "maxsi": (arith.MaxSIOp, max),
    "minsi": (arith.MinSIOp, min),
    "maxui": (arith.MaxUIOp, lambda a, b: max(a, b, key=_unsigned)),
    "minui": (arith.MinUIOp, lambda a, b: min(a, b, key=_unsigned)),
    "andi": (arith.AndIOp, lambda a, b: a & b),
    "ori": (arith.OrIOp, lambda a, b: a | b),
    "xori": (arith.XOrIOp, lambda a, b: a ^ b),
}
"""What builds an operation, and what it computes."""

Tree = Any
"""The number of a parameter, a constant as a string, or an operation's name and two trees."""

_PARAMETERS = 3

trees = st.recursive(
    st.one_of(st.integers(0, _PARAMETERS - 1), st.integers(-64, 64).map(str)),
    lambda inner: st.tuples(st.sampled_from(sorted(OPERATIONS)), inner, inner),
    max_leaves=6,
)


def _build(tree: Tree, parameters: Sequence[SSAValue]) -> SSAValue:
    if isinstance(tree, int):
        return parameters[tree]
    if isinstance(tree, str):
        return constant(int(tree))
    name, left, right = tree
    return OPERATIONS[name][0](_build(left, parameters), _build(right, parameters)).result


class _Evaluation:
    """Computes a tree; `is_plain` says that no negative number was taken as unsigned."""

    def __init__(self, parameters: Sequence[int]) -> None:
        self._parameters = parameters
        self.is_plain = True

    def value(self, tree: Tree) -> int:
        """The value.

        Raises:
            ZeroDivisionError: Something is divided by 0.
            OverflowError: A number does not fit in 64 bits.
        """
        if isinstance(tree, int):
            return self._parameters[tree]
        if isinstance(tree, str):
            return int(tree)
        name, left, right = tree
        a, b = self.value(left), self.value(right)
        if name in ("divui", "remui") and (a < 0 or b < 0):
            self.is_plain = False
        result = OPERATIONS[name][1](a, b)
        if not -_HALF <= result < _HALF:
            raise OverflowError
        return result


@given(
    trees,
    st.lists(
        st.tuples(st.integers(1, 48), st.booleans(), st.lists(st.integers(-9, 9), min_size=6)),
        min_size=_PARAMETERS,
        max_size=_PARAMETERS,
    ),
)
def test_random_expressions(tree: Tree, known: list[tuple[int, bool, list[int]]]) -> None:
    """Whatever the parameters are, as far as they keep what is assumed of them."""
    facts = Facts()
    parameters = [_assumed(facts, divisor, sign) for divisor, sign, _ in known]
    result = _build(tree, parameters)
    divisor, is_not_negative = facts.divisor(result), facts.is_not_negative(result)
    powers_of_two = divisor & -divisor
    computed: list[int] = []
    for i in range(6):
        values = [
            divisor * (abs(factors[i]) if sign else factors[i]) for divisor, sign, factors in known
        ]
        evaluation = _Evaluation(values)
        try:
            value = evaluation.value(tree)
        except (ZeroDivisionError, OverflowError):
            continue
        computed.append(value)
        if divisor == 0:
            assert value == 0
        else:
            assert value % powers_of_two == 0
            assert not evaluation.is_plain or value % divisor == 0
        assert not is_not_negative or value >= 0
    assume(computed)


def test_products_of_many_numbers() -> None:
    facts = Facts()
    divisors = [2, 3, 5, 7]
    total: SSAValue = constant(1)
    for divisor in divisors:
        total = arith.MuliOp(total, _assumed(facts, divisor, True)).result
    assert facts.divisor(total) == prod(divisors)
