"""Tiles of memory: the form that each access gets, and what is read and written."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.transforms.distribute.kernels import read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    body_of,
    from_block_level,
    lowered,
    run_entry,
    tile_function,
    tile_kernel,
)
from xtile.targets import NVIDIA
from xtile.translate.core_to_cuda_tile import translate_module

pytestmark = pytest.mark.slow

# --- which form ---


def _forms(parameters: str, body: str) -> list[str]:
    """The operations that a kernel accesses memory with, and that make its views."""
    module = lowered(tile_kernel(parameters, body))
    words = [word for line in body_of(module) for word in line.split() if "_" in word]
    return [word for word in words if word.startswith(("make_", "load_", "store_"))]


_ZERO = "%c0 = arith.constant 0 : index\n%zero = arith.constant 0.0 : f32\n"


def _read(memory: str, indices: str, tile: str, bounds: str, more: str = "") -> str:
    body = f"""
        %v = vector.transfer_read %a[{indices}], %zero {{in_bounds = [{bounds}]}}
            : {memory}, vector<{tile}xf32>
        vector.transfer_write %v, %out[%c0, %c0] {{in_bounds = [true, true]}}
            : vector<{tile}xf32>, memref<{tile}xf32>"""
    return _ZERO + more + body


_BLOCK = """
    %x = gpu.block_id x
    %s = arith.constant 16 : index
    %i = arith.muli %x, %s : index
