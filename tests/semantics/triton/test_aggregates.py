"""Reductions, scans and maps with regions, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import computed, kernel, tensor
from xtile.launch import SanitizerError


def _reduced(body: str, source: Any, element: str, axis: int) -> Any:
    shape = tuple(size for at, size in enumerate(source.shape) if at != axis)
    text = (
        f'%r0 = "tt.reduce"(%0) <{{axis = {axis} : i32}}> ({{\n'
        f"^bb0(%a: {element}, %b: {element}):\n{body}\n"
        f"tt.reduce.return %c : {element}\n"
        f"}}) : ({tensor(source.shape, element)}) -> {tensor(shape, element)}"
    )
    (found,) = computed(text, [source], [(shape, element)])
    return found


@pytest.mark.parametrize("axis", [0, 1])
def test_reduce(axis: int) -> None:
    x = fresh_generator().standard_normal((16, 32)).astype(np.float32)
    found = _reduced("%c = arith.addf %a, %b : f32", x, "f32", axis)
    np.testing.assert_allclose(found, x.sum(axis, dtype=np.float64), rtol=1e-5, atol=1e-5)
    largest = _reduced("%c = arith.maxnumf %a, %b : f32", x, "f32", axis)
    np.testing.assert_array_equal(largest, x.max(axis))


def test_reduce_to_a_scalar() -> None:
    x = fresh_generator().integers(-100, 100, 64, np.int32)
    found = _reduced("%c = arith.xori %a, %b : i32", x, "i32", 0)
    assert found == np.bitwise_xor.reduce(x)


def _argmax(at_ties: str) -> str:
    """The largest number and where it is; of equal ones, an index that a comparison chooses."""
    return f"""
    %index = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
    %r0, %r1 = "tt.reduce"(%0, %index) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
      %greater = arith.cmpf ogt, %a, %b : f32
      %equal = arith.cmpf oeq, %a, %b : f32
      %earlier = arith.cmpi {at_ties}, %i, %j : i32
      %tie = arith.andi %equal, %earlier : i1
      %first = arith.ori %greater, %tie : i1
      %v = arith.select %first, %a, %b : f32
      %k = arith.select %first, %i, %j : i32
      tt.reduce.return %v, %k : f32, i32
    }}) : (tensor<32xf32>, tensor<32xi32>) -> (f32, i32)
    """


def test_reduce_of_two_operands() -> None:
    x = fresh_generator().integers(0, 8, 32).astype(np.float32)
    value, index = computed(_argmax("slt"), [x], [((), "f32"), ((), "i32")])
    assert value == x.max()
    assert index == x.argmax()


def test_reduction_that_depends_on_the_order() -> None:
    x = np.array([3, 3] + [0] * 30, np.float32)
    body = _argmax("ne")
    module, arrays = kernel(body, [x], [((), "f32"), ((), "i32")])
    with pytest.raises(SanitizerError, match="depends on the order of the elements"):
        xtile.run(module, arrays, sanitize=True)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan(axis: int, reverse: bool) -> None:
    x = fresh_generator().integers(-100, 100, (8, 16), np.int64)
    text = (
        f'%r0 = "tt.scan"(%0) <{{axis = {axis} : i32, reverse = {str(reverse).lower()}}}> ({{\n'
        "^bb0(%a: i64, %b: i64):\n%c = arith.addi %a, %b : i64\ntt.scan.return %c : i64\n"
        "}) : (tensor<8x16xi64>) -> tensor<8x16xi64>"
    )
    (found,) = computed(text, [x], [((8, 16), "i64")])
    order = -1 if reverse else 1
    expected = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if order < 0 else x.cumsum(axis)
    np.testing.assert_array_equal(found, expected)


def test_scan_of_pairs_that_do_not_commute() -> None:
    """y' = d y + x, as a state of a recurrence is passed on."""
    decay, x = fresh_generator().random((2, 64)).astype(np.float64)
    text = """
    %r0, %r1 = "tt.scan"(%0, %1) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%d0: f64, %x0: f64, %d1: f64, %x1: f64):
      %d = arith.mulf %d0, %d1 : f64
      %y = arith.mulf %x0, %d1 : f64
      %z = arith.addf %y, %x1 : f64
      tt.scan.return %d, %z : f64, f64
    }) : (tensor<64xf64>, tensor<64xf64>) -> (tensor<64xf64>, tensor<64xf64>)
    """
    _, found = computed(text, [decay, x], [((64,), "f64"), ((64,), "f64")])
    state, expected = 0.0, np.empty(64)
    for i in range(64):
        state = expected[i] = decay[i] * state + x[i]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_region_with_branches_inside() -> None:
    x = fresh_generator().standard_normal(32).astype(np.float32)
    body = """
    %is = arith.cmpf ogt, %a, %b : f32
    %c = scf.if %is -> (f32) {
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    }
    """
    assert _reduced(body, x, "f32", 0) == x.max()


@pytest.mark.parametrize("pack", [1, 2])
def test_map_elementwise(pack: int) -> None:
    a, b = fresh_generator().integers(-100, 100, (2, 32), np.int32)
    arguments = [f"%{name}{i}: i32" for name in "ab" for i in range(pack)]
    lines = [
        f"%is{i} = arith.cmpi slt, %a{i}, %b{i} : i32\n"
        f"%c{i} = arith.select %is{i}, %a{i}, %b{i} : i32\n"
        f"%d{i} = arith.addi %a{i}, %b{i} : i32"
        for i in range(pack)
    ]
    made = ", ".join(f"%{name}{i}" for name in "cd" for i in range(pack))
    text = (
        f'%r0, %r1 = "tt.map_elementwise"(%0, %1) <{{pack = {pack} : i32}}> ({{\n'
        f"^bb0({', '.join(arguments)}):\n" + "\n".join(lines) + "\n"
        f"tt.map_elementwise.return {made} : {', '.join(['i32'] * 2 * pack)}\n"
        "}) : (tensor<32xi32>, tensor<32xi32>) -> (tensor<32xi32>, tensor<32xi32>)"
    )
    least, total = computed(text, [a, b], [((32,), "i32")] * 2)
    np.testing.assert_array_equal(least, np.minimum(a, b))
    np.testing.assert_array_equal(total, a + b)


def test_map_elementwise_with_blocks() -> None:
    x = fresh_generator().integers(-100, 100, 32, np.int32)
    text = """
    %r0 = "tt.map_elementwise"(%0) <{pack = 1 : i32}> ({
    ^bb0(%a: i32):
      %zero = arith.constant 0 : i32
      %is = arith.cmpi slt, %a, %zero : i32
      cf.cond_br %is, ^bb1, ^bb2(%a : i32)
    ^bb1:
      %n = arith.subi %zero, %a : i32
      cf.br ^bb2(%n : i32)
    ^bb2(%b: i32):
      tt.map_elementwise.return %b : i32
    }) : (tensor<32xi32>) -> tensor<32xi32>
    """
    (found,) = computed(text, [x], [((32,), "i32")])
    np.testing.assert_array_equal(found, np.abs(x))
