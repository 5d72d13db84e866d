"""Products in cooperative matrices: which there are, what they look like and what they compute."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.memref import AllocaOp

from tests.lane_targets import for_either
from tests.samples import one_of
from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import DTYPES, body_of, distributed, kernel, read, run
from xtile.api import parse
from xtile.backends.intel.compilation import compile_program
from xtile.targets.intel import CPU, CPU_AMX
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import Diagnostics, Severity
from xtile.transforms.distribute.distribution import distribute
from xtile.transforms.distribute.local_memory import local_bytes

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]

ONES = {"bf16": "1.0 : bf16", "i8": "1 : i8", "f16": "1.0 : f16", "f32": "1.0 : f32"}
ZEROS = {"f32": "0.0", "f64": "0.0", "bf16": "0.0", "i32": "0", "i8": "0", "f16": "0.0"}


def gemm(
    a: str, b: str, c: str, flags: str = "", beta: str = "", attributes: str = "", alpha: str = ""
) -> str:
    """A product; beta is 0 or the parameter %beta, alpha is 1 or the parameter %alpha."""
    inputs, output = a.rpartition("x")[2].split(",")[0], c.rpartition("x")[2].split(",")[0]
    more = [f"%{name}: {type}" for name, type in (("alpha", alpha), ("beta", beta)) if type]
    constants = [] if alpha else [f"%alpha = arith.constant {ONES[inputs]}"]
    if not beta:
        constants.append(f"%beta = arith.constant {ZEROS[output]} : {output}")
    parameters = [f"%a: memref<{a}>", f"%b: memref<{b}>", f"%c: memref<{c}>", *more]
    types = f"{inputs}, memref<{a}>, memref<{b}>, {output}, memref<{c}>"
    body = [*constants, f"core.gemm {flags} %alpha, %a, %b, %beta, %c : {types}"]
    return kernel(", ".join(parameters), "\n".join(body), attributes)


# --- the shape of the code ---


WHOLE_MATRIX = """
%0 = arith.constant 16 : i32
%1 = vector.broadcast %0 : i32 to vector<16xi32>
%2 = memref.alloca() : BYTES
%3 = memref.view %2[%c0][] : BYTES to WORDS
scf.for %row = %c0 to %c16 step %c1 {
%12 = arith.muli %row, %c2 : index
%13 = vector.load %b[%12, %c0] : memref<32x16xbf16>, vector<16xbf16>
%14 = arith.addi %12, %c1 : index
%15 = vector.load %b[%14, %c0] : memref<32x16xbf16>, vector<16xbf16>
%16 = arith.bitcast %13 : vector<16xbf16> to vector<16xi16>
%17 = arith.extui %16 : vector<16xi16> to vector<16xi32>
%18 = arith.bitcast %15 : vector<16xbf16> to vector<16xi16>
%19 = arith.extui %18 : vector<16xi16> to vector<16xi32>
%20 = arith.shli %19, %1 : vector<16xi32>
%21 = arith.ori %17, %20 : vector<16xi32>
vector.store %21, %3[%row, %c0] : WORDS, vector<16xi32>
} {core.unroll = false}
%4 = memref.alloca() : ROWS
scf.for %row = %c0 to %c16 step %c1 {
%12 = vector.load %a[%row, %c0] : memref<16x32xbf16>, vector<16xbf16>
vector.store %12, %4[%row, %c0] : ROWS, vector<16xbf16>
%13 = vector.load %a[%row, %c16] : memref<16x32xbf16>, vector<16xbf16>
vector.store %13, %4[%row, %c16] : ROWS, vector<16xbf16>
} {core.unroll = false}
%5 = arith.constant 0.000000e+00 : f32
%6 = core.cooperative_matrix_fill %5 : f32 -> SUMS
%7 = memref.view %2[%c0][] : BYTES to ROWS
%8 = core.cooperative_matrix_load packed %7[%c0, %c0] : ROWS -> RIGHT
%9 = core.cooperative_matrix_load %4[%c0, %c0] : ROWS -> LEFT
%10 = core.cooperative_matrix_multiply_add %9, %8, %6 : LEFT, RIGHT, SUMS -> SUMS
%11 = memref.alloca() : TILE
core.cooperative_matrix_store %10, %11[%c0, %c0] : SUMS, TILE
scf.for %row = %c0 to %c16 step %c1 {
%12 = vector.load %11[%row, %c0] : TILE, vector<16xf32>
vector.store %12, %c[%row, %c0] : memref<16x16xf32>, vector<16xf32>
} {core.unroll = false}"""

NAMES = {
    "BYTES": "memref<1024xi8, #gpu.address_space<workgroup>>",
    "WORDS": "memref<16x16xi32, #gpu.address_space<workgroup>>",
    "ROWS": "memref<16x32xbf16, #gpu.address_space<workgroup>>",
    "TILE": "memref<16x16xf32, #gpu.address_space<workgroup>>",
    "LEFT": "!core.cooperative_matrix<16x32xbf16, matrix_a>",
    "RIGHT": "!core.cooperative_matrix<32x16xbf16, matrix_b>",
    "SUMS": "!core.cooperative_matrix<16x16xf32, accumulator>",
}


def test_a_product_that_is_one_matrix() -> None:
    """Pairs of rows of B become rows of words."""
    text = WHOLE_MATRIX
    for name, meaning in NAMES.items():
        text = text.replace(name, meaning)
    body = body_of(gemm("16x32xbf16", "32x16xbf16", "16x16xf32"), "cpu-amx")
    assert body[body.index("%0 = arith.constant 16 : i32") :] == text.split("\n")[1:]


def count(text: str, what: str) -> int:
    """How many lines of the distributed kernel have a text."""
    return sum(what in line for line in body_of(text, "cpu-amx"))


@pytest.mark.parametrize(
    ("rows", "columns", "products", "loads"),
    [("16", "64", 2, 3), ("64", "16", 2, 3), ("64", "64", 4, 4), ("?", "?", 4, 4)],
)
def test_a_tile_has_two_matrices_where_there_are_as_many(
    rows: str, columns: str, products: int, loads: int
) -> None:
    text = gemm(f"{rows}x64xbf16", f"64x{columns}xbf16", f"{rows}x{columns}xf32")
    assert count(text, "core.cooperative_matrix_multiply_add") == products
    assert count(text, "core.cooperative_matrix_load") == loads
    assert count(text, "core.cooperative_matrix_store") == products


@pytest.mark.parametrize(
    ("sizes", "single_elements"),
    [
        ((64, 64, 64), 0),
        # Rows of A, columns of B, and the depth of both.
        ((60, 64, 64), 1),
        ((64, 60, 64), 1),
        ((64, 64, 60), 2),
    ],
)
def test_only_what_is_beyond_the_end_is_packed_element_by_element(
    sizes: tuple[int, int, int], single_elements: int
) -> None:
    m, n, k = sizes
    text = gemm(f"{m}x{k}xbf16", f"{k}x{n}xbf16", f"{m}x{n}xf32")
    elements = count(text, "memref.load %a") + count(text, "memref.load %b")
    assert elements == single_elements


# --- local memory ---


def local_memory(text: str) -> int:
    """Bytes of the local memory that the distributed kernel allocates."""
    allocations = [op for op in distributed(text, "cpu-amx").walk() if isinstance(op, AllocaOp)]
    return local_bytes(allocations[0]) if allocations else 0


@pytest.mark.parametrize("depth", ["64", "1024", "1000", "5000", "?"])
@pytest.mark.parametrize("columns", ["16", "100", "?"])
@pytest.mark.parametrize("inputs", ["bf16", "i8"])
def test_panels_fit_into_local_memory(inputs: str, columns: str, depth: str) -> None:
    sums = {"bf16": "f32", "i8": "i32"}[inputs]
    a, b, c = (f"40x{depth}x{inputs}", f"{depth}x{columns}x{inputs}", f"40x{columns}x{sums}")
    assert 0 < local_memory(gemm(a, b, c)) <= CPU_AMX.local_memory
    # Two products of different sizes share it.
    d = f"{depth}x{depth}x{sums}"
    first = f"{inputs}, memref<{a}>, memref<{b}>, {sums}, memref<{c}>"
    second = f"{inputs}, memref<{a}>, memref<{a}>, {sums}, memref<{d}>"
    text = kernel(
        f"%a: memref<{a}>, %b: memref<{b}>, %c: memref<{c}>, %d: memref<{d}>, "
        f"%one: {inputs}, %beta: {sums}",
        f"core.gemm %one, %a, %b, %beta, %c : {first}\n"
        f"core.gemm transpose_a %one, %a, %a, %beta, %d : {second}",
        "",
    )
    assert count(text, "core.cooperative_matrix_store") > 4
    assert local_memory(text) <= CPU_AMX.local_memory


def test_products_of_vectors_leave_less_memory() -> None:
    """The first one takes half of it; a third for each of the others would be too much."""
    x, y, z = "memref<256x1024xf32>", "memref<1024x256xf32>", "memref<256x256xf32>"
    a, b = "memref<256x128xbf16>", "memref<128x256xbf16>"
    c, d, e = "memref<256x256xi8>", "memref<256x256xi8>", "memref<256x256xi32>"
    text = kernel(
        f"%x: {x}, %y: {y}, %z: {z}, %a: {a}, %b: {b}, %c: {c}, %d: {d}, %e: {e}, "
        "%f: memref<256x256xf32>, %one: f32, %two: bf16, %three: i8, %four: i32",
        f"core.gemm %one, %x, %y, %one, %z : f32, {x}, {y}, f32, {z}\n"
        f"core.gemm %two, %a, %b, %one, %f : bf16, {a}, {b}, f32, memref<256x256xf32>\n"
        f"core.gemm %three, %c, %d, %four, %e : i8, {c}, {d}, i32, {e}",
        "",
    )
    assert count(text, "core.cooperative_matrix_store") == 8
    assert local_memory(text) <= CPU_AMX.local_memory


def test_a_sum_that_is_rounded_at_its_end_has_a_panel_of_the_whole_depth() -> None:
    """256 KiB hold two matrices of columns 1504 deep beside a strip, but not four."""
    text = gemm("64x1500xbf16", "1500x256xbf16", "64x256xbf16")
    assert count(text, "core.cooperative_matrix_multiply_add") == 4
    assert count(text, "memref.alloca() : memref<1504x32xbf16,") == 1
    assert count(text, "memref.alloca() : memref<96256xi8,") == 1


# --- which there are ---

MISFITS = {
    "of f16": (
        gemm("64x64xf16", "64x64xf16", "64x64xf32"),
        "it has no products of f16 and f16",
    ),
    "of bf16 for f64": (
        gemm("64x64xbf16", "64x64xbf16", "64x64xf64", beta="f64"),
        "it has no exact products of bf16 with sums of f64",
    ),
    "small": (
        gemm("7x64xbf16", "64x64xbf16", "7x64xf32"),
        "the product is smaller than 8 x 8 x 16",
    ),
    "too deep for one rounding": (
        gemm("64x5000xbf16", "5000x64xbf16", "64x64xbf16"),
        "there is not enough local memory for its whole depth",
    ),
    "unknown depth with one rounding": (
        gemm("64x?xbf16", "?x64xbf16", "64x64xbf16"),
        "there is not enough local memory for its whole depth",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_remark_tells_why_there_are_none(name: str) -> None:
    text, reason = MISFITS[name]
    diagnostics = Diagnostics()
    result = distribute(read(text), for_either(CPU_AMX), diagnostics)
    (remark,) = list(diagnostics)
    assert remark.severity is Severity.REMARK
    assert remark.message == f"the matrix unit does not compute this product: {reason}"
    assert not any(op.name.startswith("core.cooperative") for op in result.walk())


def test_there_is_no_remark_on_other_devices() -> None:
    diagnostics = Diagnostics()
    distribute(read(MISFITS["small"][0]), for_either(CPU), diagnostics)
    assert list(diagnostics) == []


def test_beside_work_of_other_work_items() -> None:
    """Lanes keep several work-items, all of which would have to compute matrices together."""
    types = "bf16, memref<16x32xbf16>, memref<32x16xbf16>, f32, memref<16x16xf32>"
    text = kernel(
        "%a: memref<16x32xbf16>, %b: memref<32x16xbf16>, %c: memref<16x16xf32>, %beta: f32",
        "%one = arith.constant 1.0 : bf16\n"
        f"core.gemm %one, %a, %b, %beta, %c : {types}\n"
        "core.parallel {\n%lane = gpu.lane_id\n%x = memref.load %c[%lane, %lane] : "
        "memref<16x16xf32>\nmemref.store %x, %c[%lane, %lane] : memref<16x16xf32>\n}",
        "known_block_size = array<i32: 16, 2, 1>",
    )
    diagnostics = Diagnostics()
    result = distribute(read(text), for_either(CPU_AMX), diagnostics)
    assert "all of a subgroup must compute it together" in str(list(diagnostics))
    assert not any(op.name.startswith("core.cooperative") for op in result.walk())
    a, b = random("bf16", 16, 32), random("bf16", 32, 16)
    c = np.ones((16, 16), np.float32)
    run(distributed(text, "cpu-amx"), a, b, c, np.float32(2))
    # Had others done it too, 1 would have been doubled again.
    expected = a.astype(float) @ b.astype(float) + 2
    assert np.max(abs(c - expected)) <= 40 * 34 * 2.0**-24


def test_a_kernel_of_any_size_gets_one_work_item() -> None:
    """Then its matrices are multiplied by the unit, whatever work-items do beside."""
    types = "bf16, memref<32x32xbf16>, memref<32x32xbf16>, f32, memref<32x32xf32>"
    text = kernel(
        "%a: memref<32x32xbf16>, %b: memref<32x32xbf16>, %c: memref<32x32xf32>, %beta: f32",
        "%c1 = arith.constant 1 : index\n%c0 = arith.constant 0 : index\n"
        "%c32 = arith.constant 32 : index\n%one = arith.constant 1.0 : bf16\n"
        "core.parallel {\n%x = gpu.thread_id x\n%n = gpu.block_dim x\n"
        "scf.for %i = %x to %c32 step %n {\n"
        "memref.store %beta, %c[%i, %i] : memref<32x32xf32>\n}\n}\n"
        "%b1 = arith.constant 1.0 : f32\n"
        f"core.gemm %one, %a, %b, %b1, %c : {types}",
        attributes="",
    )
    module = distributed(text, "cpu-amx")
    assert any(op.name == "core.cooperative_matrix_multiply_add" for op in module.walk())
    a, b = random("bf16", 32, 32), random("bf16", 32, 32)
    c = np.zeros((32, 32), np.float32)
    run(module, a, b, c, np.float32(2))
    expected = a.astype(float) @ b.astype(float) + 2 * np.eye(32)
    assert np.max(abs(c - expected)) <= 40 * 34 * 2.0**-24


@pytest.mark.parametrize(("inputs", "sums"), [("bf16", "f32"), ("i8", "i32")])
@pytest.mark.parametrize("strides", ["<1,?>", "<?,?>"])
def test_panels_leave_local_memory_for_other_buffers(inputs: str, sums: str, strides: str) -> None:
    memrefs = [f"memref<{type}x?x?,strided{strides}>" for type in (inputs, inputs, sums)]
    names = zip("ABC", memrefs, strict=True)
    parameters = ", ".join(f"%{name}: {memref}" for name, memref in names)
    program = compile_program(
        parse(
            f"func @f(%alpha: {inputs}, %beta: {sums}, {parameters}) {{\n"
            "    gemm %alpha, %A, %B, %beta, %C\n}\n",
            language="tensorlang",
        ),
        for_spirv(CPU_AMX),
    )
    assert 0.9 * CPU_AMX.local_memory < program.kernels["f"].local_memory <= CPU_AMX.local_memory


# --- values ---


def random(type: str, *shape: int) -> Array:
    rng = fresh_generator()
    if type[0] == "i":
        return rng.integers(-128, 128, shape).astype(DTYPES[type])
    return rng.uniform(-1, 1, shape).astype(DTYPES[type])


def check(
    types: tuple[str, str],
    sizes: tuple[int, int, int],
    flags: str = "",
    is_known: bool = True,
    beta: int | None = None,
    alpha: int | None = None,
) -> None:
    """Runs a product on random numbers and compares it with numpy's."""
    (inputs, output), (rows, columns, depth) = types, sizes
    a_shape = (depth, rows) if "transpose_a" in flags else (rows, depth)
    b_shape = (columns, depth) if "transpose_b" in flags else (depth, columns)
    shapes = (a_shape, b_shape, (rows, columns))
    of = (inputs, inputs, output)
    types_of = [
        ("x".join(map(str, shape)) if is_known else "?x?") + f"x{type}"
        for shape, type in zip(shapes, of, strict=True)
    ]
    a, b, c = (random(type, *shape) for shape, type in zip(shapes, of, strict=True))
    old = c.copy()
    if beta is None and output[0] != "i":
        c[:] = np.nan
    numbers = [
        DTYPES[type](number)
        for type, number in ((inputs, alpha), (output, beta))
        if number is not None
    ]
    a_type, b_type, c_type = types_of
    text = gemm(
        a_type,
        b_type,
        c_type,
        flags,
        beta="" if beta is None else output,
        alpha="" if alpha is None else inputs,
    )
    module = distributed(text, "cpu-amx")
    assert any(op.name.startswith("core.cooperative") for op in module.walk())
    run(module, a, b, c, *numbers)
    wide = np.int64 if output[0] == "i" else np.float64
    left = (a.T if "transpose_a" in flags else a).astype(wide)
    right = (b.T if "transpose_b" in flags else b).astype(wide)
    factor, kept = 1 if alpha is None else alpha, 0 if beta is None else beta
    expected = factor * (left @ right) + kept * old.astype(wide)
    if output[0] == "i":
        assert np.array_equal(c, expected.astype(DTYPES[output]))
        return
    # f32 rounds at most each sum of the products, once more for each panel, alpha and beta; the
    # result is rounded to its type.
    magnitude = abs(factor) * (abs(left) @ abs(right)) + abs(kept) * abs(old.astype(wide))
    bound = (depth + 8) * 2.0**-24 * magnitude
    if output == "bf16":
        bound = bound + 2.0**-8 * abs(expected)
    assert (abs(c.astype(wide) - expected) <= bound).all()


