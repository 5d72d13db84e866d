"""Atomic updates: each mode and type, masks, repeated positions, and views."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.semantics.cuda_tile.entries import blank, constants, pointers, run
from tests.semantics.cuda_tile.tiles import NUMBERS, random_floats, random_integers

INTEGERS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "and": lambda a, b: a & b,
    "max": lambda a, b: max(a, b),
    "min": lambda a, b: min(a, b),
    "or": lambda a, b: a | b,
    "umax": lambda a, b: max(a % 2**64, b % 2**64),
    "umin": lambda a, b: min(a % 2**64, b % 2**64),
    "xchg": lambda a, b: b,
    "xor": lambda a, b: a ^ b,
}
"""The modes on Python's integers; the result is wrapped."""

COUNT = 8


def updating(mode: str, type: str, *, mask: bool = False) -> str:
    """Updates %c with %x, whose elements lie at %i; what was there goes to %o."""
    masked, masks = ("", "") if not mask else (", %m", f", tile<{COUNT}xi1>")
    return f"""
    {pointers("x", "a", COUNT, type)}
    {pointers("j", "i", COUNT, "i32")}
    {pointers("q", "o", COUNT, type)}
    %m = constant <i1: [true, false, true, true, false, true, true, true]> : tile<{COUNT}xi1>
    %v, %t0 = load_ptr_tko weak %x : tile<{COUNT}xptr<{type}>> -> tile<{COUNT}x{type}>, token
    %k, %t1 = load_ptr_tko weak %j : tile<{COUNT}xptr<i32>> -> tile<{COUNT}xi32>, token
    %c_1 = reshape %c : tile<ptr<{type}>> -> tile<1xptr<{type}>>
    %c_b = broadcast %c_1 : tile<1xptr<{type}>> -> tile<{COUNT}xptr<{type}>>
    %p = offset %c_b, %k : tile<{COUNT}xptr<{type}>>, tile<{COUNT}xi32> -> tile<{COUNT}xptr<{type}>>
    %old, %t2 = atomic_rmw_tko relaxed device %p, {mode}, %v{masked}
      : tile<{COUNT}xptr<{type}>>, tile<{COUNT}x{type}>{masks} -> tile<{COUNT}x{type}>, token
    %t3 = store_ptr_tko weak %q, %old : tile<{COUNT}xptr<{type}>>, tile<{COUNT}x{type}> -> token
    """


def parameters(type: str) -> str:
    pointer = f"tile<ptr<{type}>>"
    return f"%a: {pointer}, %i: tile<ptr<i32>>, %c: {pointer}, %o: {pointer}"


@pytest.mark.parametrize("type", ["i32", "i64"])
@pytest.mark.parametrize("mode", INTEGERS)
def test_integers(mode: str, type: str) -> None:
    x, c = random_integers(type, COUNT), random_integers(type, 4)
    positions = np.array([0, 1, 2, 1, 3, 0, 1, 1], np.int32)
    expected, olds = [int(each) for each in c], []
    for value, position in zip(x, positions, strict=True):
        olds.append(expected[position])
        combined = INTEGERS[mode](expected[position], int(value))
        expected[position] = int(NUMBERS[type].number(combined))
    old = blank(COUNT, dtype=c.dtype)
    run(parameters(type), updating(mode, type), x, positions, c, old)
    assert c.tolist() == expected
    assert old.tolist() == olds


FLOATS = [*(("addf", type) for type in ("f16", "bf16", "f32", "f64")), ("xchg", "f32")]


@pytest.mark.parametrize(("mode", "type"), [*FLOATS, ("xchg", "f64")])
def test_floats(mode: str, type: str) -> None:
    x, c = random_floats(type, COUNT), random_floats(type, 4)
    positions = np.array([0, 1, 2, 1, 3, 0, 1, 1], np.int32)
    expected = c.copy()
    for value, position in zip(x, positions, strict=True):
        expected[position] = expected[position] + value if mode == "addf" else value
    run(parameters(type), updating(mode, type), x, positions, c, blank(COUNT, dtype=c.dtype))
    # Each sum is rounded to the type, one after another.
    np.testing.assert_array_equal(c, expected)


def test_masked_elements_are_not_updated() -> None:
    x, c = np.ones(COUNT, np.int32), np.zeros(4, np.int32)
    positions = np.array([0, 99, 2, 1, -99, 0, 1, 1], np.int32)
    old = np.zeros(COUNT, np.int32)
    run(parameters("i32"), updating("add", "i32", mask=True), x, positions, c, old)
    assert c.tolist() == [2, 3, 1, 0]
    assert old.tolist() == [0, -1, 0, 0, -1, 1, 1, 2]


