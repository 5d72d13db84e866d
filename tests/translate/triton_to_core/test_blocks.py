"""Blocks of tensors compute the same as they are, as transfers of views, and on a CPU."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.translate.triton_to_core.ways import computed
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import translate

Array = np.ndarray[Any, Any]

ROWS, COLUMNS = 10, 12
"""The sizes of the tensor in memory, beyond whose edges blocks reach."""

HELD = 128
"""The elements of the array that the tensor lies in."""

BLOCK = "!tt.ptr<tensor<4x8xf32>>"
TENSOR = "tensor<4x8xf32>"

CONSTANTS = f"""
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %minus = arith.constant -2 : i32
    %one = arith.constant 1 : i64
    %rows = arith.constant {ROWS} : i64
    %columns = arith.constant {COLUMNS} : i64
    %zero = arith.constant dense<0.0> : {TENSOR}
"""


def pointer(name: str, row: str, column: str, base: str = "%in0", rows: str = "%rows") -> str:
    """The operation that makes a pointer to a block."""
    return (
        f"%{name} = tt.make_tensor_ptr {base}, [{rows}, %columns], [%columns, %one], "
        f"[{row}, {column}] {{order = array<i32: 1, 0>}} : <{TENSOR}>"
    )


def load(name: str, block: str, attributes: str) -> str:
    return f"%{name} = tt.load %{block} {{{attributes}}} : {BLOCK}"


def held() -> Array:
    return fresh_generator().standard_normal(HELD).astype(np.float32)


def padded(array: Array, row: int, column: int, padding: float) -> Array:
    """A block of the tensor in an array."""
    whole = np.full((ROWS + 16, COLUMNS + 16), padding, np.float32)
    whole[8 : 8 + ROWS, 8 : 8 + COLUMNS] = array[: ROWS * COLUMNS].reshape(ROWS, COLUMNS)
    return whole[8 + row : 12 + row, 8 + column : 16 + column]


@pytest.mark.parametrize(("row", "column"), [(8, 8), (-2, 0), (2, -2), (8, 2)])
def test_what_is_outside_is_padding(row: int, column: int) -> None:
    array = held()
    body = f"""{CONSTANTS}
    %row = arith.constant {row} : i32
    %column = arith.constant {column} : i32
    {pointer("p", "%row", "%column")}
    {load("r0", "p", "boundaryCheck = array<i32: 0, 1>, padding = 1 : i32")}
    {load("r1", "p", "boundaryCheck = array<i32: 1, 0>, padding = 2 : i32")}
    """
    results = [((4, 8), "f32")] * 2
    for way, (zero, nan) in computed(body, [array], results):
        np.testing.assert_array_equal(zero, padded(array, row, column, 0), way)
        np.testing.assert_array_equal(nan, padded(array, row, column, np.nan), way)


def test_dimensions_that_are_not_checked_go_on_in_memory() -> None:
    """What lies behind a row is the next row, and behind the tensor what the array has there."""
    array = held()
    body = f"""{CONSTANTS}
    {pointer("p", "%c2", "%c8")}
    {load("r0", "p", "boundaryCheck = array<i32: 0>, padding = 1 : i32")}
    {pointer("q", "%c8", "%c2", rows="%one")}
    {load("r1", "q", "boundaryCheck = array<i32: 1>, padding = 1 : i32")}
    """
    flat = np.concatenate([array, np.zeros(64, np.float32)])
    rows = np.arange(2, 6)[:, None] * COLUMNS + np.arange(8, 16)
    below = np.arange(8, 12)[:, None] * COLUMNS + np.arange(2, 10)
    given = np.concatenate([array, np.zeros(HELD, np.float32)])
    for way, (right, down) in computed(body, [given], [((4, 8), "f32")] * 2):
        np.testing.assert_array_equal(right, flat[rows], way)
        np.testing.assert_array_equal(down, flat[below], way)


def test_loops_that_advance() -> None:
    """Down and to the right; what the loop leaves behind is where it would go on."""
    array = held()
    checked = "boundaryCheck = array<i32: 0, 1>, padding = 1 : i32"
    types = f"({TENSOR}, {BLOCK}, {BLOCK})"
    body = f"""{CONSTANTS}
    {pointer("p", "%minus", "%c1")}
    {pointer("q", "%c3", "%c0")}
    %r0, %p2, %q2 = scf.for %i = %c1 to %c8 step %c3 iter_args(%s = %zero, %a = %p, %b = %q)
        -> {types} : i32 {{
      {load("v", "a", checked)}
      {load("w", "b", checked)}
      %t = arith.addf %s, %v : {TENSOR}
      %u = arith.addf %t, %w : {TENSOR}
      %a1 = tt.advance %a, [%c3, %c0] : <{TENSOR}>
      %a2 = tt.advance %a1, [%c0, %c3] : <{TENSOR}>
      %b2 = tt.advance %b, [%c2, %c1] : <{TENSOR}>
      scf.yield %u, %a2, %b2 : {TENSOR}, {BLOCK}, {BLOCK}
    }}
    {load("r1", "p2", checked)}
    {load("r2", "q2", checked)}
    """
    starts = [(-2 + 3 * n, 1 + 3 * n) for n in range(4)], [(3 + 2 * n, n) for n in range(4)]
    total = np.zeros((4, 8), np.float32)
    for n in range(3):
        total = total + padded(array, *starts[0][n], 0) + padded(array, *starts[1][n], 0)
    wanted = (total, padded(array, *starts[0][3], 0), padded(array, *starts[1][3], 0))
    for way, found in computed(body, [array], [((4, 8), "f32")] * 3):
        for each, right in zip(found, wanted, strict=True):
            np.testing.assert_allclose(each, right, rtol=1e-6, atol=1e-6, err_msg=way)


def test_pointers_to_other_tensors_take_turns() -> None:
    """The base and the offsets follow the way that is taken, and what the loop hands on."""
    first, second = held(), held()
    body = f"""{CONSTANTS}
    {pointer("p", "%c0", "%c0")}
    {pointer("q", "%c4", "%c2", base="%in1")}
    %is_second = arith.cmpi slt, %c0, %c1 : i32
    %chosen = scf.if %is_second -> {BLOCK} {{
      scf.yield %q : {BLOCK}
    }} else {{
      scf.yield %p : {BLOCK}
    }}
    {load("r0", "chosen", "boundaryCheck = array<i32: 0, 1>, padding = 1 : i32")}
    %a, %b = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %p, %y = %q)
        -> ({BLOCK}, {BLOCK}) : i32 {{
      scf.yield %y, %x : {BLOCK}, {BLOCK}
    }}
    {load("r1", "a", "boundaryCheck = array<i32: 0, 1>, padding = 1 : i32")}
    """
    for way, found in computed(body, [first, second], [((4, 8), "f32")] * 2):
        for each in found:
            np.testing.assert_array_equal(each, padded(second, 4, 2, 0), way)


def test_pointers_with_other_constants_do_not_take_turns() -> None:
    text = f"""tt.func public @kernel(%in0: !tt.ptr<f32>, %n: i64, %which: i1) {{
    {CONSTANTS}
    {pointer("p", "%c0", "%c0")}
    {pointer("q", "%c0", "%c0", rows="%n")}
    %r = scf.if %which -> {BLOCK} {{
      scf.yield %q : {BLOCK}
    }} else {{
      scf.yield %p : {BLOCK}
    }}
    tt.store %r, %zero : {BLOCK}
    tt.return
    }}"""
    with pytest.raises(DiagnosticError, match="one has a constant size or stride where another"):
        translate(xtile.parse(text, language="mlir"), "triton-to-core")


KERNEL = f"""
tt.func public @copy(%in0: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
  {CONSTANTS}
  %m = arith.extsi %n : i32 to i64
  %program = tt.get_program_id x : i32
  %row = arith.muli %program, %c4 : i32
  {pointer("p", "%row", "%c0", rows="%m")}
  %d = tt.make_tensor_descriptor %in0, [%n, %n], [%columns, %one] {{padding = 2 : i32}}
    : <f32>, <4x8xf32>
  %end = scf.for %i = %c0 to %n step %c8 iter_args(%a = %p) -> ({BLOCK}) : i32 {{
    {load("v", "a", "boundaryCheck = array<i32: 0, 1>, padding = 2 : i32")}
    {load("w", "a", "boundaryCheck = array<i32: 0>, padding = 1 : i32")}
    %x = tt.descriptor_load %d[%row, %i] : !tt.tensordesc<4x8xf32> -> {TENSOR}
    %s = arith.addf %v, %w : {TENSOR}
    %t = arith.addf %s, %x : {TENSOR}
    tt.store %a, %t {{boundaryCheck = array<i32: 0, 1>}} : {BLOCK}
    tt.descriptor_store %d[%row, %i], %t : !tt.tensordesc<4x8xf32>, {TENSOR}
    %next = tt.advance %a, [%c0, %c8] : <{TENSOR}>
    scf.yield %next : {BLOCK}
  }}
  tt.return
}}"""


@pytest.mark.slow
def test_blocks_become_tiles_of_views_of_cuda_tile() -> None:
    """Blocks that begin at indices that are not negative, also where a loop advances them."""
    module = translate(xtile.parse(KERNEL, language="mlir"), "triton-to-cuda_tile")
    text = xtile.to_text(module, "mlir")
    assert "ptr_tko" not in text
    # The rows have 12 numbers, so that the last tiles begin behind them, in a loop of their own.
    loads = re.findall(r"load_view_tko .*padding_value = (\w+)", text)
    assert loads == ["nan", "zero", "nan"] * 2
    assert len(re.findall("store_view_tko", text)) == 2 * 2