SIZES = [(16, 16, 32), (33, 40, 70), (8, 50, 16), (64, 9, 33)]

TRANSPOSED = ("transpose_a", "transpose_b", "transpose_a transpose_b")


@pytest.mark.parametrize("types", [("bf16", "f32"), ("bf16", "bf16"), ("i8", "i32"), ("i8", "i8")])
@pytest.mark.parametrize("sizes", SIZES)
def test_products(types: tuple[str, str], sizes: tuple[int, int, int]) -> None:
    rows, columns, depth = sizes
    check(types, (rows, columns, 2 * depth if types[0] == "i8" else depth))


@pytest.mark.parametrize(
    ("types", "flags", "is_known"),
    one_of(2, product([("bf16", "f32"), ("i8", "i32")], TRANSPOSED, [True, False])),
)
def test_transposed_factors(types: tuple[str, str], flags: str, is_known: bool) -> None:
    check(types, (33, 40, 70), flags, is_known)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (33, 40, 0), (0, 3, 5), (5, 0, 3), (20, 35, 37)])
@pytest.mark.parametrize("types", [("bf16", "f32"), ("i8", "i32")])
def test_sizes_that_are_not_known(types: tuple[str, str], sizes: tuple[int, int, int]) -> None:
    check(types, sizes, is_known=False)


