"""Pointers on the reference device, as CUDA Tile IR and under the sanitizer."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

import numpy as np
import pytest

from tests.transforms.distribute.kernels import DTYPES, arguments_of, function_of, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
    unordered_accesses,
)
from xtile.semantics.errors import ExecutionError
from xtile.semantics.sanitizer import sanitize

START = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c8 = arith.constant 8 : index
%f0 = arith.constant 0.0 : f32
%zeros = arith.constant dense<0.0> : vector<8xf32>
%steps = vector.step : vector<8xindex>
"""

TILES = """
%xs = vector.broadcast %x : !core.ptr<f32> to vector<8x!core.ptr<f32>>
%px = core.pointer_add %xs, %steps : vector<8x!core.ptr<f32>>, vector<8xindex>
%ys = vector.broadcast %y : !core.ptr<f32> to vector<8x!core.ptr<f32>>
%py = core.pointer_add %ys, %steps : vector<8x!core.ptr<f32>>, vector<8xindex>
%os = vector.broadcast %o : !core.ptr<f32> to vector<8x!core.ptr<f32>>
%po = core.pointer_add %os, %steps : vector<8x!core.ptr<f32>>, vector<8xindex>
"""

THREE = "%x: !core.ptr<f32>, %y: !core.ptr<f32>, %o: !core.ptr<f32>"

LOAD = "core.gather_load {} : vector<8x!core.ptr<f32>> -> vector<8xf32>"
STORE = "core.scatter_store %r, %po : vector<8xf32>, vector<8x!core.ptr<f32>>"

MASKED = f"""{START}{TILES}
%length = vector.broadcast %n : index to vector<8xindex>
%k = arith.cmpi slt, %steps, %length : vector<8xindex>
%a = core.gather_load %px, %k, %zeros
    : vector<8x!core.ptr<f32>>, vector<8xi1>, vector<8xf32> -> vector<8xf32>
%b = {LOAD.format("%py")}
%r = arith.addf %a, %b : vector<8xf32>
{STORE}
"""

CHOSEN = f"""{START}{TILES}
%v = vector.load %flags[%c0] : memref<8xi32>, vector<8xi32>
%k = arith.trunci %v : vector<8xi32> to vector<8xi1>
%p = arith.select %k, %px, %py : vector<8xi1>, vector<8x!core.ptr<f32>>
%r = {LOAD.format("%p")}
{STORE}
"""

CARRIED = f"""{START}{TILES}
%c5 = arith.constant 5 : index
%stride = arith.constant dense<8> : vector<8xi32>
%r, %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%sum = %zeros, %p = %px)
    -> (vector<8xf32>, vector<8x!core.ptr<f32>>) {{
  %v = {LOAD.format("%p")}
  %new = arith.addf %sum, %v : vector<8xf32>
  %q = core.pointer_add %p, %stride : vector<8x!core.ptr<f32>>, vector<8xi32>
  scf.yield %new, %q : vector<8xf32>, vector<8x!core.ptr<f32>>
}}
{STORE}
"""

