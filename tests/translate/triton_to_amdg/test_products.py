"""Products: which matrix unit computes them, and how their operands get there."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import kernel
from tests.translate.triton_to_amdg.laid_out import laid_out, said_of
from tests.translate.triton_to_amdg.products import product
from tests.triton_releases.judges import NEWEST, assembled
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr
from xtile.dialects.triton.encodings.shared import PaddedSharedEncodingAttr, PhasedEncodingAttr
from xtile.dialects.triton.operation import encoding_of, shape_of
from xtile.dialects.triton.ttg.ops import LocalLoadOp
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.layouts.local_memory import access_conflicts

F8, F8Z = "f8E4M3FN", "f8E4M3FNUZ"

UNITS = [
    ("gfx90a", "f16", "f32", "", "amd_mfma", "version = 2", [32, 32, 8], 4),
    ("gfx942", "f16", "f32", "", "amd_mfma", "version = 3", [32, 32, 8], 4),
    ("gfx942", "bf16", "f32", "", "amd_mfma", "version = 3", [32, 32, 8], 4),
    ("gfx942", "f32", "f32", "", "amd_mfma", "version = 3", [32, 32, 2], 1),
    ("gfx942", "f32", "f32", ", inputPrecision = tf32", "amd_mfma", "", [32, 32, 4], 2),
    ("gfx942", "i8", "i32", "", "amd_mfma", "version = 3", [32, 32, 16], 8),
    ("gfx942", F8Z, "f32", "", "amd_mfma", "version = 3", [32, 32, 16], 8),
    ("gfx942", F8, "f32", "", "amd_mfma", "version = 3", [32, 32, 8], 4),
    ("gfx942", "f64", "f64", "", "amd_mfma", "version = 3", [16, 16, 4], 1),
    ("gfx950", "f16", "f32", "", "amd_mfma", "version = 4", [32, 32, 16], 8),
    ("gfx950", F8, "f32", "", "amd_mfma", "version = 4", [32, 32, 16], 8),
    ("gfx1100", "f16", "f32", "", "amd_wmma", "version = 1", None, 16),
    ("gfx1100", "i8", "i32", "", "amd_wmma", "version = 1", None, 16),
    ("gfx1201", "f16", "f32", "", "amd_wmma", "version = 2", None, 8),
    ("gfx1201", F8, "f32", "", "amd_wmma", "version = 2", None, 8),
    ("gfx1250", "f16", "f32", "", "amd_wmma", "version = 3", [16, 16, 32], 8),
    ("gfx1250", "i8", "i32", "", "amd_wmma", "version = 3", [16, 16, 64], 8),
]


@pytest.mark.parametrize(
    ("chip", "factor", "sums", "precision", "unit", "version", "shape", "width"), UNITS
)
def test_units(
    chip: str,
    factor: str,
    sums: str,
    precision: str,
    unit: str,
    version: str,
    shape: list[int] | None,
    width: int,
) -> None:
    made = laid_out(product(factor, factor, sums, precision=precision), chip, 4)
    text = xtile.to_text(made, "mlir")
    (line,) = [line for line in text.splitlines() if f"#ttg.{unit}<" in line]
    assert version in line
    assert shape is None or f"instrShape = {shape}" in line
    assert set(re.findall(r"kWidth = (\d+)", text)) == {str(width)}


@pytest.mark.parametrize(
    ("chip", "factor", "sums"), [("gfx1100", "f32", "f32"), ("gfx1100", F8, "f32")]
)
def test_without_a_unit(chip: str, factor: str, sums: str) -> None:
    """Types that the chip has no unit for, and those that become f16 without loss."""
    text = xtile.to_text(laid_out(product(factor, factor, sums), chip, 4), "mlir")
    assert ("amd_wmma" in text) == (factor == F8)
    assert ("tt.fp_to_fp" in text) == (factor == F8)


@pytest.mark.parametrize("bits", [F8, F8Z])
def test_bits_of_8_are_never_taken_for_others(bits: str) -> None:
    """240 of OCP's are 120 of FNUZ's: a chip that has the others' unit converts."""
    chip = "gfx950" if bits == F8Z else "gfx942"
    made = laid_out(product(bits, bits), chip)
    type_ = ml_dtypes.float8_e4m3fn if bits == F8 else ml_dtypes.float8_e4m3fnuz
    a = np.full((64, 32), 240, type_)
    b = np.zeros((32, 64), type_)
    b[0, :] = 1
    c = np.full((64, 64), np.nan, np.float32)
    xtile.run(made, [a, b, c, 32], (1,))
    np.testing.assert_array_equal(c, np.full((64, 64), 240, np.float32))


