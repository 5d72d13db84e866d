"""Atomic updates: instructions where there are some, and else compare-and-swap."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.samples import one_of
from tests.transforms.distribute.kernels import read, run
from tests.translate.core_to_cuda_tile.entries import (
    CHIPS,
    assemble_for_all,
    body_of,
    lowered,
    run_entry,
    tile_function,
    tile_kernel,
)
from xtile.targets import NVIDIA
from xtile.translate.core_to_cuda_tile import translate_module

pytestmark = pytest.mark.slow

_FLOATS = ("f16", "bf16", "f32", "f64")
_TILE_KINDS = {
    **{("addf", type): "addf" for type in _FLOATS},
    **dict.fromkeys(product(("maxnumf", "minnumf"), _FLOATS), "cas"),
    **dict.fromkeys(product(("addi", "maxs", "mins", "ori"), ("i8", "i16")), "cas"),
    **dict.fromkeys(product(("addi", "ori"), ("i32", "i64", "index")), "rmw"),
    **dict.fromkeys(product(("maxs", "mins"), ("i32", "i64")), "rmw"),
    **dict.fromkeys((("assign", type) for type in ("f32", "f64", "i32", "i64")), "xchg"),
    **dict.fromkeys((("assign", type) for type in ("f16", "bf16", "i8", "i16")), "cas"),
}
"""For each update of a tile what it becomes where its result is used."""

_SCALAR_KINDS = {
    *product(("addf", "maxnumf", "minnumf", "mulf", "maximumf", "minimumf"), ("f32", "f16")),
    *product(("addi", "andi", "maxs", "maxu", "mins"), ("i32", "i8")),
    *product(("minu", "muli", "ori", "xori"), ("i32", "i8")),
    ("assign", "f64"),
    ("assign", "i16"),
    ("muli", "i64"),
}


_DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}


def _numbers(type: str, *shape: int) -> np.ndarray:
    import ml_dtypes

    random = np.random.default_rng(len(type) + len(shape))
    return random.integers(-9, 10, shape).astype(_DTYPES.get(type, ml_dtypes.bfloat16))


def _of_tile(kind: str, type: str, *, is_used: bool = True) -> tuple[str, str]:
    """Updates the tile at [2, 3] of a matrix that ends in it."""
    parameters = f"%m: memref<9x20x{type}>, %v: memref<8x32x{type}>, %old: memref<8x32x{type}>"
    vector = f"vector<8x32x{type}>"
    keep = f"vector.store %r, %old[%c0, %c0] : memref<8x32x{type}>, {vector}"
    body = f"""
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %c3 = arith.constant 3 : index
        %x = vector.load %v[%c0, %c0] : memref<8x32x{type}>, {vector}
        %r = core.atomic_update {kind} %x, %m[%c2, %c3] checked [0, 1]
            : {vector}, memref<9x20x{type}> -> {vector}
        {keep if is_used else ""}"""
    return parameters, body


@pytest.mark.parametrize("is_used", [True, False])
@pytest.mark.parametrize(("kind", "type"), _TILE_KINDS)
def test_tiles(kind: str, type: str, is_used: bool) -> None:
    text = tile_kernel(*_of_tile(kind, type, is_used=is_used))
    module = lowered(text)
    m, v = _numbers(type, 9, 20), _numbers(type, 8, 32)
    expected, found = ((m.copy(), np.full_like(v, 77)) for _ in range(2))
    run(read(text), expected[0], v, expected[1])
    run_entry(text, module, found[0], v, found[1])
    for one, other in zip(expected, found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(("kind", "type"), _TILE_KINDS)
def test_instructions(kind: str, type: str) -> None:
    text = "\n".join(body_of(lowered(tile_kernel(*_of_tile(kind, type)))))
    words = {
        "addf": "atomic_rmw_tko relaxed device",
        "cas": "atomic_cas_tko relaxed device",
        "rmw": "atomic_rmw_tko relaxed device",
        "xchg": ", xchg, ",
    }
    assert words[_TILE_KINDS[kind, type]] in text


def test_an_assignment_whose_result_nobody_uses_is_a_store() -> None:
    lines = body_of(lowered(tile_kernel(*_of_tile("assign", "f16", is_used=False))))
    assert any(line.split()[2:5] == ["store_ptr_tko", "relaxed", "device"] for line in lines)


def test_neighbours_in_a_word_are_updated_all() -> None:
    """Of 8-bit elements that share a word one after the other succeeds."""
    text = tile_kernel(*_of_tile("addi", "i8"))
    m, v = np.zeros((9, 20), np.int8), np.ones((8, 32), np.int8)
    run_entry(text, lowered(text), m, v, np.zeros_like(v))
    assert m[2:, 3:].all()
    assert m.sum() == 7 * 17


@pytest.mark.parametrize("type", ["i8", "i16"])
def test_local_memory_ends_with_a_word(type: str) -> None:
    body = f"""
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : {type}
    %m = memref.alloca() : memref<17x{type}, #gpu.address_space<workgroup>>
    %x = vector.transfer_read %a[%c0], %zero : memref<17x{type}>, vector<32x{type}>
    vector.transfer_write %x, %m[%c0]
        : vector<32x{type}>, memref<17x{type}, #gpu.address_space<workgroup>>
    %o = core.atomic_update addi %x, %m[%c0] checked [0]
        : vector<32x{type}>, memref<17x{type}, #gpu.address_space<workgroup>> -> vector<32x{type}>
    %y = vector.transfer_read %m[%c0], %zero
        : memref<17x{type}, #gpu.address_space<workgroup>>, vector<32x{type}>
    vector.transfer_write %y, %b[%c0] : vector<32x{type}>, memref<17x{type}>
    """
    text = tile_kernel(f"%a: memref<17x{type}>, %b: memref<17x{type}>", body)
    a, b = np.arange(17).astype(_DTYPES[type]), np.full(17, 99, _DTYPES[type])
    run_entry(text, lowered(text), a, b)
    assert (b == 2 * a).all()


def test_transposed() -> None:
    text = tile_kernel(
        "%m: memref<9x20xf32>, %v: memref<8x4xf32>",
        """
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %x = vector.load %v[%c0, %c0] : memref<8x4xf32>, vector<8x4xf32>
        %r = core.atomic_update addf transpose %x, %m[%c3, %c0] checked []
            : vector<8x4xf32>, memref<9x20xf32> -> vector<8x4xf32>""",
    )
    m, v = _numbers("f32", 9, 20), _numbers("f32", 8, 4)
    expected, found = m.copy(), m.copy()
    run(read(text), expected, v)
    run_entry(text, lowered(text), found, v)
    assert np.array_equal(expected, found)


# --- single elements ---


def _of_element(kind: str, type: str) -> tuple[str, str]:
    body = f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        %c9 = arith.constant 9 : index
        scf.for %i = %c0 to %c9 step %c1 {{
          %x = memref.load %v[%i] : memref<9x{type}>
          %r = memref.atomic_rmw {kind} %x, %m[%c3] : ({type}, memref<8x{type}>) -> {type}
          memref.store %r, %old[%i] : memref<9x{type}>
        }}"""
    return f"%m: memref<8x{type}>, %v: memref<9x{type}>, %old: memref<9x{type}>", body