# Each node is the address of the next one and a number; the order of the nodes is given.
LIST = f"""{START}
%c7 = arith.constant 7 : index
%c2 = arith.constant 2 : index
scf.for %i = %c0 to %c7 step %c1 {{
  %j = arith.addi %i, %c1 : index
  %this = memref.load %order[%i] : memref<8xindex>
  %next = memref.load %order[%j] : memref<8xindex>
  %at = arith.muli %this, %c2 : index
  %to = arith.muli %next, %c2 : index
  %p = core.pointer_add %nodes, %at : !core.ptr<i64>, index
  %q = core.pointer_add %nodes, %to : !core.ptr<i64>, index
  %link = core.pointer_cast %p : !core.ptr<i64> -> !core.ptr<!core.ptr<i64>>
  core.scatter_store %q, %link : !core.ptr<i64>, !core.ptr<!core.ptr<i64>>
}}
%zero = arith.constant 0 : i64
%null = core.integer_to_pointer %zero : i64 -> !core.ptr<i64>
%end = memref.load %order[%c7] : memref<8xindex>
%at_end = arith.muli %end, %c2 : index
%tail = core.view %nodes to offset: [%at_end], sizes: [2], strides: [1]
    : !core.ptr<i64> to memref<2xi64, strided<[1], offset: ?>>
memref.store %zero, %tail[%c0] : memref<2xi64, strided<[1], offset: ?>>
%begin = memref.load %order[%c0] : memref<8xindex>
%at_begin = arith.muli %begin, %c2 : index
%head = core.pointer_add %nodes, %at_begin : !core.ptr<i64>, index
%stop, %count = scf.while (%p = %head, %n = %c0) : (!core.ptr<i64>, index)
    -> (!core.ptr<i64>, index) {{
  %address = core.pointer_to_integer %p : !core.ptr<i64> -> i64
  %goes_on = arith.cmpi ne, %address, %zero : i64
  scf.condition(%goes_on) %p, %n : !core.ptr<i64>, index
}} do {{
^bb0(%p: !core.ptr<i64>, %n: index):
  %q = core.pointer_add %p, %c1 : !core.ptr<i64>, index
  %number = core.gather_load %q : !core.ptr<i64> -> i64
  memref.store %number, %o[%n] : memref<8xi64>
  %link = core.pointer_cast %p : !core.ptr<i64> -> !core.ptr<!core.ptr<i64>>
  %next = core.gather_load %link : !core.ptr<!core.ptr<i64>> -> !core.ptr<i64>
  %m = arith.addi %n, %c1 : index
  scf.yield %next, %m : !core.ptr<i64>, index
}}
"""

TABLE = f"""{START}
%zero = arith.constant 0 : i64
%null = core.integer_to_pointer %zero : i64 -> !core.ptr<f32>
%first = memref.load %table[%i] : memref<4x!core.ptr<f32>>
%m = core.view %first to offset: [0], sizes: [8], strides: [1] : !core.ptr<f32> to memref<8xf32>
%row = vector.load %m[%c0] : memref<8xf32>, vector<8xf32>
vector.store %row, %o[%c0] : memref<12xf32>, vector<8xf32>
%all = vector.transfer_read %table[%c0], %null {{in_bounds = [true]}}
    : memref<4x!core.ptr<f32>>, vector<4x!core.ptr<f32>>
%one = arith.constant dense<1> : vector<4xi32>
%seconds = core.pointer_add %all, %one : vector<4x!core.ptr<f32>>, vector<4xi32>
%column = core.gather_load %seconds : vector<4x!core.ptr<f32>> -> vector<4xf32>
vector.store %column, %o[%c8] : memref<12xf32>, vector<4xf32>
vector.transfer_write %seconds, %table[%c0] {{in_bounds = [true]}}
    : vector<4x!core.ptr<f32>>, memref<4x!core.ptr<f32>>
"""

CASTS = f"""{START}
%bytes = arith.constant 12 : i64
%n = core.pointer_to_integer %x : !core.ptr<f32> -> i64
%n3 = arith.addi %n, %bytes : i64
%p = core.integer_to_pointer %n3 : i64 -> !core.ptr<i32>
%back = arith.constant -2 : i8
%q = core.pointer_add %p, %back : !core.ptr<i32>, i8
%bits = core.gather_load %q : !core.ptr<i32> -> i32
%h = core.pointer_cast %q : !core.ptr<i32> -> !core.ptr<i16>
%h1 = core.pointer_add %h, %c1 : !core.ptr<i16>, index
%half = core.gather_load %h1 : !core.ptr<i16> -> i16
%wide = arith.extui %half : i16 to i32
memref.store %bits, %o[%c0] : memref<2xi32>
memref.store %wide, %o[%c1] : memref<2xi32>
"""

