"""Scattered points and matrices in local memory, on OpenCL's CPU and on the reference."""

from __future__ import annotations

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.xegpu.kernels import random_array, undefined
from tests.translate.xegpu_to_spirv.lane_kernels import LaneKernel, LaneKernels, same, spirv_text
from xtile.text.diagnostics import DiagnosticError

_START = """
    %lane = gpu.lane_id
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %c10 = arith.constant 10 : index
    %true = arith.constant true
    %wide = arith.muli %lane, %c7 : index
    %some = arith.cmpi ult, %lane, %c10 : index
"""

_POINTS = "!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>"
_CHUNKS = "!xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4 : i64>>"

_ALL_POINTS = """
    %steps = vector.step : vector<16xindex>
    %five = arith.constant dense<5> : vector<16xindex>
    %offsets = arith.muli %steps, %five : vector<16xindex>
    %limit = arith.constant dense<9> : vector<16xindex>
    %mask = arith.cmpi ult, %steps, %limit : vector<16xindex>
"""

LOADS = {
    "one_number": (
        "1",
        """%n = xegpu.load %m[%wide], %some : memref<256xf32>, index, i1 -> f32
        %v = vector.broadcast %n : f32 to vector<1xf32>""",
    ),
    "a_vector_of_one": (
        "1",
        """%o = vector.broadcast %wide : index to vector<1xindex>
        %k = vector.broadcast %some : i1 to vector<1xi1>
        %v = xegpu.load %m[%o], %k
          : memref<256xf32>, vector<1xindex>, vector<1xi1> -> vector<1xf32>""",
    ),
    "a_chunk": (
        "7",
        """%v = xegpu.load %m[%wide], %some <{chunk_size = 7 : i64}>
          : memref<256xf32>, index, i1 -> vector<7xf32>""",
    ),
    "a_point_for_each_lane": (
        "4",
        f"""{_ALL_POINTS}
        %t = xegpu.create_tdesc %m, %offsets : memref<256xf32>, vector<16xindex> -> {_CHUNKS}
        %v = xegpu.load %t, %mask : {_CHUNKS}, vector<16xi1> -> vector<4xf32>""",
    ),
    "moved_in_a_loop": (
        "4",
        f"""{_ALL_POINTS}
        %n = arith.constant 3 : index
        %t = xegpu.create_tdesc %m, %offsets : memref<256xf32>, vector<16xindex> -> {_CHUNKS}
        %zero = arith.constant dense<0.0> : vector<4xf32>
        %d, %v = scf.for %j = %c0 to %n step %c1 iter_args(%u = %t, %s = %zero)
            -> ({_CHUNKS}, vector<4xf32>) {{
          %w = xegpu.load %u, %mask : {_CHUNKS}, vector<16xi1> -> vector<4xf32>
          %r = arith.addf %s, %w : vector<4xf32>
          %next = xegpu.update_offset %u, %five : {_CHUNKS}, vector<16xindex>
          scf.yield %next, %r : {_CHUNKS}, vector<4xf32>
        }}""",
    ),
    "an_address": (
        "2",
        """%p = memref.extract_aligned_pointer_as_index %m : memref<256xf32> -> index
        %a = arith.index_cast %p : index to i64
        %v = xegpu.load %a[%wide], %some <{chunk_size = 2 : i64}>
          : i64, index, i1 -> vector<2xf32>""",
    ),
}
"""Kernels in which each lane loads %v from memory with 256 elements, and its length."""


@pytest.fixture(scope="module")
def loads() -> LaneKernels:
    """All loads in one program."""
    return LaneKernels(
        {
            name: LaneKernel(
                f"%m: memref<256xf32>, %out: memref<16x{length}xf32>",
                f"""{_START}{body}
                vector.store %v, %out[%lane, %c0]
                  : memref<16x{length}xf32>, vector<{length}xf32>""",
                (16, 1, 1),
                16,
            )
            for name, (length, body) in LOADS.items()
        }
    )


@pytest.mark.parametrize("name", LOADS)
def test_loads(name: str, loads: LaneKernels) -> None:
    memory = random_array(np.random.default_rng(fresh_seed()), (256,), "f32")
    out = undefined((16, int(LOADS[name][0])), "f32")
    _, (expected, found) = loads.on_both(name, memory, out)
    assert not np.isnan(expected).any()
    assert same(expected, found).all()


STORES = {
    "one_number": """%n = vector.extract %v[0] : f32 from vector<4xf32>
        xegpu.store %n, %m[%wide], %some : f32, memref<256xf32>, index, i1""",
    "a_chunk": """xegpu.store %v, %m[%wide], %some <{chunk_size = 4 : i64}>
        : vector<4xf32>, memref<256xf32>, index, i1""",
    "a_point_for_each_lane": f"""{_ALL_POINTS}
        %t = xegpu.create_tdesc %m, %offsets : memref<256xf32>, vector<16xindex> -> {_CHUNKS}
        xegpu.store %v, %t, %mask : vector<4xf32>, {_CHUNKS}, vector<16xi1>""",
}
"""Kernels in which each lane stores elements of %v."""

