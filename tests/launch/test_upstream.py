"""Launches of gpu.func kernels: row-major arrays, blocks, entries, mistakes and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.cli import main
from xtile.launch import ArgumentError, Output, SanitizerError
from xtile.text.diagnostics import DiagnosticError

SCALE = """
gpu.module @kernels {
  gpu.func @scale(%a: memref<?x8xf32>, %b: memref<?x8xf32>, %alpha: f32) kernel {
    %x = gpu.thread_id x
    %y = gpu.global_id y
    %v = memref.load %a[%y, %x] : memref<?x8xf32>
    %w = arith.mulf %v, %alpha : f32
    memref.store %w, %b[%y, %x] : memref<?x8xf32>
    gpu.return
  }
}
"""

COPY = """
gpu.module @kernels {{
  gpu.func @copy(%a: memref<{type}>, %b: memref<{type}>) kernel {{
    memref.copy %a, %b : memref<{type}> to memref<{type}>
    gpu.return
  }}
}}
"""


@pytest.fixture
def rng() -> np.random.Generator:
    return fresh_generator()


@pytest.mark.parametrize("how", ["text", "path", "module"])
def test_kinds_of_kernels(how: str, tmp_path: Path, rng: np.random.Generator) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(SCALE)
    kernel = {"text": SCALE, "path": path, "module": xtile.parse(SCALE)}[how]
    a = rng.standard_normal((4, 8)).astype(np.float32)
    b = np.full((4, 8), np.nan, np.float32)
    xtile.run(kernel, {"a": a, "b": b, "alpha": 2.0}, grid=(1, 2), block=(8, 2))
    np.testing.assert_array_equal(b, 2 * a)


def test_an_array_must_be_row_major() -> None:
    a = np.asfortranarray(np.zeros((4, 8), np.float32))
    with pytest.raises(ArgumentError) as error:
        xtile.run(SCALE, [a, np.zeros((4, 8), np.float32), 2.0], block=(8, 4))
    assert str(error.value) == (
        "argument 'a' (memref<?x8xf32>): expected strides (8, 1), given strides (1, 4) for shape "
        "(4, 8), counted in elements; numpy.ascontiguousarray makes a row-major copy"
    )


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((8, 4), np.float32), "expected shape (?, 8), given shape (8, 4)"),
        (np.zeros((4, 7), np.float32), "expected shape (?, 8), given shape (4, 7)"),
        (
            np.zeros((4, 8)),
            "given float64; pass a converted copy, e.g. array.astype(numpy.float32)",
        ),
        (np.zeros((4, 16), np.float32)[:, ::2], "expected strides (8, 1), given strides (16, 2)"),
    ],
)
def test_arrays_that_do_not_fit(array: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        xtile.run(SCALE, [array, np.zeros((4, 8), np.float32), 2.0], block=(8, 4))
    assert message in str(error.value)


def test_read_only_arrays() -> None:
    a, b = np.ones((4, 8), np.float32), np.zeros((4, 8), np.float32)
    a.flags.writeable = False
    xtile.run(SCALE, [a, b, 2.0], block=(8, 4))
    assert (b == 2).all()
    with pytest.raises(ArgumentError, match="the kernel writes to it, but the given array is"):
        xtile.run(SCALE, [b, a, 2.0], block=(8, 4))


@pytest.mark.parametrize(
    ("type", "dtype"),
    [
        ("bf16", ml_dtypes.bfloat16),
        ("f8E5M2", ml_dtypes.float8_e5m2),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
        ("i1", np.bool_),
        ("i8", np.int8),
        ("index", np.int64),
        ("complex<f64>", np.complex128),
    ],
)
def test_element_types(type: str, dtype: Any, rng: np.random.Generator) -> None:
    a, b = rng.integers(0, 2, (3, 5)).astype(dtype), np.zeros((3, 5), dtype)
    xtile.run(COPY.format(type=f"3x5x{type}"), [a, b])
    np.testing.assert_array_equal(a, b)


def test_strided_types(rng: np.random.Generator) -> None:
    a, b = rng.integers(0, 9, (6, 10)).astype(np.int32), np.zeros((6, 10), np.int32)
    type_ = "3x5xi32, strided<[?, ?], offset: ?>"
    xtile.run(COPY.format(type=type_), [a[::2, ::2], b[::2, 1::2]])
    np.testing.assert_array_equal(b[::2, 1::2], a[::2, ::2])
    assert (b[1::2] == 0).all()
    assert (b[:, ::2] == 0).all()


def test_an_array_for_an_address(rng: np.random.Generator) -> None:
    """What a kernel can do with it depends on the dialects; this one passes it on."""
    kernel = """gpu.module @m { gpu.func @k(%p: i64, %out: memref<2xi64>) kernel {
      %c0 = arith.constant 0 : index
      memref.store %p, %out[%c0] : memref<2xi64>
      gpu.return
    } }"""
    out = np.zeros(2, np.int64)
    xtile.run(kernel, [rng.standard_normal((4, 4)), out])
    assert out[0] > 0
    xtile.run(kernel, [7, out])
    assert out[0] == 7
    with pytest.raises(ArgumentError, match="expected an array whose elements follow each other"):
        xtile.run(kernel, [np.zeros((4, 4))[:, ::2], out])


TWO = """
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @one(%a: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : i32
      memref.store %c1, %a[%c0] : memref<1xi32>
      gpu.return
    }
    gpu.func @two(%a: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : i32
      memref.store %c2, %a[%c0] : memref<1xi32>
      gpu.return
    }
    gpu.func @helper(%n: i32) -> i32 {
      gpu.return %n : i32
    }
  }
}
"""


def test_a_function_of_the_host() -> None:
    kernel = TWO.replace(
        "gpu.module @m {",
        """func.func @main(%a: memref<1xi32>) {
          %c0 = arith.constant 0 : index
          %c9 = arith.constant 9 : i32
          %b = memref.alloc() : memref<1xi32>
          memref.store %c9, %b[%c0] : memref<1xi32>
          memref.copy %b, %a : memref<1xi32> to memref<1xi32>
          memref.dealloc %b : memref<1xi32>
          return
        }
        gpu.module @m {""",
    )
    a = np.zeros(1, np.int32)
    xtile.run(kernel, [a], entry="main")
    assert a[0] == 9
    xtile.run(kernel, [a], entry="one")
    assert a[0] == 1


def test_entries() -> None:
    a = np.zeros(1, np.int32)
    xtile.run(TWO, [a], entry="two")
    assert a[0] == 2
    with pytest.raises(ArgumentError, match=r"choose entry from 'one', 'two'$"):
        xtile.run(TWO, [a])


@pytest.mark.parametrize("block", [0, (1, 2, 3, 4), "x", (8, -1)])
def test_blocks_that_are_none(block: Any) -> None:
    with pytest.raises(ArgumentError, match="expected a block of up to 3 positive integers"):
        xtile.run(TWO, [np.zeros(1, np.int32)], entry="one", block=block)


def test_a_block_for_the_tensor_language() -> None:
    with pytest.raises(DiagnosticError, match="given by its attribute work_group_size"):
        xtile.run("func @f() { }", [], block=(16, 1, 1))


def test_the_sanitizer_finds_a_race() -> None:
    kernel = """gpu.module @m { gpu.func @k(%a: memref<8xi32>) kernel {
      %x = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %n = arith.index_cast %x : index to i32
      memref.store %n, %a[%c0] : memref<8xi32>
      gpu.return
    } }"""
    xtile.run(kernel, [np.zeros(8, np.int32)], block=8)
    with pytest.raises(SanitizerError, match=r"conflict|race|no barrier"):
        xtile.run(kernel, [np.zeros(8, np.int32)], block=8, sanitize=True)


def test_the_sanitizer_knows_barriers_and_outputs() -> None:
    kernel = """gpu.module @m { gpu.func @k(%a: memref<32xf32>, %b: memref<32xf32>)
        workgroup(%w: memref<32xf32, #gpu.address_space<workgroup>>) kernel {
      %x = gpu.thread_id x
      %c31 = arith.constant 31 : index
      %v = memref.load %a[%x] : memref<32xf32>
      memref.store %v, %w[%x] : memref<32xf32, #gpu.address_space<workgroup>>
      BARRIER
      %r = arith.subi %c31, %x : index
      %u = memref.load %w[%r] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %u, %b[%x] : memref<32xf32>
      gpu.return
    } }"""
    a, b = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    good = kernel.replace("BARRIER", "gpu.barrier")
    xtile.run(good, [a, Output(b)], block=32, sanitize=True)
    np.testing.assert_array_equal(b, a[::-1])
    with pytest.raises(SanitizerError):
        xtile.run(kernel.replace("BARRIER", ""), [a, Output(b)], block=32, sanitize=True)
    with pytest.raises(SanitizerError):
        xtile.run(good, [Output(a), b], block=32, sanitize=True)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, saved = tmp_path / "scale.mlir", tmp_path / "b.npy"
    path.write_text(SCALE)
    arguments = ["run", str(path), "--grid", "1,2", "--block", "8,2", "--arg", "a=ones:4x8"]
    arguments += ["--arg", "b=nan:4x8", "--arg", "alpha=3", "--out", f"b={saved}"]
    assert main(arguments) == 0
    assert "memref<?x8xf32>" in capsys.readouterr().out
    np.testing.assert_array_equal(np.load(saved), np.full((4, 8), 3, np.float32))
    arguments[5] = "8,3"
    assert main(arguments) == 1
    assert "lies outside of the memory of %a" in capsys.readouterr().err


def test_a_list_for_a_memref_of_memrefs(rng: np.random.Generator) -> None:
    kernel = """gpu.module @m { gpu.func @k(%g: memref<?xmemref<?x3xf32>>) kernel {
      %x = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %m = memref.load %g[%x] : memref<?xmemref<?x3xf32>>
      %v = memref.load %m[%c0, %x] : memref<?x3xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %m[%c0, %x] : memref<?x3xf32>
      gpu.return
    } }"""
    given = [rng.standard_normal((n, 3)).astype(np.float32) for n in (2, 1)]
    expected = [array.copy() for array in given]
    xtile.run(kernel, [given], block=2)
    for index, array in enumerate(expected):
        array[0, index] *= 2
        np.testing.assert_array_equal(given[index], array)
    with pytest.raises(ArgumentError, match=r"entry 0: expected shape \(\?, 3\)"):
        xtile.run(kernel, [[np.zeros((3, 2), np.float32)]], block=2)
