"""Memory on OpenCL's CPU device holds what it holds on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.lane_kernels import (
    Array,
    LaneKernel,
    LaneKernels,
    same,
    spirv_text,
    unwritten,
    validate,
)
from xtile.targets.intel import DG2
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import DiagnosticError

_TYPES = (
    *("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64"),
    *("complex<f32>", "complex<f64>"),
)

_CONSTANTS = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(8))

_VIEW_CASES = {
    "a view of known place": """
        %v = memref.subview %m[2, 3] [4, 5] [1, 1]
            : memref<8x10xf32> to memref<4x5xf32, strided<[10, 1], offset: 23>>
        %r = memref.load %v[%c3, %c4] : memref<4x5xf32, strided<[10, 1], offset: 23>>
    """,
    "a view with steps": """
        %v = memref.subview %m[1, %n] [3, %n] [2, 3]
            : memref<8x10xf32> to memref<3x?xf32, strided<[20, 3], offset: ?>>
        %r = memref.load %v[%c2, %c1] : memref<3x?xf32, strided<[20, 3], offset: ?>>
    """,
    "a view of a view": """
        %v = memref.subview %m[%n, 1] [6, 6] [1, 1]
            : memref<8x10xf32> to memref<6x6xf32, strided<[10, 1], offset: ?>>
        %w = memref.subview %v[%n, %n] [3, 3] [1, 1]
            : memref<6x6xf32, strided<[10, 1], offset: ?>>
              to memref<3x3xf32, strided<[10, 1], offset: ?>>
        %r = memref.load %w[%c2, %n] : memref<3x3xf32, strided<[10, 1], offset: ?>>
    """,
    "a view that drops a dimension": """
        %v = memref.subview %m[5, %n] [1, 6] [1, 1]
            : memref<8x10xf32> to memref<6xf32, strided<[1], offset: ?>>
        %r = memref.load %v[%c5] : memref<6xf32, strided<[1], offset: ?>>
    """,
    "a view that drops the last dimension": """
        %v = memref.subview %m[%n, 5] [6, 1] [1, 1]
            : memref<8x10xf32> to memref<6xf32, strided<[10], offset: ?>>
        %r = memref.load %v[%c5] : memref<6xf32, strided<[10], offset: ?>>
    """,
    "a view of one element each way": """
        %v = memref.subview %m[%n, 5] [1, 1] [1, 1]
            : memref<8x10xf32> to memref<1xf32, strided<[10], offset: ?>>
        %r = memref.load %v[%n] : memref<1xf32, strided<[10], offset: ?>>
    """,
    "other strides": """
        %v = memref.reinterpret_cast %m to offset: [%n], sizes: [3, %c4], strides: [%c7, 2]
            : memref<8x10xf32> to memref<3x?xf32, strided<[?, 2], offset: ?>>
        %r = memref.load %v[%c2, %c3] : memref<3x?xf32, strided<[?, 2], offset: ?>>
    """,
    "a size": """
        %v = memref.subview %m[0, 0] [%n, 4] [1, 1]
            : memref<8x10xf32> to memref<?x4xf32, strided<[10, 1]>>
        %d = memref.dim %v, %c0 : memref<?x4xf32, strided<[10, 1]>>
        %e = memref.dim %v, %n : memref<?x4xf32, strided<[10, 1]>>
        %k = memref.rank %v : memref<?x4xf32, strided<[10, 1]>>
        %s = arith.muli %d, %e : index
        %t = arith.addi %s, %k : index
        %i = arith.index_cast %t : index to i32
        %r = arith.sitofp %i : i32 to f32
    """,
    "what a memref is made of": """
        %v = memref.subview %m[%n, 3] [4, %c5] [1, 2]
            : memref<8x10xf32> to memref<4x?xf32, strided<[10, 2], offset: ?>>
        %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %v
            : memref<4x?xf32, strided<[10, 2], offset: ?>>
              -> memref<f32>, index, index, index, index, index
        %w = memref.reinterpret_cast %b to offset: [%o], sizes: [%s#0, %s#1], strides: [%t#0, %t#1]
            : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
        %r = memref.load %w[%c3, %c4] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    """,
    "a cast": """
        %v = memref.cast %m : memref<8x10xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
        %w = memref.cast %v
            : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<8x10xf32>
        %a = memref.assume_alignment %w, 64 : memref<8x10xf32>
        %s = memref.memory_space_cast %a : memref<8x10xf32> to memref<8x10xf32, 1>
        %r = memref.load %s[%n, %c6] : memref<8x10xf32, 1>
    """,
    "expanded and collapsed dimensions": """
        %v = memref.expand_shape %m [[0, 1], [2, 3]] output_shape [2, 4, 5, 2]
            : memref<8x10xf32> into memref<2x4x5x2xf32>
        %w = memref.collapse_shape %v [[0], [1, 2], [3]]
            : memref<2x4x5x2xf32> into memref<2x20x2xf32>
        %r = memref.load %w[%c1, %c7, %n] : memref<2x20x2xf32>
    """,
    "collapsed dimensions of unknown size": """
        %v = memref.subview %m[3, %c2] [%n, 5] [1, 1]
            : memref<8x10xf32> to memref<?x5xf32, strided<[10, 1], offset: ?>>
        %e = memref.expand_shape %v [[0], [1, 2]] output_shape [%n, 5, 1]
            : memref<?x5xf32, strided<[10, 1], offset: ?>>
              into memref<?x5x1xf32, strided<[10, 1, 1], offset: ?>>
        %w = memref.collapse_shape %e [[0], [1, 2]]
            : memref<?x5x1xf32, strided<[10, 1, 1], offset: ?>>
              into memref<?x5xf32, strided<[10, 1], offset: ?>>
        %r = memref.load %w[%c0, %c4] : memref<?x5xf32, strided<[10, 1], offset: ?>>
    """,
    "exchanged dimensions": """
        %v = memref.transpose %m (i, j) -> (j, i)
            : memref<8x10xf32> to memref<10x8xf32, strided<[1, 10]>>
        %r = memref.load %v[%c7, %n] : memref<10x8xf32, strided<[1, 10]>>
    """,
    "an address": """
        %a = memref.extract_aligned_pointer_as_index %m : memref<8x10xf32> -> index
        %v = memref.subview %m[%n, 0] [2, 2] [1, 1]
            : memref<8x10xf32> to memref<2x2xf32, strided<[10, 1], offset: ?>>
        %b = memref.extract_aligned_pointer_as_index %v
            : memref<2x2xf32, strided<[10, 1], offset: ?>> -> index
        %is = arith.cmpi eq, %a, %b : index
        %zero = arith.constant 0 : i64
        %i = arith.index_cast %a : index to i64
        %has = arith.cmpi ne, %i, %zero : i64
        %ok = arith.andi %is, %has : i1
        %r = arith.uitofp %ok : i1 to f32
    """,
    "the same memory as other types": """
        %i = builtin.unrealized_conversion_cast %m : memref<8x10xf32> to memref<8x10xi32>
        %w = memref.load %i[%n, %c2] : memref<8x10xi32>
        %one = arith.constant 1 : i32
        %s = arith.addi %w, %one : i32
        memref.store %s, %i[%n, %c2] : memref<8x10xi32>
        %r = memref.load %m[%n, %c2] : memref<8x10xf32>
    """,
    "several of the same objects": """
        %v, %w = memref.distinct_objects %m, %m : memref<8x10xf32>, memref<8x10xf32>
        %a = memref.load %v[%n, %c2] : memref<8x10xf32>
        %b = memref.load %w[%c2, %n] : memref<8x10xf32>
        %r = arith.subf %a, %b : f32
    """,
    "memory of its own": """
        %p = memref.alloca() {alignment = 32 : i64} : memref<3x4xf32>
        %x = memref.load %m[%n, %n] : memref<8x10xf32>
        memref.store %x, %p[%n, %c3] : memref<3x4xf32>
        %r = memref.load %p[%n, %c3] : memref<3x4xf32>
    """,
    "memory of its own with strides": """
        %p = memref.alloca() : memref<3x4xf32, strided<[6, 1], offset: 2>>
        %x = memref.load %m[%n, %n] : memref<8x10xf32>
        memref.store %x, %p[%n, %c3] : memref<3x4xf32, strided<[6, 1], offset: 2>>
        %r = memref.load %p[%n, %c3] : memref<3x4xf32, strided<[6, 1], offset: 2>>
    """,
    "a copy": """
        %p = memref.alloca() : memref<4x3xf32>
        %v = memref.subview %m[%n, 2] [4, 3] [1, 2]
            : memref<8x10xf32> to memref<4x3xf32, strided<[10, 2], offset: ?>>
        memref.copy %v, %p : memref<4x3xf32, strided<[10, 2], offset: ?>> to memref<4x3xf32>
        %r = memref.load %p[%c3, %n] : memref<4x3xf32>
    """,
    "bytes as numbers": """
        %p = memref.alloca() : memref<64xi8>
        %v = memref.view %p[%c4][] : memref<64xi8> to memref<3x4xf32>
        %w = memref.view %p[%c4][%n] : memref<64xi8> to memref<?x4xf32>
        %x = memref.load %m[%n, %n] : memref<8x10xf32>
        memref.store %x, %v[%n, %c3] : memref<3x4xf32>
        %r = memref.load %w[%n, %c3] : memref<?x4xf32>
    """,
    "a prefetch": """
        memref.prefetch %m[%n, %c3], read, locality<3>, data : memref<8x10xf32>
        %r = memref.load %m[%n, %c3] : memref<8x10xf32>
    """,
    "an alignment": """
        %r = memref.load %m[%n, %c3] {alignment = 4 : i64} : memref<8x10xf32>
    """,
}


def _view_kernel(body: str) -> LaneKernel:
    parameters = "%m: memref<8x10xf32>, %n: index, %out: memref<1xf32>"
    store = "memref.store %r, %out[%c0] : memref<1xf32>"
    return LaneKernel(parameters, f"{_CONSTANTS}\n{body}\n{store}")


def _type_kernel(type: str) -> LaneKernel:
    """Goes through global, local and private memory."""
    body = f"""
        {_CONSTANTS}
        %p = memref.alloca() : memref<6x{type}>
        %l = memref.get_global @local_{_word(type)} : memref<6x{type}, 3>
        scf.for %i = %c0 to %c6 step %c1 {{
          %x = memref.load %m[%i] : memref<6x{type}>
          memref.store %x, %p[%i] : memref<6x{type}>
        }}
        scf.for %i = %c0 to %c6 step %c1 {{
          %x = memref.load %p[%i] : memref<6x{type}>
          memref.store %x, %l[%i] : memref<6x{type}, 3>
        }}
        scf.for %i = %c0 to %c6 step %c1 {{
          %x = memref.load %l[%i] : memref<6x{type}, 3>
          %j = arith.subi %c5, %i : index
          memref.store %x, %out[%j] : memref<6x{type}>
        }}
    """
    return LaneKernel(f"%m: memref<6x{type}>, %out: memref<6x{type}>", body)


def _word(type: str) -> str:
    return type.replace("<", "_").replace(">", "")


LOCAL = "\n".join(
    f'memref.global "private" @local_{_word(type)} : memref<6x{type}, 3> = uninitialized'
    for type in _TYPES
)

VIEWS = {f"view_{i}": _view_kernel(body) for i, body in enumerate(_VIEW_CASES.values())}
TYPES = {f"type_{_word(type)}": _type_kernel(type) for type in _TYPES}


@pytest.fixture(scope="module")
def kernels() -> LaneKernels:
    return LaneKernels({**VIEWS, **TYPES, **PARAMETERS}, around=LOCAL)


@pytest.mark.parametrize(("name", "what"), list(zip(VIEWS, _VIEW_CASES, strict=True)))
@pytest.mark.parametrize("n", [0, 1])
def test_views(name: str, what: str, n: int, kernels: LaneKernels) -> None:
    if "one element" in what:
        n = 0
    memory = np.random.default_rng(fresh_seed()).normal(size=(8, 10)).astype(np.float32)
    if what in ("expanded and collapsed dimensions", "collapsed dimensions of unknown size"):
        n = 1
    results = kernels.on_both(name, memory, np.int64(n), unwritten(1, "f32"))
    for expected, found in results:
        np.testing.assert_array_equal(found, expected, err_msg=what)


@pytest.mark.parametrize("type", _TYPES)
def test_types(type: str, kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    memory = _numbers(random, type, 6)
    _, (expected, found) = kernels.on_both(f"type_{_word(type)}", memory, unwritten(6, type))
    assert same(expected, found).all()
    np.testing.assert_array_equal(found, memory[::-1])


def _numbers(random: np.random.Generator, type: str, count: int) -> Array:
    dtype = np.dtype(DTYPES[type])
    if type == "i1":
        return random.integers(0, 2, count).astype(np.bool_)
    if dtype.kind == "c":
        return (random.normal(size=count) + 1j * random.normal(size=count)).astype(dtype)
    return (100 * random.normal(size=count)).astype(dtype)


# --- parameters ---

PARAMETERS = {
    "dynamic": LaneKernel(
        "%m: memref<?x?x?xf32, strided<[?, ?, 1]>>, %out: memref<4xindex>, %v: memref<1xf32>",
        f"""
        {_CONSTANTS}
        %a = memref.dim %m, %c0 : memref<?x?x?xf32, strided<[?, ?, 1]>>
        %b = memref.dim %m, %c1 : memref<?x?x?xf32, strided<[?, ?, 1]>>
        %c = memref.dim %m, %c2 : memref<?x?x?xf32, strided<[?, ?, 1]>>
        memref.store %a, %out[%c0] : memref<4xindex>
        memref.store %b, %out[%c1] : memref<4xindex>
        memref.store %c, %out[%c2] : memref<4xindex>
        %x = memref.load %m[%c1, %c2, %c3] : memref<?x?x?xf32, strided<[?, ?, 1]>>
        memref.store %x, %v[%c0] : memref<1xf32>
        """,
    ),
    "scalars": LaneKernel(
        "%i: i16, %x: index, %f: f16, %d: f64, %b: bf16, %c: complex<f32>, %o: memref<4xf64>, "
        "%z: memref<1xcomplex<f32>>",
        f"""
        {_CONSTANTS}
        %0 = arith.sitofp %i : i16 to f64
        %1 = arith.index_cast %x : index to i64
        %2 = arith.sitofp %1 : i64 to f64
        %3 = arith.extf %f : f16 to f64
        %4 = arith.extf %b : bf16 to f64
        %5 = arith.addf %4, %d : f64
        memref.store %0, %o[%c0] : memref<4xf64>
        memref.store %2, %o[%c1] : memref<4xf64>
        memref.store %3, %o[%c2] : memref<4xf64>
        memref.store %5, %o[%c3] : memref<4xf64>
        memref.store %c, %z[%c0] : memref<1xcomplex<f32>>
        """,
    ),
}


def test_sizes_and_strides_are_arguments(kernels: LaneKernels) -> None:
    memory = np.random.default_rng(fresh_seed()).normal(size=(3, 5, 7)).astype(np.float32)
    given = memory[:2, :4, :6]
    outputs = unwritten(4, "index"), unwritten(1, "f32")
    _, sizes, value = kernels.on_both("dynamic", given, *outputs)
    np.testing.assert_array_equal(sizes[1][:3], [2, 4, 6])
    assert value[1][0] == memory[1, 2, 3]


def test_numbers_are_arguments(kernels: LaneKernels) -> None:
    bf16: Any = DTYPES["bf16"]
    given = np.int16(-7), np.int64(2**40), np.float16(1.5), np.float64(0.1), bf16(-3.0)
    outputs = unwritten(4, "f64"), unwritten(1, "complex<f32>")
    numbers, complex_ = kernels.on_both("scalars", *given, np.complex64(2 - 3j), *outputs)
    np.testing.assert_array_equal(numbers[1], [-7.0, 2.0**40, 1.5, 0.1 - 3.0])
    assert complex_[1][0] == 2 - 3j


def test_groups_are_arrays_of_pointers() -> None:
    """Pointers, sizes and strides come from arrays with an entry for each memref."""
    body = f"""
        {_CONSTANTS}
        %g = memref.load %group[%n] : memref<?xmemref<?x3xf32, strided<[?, 1]>>>
        %d = memref.dim %g, %c0 : memref<?x3xf32, strided<[?, 1]>>
        %l = arith.subi %d, %c1 : index
        %v = memref.load %g[%l, %c2] : memref<?x3xf32, strided<[?, 1]>>
        memref.store %v, %g[%c0, %c0] : memref<?x3xf32, strided<[?, 1]>>
        %k = memref.dim %group, %c0 : memref<?xmemref<?x3xf32, strided<[?, 1]>>>
    """
    parameters = "%group: memref<?xmemref<?x3xf32, strided<[?, 1]>>>, %n: index"
    text = spirv_text(body, parameters)
    pointers = "_ptr_CrossWorkgroup__ptr_CrossWorkgroup_float"
    assert f"OpFunctionParameter %{pointers}" in text
    assert text.count("OpFunctionParameter %_ptr_CrossWorkgroup_ulong") == 2
    assert text.count("OpFunctionParameter %ulong") == 2
    assert "group_sizes0" in text
    assert "group_strides0" in text


def test_module_is_valid(kernels: LaneKernels) -> None:
    validate(kernels.program.spirv)


# --- what is written ---


def test_known_parts_of_addresses_are_added_last() -> None:
    body = """
        %c2 = arith.constant 2 : index
        %c3 = arith.constant 3 : index
        %j = arith.addi %i, %c3 : index
        %v = memref.load %m[%c2, %i] : memref<8x10xf32>
        memref.store %v, %m[%c2, %j] : memref<8x10xf32>
    """
    lines = spirv_text(body, "%m: memref<8x10xf32>, %i: index").splitlines()
    chains = [line.split("= ")[1] for line in lines if "PtrAccessChain" in line]
    base = next(line for line in lines if "PtrAccessChain" in line).split(" = ")[0].strip()
    assert [chain.split()[2:] for chain in chains] == [
        ["%m", "%i"],
        [base, "%ulong_20"],
        [base, "%ulong_23"],
    ]


@pytest.mark.parametrize(
    "store",
    [
        "memref.store %x, %m[%i] {alignment = 16 : i64, nontemporal = true} : memref<64xf32>",
        """%v = vector.broadcast %x : f32 to vector<8xf32>
        vector.store %v, %m[%i] {alignment = 16 : i64, nontemporal = true}
            : memref<64xf32>, vector<8xf32>""",
    ],
)
def test_stores_past_the_caches(store: str) -> None:
    parameters = "%m: memref<64xf32>, %x: f32, %i: index"
    assert "Aligned|Nontemporal 16" in spirv_text(store, parameters)
    plain = store.replace(", nontemporal = true", "")
    assert "Nontemporal" not in spirv_text(plain, parameters)


def test_an_alignment_is_told_where_it_is_not_the_number_s_own() -> None:
    body = """
        %c0 = arith.constant 0 : index
        %v = vector.load %m[%c0] : memref<64xf32>, vector<4xf32>
        %w = vector.load %m[%i] : memref<64xf32>, vector<4xf32>
        %s = memref.load %m[%i] : memref<64xf32>
    """
    text = spirv_text(body, "%m: memref<64xf32> {core.alignment = 64 : i64}, %i: index")
    loads = [line.split("OpLoad ")[1].split() for line in text.splitlines() if "OpLoad" in line]
    assert [load[2:] for load in loads] == [[], ["Aligned", "4"], []]


def test_local_memory_is_counted() -> None:
    kernel = LaneKernel(
        "", "%m = memref.alloca() : memref<20000xf32, #gpu.address_space<workgroup>>"
    )
    with pytest.raises(DiagnosticError) as caught:
        _ = LaneKernels({"k": kernel}, device=for_spirv(DG2)).program
    assert (
        "a work-group of dg2 can have 65536 bytes of local memory, but with these 80000 the kernel "
        "needs 80000"
    ) in str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%m = memref.alloca(%n) : memref<?xf32>",
            "memory of type memref<?xf32> cannot be allocated: kernels of OpenCL have variables of",
        ),
        (
            "%m = memref.alloca() : memref<4xf32, 1>",
            "a kernel cannot allocate global memory; pass it as an argument",
        ),
        (
            "%m = memref.alloca() : memref<4xi4>",
            "kernels of OpenCL have no numbers of type i4",
        ),
        (
            "%m = memref.get_global @filled : memref<2xf32>",
            "@filled is in global memory, which kernels of OpenCL get as arguments only",
        ),
        (
            """
            %m = memref.alloca() : memref<4xf32>
            %u = memref.cast %m : memref<4xf32> to memref<*xf32>
            """,
            "a memref without a rank cannot be translated to SPIR-V",
        ),
    ],
)
def test_refused(body: str, message: str) -> None:
    around = 'memref.global "private" @filled : memref<2xf32> = dense<1.0>'
    with pytest.raises(DiagnosticError) as caught:
        _ = LaneKernels({"k": LaneKernel("%n: index", body)}, around).program
    assert message in str(caught.value)