@pytest.mark.parametrize(
    ("chip", "turns"), [("gfx942", 0), ("gfx942", 1), ("gfx942", 3), ("gfx1100", 2)]
)
def test_loads_ahead(chip: str, turns: int) -> None:
    made = laid_out(product(), chip)
    text = xtile.to_text(made, "mlir")
    assert text.count("ttg.local_alloc") == text.count("ttg.local_dealloc") == 2
    assert text.count("ttg.local_load") == 2
    assert text.count("amdg.buffer_load") == text.count("ttg.local_store") == 4
    assert text.count("tt.dot") == 1
    assert "ttg.convert_layout" not in text
    generator = fresh_generator()
    a = generator.standard_normal((64, 32 * turns)).astype(np.float16)
    b = generator.standard_normal((32 * turns, 64)).astype(np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    xtile.run(made, [a, b, c, 32 * turns], (1,))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, wanted, rtol=0, atol=1e-4 * 32 * max(1, turns))


def test_loads_ahead_stay_inside() -> None:
    """The last turn loads nothing from behind the matrices: their memory ends there."""
    made = laid_out(product(), "gfx942")
    given = [np.ones((64, 64), np.float16), np.ones((64, 64), np.float16)]
    c = np.full((64, 64), np.nan, np.float32)
    result = xtile.run(made, [*given, c, 64], (1,), sanitize=True)
    assert result.warnings == ()
    assert (c == 64).all()


