"""What lanes hold of AMD's matrices, against the formulas of AMD's documents.

Source: AMD, "CDNA3 Instruction Set Architecture", "Dense Matrix Register Layout"; AMD Matrix
Instruction Calculator; "RDNA3 Instruction Set Architecture", "WMMA" and GPUOpen, "How to
accelerate AI applications on RDNA 3 using WMMA".
"""

from __future__ import annotations

import pytest

from tests.layouts.enumerated import numbers_of
from xtile.layouts import LayoutError, amd


@pytest.mark.parametrize(
    ("size", "blocks", "registers"),
    [(32, 1, 16), (32, 2, 32), (16, 1, 4), (16, 4, 16), (4, 16, 4)],
)
def test_mfma_results(size: int, blocks: int, registers: int) -> None:
    layout = amd.mfma_result(size, size, blocks)
    assert (layout.size("register"), layout.size("lane")) == (registers, 64)
    assert layout.shape == (blocks, size, size)
    assert layout.is_surjective
    assert layout.is_injective
    groups = max(1, 64 // size) if size > 4 else 1
    for numbers in numbers_of(layout):
        register, lane = numbers["register"], numbers["lane"]
        batch, row, column = layout.apply(**numbers)
        assert column == lane % size
        if size == 4:
            assert (batch, row) == (lane // 4, register)
        else:
            inside = register % (size * size // 64)
            assert batch == register // (size * size // 64)
            assert row == 4 * groups * (inside // 4) + 4 * (lane // size) + inside % 4


def test_mfma_results_in_f64() -> None:
    layout = amd.mfma_result(16, 16, bits=64)
    for numbers in numbers_of(layout):
        register, lane = numbers["register"], numbers["lane"]
        assert layout.apply(**numbers) == (0, 4 * register + lane // 16, lane % 16)


@pytest.mark.parametrize(
    ("size", "depth", "blocks"),
    [(32, 8, 1), (16, 16, 1), (16, 4, 1), (32, 2, 1), (4, 4, 16), (16, 32, 1), (16, 4, 4)],
)
def test_mfma_operands(size: int, depth: int, blocks: int) -> None:
    layout = amd.mfma_operand(size, depth, blocks)
    width = depth * size * blocks // 64
    assert layout.size("register") == width
    for numbers in numbers_of(layout):
        register, lane = numbers["register"], numbers["lane"]
        expected = (
            lane // size % blocks,
            lane % size,
            lane // (size * blocks) * width + register,
        )
        assert layout.apply(**numbers) == expected


def test_wmma_results() -> None:
    first, later = amd.wmma_result(1), amd.wmma_result(2)
    assert later == amd.wmma_result(3)
    for numbers in numbers_of(first):
        register, lane = numbers["register"], numbers["lane"]
        assert first.apply(**numbers) == (2 * register + lane // 16, lane % 16)
        assert later.apply(**numbers) == (8 * (lane // 16) + register, lane % 16)


def test_wmma_results_of_32_rows_are_two_of_16() -> None:
    layout = amd.wmma_result(3, 32)
    for numbers in numbers_of(layout):
        register, lane = numbers["register"], numbers["lane"]
        row = 16 * (register // 8) + 8 * (lane // 16) + register % 8
        assert layout.apply(**numbers) == (row, lane % 16)


def test_wmma_operands() -> None:
    first = amd.wmma_operand(1, 16, 16)
    assert first.size("register") == 16
    for numbers in numbers_of(first):
        assert first.apply(**numbers) == (numbers["lane"] % 16, numbers["register"])
    later = amd.wmma_operand(2, 8, 16)
    for numbers in numbers_of(later):
        register, lane = numbers["register"], numbers["lane"]
        assert later.apply(**numbers) == (lane % 16, lane // 16 * 8 + register)


def test_what_there_is_not() -> None:
    with pytest.raises(LayoutError, match="MFMA has no 4x4 results in 1 blocks"):
        amd.mfma_result(4, 4)
    with pytest.raises(LayoutError, match="MFMA has no operands of 32x1 in 4 blocks"):
        amd.mfma_operand(32, 1, 4)
