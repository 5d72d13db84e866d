"""Indices are what Python computes, however much is known, and what is known is not emitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.dialects.test import TestOp as Op
from xdsl.ir import Block, SSAValue

from xtile.rewrite.folding import fold_numbers, wrap
from xtile.rewrite.indices import ArithBuilder, Index
from xtile.rewrite.rebuilder import RuleTable

_BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "smaller": min,
    "larger": max,
}

_OF_COUNTS: dict[str, Callable[[int, int], int]] = {
    "divide": lambda a, b: a // b,
    "divide_up": lambda a, b: -(-a // b),
    "remainder": lambda a, b: a % b,
}
"""Divisions are of numbers that are not negative."""

_NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
_DIVISORS = st.one_of(st.integers(1, 3), st.integers(1, 2**63 - 1))


class _Builder:
    """A function whose parameters have values."""

    def __init__(self) -> None:
        self.indices = ArithBuilder(RuleTable(), "arith")
        self.numbers: dict[SSAValue, int] = {}

    def parameter(self, number: int) -> SSAValue:
        (value,) = self.indices.emit(Op(result_types=[IndexType()])).results
        self.numbers[value] = number
        return value

    def number(self, index: Index) -> int:
        """What an index is when the function runs."""
        if isinstance(index, int):
            return index
        for operation in self.indices.block.ops:
            if operation.results[0] in self.numbers:
                continue
            if isinstance(operation, ConstantOp):
                attribute: Any = operation.value
            elif operation.name == "arith.ceildivui":
                a, b = (self.numbers[operand] for operand in operation.operands)
                attribute = IntegerAttr(-(-a // b), IndexType())
            else:
                operands = [self.numbers[operand] for operand in operation.operands]
                attribute = fold_numbers(operation, list(operands))
            self.numbers[operation.results[0]] = attribute.value.data
        return self.numbers[index]


@given(st.data(), st.sampled_from(sorted(_BINARY | _OF_COUNTS)), st.booleans(), st.booleans())
def test_operations(data: st.DataObject, name: str, knows_a: bool, knows_b: bool) -> None:
    is_division = name in _OF_COUNTS
    a = data.draw(_NUMBERS)
    b = data.draw(_DIVISORS if is_division else _NUMBERS)
    a = abs(a) % 2**63 if is_division else a
    builder = _Builder()
    given_a = a if knows_a else builder.parameter(a)
    given_b = b if knows_b else builder.parameter(b)
    before = len(list(builder.indices.block.ops))
    result = getattr(builder.indices, name)(given_a, given_b)
    assert builder.number(result) == wrap((_BINARY | _OF_COUNTS)[name](a, b), 64)
    if knows_a and knows_b:
        assert len(list(builder.indices.block.ops)) == before


@given(st.integers(-(2**50), 2**50), st.integers(0, 12), st.booleans())
def test_exact_quotients_have_any_sign(a: int, exponent: int, knows: bool) -> None:
    builder, b = _Builder(), 1 << exponent
    result = builder.indices.divide_exactly(a * b if knows else builder.parameter(a * b), b)
    assert builder.number(result) == a


@given(st.lists(st.tuples(_NUMBERS, _NUMBERS, st.booleans(), st.booleans()), max_size=5))
def test_sums_of_products(terms: list[tuple[int, int, bool, bool]]) -> None:
    builder = _Builder()
    numbers = [a if known else builder.parameter(a) for a, _, known, _ in terms]
    factors = [b if known else builder.parameter(b) for _, b, _, known in terms]
    result = builder.indices.sum_of_products(numbers, factors)
    assert builder.number(result) == wrap(sum(a * b for a, b, _, _ in terms), 64)


@pytest.mark.parametrize(
    ("name", "number"),
    [("add", 0), ("subtract", 0), ("multiply", 1), ("divide", 1), ("divide_up", 1)],
)
def test_neutral_numbers_emit_nothing(name: str, number: int) -> None:
    builder = _Builder()
    value = builder.parameter(7)
    assert getattr(builder.indices, name)(value, number) is value
    assert len(list(builder.indices.block.ops)) == 1


def test_what_varies_least_is_added_first() -> None:
    builder = _Builder()
    outer = [builder.parameter(number) for number in (1, 2)]
    inside = Block()
    with builder.indices.at_end_of(inside):
        (inner,) = builder.indices.emit(Op(result_types=[IndexType()])).results
        builder.indices.add_all([inner, outer[0], 5, outer[1]])
    assert [operation.name for operation in inside.ops] == [Op.name, "arith.addi"]
