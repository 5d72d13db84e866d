"""Memory: accesses, bounds, allocation, atomic updates, globals and copies."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import DTYPES, function_of, kernel, run
from xtile.semantics.arguments import GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.engine import launch
from xtile.semantics.errors import ExecutionError

C = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(8))


@pytest.fixture
def rng() -> np.random.Generator:
    return fresh_generator()


@pytest.mark.parametrize("type", DTYPES)
def test_elements_of_each_type(type: str, rng: np.random.Generator) -> None:
    values = rng.integers(0, 2 if type == "i1" else 7, (4, 6)).astype(DTYPES[type])
    out = np.zeros((6, 4), DTYPES[type])
    text = kernel(
        f"%a: memref<4x6x{type}>, %out: memref<6x4x{type}>",
        f"""%x = gpu.thread_id x
        %y = gpu.thread_id y
        %v = memref.load %a[%y, %x] : memref<4x6x{type}>
        memref.store %v, %out[%x, %y] : memref<6x4x{type}>""",
    )
    run(text, values, out, block=(6, 4, 1))
    np.testing.assert_array_equal(out, values.T)


def test_strided_arguments(rng: np.random.Generator) -> None:
    whole = rng.standard_normal((8, 10)).astype(np.float32)
    before = whole.copy()
    type_ = "memref<3x4xf32, strided<[20, 2], offset: ?>>"
    text = kernel(
        f"%a: {type_}",
        f"""%x = gpu.thread_id x
        %y = gpu.thread_id y
        %v = memref.load %a[%y, %x] : {type_}
        %w = arith.addf %v, %v : f32
        memref.store %w, %a[%y, %x] : {type_}""",
    )
    flat = whole.reshape(-1)
    run(text, MemrefArgument(flat, (3, 4), (20, 2), 11), block=(4, 3, 1))
    expected = before.copy()
    expected[1:6:2, 1:9:2] *= 2
    np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize(("index", "position"), [("%big", "7"), ("%minus", "-1")])
def test_accesses_outside_of_the_memory(index: str, position: str) -> None:
    text = kernel(
        "%a: memref<7xf32>",
        f"""%big = arith.constant 7 : index
        %minus = arith.constant -1 : index
        %v = memref.load %a[{index}] : memref<7xf32>""",
    )
    with pytest.raises(
        ExecutionError, match=f"element {position} lies outside of the memory of %a"
    ):
        run(text, np.zeros(7, np.float32))


def test_inactive_work_items_may_have_wrong_indices() -> None:
    text = kernel(
        "%a: memref<3xi32>, %out: memref<3xi32>",
        """%x = gpu.thread_id x
        %c3 = arith.constant 3 : index
        %c = arith.cmpi ult, %x, %c3 : index
        scf.if %c {
          %v = memref.load %a[%x] : memref<3xi32>
          memref.store %v, %out[%x] : memref<3xi32>
        }""",
    )
    a, out = np.array([3, 1, 2], np.int32), np.zeros(3, np.int32)
    run(text, a, out, block=(21, 1, 1))
    assert out.tolist() == a.tolist()


def test_private_memory_belongs_to_each_work_item() -> None:
    out = np.zeros((40, 2), np.int64)
    text = kernel(
        "%out: memref<40x2xindex>",
        f"""{C}
        %x = gpu.thread_id x
        %a = memref.alloca() : memref<3xindex>
        %n = memref.alloca(%c2) : memref<?xindex, #gpu.address_space<private>>
        memref.store %x, %a[%c2] : memref<3xindex>
        %even = arith.remui %x, %c2 : index
        memref.store %x, %n[%even] : memref<?xindex, #gpu.address_space<private>>
        %p = memref.load %a[%c2] : memref<3xindex>
        %q = memref.load %n[%even] : memref<?xindex, #gpu.address_space<private>>
        memref.store %p, %out[%x, %c0] : memref<40x2xindex>
        memref.store %q, %out[%x, %c1] : memref<40x2xindex>""",
    )
    run(text, out, block=(40, 1, 1))
    assert out.tolist() == [[i, i] for i in range(40)]


def test_bounds_of_private_memory() -> None:
    """The neighbour's memory is not one's own."""
    text = kernel(
        "",
        f"""{C}
        %x = gpu.thread_id x
        %a = memref.alloca() : memref<3xf32>
        %v = memref.load %a[%x] : memref<3xf32>""",
    )
    run(text, block=(3, 1, 1))
    with pytest.raises(ExecutionError, match="element 3 lies outside of the memory of %a"):
        run(text, block=(4, 1, 1))


@pytest.mark.parametrize("space", ["#gpu.address_space<workgroup>", "3 : i32", "3"])
def test_the_work_group_shares_memory(space: str) -> None:
    type_ = f"memref<32xindex, {space}>"
    out = np.zeros(64, np.int64)
    text = kernel(
        "%out: memref<64xindex>",
        f"""%x = gpu.thread_id x
        %g = gpu.global_id x
        %c31 = arith.constant 31 : index
        %a = memref.alloca() : {type_}
        memref.store %g, %a[%x] : {type_}
        gpu.barrier
        %r = arith.subi %c31, %x : index
        %v = memref.load %a[%r] : {type_}
        memref.store %v, %out[%g] : memref<64xindex>""",
    )
    run(text, out, grid=(2, 1, 1), block=(32, 1, 1))
    assert out.tolist() == [*range(31, -1, -1), *range(63, 31, -1)]


def test_attributions() -> None:
    out = np.zeros((32, 2), np.float32)
    text = """gpu.module @m {
      gpu.func @k(%out: memref<32x2xf32>)
          workgroup(%w: memref<32xf32, #gpu.address_space<workgroup>>)
          private(%p: memref<1xf32, #gpu.address_space<private>>) kernel {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %x = gpu.thread_id x
        %n = arith.index_cast %x : index to i32
        %f = arith.sitofp %n : i32 to f32
        memref.store %f, %w[%x] : memref<32xf32, #gpu.address_space<workgroup>>
        memref.store %f, %p[%c0] : memref<1xf32, #gpu.address_space<private>>
        gpu.barrier
        %s = memref.load %w[%c1] : memref<32xf32, #gpu.address_space<workgroup>>
        %q = memref.load %p[%c0] : memref<1xf32, #gpu.address_space<private>>
        memref.store %s, %out[%x, %c0] : memref<32x2xf32>
        memref.store %q, %out[%x, %c1] : memref<32x2xf32>
        gpu.return
      }
    }"""
    run(text, out, block=(32, 1, 1))
    assert out[:, 0].tolist() == [1] * 32
    assert out[:, 1].tolist() == list(range(32))


def test_new_memory_is_undefined() -> None:
    out, whole = np.zeros(16, np.float32), np.zeros(1, np.int64)
    text = kernel(
        "%out: memref<16xf32>, %whole: memref<1xi64>",
        """%c0 = arith.constant 0 : index
        %x = gpu.thread_id x
        %a = memref.alloca() : memref<1xf32>
        %b = memref.alloca() : memref<1xi64, 3>
        %v = memref.load %a[%c0] : memref<1xf32>
        %n = memref.load %b[%c0] : memref<1xi64, 3>
        memref.store %v, %out[%x] : memref<16xf32>
        memref.store %n, %whole[%c0] : memref<1xi64>""",
    )
    run(text, out, whole, block=(16, 1, 1))
    assert np.isnan(out).all()
    assert whole[0] == -1


KINDS: dict[str, tuple[str, Any]] = {
    "addf": ("f32", sum),
    "addi": ("i32", sum),
    "andi": ("i32", np.bitwise_and.reduce),
    "assign": ("i32", lambda values: values[-1]),
    "maximumf": ("f32", max),
    "maxnumf": ("f32", max),
    "maxs": ("i32", max),
    "maxu": ("i32", lambda values: max(values, key=lambda v: int(v) % 2**32)),
    "minimumf": ("f32", min),
    "minnumf": ("f32", min),
    "mins": ("i32", min),
    "minu": ("i32", lambda values: min(values, key=lambda v: int(v) % 2**32)),
    "mulf": ("f64", np.prod),
    "muli": ("i64", np.prod),
    "ori": ("i32", np.bitwise_or.reduce),
    "xori": ("i32", np.bitwise_xor.reduce),
}


@pytest.mark.parametrize("kind", KINDS)
def test_atomic_rmw(kind: str, rng: np.random.Generator) -> None:
    """48 work-items in two work-groups update 5 elements."""
    type_, reduce = KINDS[kind]
    dtype = DTYPES[type_]
    values = rng.integers(-3, 4, 48).astype(dtype)
    values[values == 0] = 1
    start = rng.integers(1, 5, 5).astype(dtype)
    memory, old = start.copy(), np.zeros(48, dtype)
    text = kernel(
        f"%m: memref<5x{type_}>, %v: memref<48x{type_}>, %old: memref<48x{type_}>",
        f"""%x = gpu.global_id x
        %c5 = arith.constant 5 : index
        %i = arith.remui %x, %c5 : index
        %a = memref.load %v[%x] : memref<48x{type_}>
        %r = memref.atomic_rmw {kind} %a, %m[%i] : ({type_}, memref<5x{type_}>) -> {type_}
        memref.store %r, %old[%x] : memref<48x{type_}>""",
    )
    run(text, memory, values, old, grid=(2, 1, 1), block=(24, 1, 1))
    for i in range(5):
        steps = [[start[i], *values[i::5][:n]] for n in range(len(values[i::5]) + 1)]
        with np.errstate(all="ignore"):
            expected = [dtype(reduce([dtype(v) for v in step])) for step in steps]
        assert old[i::5].tolist() == expected[:-1]
        assert memory[i] == expected[-1]


def test_uniform_atomics_act_once_for_each_work_item() -> None:
    counts = np.zeros(2, np.int32)
    text = kernel(
        "%m: memref<2xi32>",
        """%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        %one = arith.constant 1 : i32
        %x = gpu.thread_id x
        %a = memref.atomic_rmw addi %one, %m[%c0] : (i32, memref<2xi32>) -> i32
        %few = arith.cmpi ult, %x, %c3 : index
        scf.if %few {
          %b = memref.atomic_rmw addi %one, %m[%c1] : (i32, memref<2xi32>) -> i32
        }""",
    )
    run(text, counts, grid=(2, 2, 1), block=(20, 1, 1))
    assert counts.tolist() == [80, 12]
    counts[:] = 0
    block_level = text.replace("kernel  {", 'kernel attributes {core.level = "block"} {')
    assert block_level != text
    # At block level nothing tells work-items apart.
    block_level = block_level.replace("gpu.thread_id", "gpu.block_id")
    run(block_level, counts, grid=(2, 2, 1), block=(20, 1, 1))
    assert counts.tolist() == [4, 4]


def test_generic_atomic_rmw() -> None:
    """Each update sees what those before it stored."""
    memory, old = np.array([1, 1000], np.int64), np.zeros(10, np.int64)
    text = kernel(
        "%m: memref<2xi64>, %old: memref<10xi64>",
        """%x = gpu.thread_id x
        %c2 = arith.constant 2 : index
        %i = arith.remui %x, %c2 : index
        %n = arith.index_cast %x : index to i64
        %three = arith.constant 3 : i64
        %r = memref.generic_atomic_rmw %m[%i] : memref<2xi64> {
        ^bb0(%current: i64):
          %a = arith.muli %current, %three : i64
          %b = arith.addi %a, %n : i64
          memref.atomic_yield %b : i64
        }
        memref.store %r, %old[%x] : memref<10xi64>""",
    )
    run(text, memory, old, block=(10, 1, 1))
    expected = [1, 1000]
    for x in range(10):
        assert old[x] == expected[x % 2]
        expected[x % 2] = expected[x % 2] * 3 + x
    assert memory.tolist() == expected


def test_globals() -> None:
    out = np.zeros((2, 4), np.float32)
    text = kernel(
        "%out: memref<2x4xf32>",
        f"""{C}
        %x = gpu.thread_id x
        %b = gpu.block_id x
        %t = memref.get_global @table : memref<2x4xf32>
        %n = memref.get_global @count : memref<1xf32>
        %v = memref.load %t[%b, %x] : memref<2x4xf32>
        %m = memref.load %n[%c0] : memref<1xf32>
        %s = arith.addf %v, %m : f32
        memref.store %s, %out[%b, %x] : memref<2x4xf32>
        %two = arith.constant 2.0 : f32
        memref.store %two, %n[%c0] : memref<1xf32>""",
        around="""memref.global "private" constant @table : memref<2x4xf32> =
          dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]>
        memref.global "private" @count : memref<1xf32> = dense<0.5>""",
    )
    run(text, out, grid=(2, 1, 1), block=(4, 1, 1))
    assert out.tolist() == [[1.5, 2.5, 3.5, 4.5], [7, 8, 9, 10]]


def test_a_constant_must_not_be_written_to() -> None:
    text = kernel(
        "",
        f"""{C}
        %t = memref.get_global @table : memref<2xf32>
        %v = memref.load %t[%c0] : memref<2xf32>
        memref.store %v, %t[%c1] : memref<2xf32>""",
        around='memref.global "private" constant @table : memref<2xf32> = dense<1.0>',
    )
    with pytest.raises(ExecutionError, match="@table is constant and must not be written to"):
        run(text)


def test_copy(rng: np.random.Generator) -> None:
    a = rng.standard_normal((4, 6)).astype(ml_dtypes.bfloat16)
    b = np.zeros((6, 4), ml_dtypes.bfloat16)
    text = kernel(
        "%a: memref<4x6xbf16>, %b: memref<4x6xbf16, strided<[1, 4]>>",
        "memref.copy %a, %b : memref<4x6xbf16> to memref<4x6xbf16, strided<[1, 4]>>",
    )
    run(text, a, MemrefArgument(b.reshape(-1), (4, 6), (1, 4)), block=(8, 1, 1))
    np.testing.assert_array_equal(b.T, a)


def test_copy_to_private_memory(rng: np.random.Generator) -> None:
    a, out = rng.integers(0, 99, (8, 3)).astype(np.int32), np.zeros((8, 3), np.int32)
    text = kernel(
        "%a: memref<8x3xi32>, %out: memref<8x3xi32>",
        """%x = gpu.thread_id x
        %c1 = arith.constant 1 : index
        %row = memref.subview %a[%x, 0] [1, 3] [1, 1]
            : memref<8x3xi32> to memref<3xi32, strided<[1], offset: ?>>
        %mine = memref.alloca() : memref<3xi32>
        memref.copy %row, %mine : memref<3xi32, strided<[1], offset: ?>> to memref<3xi32>
        %v = memref.load %mine[%c1] : memref<3xi32>
        %d = arith.addi %v, %v : i32
        memref.store %d, %mine[%c1] : memref<3xi32>
        %to = memref.subview %out[%x, 0] [1, 3] [1, 1]
            : memref<8x3xi32> to memref<3xi32, strided<[1], offset: ?>>
        memref.copy %mine, %to : memref<3xi32> to memref<3xi32, strided<[1], offset: ?>>""",
    )
    run(text, a, out, block=(8, 1, 1))
    expected = a.copy()
    expected[:, 1] *= 2
    np.testing.assert_array_equal(out, expected)


def test_launch_refuses_what_does_not_fit() -> None:
    function = function_of(kernel("%a: memref<4xf32>, %n: i32", ""))
    good = MemrefArgument(np.zeros(4, np.float32), (4,), (1,))
    launch(function, [good, ScalarArgument(1)], (1, 1, 1), block=(1, 1, 1))
    for arguments in (
        [good],
        [ScalarArgument(1), ScalarArgument(1)],
        [good, good],
        [MemrefArgument(np.zeros(4, np.float64), (4,), (1,)), ScalarArgument(1)],
        [MemrefArgument(np.zeros(4, np.float32), (2, 2), (2, 1)), ScalarArgument(1)],
    ):
        with pytest.raises(ValueError, match=r"takes 2 arguments|has type|needs a contiguous"):
            launch(function, arguments, (1, 1, 1), block=(1, 1, 1))


def test_pointers_to_memory(rng: np.random.Generator) -> None:
    """A memref of memrefs takes a list of arrays, each with sizes of its own."""
    entries = [rng.integers(0, 99, (n, 2)) for n in (3, 1, 4)]
    group = GroupArgument(
        [MemrefArgument(entry.reshape(-1), entry.shape, (2, 1)) for entry in entries]
    )
    out = np.zeros((3, 4), np.int64)
    inner = "memref<?x2xi64>"
    text = kernel(
        f"%g: memref<?x{inner}>, %out: memref<3x4xi64>",
        f"""{C}
        %x = gpu.thread_id x
        %m = memref.load %g[%x] : memref<?x{inner}>
        %rows = memref.dim %m, %c0 : {inner}
        %last = arith.subi %rows, %c1 : index
        %v = memref.load %m[%last, %c1] : {inner}
        %n = memref.dim %g, %c0 : memref<?x{inner}>
        %p = memref.extract_aligned_pointer_as_index %g : memref<?x{inner}> -> index
        %is = arith.cmpi ne, %p, %c0 : index
        %is64 = arith.extui %is : i1 to i64
        %n64 = arith.index_cast %n : index to i64
        %rows64 = arith.index_cast %rows : index to i64
        memref.store %v, %out[%x, %c0] : memref<3x4xi64>
        memref.store %n64, %out[%x, %c1] : memref<3x4xi64>
        memref.store %rows64, %out[%x, %c2] : memref<3x4xi64>
        memref.store %is64, %out[%x, %c3] : memref<3x4xi64>""",
    )
    run(text, group, out, block=(3, 1, 1))
    assert out.tolist() == [[entry[-1, 1], 3, len(entry), 1] for entry in entries]