def test_what_a_loop_writes_is_not_loaded_ahead() -> None:
    """Each turn writes what the next one loads."""
    store = """
      %one = arith.constant dense<1.0> : tensor<64x32xf16>
      %after = tt.addptr %ax, %am2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      tt.store %after, %one : tensor<64x32x!tt.ptr<f16>>
    """
    made = laid_out(product(inside=store), "gfx942")
    assert "ttg.local_alloc" not in xtile.to_text(made, "mlir")
    a, b = np.zeros((64, 96), np.float16), np.ones((64, 64), np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    xtile.run(made, [a, b, c, 64], (1,))
    assert (c == 32).all()


def test_operands_along_the_other_dimension_are_transposed_in_registers() -> None:
    text = xtile.to_text(laid_out(product(rows=128, columns=128, depth=64), "gfx942", 4), "mlir")
    assert text.count("amdg.in_thread_transpose") == 2
    assert (
        "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>" in text
    )
    assert "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>" in text
    assert "sizePerThread = [4, 8]" in text


@pytest.mark.parametrize(
    ("chip", "factor", "sums", "width"),
    [
        ("gfx942", "f16", "f32", 4),
        ("gfx942", "bf16", "f32", 4),
        ("gfx942", F8Z, "f32", 8),
        ("gfx1201", "f16", "f32", 8),
    ],
)
def test_operands_along_k_are_read_without_conflicts(
    chip: str, factor: str, sums: str, width: int
) -> None:
    made = laid_out(product(factor, factor, sums, 128, 128, 64), chip, 4)
    read = next(each for each in made.walk() if isinstance(each, LocalLoadOp))
    memory, layout = read.src.type, encoding_of(read.result.type)
    assert isinstance(memory, MemDescType)
    assert isinstance(memory.encoding, PhasedEncodingAttr)
    assert isinstance(layout, DistributedEncodingAttr)
    shape = shape_of(read.result.type)
    offsets = layout.layout(shape).invert_and_compose(memory.encoding.layout(shape))
    bits = getattr(memory.element_type, "bitwidth", 0)
    assert access_conflicts(offsets, width, bits) == 0


def test_as_many_accesses_as_tritons_own_pipeline() -> None:
    """128 x 128 x 64 of f16 with 4 warps: Triton has 0.5 ds_read and 0.25 loads for an MFMA."""
    made = laid_out(product(rows=128, columns=128, depth=64, sums="f32"), "gfx942", 4)
    assert not said_of(made, NEWEST, "gfx942")
    verdict = assembled(NEWEST, xtile.to_text(made, "mlir"), "gfx942", "ttgir")
    assert verdict.accepted, verdict.said

    def count(pattern: str) -> int:
        return len(re.findall(rf"^\t{pattern}", verdict.text, re.MULTILINE))

    assert count("v_mfma_f32_32x32x8_f16") == 32
    assert count("buffer_load_dwordx4") == 16
    assert count("global_load") == 0
    assert count("ds_read") == 16
    assert verdict.metadata["shared"] == 32768
    assert re.search(r"vgpr_spill_count:\s+0", verdict.text)


def test_products_that_feed_each_other_keep_all_warps_busy() -> None:
    """Warps go along the 64 rows only, so that instructions are of 16 rows and not of 32."""
    factors, sums = "tensor<64x64xf16>", "tensor<64x64xf32>"
    body = f"""
      %p = tt.dot %0, %1, %2 : {factors} * {factors} -> {sums}
      %h = arith.truncf %p : {sums} to {factors}
      %r0 = tt.dot %h, %1, %2 : {factors} * {factors} -> {sums}
    """
    operands = [np.ones((64, 64), np.float16)] * 2 + [np.ones((64, 64), np.float32)]
    module, _ = kernel(body, operands, [((64, 64), "f32")])
    text = xtile.to_text(laid_out(module, "gfx942", 4), "mlir")
    units = [line for line in text.splitlines() if "#ttg.amd_mfma<" in line]
    assert len(units) == 1
    assert "warpsPerCTA = [4, 1], instrShape = [16, 16, 16]" in units[0]


def test_deep_products_of_8_bits_have_the_instruction_for_scales() -> None:
    """On gfx950, where that is as fast as one of half the depth."""
    made = laid_out(product(F8, F8, rows=64, columns=64, depth=64), "gfx950", 4)
    text = xtile.to_text(made, "mlir")
    assert "instrShape = [32, 32, 64]" in text
    assert "tt.dot_scaled" in text
    generator = fresh_generator()
    a = generator.standard_normal((64, 128)).astype(ml_dtypes.float8_e4m3fn)
    b = generator.standard_normal((128, 64)).astype(ml_dtypes.float8_e4m3fn)
    c = np.full((64, 64), np.nan, np.float32)
    xtile.run(made, [a, b, c, 128], (1,))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, wanted, rtol=0, atol=1e-3)


def test_results_are_stored_16_bytes_at_once() -> None:
    """Lanes of gfx950 exchange registers for that."""
    made = laid_out(product(sums="f16", rows=128, columns=128, depth=64), "gfx950", 4)
    text = xtile.to_text(made, "mlir")
    (line,) = [line for line in text.splitlines() if "amdg.buffer_store" in line]
    assert "contiguity = 8" in line
    assert not said_of(made, NEWEST, "gfx950")


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "turns"), [("f16", 0), ("f16", 3), (F8, 2)])
def test_copies_ahead(factor: str, turns: int) -> None:
    """gfx950 copies past the registers, to one half of local memory while it reads the other."""
    made = laid_out(product(factor, factor, rows=128, columns=128, depth=64), "gfx950", 4)
    text = xtile.to_text(made, "mlir")
    assert text.count("amdg.buffer_load_to_local") == text.count("ttg.async_commit_group") == 4
    assert text.count("ttg.local_load") == text.count("ttg.async_wait") == 2
    assert "ttg.local_store" not in text
    generator = fresh_generator()
    type_ = ml_dtypes.float8_e4m3fn if factor == F8 else np.float16
    a = generator.standard_normal((128, 64 * turns)).astype(type_)
    b = generator.standard_normal((64 * turns, 128)).astype(type_)
    c = np.full((128, 128), np.nan, np.float32)
    result = xtile.run(made, [a, b, c, 64 * turns], (1,), sanitize=True)
    assert result.warnings == ()
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, wanted, rtol=0, atol=1e-4 * 64 * max(1, turns))


