"""The range of an integer holds for every value that it can have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnitAttr,
    f32,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.arith.casts import IndexCastUIOp
from xtile.dialects.gpu.indices import LaneIdOp
from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.ranges import MOST, may_wrap, range_of

INDEX = IndexType()
EVERYTHING = (-(2**63), 2**63 - 1)


def _constant(number: int, type: Any = INDEX) -> SSAValue:
    return arith.ConstantOp(IntegerAttr(number, type)).result


def _parameter(type: Attribute = INDEX) -> SSAValue:
    return Block(arg_types=[type]).args[0]


def _loop(
    lower: SSAValue, upper: SSAValue, *, step: int = 1, is_unsigned: bool = False
) -> SSAValue:
    """The variable of a loop."""
    block = Block([scf.YieldOp()], arg_types=[lower.type])
    loop = scf.ForOp(lower, upper, _constant(step, lower.type), [], Region(block))
    if is_unsigned:
        loop.properties[UNSIGNED] = UnitAttr()
    return block.args[0]


def test_what_is_known_of_single_values() -> None:
    memory = _parameter(MemRefType(f32, [DYNAMIC_INDEX]))
    narrow = _parameter(i8)
    size = memref.DimOp(memory, _constant(0)).results[0]
    known = {
        _constant(-3): (-3, -3),
        _parameter(): EVERYTHING,
        narrow: (-128, 127),
        size: (0, MOST),
        LaneIdOp().result: (0, MOST),
        arith.IndexCastOp(narrow, INDEX).result: (-128, 127),
        arith.ExtUIOp(narrow, i32).result: (0, 255),
        IndexCastUIOp.build(operands=[narrow], result_types=[INDEX]).result: (0, 255),
        arith.TruncIOp(_parameter(i32), i8).result: (-128, 127),
        arith.MinSIOp(_parameter(), size).result: (-(2**63), MOST),
        arith.MaxSIOp(_parameter(), size).result: (0, 2**63 - 1),
        arith.AddiOp(size, _constant(5)).result: (5, MOST + 5),
        arith.AddiOp(_parameter(), _constant(5)).result: EVERYTHING,
        arith.SubiOp(_constant(1), size).result: (1 - MOST, 1),
        arith.MuliOp(size, size).result: EVERYTHING,
        arith.SelectOp(_parameter(i1), size, _constant(-7)).result: (-7, MOST),
        _loop(_constant(2), size): (2, MOST - 1),
        _loop(_constant(9), _constant(5)): (9, 9),
        _loop(_constant(2), size, is_unsigned=True): EVERYTHING,
        _loop(_constant(0), _constant(1024), step=32): (0, 992),
        _loop(_constant(5), _constant(12), step=3): (5, 11),
        _loop(_constant(9), _constant(5), step=4): (9, 9),
        _loop(size, _constant(1000), step=32): (0, 999),
    }
    assert {value: range_of(value) for value in known} == known


def test_carried_values_are_not_the_variable() -> None:
    block = Block([scf.YieldOp()], arg_types=[INDEX, INDEX])
    scf.ForOp(_constant(0), _constant(4), _constant(1), [_constant(0)], Region(block))
    assert (range_of(block.args[0]), range_of(block.args[1])) == ((0, 3), EVERYTHING)


@pytest.mark.slow
def test_long_sums_are_not_followed_for_ever() -> None:
    value = LaneIdOp().result
    for _ in range(5000):
        value = arith.AddiOp(value, value).result
    assert range_of(value) == EVERYTHING


_COMPUTE: dict[Any, Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.MinSIOp: min,
    arith.MaxSIOp: max,
}


def _wrapped(number: int, width: int) -> int:
    half = 1 << (width - 1)
    return (number + half) % (2 * half) - half


@given(st.data())
def test_ranges_hold(data: st.DataObject) -> None:
    """Of random expressions of numbers of eight bits, some of which are extended from four."""
    pool: list[tuple[SSAValue, int]] = []
    for _ in range(data.draw(st.integers(2, 9))):
        kind = data.draw(st.sampled_from(["constant", "sign", "zeros", *_COMPUTE]))
        if kind == "constant" or (not pool and isinstance(kind, type)):
            number = data.draw(st.integers(-128, 127))
            pool.append((_constant(number, i8), number))
        elif isinstance(kind, str):
            narrow, number = _parameter(IntegerType(4)), data.draw(st.integers(-8, 7))
            if kind == "sign":
                pool.append((arith.ExtSIOp(narrow, i8).result, number))
            else:
                pool.append((arith.ExtUIOp(narrow, i8).result, number % 16))
        else:
            (a, x), (b, y) = data.draw(st.sampled_from(pool)), data.draw(st.sampled_from(pool))
            pool.append((kind(a, b).result, _wrapped(_COMPUTE[kind](x, y), 8)))
    for value, number in pool:
        low, high = range_of(value)
        assert low <= number <= high


@pytest.mark.parametrize(
    ("upper", "step", "signed", "unsigned"),
    [
        (100, 28, False, False),
        (101, 28, True, False),
        (127, 1, False, False),
        (127, 2, True, False),
        (-1, 1, False, False),
        (-1, 2, False, True),
        (-128, 127, False, True),
        (5, -1, False, True),
    ],
)
def test_only_some_loops_may_wrap_around(
    upper: int, step: int, signed: bool, unsigned: bool
) -> None:
    bounds = _constant(upper, i8), _constant(step, i8)
    assert may_wrap(*bounds) == signed
    assert may_wrap(*bounds, is_unsigned=True) == unsigned
    assert may_wrap(_parameter(i8), bounds[1]) == (step > 1)