"""


@pytest.mark.parametrize(
    ("index", "more", "bounds"),
    [
        ("%c0", "", "false, false"),
        ("%i", "%i = arith.constant 64 : index\n", "false, false"),
        ("%i", _BLOCK, "true, false"),
    ],
)
def test_tiles_on_the_grid_are_those_of_a_partition_view(
    index: str, more: str, bounds: str
) -> None:
    memory = "memref<100x84xf32>"
    body = _read(memory, f"{index}, %c0", "16x32", bounds, more)
    forms = _forms(f"%a: {memory} {{core.noalias}}, %out: memref<16x32xf32>", body)
    views = ["make_tensor_view", "make_partition_view"]
    assert forms == [*views, "load_view_tko", *views, "store_view_tko"]


def test_tiles_off_the_grid_are_those_of_a_strided_view() -> None:
    memory = "memref<100x84xf32>"
    more = "%i = arith.constant 24 : index\n"
    body = _read(memory, "%i, %c0", "16x32", "false, false", more)
    text = "\n".join(body_of(lowered(tile_kernel(f"%a: {memory}, %out: memref<16x32xf32>", body))))
    assert "strided_view<tile=(16x32), traversal_strides=[8,32]," in text


@pytest.mark.parametrize(
    ("memory", "index", "bounds"),
    [
        ("memref<100x84xf32>", "%n", "false, true"),
        ("memref<100x84xf32, strided<[84, 0]>>", "%c0", "true, true"),
        ("memref<100x84xf32, strided<[-84, 1], offset: 8400>>", "%c0", "true, true"),
    ],
)
def test_what_views_cannot_say_is_said_by_pointers(memory: str, index: str, bounds: str) -> None:
    body = _read(memory, f"{index}, %c0", "16x32", bounds)
    forms = _forms(f"%a: {memory}, %n: index, %out: memref<16x32xf32>", body)
    assert "load_ptr_tko" in forms


def test_a_promise_makes_an_index_good_for_views() -> None:
    memory = "memref<100x84xf32>"
    body = _read(memory, "%n, %c0", "16x32", "true, true")
    forms = _forms(f"%a: {memory}, %n: index, %out: memref<16x32xf32>", body)
    assert "load_ptr_tko" not in forms


def test_a_part_is_accessed_as_a_tile_of_the_whole() -> None:
    """All work-groups share one view, whose sizes are the arguments'."""
    memory = "memref<?x?xf32, strided<[?, 1]>>"
    part = "memref<?x?xf32, strided<[?, 1], offset: ?>>"
    body = f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c64 = arith.constant 64 : index
        %zero = arith.constant 0.0 : f32
        %x = gpu.block_id x
        %i = arith.muli %x, %c64 : index
        %rows = memref.dim %a, %c0 : {memory}
        %columns = memref.dim %a, %c1 : {memory}
        %left = arith.subi %rows, %i : index
        %height = arith.minsi %left, %c64 : index
        %p = memref.subview %a[%i, 0] [%height, %columns] [1, 1] : {memory} to {part}
        %v = vector.transfer_read %p[%c0, %c0], %zero : {part}, vector<64x32xf32>
        vector.transfer_write %v, %p[%c0, %c0] : vector<64x32xf32>, {part}"""
    lines = body_of(lowered(tile_kernel(f"%a: {memory}", body)))
    assert not any("offset" in line for line in lines)
    assert any("[%x, %c0]" in line for line in lines)


def test_a_part_that_ends_before_the_whole_is_a_view_of_its_own() -> None:
    memory = "memref<100x84xf32>"
    part = "memref<40x84xf32, strided<[84, 1], offset: ?>>"
    body = f"""
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : f32
        %c16 = arith.constant 16 : index
        %x = gpu.block_id x
        %i = arith.muli %x, %c16 : index
        %p = memref.subview %a[%i, 0] [40, 84] [1, 1] : {memory} to {part}
        %v = vector.transfer_read %p[%c0, %c0], %zero : {part}, vector<64x32xf32>
        vector.transfer_write %v, %out[%c0, %c0] : vector<64x32xf32>, memref<64x32xf32>"""
    text = "\n".join(body_of(lowered(tile_kernel(f"%a: {memory}, %out: memref<64x32xf32>", body))))
    assert "tensor_view<40x84xf32, strides=[84,1]>" in text


_PADDINGS = {
    "0.0": "padding_value = zero",
    "-0.0": "padding_value = neg_zero",
    "0x7FC00000": "padding_value = nan",
    "0x7F800000": "padding_value = pos_inf",
    "0xFF800000": "padding_value = neg_inf",
    "2.5": "load_ptr_tko",
}


@pytest.mark.parametrize("padding", _PADDINGS)
def test_padding(padding: str) -> None:
    body = f"""
        %c0 = arith.constant 0 : index
        %p = arith.constant {padding} : f32
        %v = vector.transfer_read %a[%c0, %c0], %p : memref<9x20xf32>, vector<16x32xf32>
        vector.transfer_write %v, %out[%c0, %c0] : vector<16x32xf32>, memref<16x32xf32>"""
    text = tile_kernel("%a: memref<9x20xf32>, %out: memref<16x32xf32>", body)
    module = lowered(text)
    assert _PADDINGS[padding] in "\n".join(body_of(module))
    a = np.random.default_rng(1).normal(size=(9, 20)).astype(np.float32)
    expected, found = (np.full((16, 32), 7, np.float32) for _ in range(2))
    run(read(text), a, expected)
    run_entry(text, module, a, found)
    assert np.array_equal(expected, found, equal_nan=True)
    assert np.array_equal(np.signbit(expected), np.signbit(found))


# --- random accesses ---

_TYPES = ("f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "index", "i1")
_DTYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8}
_DTYPES |= {"i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64, "i1": np.bool_}


class _Copy:
    """A random copy of tiles in a loop, from one memref to another."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.type = self.random.choice(_TYPES)
        self.rank = self.random.choice((1, 2, 2, 3))
        self.tile = [self.random.choice((1, 2, 4, 8, 16)) for _ in range(self.rank)]
        self.sizes = [self.random.randint(1, 40) for _ in range(self.rank)]
        self.is_dynamic = self.random.random() < 0.5
        self.order = self.random.sample(range(self.rank), self.rank)
        self.step = self.random.choice((self.tile[0], 3, 6, 8))
        self.starts = [self.random.choice(("0", "few", "unknown", "grid")) for _ in self.sizes]
        self.has_mask = self.random.random() < 0.2
        self.number = self.random.randint(0, 9)

    def memref(self) -> str:
        sizes = "".join("?x" if self.is_dynamic else f"{size}x" for size in self.sizes)
        strides = ", ".join(["?"] * (self.rank - 1) + ["1"])
        layout = f", strided<[{strides}]>" if self.is_dynamic else ""
        return f"memref<{sizes}{self.type}{layout}>"

    def parameters(self) -> str:
        return f"%a: {self.memref()}, %b: {self.memref()}, %n: index"

    def body(self) -> str:
        lines = [
            "%c0 = arith.constant 0 : index",
            f"%step = arith.constant {self.step} : index",
            f"%few = arith.constant {self.random.randint(0, 12)} : index",
            f"%grid = arith.constant {2 * self.tile[-1]} : index",
            f"%zero = arith.constant {self._zero()}",
            f"%size = memref.dim %a, %c0 : {self.memref()}",
            "scf.for %k = %c0 to %size step %step {",
        ]
        names = {"0": "%c0", "few": "%few", "unknown": "%n", "grid": "%grid"}
        indices = ["%k", *(names[start] for start in self.starts[1:])]
        tile = [self.tile[axis] for axis in self.order]
        vector = f"vector<{'x'.join(map(str, tile))}x{self.type}>"
        positions = ", ".join(f"d{axis}" for axis in self.order)
        dims = ", ".join(f"d{i}" for i in range(self.rank))
        bounds = ", ".join(["false"] * self.rank)
        rest = (
            f"{{in_bounds = [{bounds}], permutation_map = affine_map<({dims}) -> ({positions})>}}"
        )
        mask = ""
        if self.has_mask:
            sizes = ", ".join(str(self.random.randint(0, size)) for size in self.tile)
            shape = "x".join(map(str, self.tile))
            lines.append(f"%m = vector.constant_mask [{sizes}] : vector<{shape}xi1>")
            mask = ", %m"
            if "0" in sizes.split(", "):
                lines[-1] = f"%m = arith.constant dense<false> : vector<{shape}xi1>"
        at = ", ".join(indices)
        lines += [
            f"%v = vector.transfer_read %a[{at}], %zero{mask} {rest} : {self.memref()}, {vector}",
            f"vector.transfer_write %v, %b[{at}]{mask} {rest} : {vector}, {self.memref()}",
            "}",
        ]
        return "\n".join(lines)

    def _zero(self) -> str:
        if self.type == "i1":
            return "false"
        is_integer = self.type in ("i8", "i16", "i32", "i64", "index")
        return f"{0 if is_integer else 0.0} : {self.type}"

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        import ml_dtypes

        dtype = _DTYPES.get(self.type, ml_dtypes.bfloat16)
        random = np.random.default_rng(self.random.randint(0, 10**6))
        shape = [size + (3 if self.is_dynamic else 0) for size in self.sizes]
        part = tuple(slice(size) for size in self.sizes)
        whole = [random.integers(-9, 9, shape).astype(dtype) for _ in range(2)]
        return whole[0][part], whole[1][part]