_POINT = "!xegpu.tensor_desc<1xf32, #xegpu.scatter_tdesc_attr<>>"

UPDATES = {
    kind: f"""%slot = arith.remui %lane, %c2 : index
        %o = vector.broadcast %slot : index to vector<1xindex>
        %k = vector.broadcast %some : i1 to vector<1xi1>
        %w = vector.extract_strided_slice %v {{offsets = [1], sizes = [1], strides = [1]}}
          : vector<4xf32> to vector<1xf32>
        %t = xegpu.create_tdesc %m, %o : memref<256xf32>, vector<1xindex> -> {_POINT}
        %old = xegpu.atomic_rmw {kind} %t, %k, %w
          : {_POINT}, vector<1xi1>, vector<1xf32> -> vector<1xf32>"""
    for kind in ("addf", "maximumf", "minnumf")
}
"""Kernels in which lanes update two numbers."""


@pytest.fixture(scope="module")
def stores() -> LaneKernels:
    """All stores and updates in one program."""
    return LaneKernels(
        {
            name: LaneKernel(
                "%in: memref<16x4xf32>, %m: memref<256xf32>",
                f"""{_START}
                %v = vector.load %in[%lane, %c0] : memref<16x4xf32>, vector<4xf32>
                {body}""",
                (16, 1, 1),
                16,
            )
            for name, body in (STORES | UPDATES).items()
        }
    )


@pytest.mark.parametrize("name", [*STORES, *UPDATES])
def test_stores_and_updates(name: str, stores: LaneKernels) -> None:
    rng = np.random.default_rng(fresh_seed())
    # Sums of small integers are exact in any order. Every value differs from what it meets, and is
    # the extremum.
    far = -1000 if name.startswith("minnumf") else 1000
    values = (rng.integers(-100, 100, (16, 4)) + far).astype(np.float32)
    memory = rng.integers(-100, 100, 256).astype(np.float32)
    _, (expected, found) = stores.on_both(name, values, memory)
    assert not np.array_equal(expected, memory)
    assert np.array_equal(expected, found)


# --- matrices in local memory ---

_LAYOUTS = {
    "rows": "",
    "columns": ", #xegpu.mem_layout<stride = [1, 16]>",
    "blocks": ", #xegpu.mem_layout<block = [4, 8]>",
    "blocks_of_columns": ", #xegpu.mem_layout<block = [4, 8], stride = [1, 16]>",
}

_MATRIX_ACCESSES = {
    "elements": ("1", "[%lane, 5]", "", "f16"),
    "rows": ("4", "[%lane, 8]", "", "vector<4xf16>"),
    "parts": ("8", "[%lane, 8]", "", "vector<1x8xf16>"),
    "together": ("4", "[2, 0]", "<{subgroup_block_io}>", "vector<4xf16>"),
}


def _matrix_kernel(layout: str, length: str, location: str, how: str, type: str) -> LaneKernel:
    """Stores a matrix row by row, and loads it in another way."""
    matrix = f"!xegpu.mem_desc<16x64xf16{_LAYOUTS[layout]}>"
    to_vector = {
        "f16": "%w = vector.broadcast %v : f16 to vector<1xf16>",
        "vector<1x8xf16>": "%w = vector.shape_cast %v : vector<1x8xf16> to vector<8xf16>",
    }.get(type, f"%w = vector.shape_cast %v : {type} to {type}")
    index = ", index" if "lane" in location else ""
    return LaneKernel(
        f"%in: memref<16x64xf16>, %out: memref<16x{length}xf16>",
        f"""{_START}
        %local = memref.alloca() : memref<2048xi8, 3>
        %d = xegpu.create_mem_desc %local : memref<2048xi8, 3> -> {matrix}
        %n = arith.constant 64 : index
        scf.for %j = %c0 to %n step %c1 {{
          %x = memref.load %in[%lane, %j] : memref<16x64xf16>
          xegpu.store_matrix %x, %d[%lane, %j] : f16, {matrix}, index, index
        }}
        gpu.barrier
        xegpu.fence memory_kind = slm, fence_scope = workgroup
        %v = xegpu.load_matrix %d{location} {how} : {matrix}{index} -> {type}
        {to_vector}
        vector.store %w, %out[%lane, %c0] : memref<16x{length}xf16>, vector<{length}xf16>""",
        (16, 1, 1),
        16,
    )


