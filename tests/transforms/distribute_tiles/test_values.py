"""Tiles that several subgroups share: the same numbers, no races, and each effect once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute_tiles.distributed import distributed, tile_kernel
from tests.translate.xegpu_to_core.raised import kernel as xegpu_kernel
from tests.translate.xegpu_to_core.test_kernels import WORK_GROUP_LAYOUTS, WORK_GROUP_PRODUCT
from xtile.text.diagnostics import DiagnosticError

Array = np.ndarray[Any, Any]

CHIPS = ("pvc", "dg2")

ROWS, COLUMNS = 64, 128
READ = f"""
%zero = arith.constant 0.0 : f32
%x = vector.transfer_read %a[%c0, %c0], %zero {{in_bounds = [true, true]}}
    : memref<{ROWS}x{COLUMNS}xf32>, vector<{ROWS}x{COLUMNS}xf32>
"""
SOURCE = f"%a: memref<{ROWS}x{COLUMNS}xf32>"


def _write(type_: str, shape: str) -> str:
    bounds = ", ".join(["true"] * (shape.count("x") + 1))
    indices = ", ".join(["%c0"] * (shape.count("x") + 1))
    return (
        f"vector.transfer_write %y, %o[{indices}] {{in_bounds = [{bounds}]}} "
        f": vector<{shape}x{type_}>, memref<{shape}x{type_}>"
    )


def _with_part(x: Array) -> Array:
    made = x.copy()
    made[16:, :, 2:] = x[:16, :, :2]
    return made


MOVES: Mapping[str, tuple[str, str, Callable[[Array], Array]]] = {
    "transposed": (
        (
            f"%y = vector.transpose %x, [1, 0] : vector<{ROWS}x{COLUMNS}xf32> to "
            f"vector<{COLUMNS}x{ROWS}xf32>"
        ),
        f"{COLUMNS}x{ROWS}",
        lambda x: x.T,
    ),
    "in another shape": (
        f"%y = vector.shape_cast %x : vector<{ROWS}x{COLUMNS}xf32> to vector<32x256xf32>",
        "32x256",
        lambda x: x.reshape(32, 256),
    ),
    "as several matrices": (
        f"%y = vector.shape_cast %x : vector<{ROWS}x{COLUMNS}xf32> to vector<4x32x64xf32>",
        "4x32x64",
        lambda x: x.reshape(4, 32, 64),
    ),
    "a part": (
        (
            "%y = vector.extract_strided_slice %x {offsets = [16, 32], sizes = [32, 64], "
            f"strides = [1, 1]}} : vector<{ROWS}x{COLUMNS}xf32> to vector<32x64xf32>"
        ),
        "32x64",
        lambda x: x[16:48, 32:96],
    ),
    "behind a tile of small matrices": (
        (
            "%p = vector.extract_strided_slice %x {offsets = [0, 0], sizes = [8, 8], "
            f"strides = [1, 1]}} : vector<{ROWS}x{COLUMNS}xf32> to vector<8x8xf32>\n"
            "%q = vector.shape_cast %p : vector<8x8xf32> to vector<2x4x8xf32>\n"
            "%n = arith.constant dense<0.0> : vector<4x4x8xf32>\n"
            "%y = vector.insert_strided_slice %q, %n {offsets = [2, 0, 0], strides = [1, 1, 1]} "
            ": vector<2x4x8xf32> into vector<4x4x8xf32>"
        ),
        "4x4x8",
        lambda x: np.concatenate([np.zeros((2, 4, 8)), x[:8, :8].reshape(2, 4, 8)]),
    ),
    "a row": (
        f"%y = vector.extract %x[5] : vector<{COLUMNS}xf32> from vector<{ROWS}x{COLUMNS}xf32>",
        f"{COLUMNS}",
        lambda x: x[5],
    ),
    "a whole with many sizes in another": (
        (
            f"%q = vector.shape_cast %x : vector<{ROWS}x{COLUMNS}xf32> to vector<32x4x4x16xf32>\n"
            "%z = arith.constant dense<3.0> : vector<2x32x4x4x16xf32>\n"
            "%w = vector.insert %q, %z[1] : vector<32x4x4x16xf32> into vector<2x32x4x4x16xf32>\n"
            "%y = vector.shape_cast %w : vector<2x32x4x4x16xf32> to vector<128x128xf32>"
        ),
        "128x128",
        lambda x: np.concatenate([np.full_like(x, 3), x]),
    ),
    "a part with many sizes in another": (
        (
            f"%q = vector.shape_cast %x : vector<{ROWS}x{COLUMNS}xf32> to vector<32x4x4x16xf32>\n"
            "%p = vector.extract_strided_slice %q {offsets = [0, 0, 0, 0], "
            "sizes = [16, 4, 2, 16], strides = [1, 1, 1, 1]} "
            ": vector<32x4x4x16xf32> to vector<16x4x2x16xf32>\n"
            "%w = vector.insert_strided_slice %p, %q {offsets = [16, 0, 2, 0], "
            "strides = [1, 1, 1, 1]} : vector<16x4x2x16xf32> into vector<32x4x4x16xf32>\n"
            f"%y = vector.shape_cast %w : vector<32x4x4x16xf32> to vector<{ROWS}x{COLUMNS}xf32>"
        ),
        f"{ROWS}x{COLUMNS}",
        lambda x: _with_part(x.reshape(32, 4, 4, 16)).reshape(x.shape),
    ),
    "sums of rows": (
        (
            f"%n = arith.constant dense<1.0> : vector<{ROWS}xf32>\n"
            f"%y = vector.multi_reduction <add>, %x, %n [1] : vector<{ROWS}x{COLUMNS}xf32> to "
            f"vector<{ROWS}xf32>"
        ),
        f"{ROWS}",
        lambda x: x.sum(1) + 1,
    ),
    "largest of columns": (
        (
            f"%n = arith.constant dense<-1.0e30> : vector<{COLUMNS}xf32>\n"
            f"%y = vector.multi_reduction <maxnumf>, %x, %n [0] : vector<{ROWS}x{COLUMNS}xf32> to "
            f"vector<{COLUMNS}xf32>"
        ),
        f"{COLUMNS}",
        lambda x: x.max(0),
    ),
    "repeated": (
        (
            f"%n = arith.constant dense<0.0> : vector<{ROWS}xf32>\n"
            f"%s = vector.multi_reduction <add>, %x, %n [1] : vector<{ROWS}x{COLUMNS}xf32> to "
            f"vector<{ROWS}xf32>\n"
            "%t = vector.multi_reduction <add>, %x, %zero [0, 1] "
            f": vector<{ROWS}x{COLUMNS}xf32> to f32\n"
            f"%c = vector.shape_cast %s : vector<{ROWS}xf32> to vector<{ROWS}x1xf32>\n"
            f"%r = vector.broadcast %c : vector<{ROWS}x1xf32> to vector<{ROWS}x{COLUMNS}xf32>\n"
            f"%u = vector.broadcast %t : f32 to vector<{ROWS}x{COLUMNS}xf32>\n"
            f"%v = arith.subf %x, %r : vector<{ROWS}x{COLUMNS}xf32>\n"
            f"%y = arith.addf %v, %u : vector<{ROWS}x{COLUMNS}xf32>"
        ),
        f"{ROWS}x{COLUMNS}",
        lambda x: x - x.sum(1, keepdims=True) + x.sum(),
    ),
}
"""For each movement its text, the shape of the result, and what numpy says."""


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("level", ["subgroup", "lane"])
@pytest.mark.parametrize("name", MOVES)
def test_elements_that_other_subgroups_have(name: str, level: str, chip: str) -> None:
    body, shape, expected = MOVES[name]
    text = tile_kernel(
        f"{SOURCE}, %o: memref<{shape}xf32>", READ + body + "\n" + _write("f32", shape)
    )
    x = fresh_generator().standard_normal((ROWS, COLUMNS)).astype(np.float32)
    out = np.full([int(size) for size in shape.split("x")], np.nan, np.float32)
    xtile.run(distributed(text, level, chip), [x, out], sanitize=level == "subgroup")
    np.testing.assert_allclose(out, expected(x.astype(np.float64)), rtol=0, atol=2e-3)


BITS: Mapping[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "f16": np.float16,
    "i32": np.int32,
    "f32": np.float32,
    "i64": np.int64,
}


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("level", ["subgroup", "lane"])
@pytest.mark.parametrize("size", ["64x64", "512"])
@pytest.mark.parametrize(
    ("before", "after"),
    [("f32", "f16"), ("i16", "f32"), ("f32", "i32"), ("i64", "i8"), ("i8", "i64"), ("i8", "f16")],
)
def test_bits_of_other_elements(before: str, after: str, size: str, level: str, chip: str) -> None:
    """Memory has the bytes of each, the lowest bits first."""
    outer, last = size.rpartition("x")[::2]
    count = int(last) * np.dtype(BITS[before]).itemsize // np.dtype(BITS[after]).itemsize
    result = f"{outer}x{count}" if outer else str(count)
    indices, bounds = ("%c0, %c0", "true, true") if outer else ("%c0", "true")
    text = tile_kernel(
        f"%a: memref<{size}x{before}>, %o: memref<{result}x{after}>",
        f"""
        %p = ub.poison : {before}
        %x = vector.transfer_read %a[{indices}], %p {{in_bounds = [{bounds}]}}
            : memref<{size}x{before}>, vector<{size}x{before}>
        %y = vector.bitcast %x : vector<{size}x{before}> to vector<{result}x{after}>
        vector.transfer_write %y, %o[{indices}] {{in_bounds = [{bounds}]}}
            : vector<{result}x{after}>, memref<{result}x{after}>
        """,
    )
    shape = tuple(map(int, size.split("x")))
    # Bytes below 64 are no NaN in any type.
    source = fresh_generator().integers(0, 64, (*shape, np.dtype(BITS[before]).itemsize), np.uint8)
    given = np.ascontiguousarray(source).view(BITS[before]).reshape(shape)
    expected = given.view(BITS[after])
    found = np.zeros_like(expected)
    xtile.run(distributed(text, level, chip), [given, found], 1)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


def test_bits_of_parts_of_bytes_are_refused() -> None:
    text = tile_kernel(
        "%o: memref<128xi4>",
        """%x = arith.constant dense<1.5> : vector<16xf32>
        %y = vector.bitcast %x : vector<16xf32> to vector<128xi4>
        vector.transfer_write %y, %o[%c0] {in_bounds = [true]} : vector<128xi4>, memref<128xi4>""",
    )
    with pytest.raises(DiagnosticError, match=r"vector\.bitcast on a tile cannot be dealt out"):
        distributed(text)


def test_a_line_of_elements_that_follow_each_other_moves_as_a_whole() -> None:
    """No element is read or written alone, although the tile has many sizes."""
    body, shape, _ = MOVES["a whole with many sizes in another"]
    text = tile_kernel(f"{SOURCE}, %o: memref<{shape}xf32>", READ + body + _write("f32", shape))
    made = xtile.to_text(distributed(text), "mlir")
    assert "core.map" not in made
    assert "memref.load" not in made


@pytest.mark.parametrize("level", ["subgroup", "lane"])
def test_updates_are_done_once(level: str) -> None:
    """Of a tile that all subgroups hold, of one that is dealt out, and of one number."""
    text = tile_kernel(
        "%a: memref<2048xf32>, %few: memref<4xi32>, %many: memref<2048xi32>, %one: memref<i32>",
        """
        %zero = arith.constant 0.0 : f32
        %x = vector.transfer_read %a[%c0], %zero {in_bounds = [true]}
            : memref<2048xf32>, vector<2048xf32>
        %n = arith.fptosi %x : vector<2048xf32> to vector<2048xi32>
        %old = core.atomic_update addi %n, %many[%c0] checked []
            : vector<2048xi32>, memref<2048xi32> -> vector<2048xi32>
        %i = vector.step : vector<4xindex>
        %ones = arith.constant dense<1> : vector<4xi32>
        %before = core.atomic_rmw addi relaxed device %ones, %few[%i]
            : vector<4xi32>, memref<4xi32>[vector<4xindex>]
        %c1 = arith.constant 1 : i32
        %was = memref.atomic_rmw addi %c1, %one[] : (i32, memref<i32>) -> i32
        """,
    )
    a = fresh_generator().integers(0, 9, 2048).astype(np.float32)
    few, many, one = np.zeros(4, np.int32), np.zeros(2048, np.int32), np.zeros((), np.int32)
    xtile.run(distributed(text, level), [a, few, many, one], grid=(3, 1, 1))
    np.testing.assert_array_equal(few, 3)
    np.testing.assert_array_equal(many, 3 * a.astype(np.int32))
    assert one == 3


def test_a_value_that_was_replaced_goes_to_all_subgroups() -> None:
    text = tile_kernel(
        "%tickets: memref<i32>, %o: memref<4x1024xi32>",
        """
        %c1 = arith.constant 1 : i32
        %was = memref.atomic_rmw addi %c1, %tickets[] : (i32, memref<i32>) -> i32
        %row = arith.index_cast %was : i32 to index
        %y = vector.broadcast %was : i32 to vector<1024xi32>
        vector.transfer_write %y, %o[%row, %c0] {in_bounds = [true]}
            : vector<1024xi32>, memref<4x1024xi32>
        """,
    )
    out = np.full((4, 1024), -1, np.int32)
    arguments = [np.zeros((), np.int32), out]
    xtile.run(distributed(text), arguments, grid=(4, 1, 1), sanitize=True)
    np.testing.assert_array_equal(out, np.arange(4)[:, np.newaxis].repeat(1024, 1))


def test_what_is_in_place_waits_for_readers() -> None:
    """A row of a tile is written where other subgroups still read."""
    text = tile_kernel(
        "%a: memref<64x64xf32>",
        """
        %zero = arith.constant 0.0 : f32
        %x = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true],
            permutation_map = affine_map<(i, j) -> (j, i)>} : memref<64x64xf32>, vector<64x64xf32>
        vector.transfer_write %x, %a[%c0, %c0] {in_bounds = [true, true]}
            : vector<64x64xf32>, memref<64x64xf32>
        """,
    )
    a = fresh_generator().standard_normal((64, 64)).astype(np.float32)
    expected = a.T.copy()
    xtile.run(distributed(text), [a], sanitize=True)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["pvc", "bmg", "dg2"])
@pytest.mark.parametrize("level", ["subgroup", "lane"])
@pytest.mark.parametrize("types", [("f16", "f32"), ("i8", "i32"), ("f32", "f32")])
def test_products(types: tuple[str, str], level: str, chip: str) -> None:
    factor, total = types
    zero = "0" if factor == "i8" else "0.0"
    text = tile_kernel(
        f"%a: memref<60x32x{factor}>, %b: memref<32x64x{factor}>, %o: memref<60x64x{total}>",
        f"""
        %zero = arith.constant {zero} : {factor}
        %x = vector.transfer_read %a[%c0, %c0], %zero
            : memref<60x32x{factor}>, vector<64x32x{factor}>
        %y = vector.transfer_read %b[%c0, %c0], %zero
            : memref<32x64x{factor}>, vector<32x64x{factor}>
        %start = arith.constant dense<{zero}> : vector<64x64x{total}>
        %c = vector.contract {{indexing_maps = [#lhs, #rhs, #sum],
            iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
            %x, %y, %start : vector<64x32x{factor}>, vector<32x64x{factor}> into
            vector<64x64x{total}>
        vector.transfer_write %c, %o[%c0, %c0] : vector<64x64x{total}>, memref<60x64x{total}>
        """,
    )
    kinds = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}
    random = fresh_generator()
    a, b = (random.integers(-8, 8, shape).astype(kinds[factor]) for shape in ((60, 32), (32, 64)))
    out = np.full((60, 64), 77, kinds[total])
    xtile.run(distributed(text, level, chip), [a, b, out], sanitize=level == "subgroup")
    np.testing.assert_array_equal(out, a.astype(np.int64) @ b.astype(np.int64))


@pytest.mark.parametrize("chip", ["pvc", "bmg", "dg2"])
@pytest.mark.parametrize("level", ["subgroup", "lane"])
def test_products_of_xegpu_of_work_groups(level: str, chip: str) -> None:
    """A loop that carries sums, whatever layouts the source gave them."""
    parameters = "%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>"
    text = xegpu_kernel(parameters, WORK_GROUP_PRODUCT, aliases=WORK_GROUP_LAYOUTS)
    random = fresh_generator()
    a, b = (random.integers(-8, 8, shape).astype(np.float16) for shape in ((32, 64), (64, 32)))
    out = np.full((32, 32), np.nan, np.float32)
    xtile.run(distributed(text, level, chip), [a, b, out], sanitize=level == "subgroup")
    np.testing.assert_array_equal(out, a.astype(np.int64) @ b.astype(np.int64))


def test_lines_go_from_subgroup_to_subgroup_on_opencl() -> None:
    """A device whose subgroups do run at once."""
    body, shape, expected = MOVES["repeated"]
    text = tile_kernel(
        f"{SOURCE}, %o: memref<{shape}xf32>", READ + body + "\n" + _write("f32", shape)
    )
    x = fresh_generator().standard_normal((ROWS, COLUMNS)).astype(np.float32)
    out = np.full((ROWS, COLUMNS), np.nan, np.float32)
    xtile.run(distributed(text, "lane"), [x, out], device="opencl")
    np.testing.assert_allclose(out, expected(x.astype(np.float64)), rtol=0, atol=2e-3)


def test_too_much_for_local_memory_is_refused() -> None:
    text = tile_kernel(
        "%a: memref<256x256xf32>",
        """
        %zero = arith.constant 0.0 : f32
        %x = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true]}
            : memref<256x256xf32>, vector<256x256xf32>
        %d = arith.addf %x, %x : vector<256x256xf32>
        %y = vector.transpose %d, [1, 0] : vector<256x256xf32> to vector<256x256xf32>
        vector.transfer_write %y, %a[%c0, %c0] {in_bounds = [true, true]}
            : vector<256x256xf32>, memref<256x256xf32>
        """,
    )
    with pytest.raises(DiagnosticError) as raised:
        distributed(text, chip="dg2")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.message == (
        "elements go from subgroup to subgroup through 263168 bytes of local memory, "
        "but a work-group of dg2 has 65536; use smaller tiles"
    )


TURNED_IN_PLACE = """
%c1 = arith.constant 1 : index
%c3 = arith.constant 3 : index
%zero = arith.constant 0.0 : f32
%one = arith.constant dense<1.0> : vector<64x64xf32>
scf.for %i = %c0 to %c3 step %c1 {
  %x = vector.transfer_read %o[%c0, %c0], %zero {in_bounds = [true, true]}
      : memref<64x64xf32>, vector<64x64xf32>
  %y = vector.transpose %x, [1, 0] : vector<64x64xf32> to vector<64x64xf32>
  %z = arith.addf %y, %one : vector<64x64xf32>
  vector.transfer_write %z, %o[%c0, %c0] {in_bounds = [true, true]}
      : vector<64x64xf32>, memref<64x64xf32>
}
"""


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("level", ["subgroup", "lane"])
def test_what_others_wrote_in_the_last_iteration(level: str, chip: str) -> None:
    """Subgroups wait before they read it, and before they write what others still read."""
    made = distributed(tile_kernel("%o: memref<64x64xf32>", TURNED_IN_PLACE), level, chip)
    before = fresh_generator().integers(0, 100, (64, 64)).astype(np.float32)
    found = before.copy()
    xtile.run(made, [found], 1, sanitize=True)
    np.testing.assert_array_equal(found, before.T + 3)
