"""Why matrices are not accessed by blocks or multiplied on the matrix unit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.translate.core_to_xegpu.lowered import Lowered, lower

CONSTANTS = "%c0 = arith.constant 0 : index"
FIRST = 2
"""The line behind the constants."""

INSIDE = "{in_bounds = [true, true]}"
CHECKED = "{in_bounds = [false, false]}"
TRANSPOSED = "{in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>}"


@dataclass(frozen=True)
class Case:
    """Operations on line 2, and the reason that they are told to be slow for."""

    name: str
    parameters: str
    body: str
    reason: str
    chip: str = "pvc"
    attributes: str = ""

    def lowered(self) -> Lowered:
        return lower(self.parameters, f"{CONSTANTS}\n{self.body}", self.chip, self.attributes)

    def remarks(self) -> list[str]:
        """The remarks at the first of the operations."""
        return [message for line, message in self.lowered().remarks if line == FIRST]


def _read(memref: str, vector: str, at: str, flags: str, view: str) -> str:
    source, type_ = ("%V", view.split(" to ")[1]) if view else ("%A", memref)
    # On one line, because the first one is where remarks are looked for.
    element = vector.rsplit("x", maxsplit=1)[1]
    zero = f"%zero = arith.constant {0 if element.startswith('i') else 0.0} : {element}"
    read = f"%r = vector.transfer_read {source}[{at}], %zero {flags} : {type_}, vector<{vector}>"
    return f"{view} {zero} {read}"


def _case(
    name: str,
    memref: str,
    vector: str,
    reason: str,
    *,
    at: str = "%c0, %c0",
    flags: str = INSIDE,
    attributes: str = "",
    more: str = "",
    chip: str = "pvc",
    view: str = "",
) -> Case:
    of_parameter = f" {{{attributes}}}" if attributes else ""
    result = f"memref<{vector}>"
    return Case(
        name,
        f"%A: {memref}{of_parameter}, %R: {result}{more}",
        f"{_read(memref, vector, at, flags, view)}\n"
        f"vector.transfer_write %r, %R[%c0, %c0] {INSIDE} : vector<{vector}>, {result}",
        reason,
        chip,
    )


ODD_PITCH = "the pitch is 126 bytes, no multiple of 16, a row has 126 bytes, no multiple of 4"

GATHERS = [
    _case(
        "no blocks",
        "memref<64x64xf16>",
        "8x16xf16",
        "dg2 has no two-dimensional block accesses",
        chip="dg2",
    ),
    _case(
        "too few columns",
        "memref<64x64xf16>",
        "8x8xf16",
        "the matrix has 8 columns, no multiple of 16",
    ),
    _case(
        "columns that leave a rest",
        "memref<64x64xf16>",
        "8x24xf16",
        "the matrix has 24 columns, no multiple of 16",
    ),
    _case("truth values", "memref<64x64xi1>", "8x16xi1", "elements have one bit"),
    _case(
        "no contiguous dimension",
        "memref<?x?xf16, strided<[?, ?]>>",
        "8x16xf16",
        "no dimension of the memref is known to be contiguous",
    ),
    _case(
        "alignment of the address",
        "memref<64x64xf16>",
        "8x16xf16",
        "the address is not known to be a multiple of 4 bytes; "
        "give %A {core.alignment = 128 : i64}",
        attributes="core.alignment = 2 : i64",
    ),
    _case(
        "pitch that is no multiple",
        "memref<64x36xf16>",
        "8x16xf16",
        "the pitch is 72 bytes, no multiple of 16",
    ),
    _case(
        "unknown pitch",
        "memref<?x?xf16, strided<[?, 1]>>",
        "8x16xf16",
        "the pitch is not known to be a multiple of 16 bytes, the pitch is not known to be at "
        "least 64 bytes, a row is not known to have a multiple of 4 bytes, a row is not known to "
        "have at least 64 bytes; "
        "give %A {core.alignment = 128 : i64, core.stride_gcd = array<i64: 32, 1>}",
    ),
    _case(
        "short pitch",
        "memref<64x16xf16>",
        "8x16xf16",
        "the pitch is 32 bytes, less than 64, a row has 32 bytes, less than 64",
    ),
    _case(
        "pitch that may be short",
        "memref<?x?xf16, strided<[?, 1]>>",
        "8x16xf16",
        "the pitch is not known to be at least 64 bytes, a row is not known to have at least 64 "
        "bytes; give %A {core.alignment = 128 : i64, core.stride_gcd = array<i64: 32, 1>}",
        attributes="core.stride_gcd = array<i64: 16, 1>",
    ),
    _case(
        "short rows",
        "memref<64x16xf16, strided<[64, 1]>>",
        "8x16xf16",
        "a row has 32 bytes, less than 64",
        flags=CHECKED,
    ),
    _case(
        "unknown rows",
        "memref<?x?xf16, strided<[64, 1]>>",
        "8x16xf16",
        "a row is not known to have a multiple of 4 bytes, a row is not known to have at least 64 "
        "bytes; give %A {core.alignment = 128 : i64, core.shape_gcd = array<i64: 1, 32>}",
        flags=CHECKED,
    ),
    _case(
        "rows of no whole words",
        "memref<64x63xf16, strided<[64, 1]>>",
        "8x16xf16",
        "a row has 126 bytes, no multiple of 4",
        flags=CHECKED,
    ),
    _case(
        "any column",
        "memref<64x64xf16>",
        "8x16xf16",
        "the first column is not known to be a multiple of 4 bytes",
        at="%c0, %i",
        more=", %i: index",
    ),
    _case(
        "long rows",
        "memref<8x8388624xf16>",
        "8x16xf16",
        "there are more than 16777216 rows, or bytes from one row to the next",
    ),
    _case(
        "many rows",
        "memref<16777217x64xf16>",
        "8x16xf16",
        "there are more than 16777216 rows, or bytes from one row to the next",
    ),
    _case(
        "64-bit numbers",
        "memref<64x64xf64>",
        "8x16xf64",
        "there is no load of a block of 8x16 elements of 64 bits",
    ),
    _case(
        "bytes",
        "memref<64x64xi8>",
        "8x16xi8",
        "there is no load of a block of 8x16 elements of 8 bits",
    ),
    _case(
        "an index that may be negative in a part of a matrix",
        "memref<128x128xf16>",
        "8x16xf16",
        "an index that is checked is not known to be 0 or more",
        view="%V = memref.subview %A[16, 16] [64, 64] [1, 1] : memref<128x128xf16> "
        "to memref<64x64xf16, strided<[128, 1], offset: 2064>>",
        at="%i, %c0",
        flags=CHECKED,
        more=", %i: index",
    ),
    _case(
        "transposed 64-bit numbers",
        "memref<64x64xf64>",
        "8x16xf64",
        "there is no transposed load of elements of 64 bits",
        flags=TRANSPOSED,
    ),
    _case(
        "transposed rows of no whole words",
        "memref<64x64xf16>",
        "1x16xf16",
        "the rows of the matrix are no whole words of 32 bits in memory",
        flags=TRANSPOSED,
    ),
    _case(
        "transposed bytes from the middle of a word",
        "memref<64x64xi8>",
        "2x16xi8",
        "the rows of the matrix are no whole words of 32 bits in memory",
        flags=TRANSPOSED,
    ),
]
"""Reads of a matrix element by element."""


@pytest.mark.parametrize("case", GATHERS, ids=lambda case: case.name)
def test_reads(case: Case) -> None:
    assert case.remarks() == [f"loads element by element: {case.reason}"]
    names = case.lowered().names
    assert "xegpu.load_nd" not in names
    assert "memref.load" in names


@pytest.mark.parametrize(
    "case", [case for case in GATHERS if "give %A" in case.reason], ids=lambda case: case.name
)
def test_what_is_to_be_promised_is_enough(case: Case) -> None:
    promise = case.reason.partition("give %A ")[2]
    memref, brace, rest = case.parameters.partition(", %R")
    promised = f"{memref.partition(' {')[0]} {promise}{brace}{rest}"
    lowered = replace(case, parameters=promised)
    assert lowered.remarks() == []
    assert "xegpu.load_nd" in lowered.lowered().names


def _written(vector: str, memref: str, flags: str = INSIDE) -> str:
    return f"vector.transfer_write %v, %A[%c0, %c0] {flags} : {vector}, {memref}"


STORES = [
    (
        "memref<64x64xf64>",
        "8x16xf64",
        "there is no store of a block of 8x16 elements of 64 bits",
    ),
    ("memref<64x63xf16>", "8x16xf16", ODD_PITCH),
    ("memref<64x64xf16>", "8x4xf16", "the matrix has 4 columns, no multiple of 16"),
    ("memref<64x64xf16>", "8x16xf16", "there is no transposed block store"),
]
"""Matrices that are stored element by element."""


@pytest.mark.parametrize(("memref", "vector", "reason"), STORES)
def test_stores(memref: str, vector: str, reason: str) -> None:
    element = vector.rsplit("x", maxsplit=1)[1]
    flags = TRANSPOSED if "transposed" in reason else INSIDE
    lowered = lower(
        f"%A: {memref}, %x: {element}",
        f"{CONSTANTS}\n%v = vector.broadcast %x : {element} to vector<{vector}>\n"
        + _written(f"vector<{vector}>", memref, flags),
    )
    assert lowered.remarks == [(FIRST + 1, f"stores element by element: {reason}")]
    assert "xegpu.store_nd" not in lowered.names
    assert "memref.store" in lowered.names


def test_local_memory_needs_no_remark() -> None:
    """No GPU accesses it by blocks."""
    memref = "memref<64x64xf16, #gpu.address_space<workgroup>>"
    lowered = lower(
        "%x: f16",
        f"{CONSTANTS}\n%A = memref.alloca() : {memref}\n"
        f"%v = vector.broadcast %x : f16 to vector<8x16xf16>\n"
        + _written("vector<8x16xf16>", memref),
    )
    assert lowered.remarks == []
    assert "memref.store" in lowered.names


PREFETCHES = [
    ("memref<64x64xf16>", "dg2", "dg2 has no two-dimensional block accesses"),
    ("memref<64x63xf16>", "pvc", ODD_PITCH),
    ("memref<64x64xf64>", "pvc", "elements are too large"),
]
"""Prefetches that are left out."""


@pytest.mark.parametrize(("memref", "chip", "reason"), PREFETCHES)
def test_prefetches(memref: str, chip: str, reason: str) -> None:
    body = f"{CONSTANTS}\ncore.prefetch %A[%c0, %c0] block [16, 16] level 0 : {memref}"
    lowered = lower(f"%A: {memref}", body, chip)
    assert lowered.remarks == [(FIRST, f"prefetches nothing: {reason}")]
    assert "xegpu.prefetch_nd" not in lowered.names


MATMUL = (
    "{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,"
    " affine_map<(d0, d1, d2) -> (d0, d1)>], "
    'iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}'
)


def _product(left: str, right: str, total: str) -> tuple[str, str]:
    """Parameters and body of a kernel that multiplies two matrices of equal components."""
    elements = [type.rsplit("x", maxsplit=1)[1] for type in (left, right, total)]
    parameters = ", ".join(f"%x{i}: {element}" for i, element in enumerate(elements))
    operands = "\n".join(
        f"%v{i} = vector.broadcast %x{i} : {element} to vector<{type}>"
        for i, (element, type) in enumerate(zip(elements, (left, right, total), strict=True))
    )
    product = (
        f"%r = vector.contract {MATMUL} %v0, %v1, %v2 : "
        f"vector<{left}>, vector<{right}> into vector<{total}>"
    )
    write = f"vector.transfer_write %r, %R[%c0, %c0] {INSIDE} : vector<{total}>, memref<{total}>"
    return (
        f"{parameters}, %R: memref<{total}>",
        f"{CONSTANTS}\n{operands}\n{product}\n{write}",
    )


PRODUCTS = [
    ("8x16xf32", "16x16xf32", "8x16xf32", "it rounds factors of f32 to tf32"),
    ("8x32xi8", "32x16xi8", "8x16xi8", "it has no exact products of i8 with sums of i8"),
    ("8x16xf16", "16x16xf16", "8x16xf16", "it has no exact products of f16 with sums of f16"),
    ("8x16xf64", "16x16xf64", "8x16xf64", "it has no products of f64 and f64"),
    ("8x8xf16", "8x16xf16", "8x16xf32", "the depth 8 is no multiple of 16"),
    ("8x16xf16", "16x8xf16", "8x8xf32", "8 columns are no multiple of 16"),
]
"""Products that the matrix unit does not compute."""


@pytest.mark.parametrize(("left", "right", "total", "reason"), PRODUCTS)
def test_products(left: str, right: str, total: str, reason: str) -> None:
    lowered = lower(*_product(left, right, total))
    assert (FIRST + 3, f"multiplies without the matrix unit: {reason}") in lowered.remarks
    assert "xegpu.dpas" not in lowered.names
    assert "gpu.shuffle" in lowered.names


@pytest.mark.parametrize(
    ("chip", "size", "reason"),
    [
        ("pvc", 32, "it needs subgroups of 16 lanes"),
        ("bmg", 32, "it needs subgroups of 16 lanes"),
        ("dg2", 32, "LLVM has none for subgroups of 8 lanes"),
        ("dg2", 16, "LLVM has none for subgroups of 8 lanes"),
    ],
)
def test_products_in_other_subgroups(chip: str, size: int, reason: str) -> None:
    attributes = f"intel_reqd_sub_group_size = {size} : i32"
    lowered = lower(*_product("8x16xf16", "16x32xf16", "8x32xf32"), chip, attributes)
    assert (FIRST + 3, f"multiplies without the matrix unit: {reason}") in lowered.remarks
    assert "xegpu.dpas" not in lowered.names


@pytest.mark.parametrize("rows", [1, 2, 4, 8, 32])
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_products_on_the_matrix_unit(rows: int, element: str) -> None:
    lowered = lower(*_product(f"{rows}x32x{element}", f"32x32x{element}", f"{rows}x32xf32"))
    assert lowered.remarks == []
    # Two steps in depth for two blocks of columns, for every 8 rows.
    assert lowered.names.count("xegpu.dpas") == 2 * 2 * -(-rows // 8)


def test_products_of_small_subgroups() -> None:
    lowered = lower(
        *_product("8x16xf16", "16x8xf16", "8x8xf32"),
        "dg2",
        "intel_reqd_sub_group_size = 8 : i32",
    )
    assert "xegpu.dpas" not in lowered.names
    reason = "LLVM has none for subgroups of 8 lanes"
    assert (FIRST + 3, f"multiplies without the matrix unit: {reason}") in lowered.remarks
