"""Atomic updates as Triton: instructions, and loops of compare-and-swap."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import tile_kernel
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import NEWEST, assembled, judge
from xtile.targets import AMD, NVIDIA
from xtile.translate.core_to_triton import translate_module

CHIPS = {"90": "sm_90", "gfx942": "gfx942", "gfx1100": "gfx1100"}
"""The chips that are compiled for: what Triton calls them, and what they are called here."""

DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "i8": np.int8,
}


def lowered(text: str, chip: str = "gfx942") -> str:
    """The text of what a kernel becomes; it is read again."""
    made = printed(translate_module(read(text), {**AMD.chips, **NVIDIA.chips}[chip]))
    assert printed(read(made)) == made
    return made


# --- words ---


def of_tile(kind: str, type_: str) -> str:
    """Updates the first 7 of 16 elements, which are all that memory has."""
    vector = f"vector<16x{type_}>"
    return tile_kernel(
        f"%m: memref<7x{type_}>, %v: memref<16x{type_}>, %old: memref<16x{type_}>",
        f"""
        %c0 = arith.constant 0 : index
        %x = vector.load %v[%c0] : memref<16x{type_}>, {vector}
        %r = core.atomic_update {kind} %x, %m[%c0] checked [0]
            : {vector}, memref<7x{type_}> -> {vector}
        vector.store %r, %old[%c0] : memref<16x{type_}>, {vector}""",
    )


def of_all(kind: str, type_: str) -> str:
    """Updates as many elements as memory has, without a mask."""
    vector = f"vector<16x{type_}>"
    return tile_kernel(
        f"%m: memref<16x{type_}>, %v: memref<16x{type_}>, %old: memref<16x{type_}>",
        f"""
        %c0 = arith.constant 0 : index
        %x = vector.load %v[%c0] : memref<16x{type_}>, {vector}
        %r = core.atomic_update {kind} %x, %m[%c0] checked []
            : {vector}, memref<16x{type_}> -> {vector}
        vector.store %r, %old[%c0] : memref<16x{type_}>, {vector}""",
    )


def of_element(kind: str, type_: str) -> str:
    """Updates the last element of memory."""
    return tile_kernel(
        f"%m: memref<7x{type_}>, %v: memref<1x{type_}>, %old: memref<1x{type_}>",
        f"""
        %c0 = arith.constant 0 : index
        %c6 = arith.constant 6 : index
        %x = memref.load %v[%c0] : memref<1x{type_}>
        %r = memref.atomic_rmw {kind} %x, %m[%c6] : ({type_}, memref<7x{type_}>) -> {type_}
        memref.store %r, %old[%c0] : memref<1x{type_}>""",
    )


KERNELS = {"all": (of_all, 16, 16), "element": (of_element, 7, 1), "tile": (of_tile, 7, 16)}
"""Kernels that update memory, and how many elements it and the operands have."""

OF_16_BITS = (
    *(("addf", "bf16"), ("maxnumf", "f16"), ("addi", "i16"), ("mins", "i16"), ("ori", "i16")),
    *(("assign", "f16"), ("assign", "bf16"), ("assign", "i16")),
)
"""Updates of 16 bits that Triton has no instruction for."""


def swaps(text: str) -> list[tuple[str, str]]:
    """The order and the element of each compare-and-swap in a text."""
    found = re.findall(r"tt\.atomic_cas (\w+), .* : \((?:tensor<\w+x)?!tt\.ptr<(\w+)>", text)
    assert len(found) == text.count("tt.atomic_cas")
    return found


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("kind", "type_"), OF_16_BITS)
def test_elements_of_16_bits_are_swapped_as_they_are(kind: str, type_: str, kernel: str) -> None:
    made, count, size = KERNELS[kernel]
    source = made(kind, type_)
    text = lowered(source)
    assert swaps(text) == [("relaxed", "i16")] * 2
    assert "!tt.ptr<i32>" not in text
    random = fresh_generator()
    m = random.integers(-9, 10, count).astype(DTYPES[type_])
    v = random.integers(-9, 10, size).astype(DTYPES[type_])
    expected, found = ([m.copy(), v, np.zeros_like(v)] for _ in range(2))
    run(read(source), *expected)
    # The memory ends with its last element: a word around that one would be an error.
    xtile.run(xtile.parse(text, language="ttir"), found)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kernel", KERNELS)
def test_elements_of_8_bits_are_swapped_with_the_word_around_them(kernel: str) -> None:
    made, _, _ = KERNELS[kernel]
    text = lowered(made("addi", "i8"))
    assert swaps(text) == [("relaxed", "i32")]
    assert "tt.atomic_rmw or, relaxed, gpu" in text


def compare_and_swap(type_: str, mask: str = "") -> str:
    """Swaps the last of 7 elements of memory."""
    return tile_kernel(
        f"%m: memref<7x{type_}>, %v: memref<2x{type_}>, %old: memref<1x{type_}>",
        f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c6 = arith.constant 6 : index
        %true = arith.constant true
        %x = memref.load %v[%c0] : memref<2x{type_}>
        %y = memref.load %v[%c1] : memref<2x{type_}>
        %r = core.atomic_compare_and_swap relaxed device %x, %y, %m[%c6]{", %true" if mask else ""}
            : {type_}, memref<7x{type_}>[index]{", i1" if mask else ""}
        memref.store %r, %old[%c0] : memref<1x{type_}>""",
    )