@pytest.mark.parametrize("seed", range(80))
def test_random_copies(seed: int) -> None:
    copy = _Copy(seed)
    text = tile_kernel(copy.parameters(), copy.body())
    a, b = copy.arrays()
    expected, found = (np.array(b.base, copy=True)[tuple(map(slice, b.shape))] for _ in range(2))
    run(read(text), a, expected, copy.number)
    run_entry(text, lowered(text), a, found, copy.number)
    assert np.array_equal(expected.base, found.base), text


def test_assembler() -> None:
    copies = [_Copy(seed) for seed in range(24)]
    functions = [
        tile_function(copy.parameters(), copy.body(), name=f"k{number}")
        for number, copy in enumerate(copies)
    ]
    text = "gpu.module @m {\n" + "\n".join(functions) + "\n}"
    assemble_for_all(translate_module(read(text), NVIDIA.chips["sm_90"]))


def test_parts_of_vectors_of_unknown_size() -> None:
    text = """
    gpu.module @m {
      gpu.func @k(%a: memref<?xf32>, %b: memref<?xf32>) kernel attributes {core.level = "block"} {
        %c0 = arith.constant 0 : index
        %c64 = arith.constant 64 : index
        %one = arith.constant 1.0 : f32
        %zero = arith.constant 0.0 : f32
        %x = gpu.block_id x
        %i = arith.muli %x, %c64 : index
        %size = memref.dim %a, %c0 : memref<?xf32>
        %left = arith.subi %size, %i : index
        %n = arith.minsi %left, %c64 : index
        %p = memref.subview %a[%i] [%n] [1]
            : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
        %q = memref.subview %b[%i] [%n] [1]
            : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
        core.axpby %one, %p, %zero, %q : f32, memref<?xf32, strided<[1], offset: ?>>, f32,
            memref<?xf32, strided<[1], offset: ?>>
        gpu.return
      }
    }"""
    a = np.arange(100, dtype=np.float32)
    found = np.full(100, 7, np.float32)
    # Work-groups behind the last part have nothing to do.
    run_entry(text, from_block_level(text), a, found, grid=(4, 1, 1))
    assert np.array_equal(found, a)


