"""Views of memrefs, and what they tell of themselves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run
from xtile.semantics.errors import ExecutionError

C = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(8))


def test_subview_of_a_subview() -> None:
    a = fresh_generator().standard_normal((8, 12)).astype(np.float32)
    out = np.zeros((2, 3), np.float32)
    first = "memref<4x?xf32, strided<[12, 2], offset: ?>>"
    second = "memref<2x3xf32, strided<[12, 4], offset: ?>>"
    text = kernel(
        "%a: memref<8x12xf32>, %out: memref<2x3xf32>",
        f"""{C}
        %x = gpu.thread_id x
        %y = gpu.thread_id y
        %s = memref.subview %a[%c2, 1] [4, %c5] [1, 2] : memref<8x12xf32> to {first}
        %t = memref.subview %s[1, %c0] [2, 3] [1, 2] : {first} to {second}
        %v = memref.load %t[%y, %x] : {second}
        memref.store %v, %out[%y, %x] : memref<2x3xf32>""",
    )
    run(text, a, out, block=(3, 2, 1))
    np.testing.assert_array_equal(out, a[2:6, 1:11:2][1:3, 0:6:2])


def test_subview_that_drops_dimensions_and_differs_between_work_items() -> None:
    a = fresh_generator().integers(0, 99, (3, 4, 5))
    out = np.zeros((3, 5), np.int64)
    text = kernel(
        "%a: memref<3x4x5xi64>, %out: memref<3x5xi64>",
        f"""{C}
        %x = gpu.thread_id x
        %row = memref.subview %a[%x, %x, 0] [1, 1, 5] [1, 1, 1]
            : memref<3x4x5xi64> to memref<5xi64, strided<[1], offset: ?>>
        %to = memref.subview %out[%x, 0] [1, 5] [1, 1]
            : memref<3x5xi64> to memref<1x5xi64, strided<[5, 1], offset: ?>>
        scf.for %i = %c0 to %c5 step %c1 {{
          %v = memref.load %row[%i] : memref<5xi64, strided<[1], offset: ?>>
          memref.store %v, %to[%c0, %i] : memref<1x5xi64, strided<[5, 1], offset: ?>>
        }}""",
    )
    run(text, a, out, block=(3, 1, 1))
    np.testing.assert_array_equal(out, [a[i, i] for i in range(3)])


def test_reinterpret_cast_and_metadata() -> None:
    a, out = np.arange(24, dtype=np.int64), np.zeros(8, np.int64)
    text = kernel(
        "%a: memref<24xi64>, %out: memref<8xindex>, %copy: memref<8xi64>",
        f"""{C}
        %r = memref.reinterpret_cast %a to offset: [%c3], sizes: [2, %c4], strides: [%c5, 1]
            : memref<24xi64> to memref<2x?xi64, strided<[?, 1], offset: ?>>
        %b, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %r
            : memref<2x?xi64, strided<[?, 1], offset: ?>>
            -> memref<i64>, index, index, index, index, index
        memref.store %offset, %out[%c0] : memref<8xindex>
        memref.store %sizes#0, %out[%c1] : memref<8xindex>
        memref.store %sizes#1, %out[%c2] : memref<8xindex>
        memref.store %strides#0, %out[%c3] : memref<8xindex>
        memref.store %strides#1, %out[%c4] : memref<8xindex>
        %d = memref.dim %r, %c1 : memref<2x?xi64, strided<[?, 1], offset: ?>>
        memref.store %d, %out[%c5] : memref<8xindex>
        %n = memref.rank %r : memref<2x?xi64, strided<[?, 1], offset: ?>>
        memref.store %n, %out[%c6] : memref<8xindex>
        %again = memref.reinterpret_cast %b to offset: [%offset], sizes: [2, 4], strides: [5, 1]
            : memref<i64> to memref<2x4xi64, strided<[5, 1], offset: ?>>
        %x = gpu.thread_id x
        %i = arith.divui %x, %c4 : index
        %j = arith.remui %x, %c4 : index
        %v = memref.load %again[%i, %j] : memref<2x4xi64, strided<[5, 1], offset: ?>>
        memref.store %v, %copy[%x] : memref<8xi64>""",
    )
    copy = np.zeros(8, np.int64)
    run(text, a, out, copy, block=(8, 1, 1))
    assert out.tolist() == [3, 2, 4, 5, 1, 4, 2, 0]
    assert copy.tolist() == [3, 4, 5, 6, 8, 9, 10, 11]


def test_metadata_of_private_memory_counts_from_its_own_start() -> None:
    out = np.zeros(20, np.int64)
    text = kernel(
        "%out: memref<20xindex>",
        f"""{C}
        %x = gpu.thread_id x
        %a = memref.alloca() : memref<5xi32>
        %s = memref.subview %a[2] [2] [1] : memref<5xi32> to memref<2xi32, strided<[1], offset: 2>>
        %b, %offset, %size, %stride = memref.extract_strided_metadata %s
            : memref<2xi32, strided<[1], offset: 2>> -> memref<i32>, index, index, index
        memref.store %offset, %out[%x] : memref<20xindex>""",
    )
    run(text, out, block=(20, 1, 1))
    assert out.tolist() == [2] * 20


def test_expand_and_collapse() -> None:
    a = fresh_generator().integers(0, 99, (4, 6))
    out = np.zeros((2, 2, 3, 2), np.int64)
    text = kernel(
        "%a: memref<4x6xi64>, %out: memref<2x2x3x2xi64>",
        f"""{C}
        %e = memref.expand_shape %a [[0, 1], [2, 3]] output_shape [2, 2, 3, 2]
            : memref<4x6xi64> into memref<2x2x3x2xi64>
        %f = memref.collapse_shape %out [[0, 1, 2, 3]] : memref<2x2x3x2xi64> into memref<24xi64>
        %x = gpu.thread_id x
        %i3 = arith.remui %x, %c2 : index
        %q3 = arith.divui %x, %c2 : index
        %i2 = arith.remui %q3, %c3 : index
        %q2 = arith.divui %q3, %c3 : index
        %i1 = arith.remui %q2, %c2 : index
        %i0 = arith.divui %q2, %c2 : index
        %v = memref.load %e[%i0, %i1, %i2, %i3] : memref<2x2x3x2xi64>
        memref.store %v, %f[%x] : memref<24xi64>""",
    )
    run(text, a, out, block=(24, 1, 1))
    np.testing.assert_array_equal(out, a.reshape(2, 2, 3, 2))


def test_sizes_that_do_not_fit() -> None:
    text = kernel(
        "%a: memref<?xi64>, %n: index",
        """%e = memref.expand_shape %a [[0, 1]] output_shape [%n, 3]
            : memref<?xi64> into memref<?x3xi64>""",
    )
    run(text, np.zeros(6, np.int64), 2)
    with pytest.raises(ExecutionError, match="dimension 0 has size 6, but the product"):
        run(text, np.zeros(6, np.int64), 3)


def test_transpose_and_cast() -> None:
    a, out = fresh_generator().integers(0, 99, (3, 5)), np.zeros((5, 3), np.int64)
    text = kernel(
        "%a: memref<3x5xi64>, %out: memref<5x3xi64>",
        """%t = memref.transpose %a (i, j) -> (j, i)
            : memref<3x5xi64> to memref<5x3xi64, strided<[1, 5]>>
        %d = memref.cast %out : memref<5x3xi64> to memref<?x?xi64>
        %x = gpu.thread_id x
        %y = gpu.thread_id y
        %v = memref.load %t[%y, %x] : memref<5x3xi64, strided<[1, 5]>>
        memref.store %v, %d[%y, %x] : memref<?x?xi64>""",
    )
    run(text, a, out, block=(3, 5, 1))
    np.testing.assert_array_equal(out, a.T)


def test_a_cast_to_another_size_is_an_error() -> None:
    text = kernel("%a: memref<?xf32>", "%b = memref.cast %a : memref<?xf32> to memref<4xf32>")
    run(text, np.zeros(4, np.float32))
    with pytest.raises(ExecutionError, match="dimension 0 has size 5, but the cast is to memref"):
        run(text, np.zeros(5, np.float32))


def test_view_of_bytes() -> None:
    out = np.zeros((32, 2), np.float32)
    text = kernel(
        "%out: memref<32x2xf32>",
        f"""{C}
        %x = gpu.thread_id x
        %n = arith.index_cast %x : index to i32
        %f = arith.sitofp %n : i32 to f32
        %bytes = memref.alloca() : memref<256xi8, #gpu.address_space<workgroup>>
        %c128 = arith.constant 128 : index
        %low = memref.view %bytes[%c0][] : memref<256xi8, #gpu.address_space<workgroup>>
            to memref<32xf32, #gpu.address_space<workgroup>>
        %high = memref.view %bytes[%c128][%c4] : memref<256xi8, #gpu.address_space<workgroup>>
            to memref<?x8xf32, #gpu.address_space<workgroup>>
        memref.store %f, %low[%x] : memref<32xf32, #gpu.address_space<workgroup>>
        %i = arith.divui %x, %c2 : index
        %c8 = arith.constant 8 : index
        %row = arith.divui %x, %c8 : index
        %column = arith.remui %x, %c8 : index
        %g = arith.negf %f : f32
        memref.store %g, %high[%row, %column] : memref<?x8xf32, #gpu.address_space<workgroup>>
        %p = memref.load %low[%i] : memref<32xf32, #gpu.address_space<workgroup>>
        %q = memref.load %high[%c3, %c7] : memref<?x8xf32, #gpu.address_space<workgroup>>
        memref.store %p, %out[%x, %c0] : memref<32x2xf32>
        memref.store %q, %out[%x, %c1] : memref<32x2xf32>""",
    )
    run(text, out, block=(32, 1, 1))
    assert out[:, 0].tolist() == [i // 2 for i in range(32)]
    assert out[:, 1].tolist() == [-31] * 32


def test_addresses_lead_apart() -> None:
    """Addresses are made up: each memory has its own, and a null pointer has 0."""
    out = np.zeros(4, np.int64)
    text = kernel(
        "%a: memref<8xf32>, %b: memref<8xf32>, %out: memref<4xindex>",
        f"""{C}
        %s = memref.subview %a[3] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: 3>>
        %p = memref.extract_aligned_pointer_as_index %a : memref<8xf32> -> index
        %q = memref.extract_aligned_pointer_as_index %b : memref<8xf32> -> index
        %r = memref.extract_aligned_pointer_as_index %s
            : memref<2xf32, strided<[1], offset: 3>> -> index
        memref.store %p, %out[%c0] : memref<4xindex>
        memref.store %q, %out[%c1] : memref<4xindex>
        memref.store %r, %out[%c2] : memref<4xindex>""",
    )
    a = np.zeros(8, np.float32)
    run(text, a, np.zeros(8, np.float32), out)
    assert abs(out[0] - out[1]) > 32
    assert out[0] == out[2] > 0
    run(text, a, a, out)
    assert out[0] == out[1]


def test_reshape() -> None:
    a, out = np.arange(12), np.zeros((3, 4), np.int64)
    text = kernel(
        "%a: memref<12xi64>, %shape: memref<2xindex>, %out: memref<3x4xi64>",
        """%r = memref.reshape %a(%shape) : (memref<12xi64>, memref<2xindex>) -> memref<?x?xi64>
        %x = gpu.thread_id x
        %y = gpu.thread_id y
        %v = memref.load %r[%y, %x] : memref<?x?xi64>
        memref.store %v, %out[%y, %x] : memref<3x4xi64>""",
    )
    run(text, a, np.array([3, 4]), out, block=(4, 3, 1))
    np.testing.assert_array_equal(out, a.reshape(3, 4))