UNKNOWN = f"""{START}
%c3 = arith.constant 3 : index
%m = core.view %x to offset: [%i], sizes: [*, 4], strides: [4, 1]
    : !core.ptr<f32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
%v = vector.transfer_read %m[%c3, %c0], %f0 {{in_bounds = [true, false]}}
    : memref<?x4xf32, strided<[4, 1], offset: ?>>, vector<2x8xf32>
vector.store %v, %o[%c0, %c0] : memref<2x8xf32>, vector<2x8xf32>
"""

EDGES = f"""{START}
%m = core.view %x to offset: [0], sizes: [%n, 6], strides: [%s, 1]
    : !core.ptr<f32> to memref<?x6xf32, strided<[?, 1]>>
%v = vector.transfer_read %m[%c0, %c0], %f0 {{in_bounds = [false, false]}}
    : memref<?x6xf32, strided<[?, 1]>>, vector<4x8xf32>
vector.store %v, %o[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
"""

ATOMICS = f"""{START}
%p = vector.load %places[%c0] : memref<8xi32>, vector<8xi32>
%v = vector.load %values[%c0] : memref<8xf32>, vector<8xf32>
%xs = vector.broadcast %x : !core.ptr<f32> to vector<8x!core.ptr<f32>>
%px = core.pointer_add %xs, %p : vector<8x!core.ptr<f32>>, vector<8xi32>
%zero = arith.constant dense<0> : vector<8xi32>
%k = arith.cmpi ne, %p, %zero : vector<8xi32>
%old = core.atomic_rmw addf relaxed device %v, %px, %k
    : vector<8xf32>, vector<8x!core.ptr<f32>>, vector<8xi1>
%i0 = arith.constant 0 : i32
%i1 = arith.constant 1 : i32
%found = core.atomic_compare_and_swap acquire device %i0, %i1, %lock : i32, !core.ptr<i32>
%again = core.atomic_compare_and_swap acquire device %i0, %i1, %lock : i32, !core.ptr<i32>
%seen = core.gather_load acquire device %lock : !core.ptr<i32> -> i32
%sum = arith.addi %again, %seen : i32
%behind = core.pointer_add %lock, %c1 : !core.ptr<i32>, index
core.scatter_store release device %sum, %behind : i32, !core.ptr<i32>
"""


def floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def empty(*shape: int) -> Any:
    return np.full(shape, np.nan, np.float32)


def masked(rng: np.random.Generator) -> tuple[list[Any], Any]:
    x, y, n = floats(rng, 5), floats(rng, 8), 5
    return [x, y, empty(8), n], np.concatenate([x, np.zeros(3, np.float32)]) + y


def chosen(rng: np.random.Generator) -> tuple[list[Any], Any]:
    x, y, flags = floats(rng, 8), floats(rng, 8), rng.integers(0, 2, 8, np.int32)
    return [x, y, empty(8), flags], cast(Any, np.where(flags == 1, x, y))


def carried(rng: np.random.Generator) -> tuple[list[Any], Any]:
    x = floats(rng, 40)
    total = np.zeros(8, np.float32)
    for row in x.reshape(5, 8):
        total += row
    return [x, floats(rng, 8), empty(8)], total


def linked(rng: np.random.Generator) -> tuple[list[Any], Any]:
    order = rng.permutation(8)
    nodes: Any = rng.integers(1, 100, (8, 2))
    return [nodes, order, np.full(8, -1)], nodes[order, 1].copy()


def tabled(rng: np.random.Generator) -> tuple[list[Any], Any]:
    rows, i = [floats(rng, 8) for _ in range(4)], int(rng.integers(0, 4))
    expected = np.concatenate([rows[i], [row[1] for row in rows]])
    return [rows, i, empty(12)], expected