MATRICES = {
    f"{access}_of_{layout}": _matrix_kernel(layout, *_MATRIX_ACCESSES[access])
    for layout in _LAYOUTS
    for access in _MATRIX_ACCESSES
    if access != "together" or "columns" not in layout
}


@pytest.fixture(scope="module")
def matrices() -> LaneKernels:
    """All accesses of local matrices in one program."""
    return LaneKernels(MATRICES)


@pytest.mark.parametrize("name", MATRICES)
def test_local_matrices(name: str, matrices: LaneKernels) -> None:
    values = random_array(np.random.default_rng(fresh_seed()), (16, 64), "f16")
    length = int(_MATRIX_ACCESSES[name.partition("_of_")[0]][0])
    _, (expected, found) = matrices.on_both(name, values, undefined((16, length), "f16"))
    assert not np.isnan(expected).any()
    assert same(expected, found).all()


# --- what is refused, and fences ---


@pytest.mark.parametrize(
    ("scope", "kind", "numbers"),
    [("workgroup", "slm", (2, 0x108)), ("gpu", "global", (1, 0x208))],
)
def test_fences(scope: str, kind: str, numbers: tuple[int, int]) -> None:
    text = spirv_text(f"xegpu.fence memory_kind = {kind}, fence_scope = {scope}")
    constants = {
        words[0]: int(words[-1])
        for words in map(str.split, text.splitlines())
        if "OpConstant" in words
    }
    (fence,) = [line.split() for line in text.splitlines() if "OpMemoryBarrier" in line]
    assert tuple(constants[name] for name in fence[1:]) == numbers


