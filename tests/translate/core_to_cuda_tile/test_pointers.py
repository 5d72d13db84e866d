"""Pointers as tiles of CUDA Tile IR: which accesses become views, and what waits for what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    body_of,
    from_block_level,
    lowered,
    run_entry,
    tile_kernel,
)
from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.pad import pad

TILES = """
%c0 = arith.constant 0 : index
%steps = vector.step : vector<16xindex>
%xs = vector.broadcast %x : !core.ptr<f32> to vector<16x!core.ptr<f32>>
%px = core.pointer_add %xs, %steps : vector<16x!core.ptr<f32>>, vector<16xindex>
"""

LOAD = "core.gather_load {} : vector<16x!core.ptr<f32>> -> vector<16xf32>"


def test_views_of_known_extent_are_views_there() -> None:
    """An alignment makes them fit for the tensor memory accelerator."""
    body = """
      %c0 = arith.constant 0 : index
      %m = core.view %x to offset: [0], sizes: [%n, 64], strides: [64, 1]
          : !core.ptr<f32> to memref<?x64xf32>
      %v = vector.load %m[%c0, %c0] : memref<?x64xf32>, vector<8x64xf32>
      vector.store %v, %m[%c0, %c0] : memref<?x64xf32>, vector<8x64xf32>
    """
    text = tile_kernel("%x: !core.ptr<f32> {core.alignment = 16 : i32}, %n: index", body)
    lines = body_of(lowered(text))
    assert lines[0] == "%x_0 = assume div_by<16>, %x : tile<ptr<f32>>"
    assert any("make_tensor_view %x_0, shape = [" in line for line in lines)
    assert any("load_view_tko" in line for line in lines)
    assert any("store_view_tko" in line for line in lines)
    assert not any("_ptr_tko" in line for line in lines)


def test_views_of_unknown_extent_are_tiles_of_pointers() -> None:
    body = """
      %c0 = arith.constant 0 : index
      %m = core.view %x to offset: [0], sizes: [*], strides: [1] : !core.ptr<f32> to memref<?xf32>
      %part = memref.subview %m[%n] [64] [1]
          : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
      %v = vector.load %m[%c0] : memref<?xf32>, vector<16xf32>
      %w = vector.load %part[%c0] : memref<64xf32, strided<[1], offset: ?>>, vector<16xf32>
      %s = arith.addf %v, %w : vector<16xf32>
      vector.store %s, %m[%c0] : memref<?xf32>, vector<16xf32>
    """
    lines = body_of(lowered(tile_kernel("%x: !core.ptr<f32>, %n: index", body)))
    assert sum("load_ptr_tko" in line for line in lines) == 1
    assert sum("store_ptr_tko" in line for line in lines) == 1
    # A part has an end of its own.
    assert sum("load_view_tko" in line for line in lines) == 1


@pytest.mark.parametrize("noalias", [True, False])
def test_pointers_of_a_loop_lead_to_their_argument(noalias: bool) -> None:
    """What a loop reads through moving pointers waits for nothing if nobody writes it."""
    body = f"""{TILES}
      %c1 = arith.constant 1 : index
      %stride = arith.constant dense<16> : vector<16xi32>
      %ys = vector.broadcast %y : !core.ptr<f32> to vector<16x!core.ptr<f32>>
      %py = core.pointer_add %ys, %steps : vector<16x!core.ptr<f32>>, vector<16xindex>
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%p = %px) -> (vector<16x!core.ptr<f32>>) {{
        %v = {LOAD.format("%p")}
        core.scatter_store %v, %py : vector<16xf32>, vector<16x!core.ptr<f32>>
        %q = core.pointer_add %p, %stride : vector<16x!core.ptr<f32>>, vector<16xi32>
        scf.yield %q : vector<16x!core.ptr<f32>>
      }}
    """
    promise = " {core.noalias}" if noalias else ""
    text = tile_kernel(f"%x: !core.ptr<f32>, %y: !core.ptr<f32>{promise}, %n: index", body)
    (load,) = (line for line in body_of(lowered(text)) if "load_ptr_tko" in line)
    assert ("token=" in load) != noalias


def test_pointers_from_memory_may_lead_anywhere() -> None:
    body = f"""{TILES}
      %t = memref.load %table[%c0] : memref<4x!core.ptr<f32>>
      %m = core.view %t to offset: [0], sizes: [16], strides: [1]
          : !core.ptr<f32> to memref<16xf32>
      %zeros = arith.constant dense<0.0> : vector<16xf32>
      vector.store %zeros, %m[%c0] : memref<16xf32>, vector<16xf32>
      %v = {LOAD.format("%px")}
      core.scatter_store %v, %px : vector<16xf32>, vector<16x!core.ptr<f32>>
    """
    parameters = "%x: !core.ptr<f32> {core.noalias}, %table: memref<4x!core.ptr<f32>>"
    lines = body_of(lowered(tile_kernel(parameters, body)))
    (store,) = (line for line in lines if "store_view_tko" in line)
    (load,) = (line for line in lines if "load_ptr_tko" in line and "ptr<f32>" in line)
    assert f"token={store.split(' = ')[0]}" in load


def test_block_level_kernels_may_have_views_of_pointers() -> None:
    rng = fresh_generator()
    text = """
      gpu.module @m {
        gpu.func @k(%x: !core.ptr<f32>, %y: memref<6x8xf32>) kernel
            attributes {core.level = "block"} {
          %two = arith.constant 2.0 : f32
          %m = core.view %x to offset: [0], sizes: [6, 8], strides: [8, 1]
              : !core.ptr<f32> to memref<6x8xf32>
          core.axpby %two, %m, %two, %y : f32, memref<6x8xf32>, f32, memref<6x8xf32>
          gpu.return
        }
      }"""
    x, y = (rng.standard_normal((6, 8)).astype(np.float32) for _ in range(2))
    expected = 2 * x + 2 * y
    run_entry(text, from_block_level(text), x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


# --- refusals ---

REFUSED = {
    "complex numbers": (
        "%x: !core.ptr<complex<f32>>",
        "%v = core.gather_load %x : !core.ptr<complex<f32>> -> complex<f32>",
        "complex numbers cannot be accessed through a pointer in CUDA Tile IR; use core.view",
    ),
    "views that loops carry": (
        "%x: !core.ptr<f32>, %n: index",
        """%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %m = core.view %x to offset: [0], sizes: [*], strides: [1] : !core.ptr<f32> to memref<?xf32>
        %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %m) -> (memref<?xf32>) {
          scf.yield %v : memref<?xf32>
        }""",
        "a view of unknown extent cannot pass through control flow; pass the pointer",
    ),
}


@pytest.mark.parametrize(("parameters", "body", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(parameters: str, body: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        lowered(tile_kernel(parameters, body))
    assert message in str(raised.value)


# --- sizes that are no powers of two ---


def two_behind(x: Any) -> Any:
    return x[2:7]


def second_row(x: Any) -> Any:
    return x[4:9]


def odd_addresses(x: Any) -> Any:
    return (x.view(np.int64)[:3] | 1).view(np.float32)


UNEVEN: dict[str, Any] = {
    "pointers": (
        """
        %c0 = arith.constant 0 : index
        %steps = vector.step : vector<5xindex>
        %xs = vector.broadcast %x : !core.ptr<f32> to vector<5x!core.ptr<f32>>
        %px = core.pointer_add %xs, %steps : vector<5x!core.ptr<f32>>, vector<5xindex>
        %n = core.pointer_to_integer %px : vector<5x!core.ptr<f32>> -> vector<5xi64>
        %eight = arith.constant dense<8> : vector<5xi64>
        %m = arith.addi %n, %eight : vector<5xi64>
        %q = core.integer_to_pointer %m : vector<5xi64> -> vector<5x!core.ptr<i32>>
        %p = core.pointer_cast %q : vector<5x!core.ptr<i32>> -> vector<5x!core.ptr<f32>>
        %v = core.gather_load %p : vector<5x!core.ptr<f32>> -> vector<5xf32>
        %old = core.atomic_rmw addf relaxed device %v, %px : vector<5xf32>, vector<5x!core.ptr<f32>>
        %os = vector.broadcast %o : !core.ptr<f32> to vector<5x!core.ptr<f32>>
        %po = core.pointer_add %os, %steps : vector<5x!core.ptr<f32>>, vector<5xindex>
        core.scatter_store %v, %po : vector<5xf32>, vector<5x!core.ptr<f32>>
        """,
        two_behind,
    ),
    "unknown extents": (
        """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %zero = arith.constant 0.0 : f32
        %m = core.view %x to offset: [1], sizes: [*, 3, *], strides: [0, 3, 1]
            : !core.ptr<f32> to memref<?x3x?xf32, strided<[0, 3, 1], offset: 1>>
        %v = vector.transfer_read %m[%c1, %c1, %c0], %zero {in_bounds = [true, true]}
            : memref<?x3x?xf32, strided<[0, 3, 1], offset: 1>>, vector<1x5xf32>
        %w = core.view %o to offset: [0], sizes: [*, *], strides: [5, 1]
            : !core.ptr<f32> to memref<?x?xf32, strided<[5, 1]>>
        vector.store %v, %w[%c0, %c0] : memref<?x?xf32, strided<[5, 1]>>, vector<1x5xf32>
        """,
        second_row,
    ),
    "a table": (
        """
        %c0 = arith.constant 0 : index
        %t = core.pointer_cast %x : !core.ptr<f32> -> !core.ptr<!core.ptr<f32>>
        %m = core.view %t to offset: [0], sizes: [3], strides: [1]
            : !core.ptr<!core.ptr<f32>> to memref<3x!core.ptr<f32>>
        %p = vector.load %m[%c0] : memref<3x!core.ptr<f32>>, vector<3x!core.ptr<f32>>
        %n = core.pointer_to_integer %p : vector<3x!core.ptr<f32>> -> vector<3xi64>
        %one = arith.constant dense<1> : vector<3xi64>
        %odd = arith.ori %n, %one : vector<3xi64>
        %q = core.integer_to_pointer %odd : vector<3xi64> -> vector<3x!core.ptr<f32>>
        %u = core.pointer_cast %o : !core.ptr<f32> -> !core.ptr<!core.ptr<f32>>
        %w = core.view %u to offset: [0], sizes: [3], strides: [1]
            : !core.ptr<!core.ptr<f32>> to memref<3x!core.ptr<f32>>
        vector.store %q, %w[%c0] : memref<3x!core.ptr<f32>>, vector<3x!core.ptr<f32>>
        """,
        odd_addresses,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", UNEVEN.values(), ids=UNEVEN)
def test_uneven_sizes(case: Any) -> None:
    rng = fresh_generator()
    body, expected = case
    text = tile_kernel("%x: !core.ptr<f32>, %o: !core.ptr<f32>", body)
    x = rng.integers(0, 100, 12).astype(np.float32)
    wanted = expected(x.copy())
    for padded in (False, True):
        out, given = np.full(len(wanted), np.nan, np.float32), x.copy()
        run(pad(read(text)) if padded else read(text), given, out)
        np.testing.assert_array_equal(out.view(np.int32), wanted.view(np.int32))
    entry = lowered(text)
    assert "tile<4x" in printed(entry) or "tile<8x" in printed(entry) or "1x8x" in printed(entry)
    out, given = np.full(len(wanted), np.nan, np.float32), x.copy()
    run_entry(text, entry, given, out)
    np.testing.assert_array_equal(out.view(np.int32), wanted.view(np.int32))
