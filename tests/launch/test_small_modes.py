"""Modes of size 1: libraries give them any stride, and no result depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import i64

import xtile
from tests.arguments.test_binding import bind_one
from tests.backends.nvidia.gpu_arrays import Interface
from tests.seeds import fresh_generator
from xtile.arguments.arrays import settled_strides
from xtile.arguments.memory_types import MemoryType
from xtile.arguments.words import bind_words
from xtile.launch import DeviceArray
from xtile.semantics.upstream.numbers import number_of
from xtile.text.diagnostics import DiagnosticError

COPY = """
    %c0 = constant 0 : index  %c3 = constant 3 : index  %c8 = constant 8 : index
    foreach (%i,%j)=(%c0,%c0),(%c3,%c8) {
        %x = load %f[%i,%j] : i16
        store %x, %B[%i,%j]
    }
}
"""

KERNELS = {
    "a parameter": ("3x1x8,strided<1,?,6>", "%f = fuse %A[1,2] : memref<i16x3x8,strided<1,?>>"),
    "a dynamic size": ("3x?x8,strided<1,?,?>", "%f = fuse %A[1,2] : memref<i16x3x?,strided<1,?>>"),
    "a static stride": ("3x?x8,strided<1,3,?>", "%f = fuse %A[1,2] : memref<i16x3x?,strided<1,?>>"),
    "a promise": (
        "3x?x8,strided<1,?,?>> {stride_gcd=[1,4]}",
        "%f = fuse %A[1,2] : memref<i16x3x?,strided<1,?>>",
    ),
    "a subview": (
        "3x1x8,strided<1,?,6>",
        (
            "%s = subview %A[0:3,0:1,0:8] : memref<i16x3x1x8,strided<1,?,?>>"
            "%f = fuse %s[1,2] : memref<i16x3x8,strided<1,?>>"
        ),
    ),
    "an expanded mode": (
        "3x1x8,strided<1,?,6>",
        (
            "%e = expand %A[0 -> 3 x 1] : memref<i16x3x1x1x8,strided<1,?,?,6>>"
            "%f = fuse %e[1,3] : memref<i16x3x8,strided<1,?>>"
        ),
    ),
}


def kernel(name: str) -> str:
    type, body = KERNELS[name]
    closed = type if "{" in type else f"{type}>"
    return f"func @k(%A: memref<i16x{closed}, %B: memref<i16x3x8>) {{\n{body}{COPY}"


def matrix_with_a_mode_between() -> Any:
    """A 3x8 block of a matrix of 6 rows, with a mode of size 1 between its two."""
    values = fresh_generator().integers(-999, 999, (6, 8)).astype(np.int16)
    return np.asfortranarray(values)[:3, None, :]


@pytest.mark.parametrize("device", ["reference", "opencl"])
@pytest.mark.parametrize("name", KERNELS)
def test_fuse_takes_the_stride_of_a_mode_with_elements(name: str, device: str) -> None:
    a, b = matrix_with_a_mode_between(), np.zeros((3, 8), np.int16, order="F")
    xtile.run(kernel(name), [a, b], device=device)
    np.testing.assert_array_equal(b, a[:, 0, :])


@pytest.mark.parametrize("name", KERNELS)
def test_so_does_the_port_to_xegpu(name: str) -> None:
    a, b = matrix_with_a_mode_between(), np.zeros((3, 8), np.int16, order="F")
    xtile.run(xtile.port(kernel(name), "xegpu"), [a, b])
    np.testing.assert_array_equal(b, a[:, 0, :])


def test_a_stride_that_the_type_of_the_result_gives_must_be_right() -> None:
    text = kernel("a static stride").replace("x3x?,strided<1,?>", "x3x?,strided<1,3>")
    b = np.zeros((3, 8), np.int16, order="F")
    with pytest.raises(
        DiagnosticError, match=r"mode 2 cannot be fused .* stride is 6, but must be 3"
    ):
        xtile.run(text, [matrix_with_a_mode_between(), b])


COLLAPSED = """
gpu.module @m {
  gpu.func @k(%A: memref<8x?x3xf32, strided<[?, ?, 1]>>, %B: memref<?x3xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = memref.collapse_shape %A [[0, 1], [2]]
      : memref<8x?x3xf32, strided<[?, ?, 1]>> into memref<?x3xf32, strided<[?, 1]>>
    memref.copy %f, %B : memref<?x3xf32, strided<[?, 1]>> to memref<?x3xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_collapse_shape_as_well(device: str) -> None:
    a = fresh_generator().standard_normal((8, 6)).astype(np.float32)[:, None, :3]
    b = np.full((8, 3), np.nan, np.float32)
    xtile.run(COLLAPSED, [a, b], device=device)
    np.testing.assert_array_equal(b, a[:, 0, :])


@pytest.mark.parametrize(
    ("shape", "strides", "settled"),
    [
        ((3, 1, 8), (1, 0, 6), (1, 6, 6)),
        ((3, 1, 1, 8), (1, 77, -5, 6), (1, 6, 6, 6)),
        ((1, 8), (99, 6), (6, 6)),
        ((8, 1), (2, 0), (2, 16)),
        ((1, 1), (5, 7), (1, 1)),
        ((4, 1, 3), (1, 0, 0), (1, 4, 0)),
        ((1, 3, 1), (0, 0, 0), (1, 0, 1)),
        ((), (), ()),
    ],
)
def test_settled_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], settled: tuple[int, ...]
) -> None:
    assert settled_strides(shape, strides, is_row_major=False) == settled
    found = settled_strides(shape[::-1], strides[::-1], is_row_major=True)
    assert found == settled[::-1]


def test_a_promised_divisor_is_kept() -> None:
    settled = settled_strides((3, 1, 8), (1, 0, 6), is_row_major=False, divisors=[1, 4])
    assert settled == (1, 8, 6)
    # A column is a matrix with any distance of columns.
    bound = bind_one("memref<f32x?x?> {stride_gcd=[1,16]}", np.zeros((10, 1), np.float32))
    assert bound.strides == (1, 16)


TYPE = "memref<f32x3x?x8,strided<1,?,?>>"


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((6, 8), np.float32, order="F")[:3, None, :],
        Interface(np.zeros((6, 8), np.float32, order="F")[:3, None, :], strides=(4, 3, 24)),
        DeviceArray(4096, (3, 1, 8), (1, 999, 6)),
    ],
    ids=["numpy", "an array of a GPU", "an address"],
)
def test_every_kind_of_array(value: Any) -> None:
    assert bind_one(TYPE, value).strides == (1, 6, 6)


WORDS = MemoryType((), (), number_of(i64), True, has_any_shape=True)


def test_lists_of_addresses() -> None:
    array = np.zeros((8, 6), np.float32)[:, None, :3]
    on_gpu = Interface(array, strides=(24, 0, 4))
    words = bind_words("W", WORDS, [array, on_gpu], False)
    assert [view.strides for view in words.entries if not isinstance(view, int)] == [(6, 6, 1)] * 2