def casts(rng: np.random.Generator) -> tuple[list[Any], Any]:
    x = floats(rng, 4)
    expected: Any = [x.view(np.int32)[1], x.view(np.uint16)[3]]
    return [x, np.zeros(2, np.int32)], np.array(expected, np.int32)


def unknown(rng: np.random.Generator) -> tuple[list[Any], Any]:
    x, i = floats(rng, 24), int(rng.integers(0, 4))
    expected = np.zeros((2, 8), np.float32)
    expected[:, :4] = x[i + 12 : i + 20].reshape(2, 4)
    return [x, i, empty(2, 8)], expected


def edges(rng: np.random.Generator) -> tuple[list[Any], Any]:
    x, n, stride = floats(rng, 40), 3, int(rng.integers(6, 12))
    expected = np.zeros((4, 8), np.float32)
    for row in range(n):
        expected[row, :6] = x[row * stride : row * stride + 6]
    return [x, n, stride, empty(4, 8)], expected


def atomics(rng: np.random.Generator) -> tuple[list[Any], Any]:
    x, values, positions = floats(rng, 4), floats(rng, 8), rng.integers(0, 4, 8, np.int32)
    expected = x.copy()
    for position, value in zip(positions, values, strict=True):
        expected[position] += value if position else np.float32(0)
    return [positions, values, np.zeros(2, np.int32), x], expected


CASES: dict[str, Any] = {
    "masked": (f"{THREE}, %n: index", MASKED, masked, 2),
    "chosen": (f"{THREE}, %flags: memref<8xi32>", CHOSEN, chosen, 2),
    "carried": (THREE, CARRIED, carried, 2),
    "a linked list": (
        "%nodes: !core.ptr<i64>, %order: memref<8xindex>, %o: memref<8xi64>",
        LIST,
        linked,
        2,
    ),
    "a table": (
        "%table: memref<4x!core.ptr<f32>>, %i: index, %o: memref<12xf32>",
        TABLE,
        tabled,
        2,
    ),
    "casts": ("%x: !core.ptr<f32>, %o: memref<2xi32>", CASTS, casts, 1),
    "unknown extents": (
        "%x: !core.ptr<f32>, %i: index, %o: memref<2x8xf32>",
        UNKNOWN,
        unknown,
        2,
    ),
    "checked edges": (
        "%x: !core.ptr<f32>, %n: index, %s: index, %o: memref<4x8xf32>",
        EDGES,
        edges,
        3,
    ),
    "atomics": (
        "%places: memref<8xi32>, %values: memref<8xf32>, %lock: !core.ptr<i32>, %x: !core.ptr<f32>",
        ATOMICS,
        atomics,
        3,
    ),
}
"""For each kernel its parameters and text, inputs and what is expected, and which is the output."""


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_values_here_and_as_cuda_tile(case: Any, rng: np.random.Generator) -> None:
    parameters, body, inputs, output = case
    text = tile_kernel(parameters, body)
    values, expected = inputs(rng)
    copies = [deepcopy(value) for value in values]
    module = read(text)
    assert sanitize(function_of(module), arguments_of(map(deepcopy, values)), (1, 1, 1)) == []
    run(module, *values)
    np.testing.assert_allclose(values[output], expected, rtol=1e-5, atol=1e-6)
    entry = lowered(text)
    run_entry(text, entry, *copies)
    np.testing.assert_array_equal(copies[output], values[output])
    assert unordered_accesses(text, entry, *map(deepcopy, inputs(rng)[0])) == []


def test_nvidia_compiles_them() -> None:
    kernels = "".join(
        tile_kernel(parameters, body).replace("@k(", f"@k{i}(").split("{\n", 1)[1].rsplit("}", 1)[0]
        for i, (parameters, body, _, _) in enumerate(CASES.values())
    )
    assemble_for_all(lowered(f"gpu.module @m {{\n{kernels}\n}}\n"), ("sm_90",))