@pytest.mark.parametrize("type_", ["bf16", "f16", "f32", "f64", "i16", "i32", "i64"])
def test_one_swap_is_one_instruction(type_: str) -> None:
    text = lowered(compare_and_swap(type_))
    assert swaps(text) == [("relaxed", f"i{type_.lstrip('bfi')}")]
    assert "scf.while" not in text
    m = np.arange(7).astype(DTYPES[type_])
    v, old = np.array([6, 9], m.dtype), np.zeros(1, m.dtype)
    for expected in (9, 9):
        xtile.run(xtile.parse(text, language="ttir"), [m, v, old])
        assert m[6] == expected
    assert old[0] == 9


# --- the first reading of a loop ---


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("kind", "type_", "reading"),
    [
        ("maxnumf", "f32", r"tt.atomic_rmw or, relaxed, gpu, \S+, \S+ : .*ptr<i32>"),
        ("minnumf", "f64", r"tt.atomic_rmw or, relaxed, gpu, \S+, \S+ : .*ptr<i64>"),
        ("addf", "bf16", r"tt.atomic_cas relaxed, gpu, \S+, (\S+), \1 : .*ptr<i16>"),
    ],
)
def test_a_loop_begins_with_an_atomic_reading(
    kind: str, type_: str, reading: str, kernel: str
) -> None:
    made, count, size = KERNELS[kernel]
    source = made(kind, type_)
    text = lowered(source)
    # The one load is that of the operands.
    assert text.count("tt.load") == 1
    assert re.search(reading, text[: text.index("scf.while")])
    m = fresh_generator().integers(-9, 10, count).astype(DTYPES[type_])
    v = np.arange(size).astype(DTYPES[type_]) - 3
    expected, found = ([m.copy(), v, np.zeros_like(v)] for _ in range(2))
    run(read(source), *expected)
    xtile.run(xtile.parse(text, language="ttir"), found)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("type_", "word"), [("f16", "cas"), ("f32", "rmw or,")])
def test_the_reading_is_relaxed_and_has_the_scope_of_the_update(type_: str, word: str) -> None:
    text = lowered(
        tile_kernel(
            f"%m: memref<7x{type_}>, %x: {type_}",
            f"""
            %c0 = arith.constant 0 : index
            %r = core.atomic_rmw mulf acq_rel system %x, %m[%c0]
                : {type_}, memref<7x{type_}>[index]""",
        )
    )
    assert f"tt.atomic_{word} relaxed, sys," in text
    assert text.count("tt.atomic_cas acq_rel, sys,") == 1


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_machine_code_of_loops(chip: str) -> None:
    updates = (("addf", "bf16"), ("maxnumf", "f16"), ("addi", "i16"), ("addi", "i8"))
    sources = [made(*each) for made, _, _ in KERNELS.values() for each in updates]
    sources += [
        compare_and_swap("i16"),
        compare_and_swap("f16", "masked"),
        of_all("minnumf", "f64"),
    ]
    for source in sources:
        text = lowered(source, CHIPS[chip])
        verdict = assembled(NEWEST, text, chip)
        assert verdict.accepted, (verdict.said, text)
        for release in releases():
            assert judge(release, text).accepted
