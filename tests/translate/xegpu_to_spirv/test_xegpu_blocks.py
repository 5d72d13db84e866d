"""Blocks of memory that lanes access element by element, on OpenCL's CPU and on the reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.xegpu.kernels import random_array, undefined
from tests.translate.xegpu_to_spirv.lane_kernels import LaneKernel, LaneKernels, same, spirv_text
from xtile.targets.intel import CPU
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.xegpu_to_spirv import translate_module

# --- loads ---


@dataclass(frozen=True)
class Load:
    """A load of a block, of which each lane stores what it gets.

    Attributes:
        memory: The shape of the memory.
        descriptor: What the descriptor's type says, without the elements' type.
        count: The elements that a lane gets.
        type: The type of the elements.
        offsets: Where the block begins.
        how: The properties of the load.
        lanes: Lanes of a subgroup.
    """

    memory: tuple[int, ...]
    descriptor: str
    count: int
    type: str
    offsets: str = "0, 0"
    how: str = ""
    lanes: int = 16

    def kernel(self) -> LaneKernel:
        """The kernel."""
        memory = "x".join(map(str, self.memory)) + f"x{self.type}"
        block = f"!xegpu.tensor_desc<{self.descriptor.replace('*', self.type)}>"
        vector = f"vector<{self.count}x{self.type}>"
        return LaneKernel(
            f"%m: memref<{memory}>, %out: memref<{self.lanes}x{self.count}x{self.type}>",
            f"""%lane = gpu.lane_id
            %c0 = arith.constant 0 : index
            %t = xegpu.create_nd_tdesc %m : memref<{memory}> -> {block}
            %v = xegpu.load_nd %t[{self.offsets}] {self.how} : {block} -> {vector}
            vector.store %v, %out[%lane, %c0]
              : memref<{self.lanes}x{self.count}x{self.type}>, {vector}""",
            (self.lanes, 1, 1),
            self.lanes,
        )


_TRANSPOSED = "<{transpose = array<i64: 1, 0>}>"
_BOTH = "<{packed, transpose = array<i64: 1, 0>}>"
_TWO = ", #xegpu.block_tdesc_attr<array_length = 2>"
_UNCHECKED = ", #xegpu.block_tdesc_attr<boundary_check = false>"

LOADS = {
    **{f"columns_{t}": Load((32, 64), "8x16x*", 8, t) for t in ("f16", "bf16", "f32", "i32")},
    **{f"columns_of_{n}_lanes": Load((32, 64), "8x16x*", 128 // n, "f16", lanes=n) for n in (4, 8)},
    "columns_of_doubles": Load((32, 64), "8x16x*", 8, "f64"),
    "pairs_of_bytes": Load((32, 64), "8x32x*", 16, "i8"),
    "pairs_of_halves": Load((32, 64), "8x16x*", 16, "f16", lanes=8),
    "two_rows_at_once": Load((32, 64), "8x8x*", 4, "f32"),
    "more_lanes_than_columns": Load((32, 64), "8x8x*", 2, "f32", lanes=32),
    "packed_halves": Load((32, 64), "16x16x*", 16, "bf16", "8, 16", "<{packed}>"),
    "packed_bytes": Load((32, 64), "32x16x*", 32, "i8", "0, 32", "<{packed}>"),
    "packed_words": Load((32, 64), "16x16x*", 16, "f32", "8, 16", "<{packed}>"),
    "transposed": Load((32, 64), "16x8x*", 8, "f32", "4, 16", _TRANSPOSED),
    "transposed_and_packed": Load(
        (32, 64), "16x32x*", 32, "f16", "4, 16", "<{packed, transpose = array<i64: 1, 0>}>"
    ),
    "several_blocks": Load(
        (32, 64), "8x16x*, #xegpu.block_tdesc_attr<array_length = 2>", 16, "f16", "3, 5"
    ),
    "one_dimension": Load((256,), "64x*", 4, "f32", "17"),
    "a_row_of_a_matrix": Load((4, 256), "64x*", 4, "f16", "17"),
    "a_slice": Load((3, 32, 64), "8x16x*", 8, "f16", "2, 3"),
    **{
        f"outside_{i}": Load((20, 24), "8x16x*", 8, "f32", location)
        for i, location in enumerate(
            ("-3, 0", "16, 4", "0, -5", "0, 20", "-8, 24", "40, -90", "18, 22")
        )
    },
    "unchecked": Load(
        (32, 64), "8x16x*, #xegpu.block_tdesc_attr<boundary_check = false>", 8, "f32", "0, 56"
    ),
}


@pytest.fixture(scope="module")
def loads() -> LaneKernels:
    """All loads in one program."""
    return LaneKernels({name: load.kernel() for name, load in LOADS.items()})


@pytest.mark.parametrize("name", LOADS)
def test_loads(name: str, loads: LaneKernels) -> None:
    load = LOADS[name]
    rng = np.random.default_rng(fresh_seed())
    memory = random_array(rng, load.memory, load.type)
    out = undefined((load.lanes, load.count), load.type)
    _, (expected, found) = loads.on_both(name, memory, out)
    assert not same(expected, out).all()
    assert same(expected, found).all()


# --- stores ---


@dataclass(frozen=True)
class Store:
    """A store of a block, whose elements each lane has loaded.

    Attributes:
        memory: The shape of the memory.
        descriptor: What the descriptor's type says, without the elements' type.
        count: The elements that a lane has.
        type: The type of the elements.
        offsets: Where the block begins.
    """

    memory: tuple[int, ...]
    descriptor: str
    count: int
    type: str
    offsets: str = "0, 0"

    def kernel(self) -> LaneKernel:
        """The kernel."""
        memory = "x".join(map(str, self.memory)) + f"x{self.type}"
        block = f"!xegpu.tensor_desc<{self.descriptor}x{self.type}>"
        vector = f"vector<{self.count}x{self.type}>"
        return LaneKernel(
            f"%in: memref<16x{self.count}x{self.type}>, %m: memref<{memory}>",
            f"""%lane = gpu.lane_id
            %c0 = arith.constant 0 : index
            %v = vector.load %in[%lane, %c0] : memref<16x{self.count}x{self.type}>, {vector}
            %t = xegpu.create_nd_tdesc %m : memref<{memory}> -> {block}
            xegpu.store_nd %v, %t[{self.offsets}] : {vector}, {block}""",
            (16, 1, 1),
            16,
        )


STORES = {
    **{f"columns_{t}": Store((20, 64), "8x16", 8, t, "4, 8") for t in ("f16", "bf16", "f32")},
    "pairs_of_bytes": Store((20, 64), "8x32", 16, "i8"),
    "one_dimension": Store((256,), "64", 4, "f32", "17"),
    **{
        f"outside_{i}": Store((20, 24), "8x16", 8, "f32", location)
        for i, location in enumerate(("-3, 0", "16, 4", "0, -5", "0, 20", "18, 22"))
    },
}


@pytest.fixture(scope="module")
def stores() -> LaneKernels:
    """All stores in one program."""
    return LaneKernels({name: store.kernel() for name, store in STORES.items()})


@pytest.mark.parametrize("name", STORES)
def test_stores(name: str, stores: LaneKernels) -> None:
    store = STORES[name]
    rng = np.random.default_rng(fresh_seed())
    values = random_array(rng, (16, store.count), store.type)
    memory = random_array(rng, store.memory, store.type)
    _, (expected, found) = stores.on_both(name, values, memory)
    assert not same(expected, memory).all()
    assert same(expected, found).all()


MOVED = LaneKernel(
    "%in: memref<20x24xf32>, %i: index, %j: index, %out: memref<20x24xf32>",
    """%t = xegpu.create_nd_tdesc %in : memref<20x24xf32> -> !xegpu.tensor_desc<8x16xf32>
    %u = xegpu.create_nd_tdesc %out : memref<20x24xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[%i, %j] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
    xegpu.store_nd %v, %u[%i, %j] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>""",
    (16, 1, 1),
    16,
)


def test_a_block_anywhere() -> None:
    """What is in the region is copied, and nothing else."""
    kernels = LaneKernels({"k": MOVED})
    memory = random_array(np.random.default_rng(fresh_seed()), (20, 24), "f32")
    for row, column in ((0, 0), (3, 5), (-3, 20), (17, -9), (40, -90), (-8, 0), (0, 24)):
        out = undefined((20, 24), "f32")
        kernels.on_opencl("k", memory, np.int64(row), np.int64(column), out)
        rows, columns = np.indices((20, 24))
        inside = (rows >= row) & (rows < row + 8) & (columns >= column) & (columns < column + 16)
        assert np.array_equal(out[inside], memory[inside])
        assert np.isnan(out[~inside]).all()


# --- descriptors ---

_STORE = """
    vector.store %v, %out[%lane, %c0] : memref<16x8xf32>, vector<8xf32>"""

_START = """
    %lane = gpu.lane_id
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
"""

_BLOCK = "!xegpu.tensor_desc<8x16xf32>"

DESCRIPTORS = {
    "offsets_of_the_descriptor": (
        "%m: memref<32x64xf32>",
        f"""%t = xegpu.create_nd_tdesc %m[3, %i] : memref<32x64xf32> -> {_BLOCK}
        %v = xegpu.load_nd %t : {_BLOCK} -> vector<8xf32>""",
    ),
    "moved": (
        "%m: memref<32x64xf32>",
        f"""%t = xegpu.create_nd_tdesc %m[3, %i] : memref<32x64xf32> -> {_BLOCK}
        %u = xegpu.update_nd_offset %t, [%i, 7] : {_BLOCK}
        %v = xegpu.load_nd %u[1, 0] : {_BLOCK} -> vector<8xf32>""",
    ),
    "moved_in_a_loop": (
        "%m: memref<32x64xf32>",
        f"""%t = xegpu.create_nd_tdesc %m[0, 0] : memref<32x64xf32> -> {_BLOCK}
        %zero = arith.constant dense<0.0> : vector<8xf32>
        %n = arith.constant 3 : index
        %d, %v = scf.for %j = %c0 to %n step %c1 iter_args(%u = %t, %s = %zero)
            -> ({_BLOCK}, vector<8xf32>) {{
          %w = xegpu.load_nd %u : {_BLOCK} -> vector<8xf32>
          %r = arith.addf %s, %w : vector<8xf32>
          %next = xegpu.update_nd_offset %u, [%j, %i] : {_BLOCK}
          scf.yield %next, %r : {_BLOCK}, vector<8xf32>
        }}""",
    ),
    "of_a_branch": (
        "%m: memref<32x64xf32>",
        f"""%c = arith.cmpi ult, %i, %c8 : index
        %t = scf.if %c -> ({_BLOCK}) {{
          %a = xegpu.create_nd_tdesc %m[4, %i] : memref<32x64xf32> -> {_BLOCK}
          scf.yield %a : {_BLOCK}
        }} else {{
          %b = xegpu.create_nd_tdesc %m[%i, 2] : memref<32x64xf32> -> {_BLOCK}
          scf.yield %b : {_BLOCK}
        }}
        %v = xegpu.load_nd %t : {_BLOCK} -> vector<8xf32>""",
    ),
    "of_a_view": (
        "%m: memref<32x64xf32>",
        f"""%w = memref.subview %m[%i, 8] [16, 32] [1, 1]
          : memref<32x64xf32> to memref<16x32xf32, strided<[64, 1], offset: ?>>
        %t = xegpu.create_nd_tdesc %w
          : memref<16x32xf32, strided<[64, 1], offset: ?>> -> {_BLOCK}
        %v = xegpu.load_nd %t[10, 20] : {_BLOCK} -> vector<8xf32>""",
    ),
    "of_sizes_that_are_not_known": (
        "%m: memref<?x?xf32>",
        f"""%h = memref.dim %m, %c0 : memref<?x?xf32>
        %w = memref.dim %m, %c1 : memref<?x?xf32>
        %t = xegpu.create_nd_tdesc %m, shape : [%h, %w], strides : [%w, 1]
          : memref<?x?xf32> -> {_BLOCK}
        %v = xegpu.load_nd %t[26, %i] : {_BLOCK} -> vector<8xf32>""",
    ),
    "of_an_address": (
        "%m: memref<32x64xf32>",
        f"""%p = memref.extract_aligned_pointer_as_index %m : memref<32x64xf32> -> index
        %a = arith.index_cast %p : index to i64
        %t = xegpu.create_nd_tdesc %a, shape : [24, 48], strides : [64, 1] : i64 -> {_BLOCK}
        %v = xegpu.load_nd %t[20, 40] : {_BLOCK} -> vector<8xf32>""",
    ),
    "of_another_slice": (
        "%m: memref<4x8x64xf32>",
        f"""%t = xegpu.create_nd_tdesc %m[%x, 0, %i] : memref<4x8x64xf32> -> {_BLOCK}
        %v = xegpu.load_nd %t[2, 3] : {_BLOCK} -> vector<8xf32>""",
    ),
}
"""Kernels in which each lane gets its part %v of a block; %i is 11 and %x is 3."""


@pytest.fixture(scope="module")
def descriptors() -> LaneKernels:
    """All of them in one program."""
    return LaneKernels(
        {
            name: LaneKernel(
                f"{memory}, %i: index, %x: index, %out: memref<16x8xf32>",
                f"{_START}{body}{_STORE}",
                (16, 1, 1),
                16,
            )
            for name, (memory, body) in DESCRIPTORS.items()
        }
    )


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_descriptors(name: str, descriptors: LaneKernels) -> None:
    rng = np.random.default_rng(fresh_seed())
    shape = (4, 8, 64) if "slice" in name else (32, 64)
    memory = random_array(rng, shape, "f32")
    out = undefined((16, 8), "f32")
    *_, (expected, found) = descriptors.on_both(name, memory, np.int64(11), np.int64(3), out)
    assert not np.isnan(expected).any()
    assert same(expected, found).all()


def test_subgroups_have_blocks_of_their_own() -> None:
    kernel = LaneKernel(
        "%m: memref<64x16xf32>, %out: memref<64x16xf32>",
        f"""%s = gpu.subgroup_id : index
        %c8 = arith.constant 8 : index
        %row = arith.muli %s, %c8 : index
        %t = xegpu.create_nd_tdesc %m : memref<64x16xf32> -> {_BLOCK}
        %u = xegpu.create_nd_tdesc %out : memref<64x16xf32> -> {_BLOCK}
        %v = xegpu.load_nd %t[%row, 0] : {_BLOCK} -> vector<8xf32>
        %w = arith.addf %v, %v : vector<8xf32>
        xegpu.prefetch_nd %t[%row, 16] : {_BLOCK}
        xegpu.store_nd %w, %u[%row, 0] : vector<8xf32>, {_BLOCK}""",
        (64, 2, 1),
        16,
    )
    memory = random_array(np.random.default_rng(fresh_seed()), (64, 16), "f32")
    out = undefined((64, 16), "f32")
    kernels = LaneKernels({"k": kernel})
    kernels.on_opencl("k", memory, out)
    assert np.array_equal(out, memory + memory)


# --- refusals and remarks ---


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f"%v = xegpu.load_nd %t[0, 0] : {_BLOCK} -> vector<8x16xf32>",
            (
                "8x16 is the block of a subgroup; only code of one lane can be translated to "
                "SPIR-V, whose part of a block of 8x16 is a vector of one dimension"
            ),
        ),
        (
            f"%v = xegpu.load_nd %t[0, 0] : {_BLOCK} -> vector<4xf32>",
            (
                "a lane's vector has 4 elements, but in a subgroup of 16 lanes a lane has 8 of a "
                "block of 8x16"
            ),
        ),
    ],
)
def test_what_is_no_lanes_part(body: str, message: str) -> None:
    create = f"%t = xegpu.create_nd_tdesc %m : memref<32x64xf32> -> {_BLOCK}"
    with pytest.raises(DiagnosticError) as raised:
        spirv_text(f"{create}\n{body}", "%m: memref<32x64xf32>", block=(16, 1, 1))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == message
    assert diagnostic.span is not None


def test_a_block_that_cannot_be_dealt() -> None:
    body = """%t = xegpu.create_nd_tdesc %m : memref<32x64xf32> -> !xegpu.tensor_desc<3x5xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<3x5xf32> -> vector<1xf32>"""
    with pytest.raises(DiagnosticError, match="3x5 cannot be dealt to a subgroup of 16 lanes"):
        spirv_text(body, "%m: memref<32x64xf32>", block=(16, 1, 1))


def test_a_block_whose_neighbours_cannot_be_dealt() -> None:
    """Two bytes for each of 16 lanes at once go into a row of 48 one and a half times."""
    body = """%t = xegpu.create_nd_tdesc %m : memref<32x64xi8> -> !xegpu.tensor_desc<1x48xi8>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<1x48xi8> -> vector<3xi8>"""
    with pytest.raises(
        DiagnosticError, match="1x48 elements cannot be dealt to 16 lanes"
    ) as raised:
        spirv_text(body, "%m: memref<32x64xi8>", block=(16, 1, 1))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.span is not None


def test_remarks_say_why() -> None:
    kernels = LaneKernels({"outside_0": LOADS["outside_0"].kernel()})
    diagnostics = Diagnostics()
    translate_module(kernels.module, for_spirv(CPU), diagnostics)
    assert [d.message for d in diagnostics] == [
        "loads element by element: the spelling 'plain' has no accesses of blocks"
    ]


def test_the_rfcs_form_is_refused() -> None:
    body = """%t = xegpu.create_nd_tdesc %m : memref<32x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %v = xegpu.load_nd %t[0, 0] {vnni_axis = 1 : i32}
      : !xegpu.tensor_desc<16x16xf16> -> vector<16x8x2xf16>"""
    with pytest.raises(DiagnosticError) as raised:
        spirv_text(body, "%m: memref<32x64xf16>", block=(16, 1, 1))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == (
        "xegpu.load_nd cannot be translated to SPIR-V in the RFC's form; the pass "
        "xegpu-rfc-to-llvm22 gives it LLVM 22's form where there is one"
    )
    assert diagnostic.span is not None