def test_tiles_in_loops_over_a_part_are_tiles_of_the_whole() -> None:
    memory = "memref<?x100xf32>"
    part = "memref<?x100xf32, strided<[100, 1], offset: ?>>"
    body = f"""
        %c0 = arith.constant 0 : index
        %c16 = arith.constant 16 : index
        %c64 = arith.constant 64 : index
        %zero = arith.constant 0.0 : f32
        %x = gpu.block_id x
        %i = arith.muli %x, %c64 : index
        %rows = memref.dim %a, %c0 : {memory}
        %left = arith.subi %rows, %i : index
        %height = arith.minsi %left, %c64 : index
        %p = memref.subview %a[%i, 0] [%height, 100] [1, 1] : {memory} to {part}
        scf.for %k = %c0 to %height step %c16 {{
          %v = vector.transfer_read %p[%k, %c0], %zero : {part}, vector<16x128xf32>
          %w = arith.addf %v, %v : vector<16x128xf32>
          vector.transfer_write %w, %p[%k, %c0] : vector<16x128xf32>, {part}
        }}"""
    text = tile_kernel(f"%a: {memory}", body)
    module = lowered(text)
    assert not any("offset" in line for line in body_of(module))
    a = np.random.default_rng(1).normal(size=(150, 100)).astype(np.float32)
    found = a.copy()
    run_entry(text, module, found, grid=(4, 1, 1))
    assert np.array_equal(found, a + a)


def test_a_promise_to_begin_inside_makes_a_tile_of_a_view() -> None:
    body = """%n = arith.index_cast %i : i32 to index
    %zero = arith.constant 0.0 : f32
    %x = vector.transfer_read %a[%n], %zero PROMISE : memref<?xf32>, vector<8xf32>
    vector.transfer_write %x, %o[%n] PROMISE : vector<8xf32>, memref<?xf32>"""
    parameters = "%a: memref<?xf32>, %o: memref<?xf32>, %i: i32"
    plain = "\n".join(body_of(lowered(tile_kernel(parameters, body.replace(" PROMISE", "")))))
    assert "load_ptr_tko" in plain
    assert "store_ptr_tko" in plain
    text = tile_kernel(parameters, body.replace("PROMISE", "{core.begins_inside}"))
    promised = "\n".join(body_of(lowered(text)))
    assert "load_view_tko" in promised
    assert "store_view_tko" in promised