@pytest.mark.parametrize(
    "body",
    [
        "xegpu.alloc_nbarrier 4",
        """%i = arith.constant 1 : i8
        %b = xegpu.init_nbarrier %i, %i : i8, i8 -> !xegpu.nbarrier""",
    ],
)
def test_named_barriers_are_refused(body: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        spirv_text(body)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message.endswith(
        "cannot be translated to SPIR-V: it has no barrier at which some subgroups arrive and "
        "others wait; use gpu.barrier"
    )
    assert diagnostic.span is not None


_SOME_POINTS = """%o = ub.poison : vector<16xindex>
    %k = ub.poison : vector<16xi1>
    %v = ub.poison : vector<16xf32>"""
_DESCRIPTOR = f"%t = xegpu.create_tdesc %m, %o : memref<256xf32>, vector<16xindex> -> {_POINTS}"

_LLVM = "only code of one lane can be translated to SPIR-V, which"
_SUBGROUPS = "LLVM's pass xegpu-subgroup-distribute makes"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (
            "atomic_rmw",
            f"""{_DESCRIPTOR}
            %old = xegpu.atomic_rmw addf %t, %k, %v
              : {_POINTS}, vector<16xi1>, vector<16xf32> -> vector<16xf32>""",
        ),
        (
            "load",
            (
                "%r = xegpu.load %m[%o], %k "
                ": memref<256xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>"
            ),
        ),
        (
            "load",
            f"""{_DESCRIPTOR}
            %r = xegpu.load %t, %k : {_POINTS}, vector<16xi1> -> vector<16xf32>""",
        ),
        (
            "store",
            (
                "xegpu.store %v, %m[%o], %k "
                ": vector<16xf32>, memref<256xf32>, vector<16xindex>, vector<16xi1>"
            ),
        ),
    ],
)
def test_points_of_a_subgroup_are_refused(name: str, body: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        spirv_text(f"{_SOME_POINTS}\n{body}", "%m: memref<256xf32>", block=(16, 1, 1))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == (
        f"xegpu.{name} of 16 points is the work of a subgroup; {_LLVM} has one point and which "
        f"{_SUBGROUPS}"
    )
    assert diagnostic.span is not None


@pytest.mark.parametrize("points", [8, 32])
def test_points_are_as_many_as_lanes(points: int) -> None:
    descriptor = f"!xegpu.tensor_desc<{points}x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>>"
    body = f"""%o = ub.poison : vector<{points}xindex>
    %k = ub.poison : vector<{points}xi1>
    %t = xegpu.create_tdesc %m, %o : memref<256xf32>, vector<{points}xindex> -> {descriptor}
    %r = xegpu.load %t, %k : {descriptor}, vector<{points}xi1> -> vector<4xf32>"""
    with pytest.raises(DiagnosticError, match=f"there are {points} points; in a subgroup of 16 "):
        spirv_text(body, "%m: memref<256xf32>", block=(16, 1, 1), subgroup_size=16)


_MATRIX = """%d = xegpu.create_mem_desc %s : memref<4096xi8, 3> -> !xegpu.mem_desc<16x64xf32>
    %c0 = arith.constant 0 : index"""


@pytest.mark.parametrize(
    ("location", "how", "shape"),
    [
        ("[0, 0]", "", "2x8"),
        ("[%c0, 8]", "", "1x16"),
        (
            "[%lane, 0]",
            "<{layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>}>",
            "1x16",
        ),
        ("[0, 0]", "<{subgroup_block_io}>", "2x16"),
        (
            "[0, 0]",
            "<{subgroup_block_io, layout = #xegpu.layout<inst_data = [16]>}>",
            "16",
        ),
    ],
)
@pytest.mark.parametrize("name", ["load_matrix", "store_matrix"])
def test_parts_of_a_subgroup_are_refused(name: str, location: str, how: str, shape: str) -> None:
    types = "!xegpu.mem_desc<16x64xf32>" + ", index" * location.count("%")
    vector = f"vector<{shape}xf32>"
    access = {
        "load_matrix": f"%r = xegpu.load_matrix %d{location} {how} : {types} -> {vector}",
        "store_matrix": f"xegpu.store_matrix %v, %d{location} {how} : {vector}, {types}",
    }[name]
    body = f"%lane = gpu.lane_id\n{_MATRIX}\n%v = ub.poison : {vector}\n{access}"
    with pytest.raises(DiagnosticError) as raised:
        spirv_text(body, attributions="workgroup(%s: memref<4096xi8, 3>)", block=(16, 1, 1))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == (
        f"xegpu.{name} of {shape} elements is the work of a subgroup; {_LLVM} has no layout and "
        f"which {_SUBGROUPS}"
    )
    assert diagnostic.span is not None


_WORK_GROUPS = "#xegpu.layout<sg_layout = [4], sg_data = [16]>"
_WORK_GROUPS_MATRIX = "#xegpu.layout<sg_layout = [4, 1], sg_data = [4, 16]>"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (
            "load",
            (
                f"%r = xegpu.load %m[%o], %k <{{layout = {_WORK_GROUPS}}}> "
                ": memref<256xf32>, vector<64xindex>, vector<64xi1> -> vector<64xf32>"
            ),
        ),
        (
            "store",
            (
                f"xegpu.store %v, %m[%o], %k {{layout = {_WORK_GROUPS}}} "
                ": vector<64xf32>, memref<256xf32>, vector<64xindex>, vector<64xi1>"
            ),
        ),
        (
            "create_tdesc",
            (
                f"%t = xegpu.create_tdesc %m, %o : memref<256xf32>, vector<64xindex> -> "
                f"!xegpu.tensor_desc<64xf32, #xegpu.scatter_tdesc_attr<>, {_WORK_GROUPS}>"
            ),
        ),
        (
            "load_matrix",
            (
                f"%r = xegpu.load_matrix %d[0, 0] <{{layout = {_WORK_GROUPS_MATRIX}}}> "
                ": !xegpu.mem_desc<16x64xf32> -> vector<16x16xf32>"
            ),
        ),
        (
            "store_matrix",
            (
                f"xegpu.store_matrix %w, %d[0, 0] <{{layout = {_WORK_GROUPS_MATRIX}}}> "
                ": vector<16x16xf32>, !xegpu.mem_desc<16x64xf32>"
            ),
        ),
        (
            "create_nd_tdesc",
            (
                f"%t = xegpu.create_nd_tdesc %n : memref<16x16xf32> -> "
                f"!xegpu.tensor_desc<16x16xf32, {_WORK_GROUPS_MATRIX}>"
            ),
        ),
    ],
)
def test_the_work_of_a_work_group_is_refused(name: str, body: str) -> None:
    around = f"""%o = ub.poison : vector<64xindex>
    %k = ub.poison : vector<64xi1>
    %v = ub.poison : vector<64xf32>
    %w = ub.poison : vector<16x16xf32>
    {_MATRIX}
    {body}"""
    with pytest.raises(DiagnosticError) as raised:
        spirv_text(
            around,
            "%m: memref<256xf32>, %n: memref<16x16xf32>",
            attributions="workgroup(%s: memref<4096xi8, 3>)",
            block=(64, 1, 1),
        )
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == (
        f"xegpu.{name} with sg_layout is the work of a work-group; {_LLVM} LLVM's passes "
        "xegpu-wg-to-sg-distribute and xegpu-subgroup-distribute make"
    )
    assert diagnostic.span is not None


def test_a_row_in_a_kernel_that_names_no_subgroup_size() -> None:
    body = f"""{_MATRIX}
    %r = xegpu.load_matrix %d[0, 0] <{{subgroup_block_io}}>
      : !xegpu.mem_desc<16x64xf32> -> vector<4xf32>"""
    text = spirv_text(body, attributions="workgroup(%s: memref<4096xi8, 3>)", block=(16, 1, 1))
    assert "OpExecutionMode %k SubgroupSize 16" in text
