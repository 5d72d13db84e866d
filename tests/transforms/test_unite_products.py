"""Products of factors that lie side by side are one product, with the same values."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.transforms.unite_products import unite_products

_HEAD = """
#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#acc = affine_map<(i, j, k) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#product = {indexing_maps = [#lhs, #rhs, #acc],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
gpu.module @kernels {
  gpu.func @k(%a: memref<?x32xf16> {core.noalias}, %b: memref<32x16xf16> {core.noalias},
      %c: memref<8x16xSUMS> {core.noalias}, %m: index) kernel attributes {core.level = "tile"} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f16
    %m8 = arith.addi %m, %c8 : index
    %first = arith.constant dense<1.0> : vector<8x16xSUMS>
    %b0 = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<32x16xf16>, vector<8x16xf16>
    %b1 = vector.transfer_read %b[%c8, %c0], %zero {in_bounds = [true, true]}
        : memref<32x16xf16>, vector<8x16xf16>
"""

_TAIL = """
    %p0 = vector.contract #product %a0, %b0, %first
        : vector<8x8xf16>, vector<8x16xf16> into vector<8x16xSUMS>
    %p1 = vector.contract #product %a1, %b1, %p0
        : vector<8x8xf16>, vector<8x16xf16> into vector<8x16xSUMS>
    MORE
    vector.transfer_write %p1, %c[%c0, %c0] {in_bounds = [true, true]}
        : vector<8x16xSUMS>, memref<8x16xSUMS>
    gpu.return
  }
}
"""

_READ = "memref<?x32xf16>, vector<8x8xf16>"
_WHOLE = """
    %whole = vector.transfer_read %a[%m, %c0], %zero {in_bounds = [false, true]}
        : memref<?x32xf16>, vector<8x16xf16>"""
_PARTS = """
    %a0 = vector.extract_strided_slice %whole {offsets = [0, 0], sizes = [8, 8], strides = [1, 1]}
        : vector<8x16xf16> to vector<8x8xf16>
    %a1 = vector.extract_strided_slice %whole {offsets = [0, 8], sizes = [8, 8], strides = [1, 1]}
        : vector<8x16xf16> to vector<8x8xf16>"""

UNITED = {
    "reads": f"""
    %a0 = vector.transfer_read %a[%m, %c0], %zero {{in_bounds = [false, true]}} : {_READ}
    %a1 = vector.transfer_read %a[%m, %c8], %zero {{in_bounds = [false, true]}} : {_READ}""",
    "parts of a tile": _WHOLE + _PARTS,
    "transposed reads, one of them checked": f"""
    %a0 = vector.transfer_read %a[%m, %c0], %zero
        {{in_bounds = [true, false], permutation_map = #turned}} : {_READ}
    %a1 = vector.transfer_read %a[%m8, %c0], %zero
        {{in_bounds = [true, true], permutation_map = #turned}} : {_READ}""",
    "transpositions": f"""
    %t0 = vector.transfer_read %a[%m, %c0], %zero {{in_bounds = [false, true]}} : {_READ}
    %t1 = vector.transfer_read %a[%m8, %c0], %zero {{in_bounds = [false, true]}} : {_READ}
    %a0 = vector.transpose %t0, [1, 0] : vector<8x8xf16> to vector<8x8xf16>
    %a1 = vector.transpose %t1, [1, 0] : vector<8x8xf16> to vector<8x8xf16>""",
}

_READS = UNITED["reads"]
_WRITE = """vector.transfer_write %w, %a[%c0, %c0] {in_bounds = [false, true]}
        : vector<8x8xf16>, memref<?x32xf16>"""

SEVERAL = {
    "a gap": _READS.replace("%a[%m, %c8]", "%a[%m, %c16]"),
    "the other order": _READS.replace("%c8]", "%x]").replace("%c0]", "%c8]").replace("%x", "%c0"),
    "other rows": _READS.replace("%a[%m, %c8]", "%a[%m8, %c8]"),
    "the same": _READS.replace("%c8]", "%c0]"),
    "a write in between": _READS.replace(
        "    %a1",
        "    %w = arith.addf %a0, %a0 : vector<8x8xf16>\n    " + _WRITE + "\n    %a1",
    ),
    "other padding": "    %one = arith.constant 1.0 : f16"
    + _READS.replace("%c8], %zero", "%c8], %one"),
}


def _text(body: str, sums: str = "f32", more: str = "") -> str:
    return (_HEAD + body + _TAIL).replace("SUMS", sums).replace("MORE", more)


def _run(module: ModuleOp, sums: type[np.floating], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    z = np.full((8, 16), np.nan, sums)
    xtile.run(module, (x.copy(), y, z, 3), 1)
    assert not np.isnan(z).any()
    return z


@pytest.mark.parametrize("name", [*UNITED, *SEVERAL])
def test_values(name: str) -> None:
    generator = fresh_generator()
    x = generator.integers(-9, 9, (19, 32)).astype(np.float16)
    y = generator.integers(-9, 9, (32, 16)).astype(np.float16)
    module = xtile.parse(_text({**UNITED, **SEVERAL}[name]), language="mlir")
    # Sums of such integers are exact in any order.
    before, after = (_run(each, np.float32, x, y) for each in (module, unite_products(module)))
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", UNITED)
def test_one_product(name: str) -> None:
    module = unite_products(xtile.parse(_text(UNITED[name]), language="mlir"))
    text = xtile.to_text(module, "mlir")
    assert text.count("vector.contract") == 1
    assert "vector<8x16xf16>, vector<16x16xf16> into vector<8x16xf32>" in text
    assert "extract_strided_slice" not in text
    assert text.count("transfer_read") == 2


@pytest.mark.parametrize("name", SEVERAL)
def test_several_products(name: str) -> None:
    module = unite_products(xtile.parse(_text(SEVERAL[name]), language="mlir"))
    assert xtile.to_text(module, "mlir").count("vector.contract") == 2


def test_sums_that_each_product_rounds_stay() -> None:
    module = unite_products(xtile.parse(_text(_READS, sums="f16"), language="mlir"))
    assert xtile.to_text(module, "mlir").count("vector.contract") == 2


def test_a_product_that_something_else_needs_stays() -> None:
    more = """vector.transfer_write %p0, %c[%c0, %c0] {in_bounds = [true, true]}
        : vector<8x16xf32>, memref<8x16xf32>"""
    module = unite_products(xtile.parse(_text(_READS, more=more), language="mlir"))
    assert xtile.to_text(module, "mlir").count("vector.contract") == 2


@pytest.mark.parametrize(("count", "left"), [(2, 1), (3, 2), (4, 1), (7, 3), (8, 1)])
def test_pairs_of_pairs(count: int, left: int) -> None:
    """So that depths stay powers of two, where they are."""
    products, x = "", f"memref<8x{8 * count}xf16>"
    for i in range(count):
        before = f"%p{i - 1}" if i else "%first"
        products += f"""
    %k{i} = arith.constant {8 * i} : index
    %a{i} = vector.transfer_read %a[%c0, %k{i}], %zero {{in_bounds = [true, true]}}
        : {x}, vector<8x8xf16>
    %p{i} = vector.contract #product %a{i}, %a{i}, {before}
        : vector<8x8xf16>, vector<8x8xf16> into vector<8x8xf32>"""
    head = _HEAD[: _HEAD.index("%b0")].replace("8x16", "8x8").replace("memref<?x32xf16>", x)
    head = head.replace("(k, j)", "(j, k)")
    tail = _TAIL[_TAIL.index("vector.transfer_write") :].replace("8x16", "8x8")
    text = (head + products + tail.replace("%p1", f"%p{count - 1}")).replace("SUMS", "f32")
    module = xtile.parse(text, language="mlir")
    united = unite_products(module)
    assert xtile.to_text(united, "mlir").count("vector.contract") == left
    a = fresh_generator().integers(-9, 9, (8, 8 * count)).astype(np.float16)
    for each in (module, united):
        c = np.full((8, 8), np.nan, np.float32)
        xtile.run(each, (a, np.zeros((32, 16), np.float16), c, 0), 1)
        np.testing.assert_array_equal(c, 1 + a.astype(np.float32) @ a.astype(np.float32).T)
