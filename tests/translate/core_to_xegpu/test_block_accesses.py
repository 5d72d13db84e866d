"""Accesses of matrices by blocks: what they become, and what they do at the edges."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import read
from tests.translate.core_to_xegpu.lowered import kernel, lower
from xtile.dialects.gpu.functions import FuncOp
from xtile.semantics.arguments import MemrefArgument, ScalarArgument
from xtile.semantics.engine import launch
from xtile.targets.compilers import XTILE
from xtile.translate.route import Options, translate_to

CONSTANTS = "%c0 = arith.constant 0 : index"


def _copy(memref: str, vector: str, result: str, flags: str, at: str) -> str:
    element = vector.rsplit("x", maxsplit=1)[1]
    return (
        f"%zero = arith.constant 0.0 : {element}\n"
        f"%v = vector.transfer_read %A[{at}], %zero {{{flags}}} : {memref}, vector<{vector}>\n"
        f"vector.transfer_write %v, %R[%c0, %c0] {{in_bounds = [true, true]}} : "
        f"vector<{vector}>, {result}"
    )


# --- text ---

TEXTS = {
    "rows": (
        "memref<64x64xf16>",
        "16x32xf16",
        "in_bounds = [true, true]",
        [
            "%0 = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>",
            "%1 = xegpu.load_nd %0[0, 0]  : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>",
            "%2 = xegpu.load_nd %0[8, 0]  : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>",
            "%3 = xegpu.load_nd %0[0, 16]  : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>",
            "%4 = xegpu.load_nd %0[8, 16]  : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>",
        ],
    ),
    "columns": (
        "memref<64x64xf32>",
        "8x16xf32",
        "in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>",
        [
            "%0 = memref.extract_aligned_pointer_as_index %A : memref<64x64xf32> -> index",
            "%1 = arith.index_cast %0 : index to i64",
            (
                "%2 = xegpu.create_nd_tdesc %1, shape : [64, 64], strides : [64, 1] : i64 -> "
                "!xegpu.tensor_desc<16x8xi32>"
            ),
            (
                "%3 = xegpu.load_nd %2[0, 0] <{transpose = array<i64: 1, 0>}> : "
                "!xegpu.tensor_desc<16x8xi32> -> vector<8xi32>"
            ),
            "%4 = vector.bitcast %3 : vector<8xi32> to vector<8xf32>",
        ],
    ),
    "sizes that are read": (
        "memref<?x64xf32>",
        "8x16xf32",
        "in_bounds = [false, true]",
        [
            (
                "%0:6 = memref.extract_strided_metadata %A : memref<?x64xf32> -> "
                "memref<f32>, index, index, index, index, index"
            ),
            "%1 = memref.extract_aligned_pointer_as_index %A : memref<?x64xf32> -> index",
            "%2 = arith.index_cast %1 : index to i64",
            (
                "%3 = xegpu.create_nd_tdesc %2, shape : [%0#2, 64], strides : [64, 1] : i64 -> "
                "!xegpu.tensor_desc<8x16xf32>"
            ),
            "%4 = xegpu.load_nd %3[0, 0]  : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>",
        ],
    ),
}
"""The memref, the matrix, the flags and how the text begins behind the constants."""


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    memref, vector, flags, expected = TEXTS[name]
    lowered = lower(
        f"%A: {memref}, %R: memref<{vector}>",
        f"{CONSTANTS}\n" + _copy(memref, vector, f"memref<{vector}>", flags, "%c0, %c0"),
    )
    body = [line for line in lowered.body if "arith.constant" not in line]
    assert body[: len(expected)] == expected


def test_memory_that_begins_between_addresses_of_blocks() -> None:
    """Blocks count from the address before it; the rest is added to columns and to the width."""
    memref = "memref<64x64xf16>"
    lowered = lower(
        f"%A: {memref} {{core.alignment = 16 : i64}}, %R: {memref}",
        f"{CONSTANTS}\n" + _copy(memref, "8x16xf16", memref, INSIDE, "%c0, %c0"),
    )
    assert lowered.remarks == []
    expected = [
        "%0 = memref.extract_aligned_pointer_as_index %A : memref<64x64xf16> -> index",
        "%1 = arith.index_cast %0 : index to i64",
        "%2 = arith.constant 63 : i64",
        "%3 = arith.andi %1, %2 : i64",
        "%4 = arith.index_cast %3 : i64 to index",
    ]
    start = lowered.body.index(expected[0])
    assert lowered.body[start : start + len(expected)] == expected
    assert "%6 = arith.subi %1, %3 : i64" in lowered.body


_PREFETCH = "core.prefetch %A[%c0, %c0] block [16, 16] level {} : memref<64x64xf16>"


@pytest.mark.parametrize(
    ("level", "hints"), [(0, "l1_hint l2_hint l3_hint"), (1, "l2_hint l3_hint")]
)
def test_prefetches_are_cached_from_their_level_on(level: int, hints: str) -> None:
    lowered = lower("%A: memref<64x64xf16>", f"{CONSTANTS}\n{_PREFETCH.format(level)}")
    shown = ", ".join(f"{hint} = #xegpu.cache_hint<cached>" for hint in hints.split())
    type_ = "!xegpu.tensor_desc<16x16xf16>"
    assert lowered.body[-1] == f"xegpu.prefetch_nd %0[0, 0] <{{{shown}}}> : {type_}"


@pytest.mark.slow
def test_llvm_caches_what_is_prefetched() -> None:
    """In L1 and in what it calls L3: without hints it would pass both of them by."""
    body = f"{CONSTANTS}\n{_PREFETCH.format(0)}\n{_PREFETCH.format(1)}"
    text = xtile.to_text(lower("%A: memref<64x64xf16>", body).module, "mlir")
    result = run_mlir_opt(text, "-convert-xegpu-to-xevm")
    assert result.returncode == 0, result.stderr
    prefetches = [line for line in result.stdout.splitlines() if "xevm.blockprefetch2d" in line]
    controls = [re.findall(r"load_cache_control<(\w+)>", line) for line in prefetches]
    assert controls == [["L1c_L2uc_L3c"], ["L1uc_L2uc_L3c"]]


# --- values at the edges ---

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}

PITCH = 96
SHAPE = (37, 64)
"""Of the matrix in memory, whose rows lie in longer ones."""

STARTS = [(0, 0), (8, 16), (33, 32), (30, 58), (36, 62), (37, 0), (0, 64), (-3, 4), (5, -6)]
"""Blocks inside, across every edge, and outside of the matrix."""

ALIGNED = (
    "%c0 = arith.constant 0 : index\n%c2 = arith.constant 2 : index\n"
    "%column = arith.muli %j, %c2 : index"
)
"""Columns are even, as block accesses need."""

INSIDE = "in_bounds = [true, true]"
CHECKED = "in_bounds = [false, false]"
TRANSPOSE = "permutation_map = affine_map<(d0, d1) -> (d1, d0)>"


def _memref(element: str) -> tuple[str, str]:
    """The type of a parameter, and its attributes: its rows are whole numbers of 32 elements."""
    return (
        f"memref<?x?x{element}, strided<[{PITCH}, 1]>>",
        "{core.shape_gcd = array<i64: 1, 32>}",
    )


def _matrix(element: str, generator: np.random.Generator) -> tuple[np.ndarray[Any, Any], Any]:
    """Memory that is NaN around a random matrix, and the matrix."""
    memory = np.full((SHAPE[0] + 16, PITCH), np.nan, DTYPES[element])
    matrix = memory[8 : 8 + SHAPE[0], : SHAPE[1]]
    matrix[:] = generator.uniform(-1, 1, SHAPE)
    return memory, matrix


def _window(matrix: np.ndarray[Any, Any], start: tuple[int, int], shape: tuple[int, ...]) -> Any:
    """A block of a matrix, which is 0 outside of it."""
    margin = 100
    padded = np.pad(matrix.astype(np.float64), margin)
    rows, columns = (slice(margin + s, margin + s + n) for s, n in zip(start, shape, strict=True))
    return padded[rows, columns]


def _kernel(parameters: str, body: str, chip: str) -> tuple[FuncOp, list[str]]:
    """A lowered kernel and the names of its operations."""
    size = "intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 16, 1, 1>"
    lowered = lower(parameters, body, chip, size)
    (function,) = (op for op in lowered.module.walk() if isinstance(op, FuncOp))
    return function, lowered.names


def _run(
    function: FuncOp,
    memory: np.ndarray[Any, Any],
    result: np.ndarray[Any, Any],
    start: tuple[int, int],
) -> None:
    arguments = [
        MemrefArgument(memory[8:].reshape(-1), SHAPE, (PITCH, 1)),
        MemrefArgument(result.reshape(-1), result.shape, (result.shape[1], 1)),
        ScalarArgument(np.int64(start[0])),
        ScalarArgument(np.int64(start[1] // 2)),
    ]
    launch(function, arguments, (1, 1, 1))


@pytest.mark.slow
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("shape", [(8, 16), (16, 32), (32, 16)])
@pytest.mark.parametrize("chip", ["pvc", "dg2"])
@pytest.mark.parametrize("transpose", [False, True])
def test_padding_of_reads(element: str, shape: tuple[int, int], chip: str, transpose: bool) -> None:
    generator = fresh_generator()
    memory, matrix = _matrix(element, generator)
    memref, attributes = _memref(element)
    vector = f"{shape[0]}x{shape[1]}x{element}"
    flags = f"{CHECKED}, {TRANSPOSE}" if transpose else CHECKED
    parameters = f"%A: {memref} {attributes}, %R: memref<{vector}>, %i: index, %j: index"
    body = f"{ALIGNED}\n" + _copy(memref, vector, f"memref<{vector}>", flags, "%i, %column")
    function, names = _kernel(parameters, body, chip)
    assert ("xegpu.load_nd" in names) == (chip == "pvc")
    for start in STARTS:
        result = np.full(shape, np.nan, DTYPES[element])
        _run(function, memory, result, start)
        expected = _window(matrix, start, shape[::-1] if transpose else shape)
        # Nothing is computed, so nothing is rounded.
        np.testing.assert_array_equal(
            result.astype(np.float64), expected.T if transpose else expected
        )


@pytest.mark.slow
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("chip", ["pvc", "dg2"])
@pytest.mark.parametrize("transpose", [False, True])
def test_writes_at_the_edges(element: str, chip: str, transpose: bool) -> None:
    """What is outside of the matrix stays as it was."""
    generator = fresh_generator()
    memref, attributes = _memref(element)
    shape = (16, 32)
    vector = f"{shape[0]}x{shape[1]}x{element}"
    flags = f"{CHECKED}, {TRANSPOSE}" if transpose else CHECKED
    parameters = f"%A: {memref} {attributes}, %R: memref<{vector}>, %i: index, %j: index"
    body = (
        f"{ALIGNED}\n%zero = arith.constant 0.0 : {element}\n"
        f"%v = vector.transfer_read %R[%c0, %c0], %zero {{in_bounds = [true, true]}} : "
        f"memref<{vector}>, vector<{vector}>\n"
        f"vector.transfer_write %v, %A[%i, %column] {{{flags}}} : vector<{vector}>, {memref}"
    )
    function, names = _kernel(parameters, body, chip)
    assert ("xegpu.store_nd" in names) == (chip == "pvc" and not transpose)
    for start in STARTS:
        memory, _ = _matrix(element, generator)
        values = generator.uniform(-1, 1, shape).astype(DTYPES[element])
        expected = memory.copy()
        written = values.T if transpose else values
        for (i, j), value in np.ndenumerate(written):
            row, column = start[0] + i, start[1] + j
            if 0 <= row < SHAPE[0] and 0 <= column < SHAPE[1]:
                expected[8 + row, column] = value
        _run(function, memory, values, start)
        np.testing.assert_array_equal(memory.astype(np.float64), expected.astype(np.float64))


# --- memory that begins anywhere ---


@pytest.mark.slow
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("rest", [4, 16, 48, 60])
def test_what_lies_before_memory_is_not_touched(element: str, rest: int) -> None:
    """A view that begins behind an address of blocks is read and written to its own edges."""
    generator = fresh_generator()
    size = np.dtype(DTYPES[element]).itemsize
    first, shape = rest // size, (16, 32)
    vector = f"{shape[0]}x{shape[1]}x{element}"
    view = f"memref<?x?x{element}, strided<[{PITCH}, 1]>>"
    parameters = (
        f"%p: !core.ptr<{element}>, %R: memref<{vector}>, %rows: index, %columns: index, "
        "%i: index, %j: index"
    )
    body = f"""
        %base = core.assume %p divisible_by 64 : !core.ptr<{element}>
        %ahead = arith.constant {first} : index
        %begin = core.pointer_add %base, %ahead : !core.ptr<{element}>, index
        %known = core.assume %columns at_least 32 divisible_by 32 : index
        %A = core.view %begin to offset: [0], sizes: [%rows, %known], strides: [{PITCH}, 1]
            : !core.ptr<{element}> to {view}
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %row = core.assume %i at_least 0 : index
        %half = core.assume %j at_least 0 : index
        %column = arith.muli %half, %c2 : index
        %zero = arith.constant 0.0 : {element}
        %v = vector.transfer_read %A[%row, %column], %zero {{{CHECKED}}} : {view}, vector<{vector}>
        %w = vector.transfer_read %R[%c0, %c0], %zero {{{INSIDE}}}
            : memref<{vector}>, vector<{vector}>
        vector.transfer_write %v, %R[%c0, %c0] {{{INSIDE}}} : vector<{vector}>, memref<{vector}>
        vector.transfer_write %w, %A[%row, %column] {{{CHECKED}}} : vector<{vector}>, {view}
    """
    size_of = "intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 16, 1, 1>"
    text = kernel(parameters, body, size_of)
    module = translate_to(read(text), "lane", Options("pvc", compiler=XTILE))
    names = [operation.name for operation in module.walk()]
    assert ("xegpu.load_nd" in names, "xegpu.store_nd" in names) == (True, True)
    for start in [start for start in STARTS if min(start) >= 0]:
        memory = np.full(64 * PITCH, np.nan, DTYPES[element])
        matrix = np.lib.stride_tricks.as_strided(
            memory[first:], SHAPE, (PITCH * size, size), writeable=True
        )
        matrix[:] = generator.uniform(-1, 1, SHAPE)
        values = generator.uniform(-1, 1, shape).astype(DTYPES[element])
        expected, loaded = memory.copy(), _window(matrix, start, shape)
        for (i, j), value in np.ndenumerate(values):
            if start[0] + i < SHAPE[0] and start[1] + j < SHAPE[1]:
                expected[first + (start[0] + i) * PITCH + start[1] + j] = value
        xtile.run(module, (memory, values, *SHAPE, start[0], start[1] // 2), 1)
        np.testing.assert_array_equal(values.astype(np.float64), loaded)
        np.testing.assert_array_equal(memory.astype(np.float64), expected.astype(np.float64))


def test_columns_that_may_be_negative_need_an_address_of_blocks() -> None:
    memref, attributes = _memref("f16")
    parameters = f"%A: {memref} {attributes}, %R: memref<8x16xf16>, %i: index, %j: index"
    body = f"{ALIGNED}\n" + _copy(memref, "8x16xf16", "memref<8x16xf16>", CHECKED, "%i, %column")
    assert "xegpu.load_nd" in lower(parameters, body).names
    aligned_less = parameters.replace("{core.", "{core.alignment = 16 : i64, core.", 1)
    lowered = lower(aligned_less, body)
    remark = lowered.remarks[0][1]
    assert "an index that is checked is not known to be 0 or more" in remark
    assert "xegpu.load_nd" not in lowered.names