@pytest.mark.parametrize(
    ("types", "alpha", "beta"),
    one_of(2, product([("bf16", "f32"), ("bf16", "bf16"), ("i8", "i32")], [None, 3], [None, 0, 2])),
)
def test_factors_of_sums(types: tuple[str, str], alpha: int | None, beta: int | None) -> None:
    check(types, (17, 20, 40 if types[0] == "bf16" else 80), alpha=alpha, beta=beta)


@pytest.mark.parametrize(("is_known", "beta"), [(True, None), (True, 2), (False, 0)])
def test_deep_products_are_sums_of_panels(is_known: bool, beta: int | None) -> None:
    check(("bf16", "f32"), (16, 32, 4000), is_known=is_known, beta=beta)


def test_atomic_updates() -> None:
    text = gemm("16x64xbf16", "64x20xbf16", "16x20xf32", "atomic")
    a, b, c = random("bf16", 16, 64), random("bf16", 64, 20), random("f32", 16, 20)
    run(distributed(text, "cpu-amx"), a, b, c)
    # A row has 16 elements in one vector, and 4 in another.
    assert count(text, "memref.atomic_rmw assign") == 2
    assert np.max(abs(c - a.astype(float) @ b.astype(float))) <= 72 * 64 * 2.0**-24


def test_a_strided_output() -> None:
    """Neither rows nor columns of C are neighbours."""
    text = gemm("20x32xbf16", "32x20xbf16", "20x20xf32, strided<[100, 3]>")
    a, b = random("bf16", 20, 32), random("bf16", 32, 20)
    memory = np.full(2000, 7, np.float32)
    c = np.lib.stride_tricks.as_strided(memory, (20, 20), (400, 12))
    run(distributed(text, "cpu-amx"), a, b, c)
    assert np.max(abs(c - a.astype(float) @ b.astype(float))) <= 40 * 32 * 2.0**-24
    assert np.count_nonzero(memory == 7) == memory.size - c.size