def test_the_lock_was_taken(rng: np.random.Generator) -> None:
    parameters, body, inputs, _ = CASES["atomics"]
    values, _ = inputs(rng)
    run(read(tile_kernel(parameters, body)), *values)
    assert values[2].tolist() == [1, 2]


@pytest.mark.parametrize(
    "element",
    ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "tf32"],
)
def test_all_types(element: str, rng: np.random.Generator) -> None:
    """Elements are turned around, by steps of the element's size."""
    body = f"""
      %steps = vector.step : vector<8xindex>
      %seven = arith.constant dense<7> : vector<8xindex>
      %turned = arith.subi %seven, %steps : vector<8xindex>
      %xs = vector.broadcast %x : !core.ptr<{element}> to vector<8x!core.ptr<{element}>>
      %px = core.pointer_add %xs, %steps : vector<8x!core.ptr<{element}>>, vector<8xindex>
      %os = vector.broadcast %o : !core.ptr<{element}> to vector<8x!core.ptr<{element}>>
      %po = core.pointer_add %os, %turned : vector<8x!core.ptr<{element}>>, vector<8xindex>
      %v = core.gather_load %px : vector<8x!core.ptr<{element}>> -> vector<8x{element}>
      core.scatter_store %v, %po : vector<8x{element}>, vector<8x!core.ptr<{element}>>
    """
    text = tile_kernel(f"%x: !core.ptr<{element}>, %o: !core.ptr<{element}>", body)
    dtype = _DTYPES.get(element) or DTYPES[element]
    x = rng.integers(0, 2, 8).astype(dtype)
    here, there = np.zeros(8, dtype), np.zeros(8, dtype)
    run(read(text), x, here)
    np.testing.assert_array_equal(here, x[::-1])
    run_entry(text, lowered(text), x, there)
    np.testing.assert_array_equal(there, x[::-1])


def _small_floats() -> dict[str, Any]:
    import ml_dtypes

    return {
        "f8E4M3FN": ml_dtypes.float8_e4m3fn,
        "i1": np.bool_,
        "tf32": np.float32,
    }


_DTYPES = _small_floats()

# --- mistakes ---

ELEMENT = "%p = core.pointer_add %x, %n : !core.ptr<f32>, i32\n"
WRONG = {
    "behind the end": (
        f"{ELEMENT}%v = core.gather_load %p : !core.ptr<f32> -> f32",
        8,
        "the access to element 8 lies outside of the memory of %x, which has 8 elements",
    ),
    "before the start": (
        f"{ELEMENT}%v = core.gather_load %p : !core.ptr<f32> -> f32",
        -1,
        "the access to element -1 lies outside of the memory of %x, which has 8 elements",
    ),
    "null": (
        (
            "%a = arith.extsi %n : i32 to i64\n"
            "%p = core.integer_to_pointer %a : i64 -> !core.ptr<f32>\n"
            "%v = core.gather_load %p : !core.ptr<f32> -> f32"
        ),
        0,
        "the address 0 is null",
    ),
    "between elements": (
        (
            "%b = core.pointer_cast %x : !core.ptr<f32> -> !core.ptr<i8>\n"
            "%c = core.pointer_add %b, %n : !core.ptr<i8>, i32\n"
            "%p = core.pointer_cast %c : !core.ptr<i8> -> !core.ptr<f32>\n"
            "%v = core.gather_load %p : !core.ptr<f32> -> f32"
        ),
        2,
        "the address lies between elements of %x: it must be a multiple of 4 bytes",
    ),
    "a view that leaves the memory": (
        (
            "%i = arith.index_cast %n : i32 to index\n"
            "%m = core.view %x to offset: [0], sizes: [*], strides: [2]\n"
            "    : !core.ptr<f32> to memref<?xf32, strided<[2]>>\n"
            "%v = memref.load %m[%i] : memref<?xf32, strided<[2]>>"
        ),
        4,
        "the access to element 8 lies outside of the memory of %x, which has 8 elements",
    ),
    "a view of nothing": (
        (
            "%a = arith.extsi %n : i32 to i64\n"
            "%i = arith.index_cast %n : i32 to index\n"
            "%p = core.integer_to_pointer %a : i64 -> !core.ptr<f32>\n"
            "%m = core.view %p to offset: [0], sizes: [8], strides: [1]\n"
            "    : !core.ptr<f32> to memref<8xf32>\n"
            "%v = memref.load %m[%i] : memref<8xf32>"
        ),
        0,
        "%m is not associated: its pointer is null",
    ),
}