def test_machine_code_of_copies() -> None:
    """No operand goes through registers on its way to local memory."""
    made = laid_out(product(rows=128, columns=128, depth=64), "gfx950", 4)
    assert not said_of(made, NEWEST, "gfx950")
    verdict = assembled(NEWEST, xtile.to_text(made, "mlir"), "gfx950", "ttgir")
    assert verdict.accepted, verdict.said
    copies = re.findall(r"^\tbuffer_load_dwordx4 .* lds$", verdict.text, re.MULTILINE)
    assert len(copies) == 16
    assert "ds_write" not in verdict.text


def test_copies_are_read_without_conflicts() -> None:
    """By gaps between what different instructions write."""
    made = laid_out(product(rows=128, columns=128, depth=64), "gfx950", 4)
    read = next(each for each in made.walk() if isinstance(each, LocalLoadOp))
    memory, layout = read.src.type, encoding_of(read.result.type)
    assert isinstance(memory, MemDescType)
    assert isinstance(memory.encoding, PaddedSharedEncodingAttr)
    assert isinstance(layout, DistributedEncodingAttr)
    assert list(memory.encoding.intervals.data) == [512]
    assert list(memory.encoding.paddings.data) == [8]
    shape = shape_of(read.result.type)
    held = layout.layout(shape)
    banks = set[int]()
    # Eight lanes of a row of operands read 16 bytes each, at once.
    for lane in range(8):
        index = held.apply(register=0, lane=lane, subgroup=0, block=0)
        banks.add(_offset(memory.encoding, index) * 2 % 128 // 16)
    assert len(banks) == 8


def _offset(encoding: PaddedSharedEncodingAttr, index: tuple[int, ...]) -> int:
    """Where an element lies in local memory."""
    linear = 0
    for bit, image in enumerate(encoding.offset.data):
        if any(size & at for size, at in zip(image, index, strict=True)):
            linear |= 1 << bit
    (interval,), (gap,) = encoding.intervals.data, encoding.paddings.data
    return linear + linear // interval * gap


@pytest.mark.parametrize("known", [True, False])
def test_masks_that_divide_what_a_lane_loads(known: bool) -> None:
    """A copy takes all 8 elements of a lane or none; other loads go through registers."""
    end = "%k" if known else "%odd"
    text = xtile.to_text(product(rows=64, columns=64, depth=64), "mlir")
    bound = "" if known else "%less1 = arith.constant 1 : i32\n%odd = arith.subi %k, %less1 : i32\n"
    name = re.search(r"(%\S+) = tt.load (%\S+) : tensor<64x64x!tt.ptr<f16>>", text)
    assert name is not None
    ranges = "tensor<64xi32>"
    masked = f"""
      {bound}%q1 = tt.make_range {{end = 64 : i32, start = 0 : i32}} : {ranges}
      %q2 = tt.expand_dims %q1 {{axis = 0 : i32}} : {ranges} -> tensor<1x64xi32>
      %q3 = tt.splat {end} : i32 -> tensor<1x64xi32>
      %q4 = arith.cmpi slt, %q2, %q3 : tensor<1x64xi32>
      %q5 = tt.broadcast %q4 : tensor<1x64xi1> -> tensor<64x64xi1>
      %q6 = arith.constant dense<0.0> : tensor<64x64xf16>
      {name[1]} = tt.load {name[2]}, %q5, %q6 : tensor<64x64x!tt.ptr<f16>>
    """
    made = laid_out(xtile.parse(text.replace(name[0], masked, 1), language="ttir"), "gfx950", 4)
    printed = xtile.to_text(made, "mlir")
    assert printed.count("amdg.buffer_load_to_local") == (4 if known else 2)
    assert printed.count("ttg.local_store") == (0 if known else 2)


@pytest.mark.parametrize("chip", ["gfx942", "gfx1201"])
def test_operands_are_read_before_others_are_loaded(chip: str) -> None:
    """Registers then hold either the addresses of loads or operands that were read."""
    text = xtile.to_text(laid_out(product(), chip, 4), "mlir")
    loop = text.split("scf.for")[1].split("scf.yield")[0]
    names = re.findall(r"(ttg.local_load|amdg.buffer_load|tt.dot)\b", loop)
    assert names == ["ttg.local_load"] * 2 + ["amdg.buffer_load"] * 2 + ["tt.dot"]