@pytest.mark.parametrize(("kind", "type"), sorted(_SCALAR_KINDS))
def test_elements(kind: str, type: str) -> None:
    text = tile_kernel(*_of_element(kind, type))
    m, v = _numbers(type, 8), _numbers(type, 9)
    expected, found = ((m.copy(), np.full_like(v, 77)) for _ in range(2))
    run(read(text), expected[0], v, expected[1])
    run_entry(text, lowered(text), found[0], v, found[1])
    for one, other in zip(expected, found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(("kind", "n"), [*product(("addf", "assign"), (3, 8, -1))])
def test_complex_numbers(kind: str, n: int) -> None:
    """Both parts are updated; an element outside is left alone, and was 0."""
    text = tile_kernel(
        "%x: complex<f32>, %m: memref<8xcomplex<f32>>, %n: index, %old: memref<complex<f32>>",
        f"""
        %r = core.atomic_update {kind} %x, %m[%n] checked [0]
            : complex<f32>, memref<8xcomplex<f32>> -> complex<f32>
        memref.store %r, %old[] : memref<complex<f32>>""",
    )
    m, old = (np.arange(8) + 1j).astype(np.complex64), np.full((), 7, np.complex64)
    expected = m.copy()
    if n == 3:
        expected[3] = 1 + 2j + (m[3] if kind == "addf" else 0)
    run_entry(text, lowered(text), 1 + 2j, m, n, old)
    assert np.array_equal(m, expected)
    assert old == (3 + 1j if n == 3 else 0)


def test_scattered_updates() -> None:
    text = tile_kernel(
        "%m: memref<9x20xf32>, %v: memref<16xf32>, %old: memref<16xf32>",
        """
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %x = vector.load %v[%c0] : memref<16xf32>, vector<16xf32>
        %s = vector.step : vector<16xindex>
        %mask = arith.constant dense<[true, true, false, true, true, true, true, true, true, true,
            true, true, true, true, true, false]> : vector<16xi1>
        %r = core.atomic_rmw addf relaxed device %x, %m[%c3, %s], %mask
            : vector<16xf32>, memref<9x20xf32>[index, vector<16xindex>], vector<16xi1>
        vector.store %r, %old[%c0] : memref<16xf32>, vector<16xf32>""",
    )
    m, v = _numbers("f32", 9, 20), _numbers("f32", 16)
    expected, found = ((m.copy(), np.full_like(v, 77)) for _ in range(2))
    run(read(text), expected[0], v, expected[1])
    run_entry(text, lowered(text), found[0], v, found[1])
    for one, other in zip(expected, found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("chip", CHIPS)
def test_assembler(chip: str) -> None:
    all_kernels = [
        *(_of_tile(kind, type) for kind, type in _TILE_KINDS),
        *(_of_element(kind, type) for kind, type in sorted(_SCALAR_KINDS)),
        _of_tile("assign", "f16", is_used=False),
        _of_tile("assign", "i8", is_used=False),
    ]
    kernels = all_kernels if chip == CHIPS[0] else one_of(4, all_kernels)
    functions = [tile_function(*kernel, name=f"k{i}") for i, kernel in enumerate(kernels)]
    text = "gpu.module @m {\n" + "\n".join(functions) + "\n}"
    assemble_for_all(translate_module(read(text), NVIDIA.chips[chip]), [chip])


@pytest.mark.parametrize(("chip", "word"), [("sm_80", "atomic_cas_tko"), ("sm_90", ", addf, ")])
def test_bf16_is_added_by_devices_that_can(chip: str, word: str) -> None:
    """tileiras 13.5: "atomicRMW ADDF with bf16 is not supported" before sm_90."""
    assert word in "\n".join(body_of(lowered(tile_kernel(*_of_tile("addf", "bf16")), chip)))