@pytest.mark.parametrize(("body", "number", "message"), WRONG.values(), ids=WRONG)
def test_accesses_of_no_memory(body: str, number: int, message: str) -> None:
    module = read(tile_kernel("%x: !core.ptr<f32>, %n: i32", body))
    x = np.zeros(8, np.float32)
    with pytest.raises(ExecutionError) as raised:
        run(module, x, np.int32(number))
    assert message in str(raised.value)
    assert raised.value.operation.name in ("core.gather_load", "memref.load")


def test_what_is_not_accessed_may_point_anywhere(rng: np.random.Generator) -> None:
    body = f"""{START}
      %ns = vector.load %flags[%c0] : memref<8xi64>, vector<8xi64>
      %p = core.integer_to_pointer %ns : vector<8xi64> -> vector<8x!core.ptr<f32>>
      %k = arith.constant dense<false> : vector<8xi1>
      %v = core.gather_load %p, %k, %zeros
          : vector<8x!core.ptr<f32>>, vector<8xi1>, vector<8xf32> -> vector<8xf32>
      core.scatter_store %v, %p, %k : vector<8xf32>, vector<8x!core.ptr<f32>>, vector<8xi1>
      vector.store %v, %o[%c0] : memref<8xf32>, vector<8xf32>
      %z = arith.constant 0 : i64
      %null = core.integer_to_pointer %z : i64 -> !core.ptr<f32>
      %m = core.view %null to offset: [0], sizes: [8], strides: [1]
          : !core.ptr<f32> to memref<8xf32>
    """
    out = empty(8)
    module = read(tile_kernel("%flags: memref<8xi64>, %o: memref<8xf32>", body))
    run(module, rng.integers(-(2**40), 2**62, 8), out)
    assert not out.any()


def test_the_sanitizer_sees_what_pointers_access(rng: np.random.Generator) -> None:
    body = f"""{START}{TILES}
      %v = {LOAD.format("%px")}
      %r = {LOAD.format("%py")}
      core.scatter_store %r, %os : vector<8xf32>, vector<8x!core.ptr<f32>>
    """
    module = read(tile_kernel(THREE, body))
    arguments = arguments_of([empty(8), floats(rng, 8), empty(8)])
    found = [each.message for each in sanitize(function_of(module), arguments, (1, 1, 1))]
    assert any("are written to one location by one operation" in message for message in found)


def test_assumptions_of_pointers(rng: np.random.Generator) -> None:
    body = f"""{START}{TILES}
      %p = core.assume %px contiguous 8 along 0 divisible_by 16 : vector<8x!core.ptr<f32>>
      %q = core.assume %py contiguous 8 along 0 divisible_by 1024 : vector<8x!core.ptr<f32>>
    """
    text = tile_kernel(THREE, body).replace("%ys, %steps", "%ys, %odd").replace(
        "%ys =", "%three = arith.constant dense<3> : vector<8xindex>\n"
        "%odd = arith.muli %steps, %three : vector<8xindex>\n%ys =",
    )  # fmt: skip
    arguments = arguments_of([floats(rng, 8), floats(rng, 8), empty(8)])
    (message,) = [each.message for each in sanitize(function_of(read(text)), arguments, (1, 1, 1))]
    assert "contiguous 8 along 0 is assumed, but does not hold" in message