def swapping(type: str, *, mask: bool = False) -> str:
    masked, masks = ("", "") if not mask else (", %m", ", tile<4xi1>")
    loads = "".join(
        f"""
        {pointers(f"{name}p", name, 4, type)}
        %{name}v, %{name}t = load_ptr_tko weak %{name}p
          : tile<4xptr<{type}>> -> tile<4x{type}>, token
        """
        for name in "xy"
    )
    return f"""
    {loads}
    {pointers("p", "c", 4, type)}
    {pointers("q", "o", 4, type)}
    %m = constant <i1: [true, true, false, false]> : tile<4xi1>
    %old, %t = atomic_cas_tko acq_rel sys %p, %xv, %yv{masked}
      : tile<4xptr<{type}>>, tile<4x{type}>{masks} -> tile<4x{type}>, token
    %u = store_ptr_tko weak %q, %old : tile<4xptr<{type}>>, tile<4x{type}> -> token
    """


def swapped(type: str) -> str:
    return ", ".join(f"%{name}: tile<ptr<{type}>>" for name in "xyco")


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("type", ["i32", "i64"])
def test_compare_and_swap(type: str, mask: bool) -> None:
    dtype = NUMBERS[type].dtype
    compared, new = np.array([0, 5, 2, 5], dtype), np.array([10, 11, 12, 13], dtype)
    c, old = np.array([0, 1, 2, 3], dtype), np.zeros(4, dtype)
    run(swapped(type), swapping(type, mask=mask), compared, new, c, old)
    assert c.tolist() == [10, 1, 2 if mask else 12, 3]
    # Where the mask is false the result is what was compared.
    assert old.tolist() == [0, 1, 2, 5 if mask else 3]


@pytest.mark.parametrize("type", ["f32", "f64"])
def test_floats_are_compared_by_their_bits(type: str) -> None:
    dtype = NUMBERS[type].dtype
    compared, new = np.array([np.nan, 0.0, -0.0, 1.0], dtype), np.array([1, 2, 3, 4], dtype)
    c, old = np.array([np.nan, -0.0, -0.0, 1.5], dtype), np.zeros(4, dtype)
    run(swapped(type), swapping(type), compared, new, c, old)
    assert c.tolist() == [1, 0, 3, 1.5]
    np.testing.assert_array_equal(old, np.array([np.nan, -0.0, -0.0, 1.5], dtype))


def test_elements_that_are_swapped_twice() -> None:
    c = np.zeros(1, np.int32)
    body = """
    %v = constant <i32: [0, 7, 7, 9]> : tile<4xi32>
    %n = constant <i32: [7, 8, 9, 5]> : tile<4xi32>
    %p1 = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>
    %p = broadcast %p1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %old, %t = atomic_cas_tko relaxed device %p, %v, %n
      : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    """
    run("%c: tile<ptr<i32>>", body, c)
    # One after another: 0 becomes 7, 7 becomes 8, and 8 stays.
    assert c.tolist() == [8]


RED = "partition_view<tile=(2x2), tensor_view<3x3xT, strides=[3,1]>>"


@pytest.mark.parametrize("type", ["i32", "i64", "f16", "bf16", "f32", "f64"])
def test_views(type: str) -> None:
    dtypes: dict[str, Any] = {"bf16": ml_dtypes.bfloat16}
    dtype = dtypes.get(type, NUMBERS[type].dtype)
    c = np.ones((3, 3), dtype)
    view = RED.replace("T", type)
    mode, two = ("addf", "2.0") if "f" in type else ("add", "2")
    body = f"""
    {constants([0, 1])}
    %tensor = make_tensor_view %c, shape = [3, 3], strides = [3, 1]
      : tensor_view<3x3x{type}, strides=[3,1]>
    %view = make_partition_view %tensor : {view}
    %x = constant <{type}: {two}> : tile<2x2x{type}>
    %t0 = atomic_red_view_tko relaxed device %view[%c0, %c1], {mode}, %x
      : tile<2x2x{type}>, {view}, tile<i32> -> token
    %t1 = atomic_red_view_tko relaxed tl_blk %view[%c0, %c0], {mode}, %x token = %t0
      : tile<2x2x{type}>, {view}, tile<i32> -> token
    """
    run(f"%c: tile<ptr<{type}>>", body, c)
    # The tile at (0, 1) has its first column in the tensor.
    np.testing.assert_array_equal(c, np.array([[3, 3, 3], [3, 3, 3], [1, 1, 1]], dtype))


def test_views_on_one_place() -> None:
    c = np.zeros(1, np.int32)
    view = "strided_view<tile=(4), traversal_strides=[1], tensor_view<4xi32, strides=[?]>>"
    body = f"""
    {constants([0])}
    %tensor = make_tensor_view %c, shape = [4], strides = [%c0]
      : tile<i32> -> tensor_view<4xi32, strides=[?]>
    %view = make_strided_view %tensor : {view}
    %x = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
    %t = atomic_red_view_tko relaxed device %view[%c0], add, %x
      : tile<4xi32>, {view}, tile<i32> -> token
    """
    run("%c: tile<ptr<i32>>", body, c)
    assert c.tolist() == [10]
