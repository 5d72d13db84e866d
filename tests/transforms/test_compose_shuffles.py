"""Shuffles of tiles, as operations on their shapes where the mask is regular."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_random
from xtile.rewrite.shuffles import Digit, digits_of
from xtile.transforms.compose_shuffles import compose_shuffles
from xtile.transforms.lift import lift_kernels

TILE = 'core.level = "tile", known_block_size = array<i32: 1, 1, 1>'
SUBGROUPS = 'core.level = "subgroup", known_block_size = array<i32: 64, 1, 1>'
"""Four subgroups, each of which shuffles matrices of its own."""


def _vector(rows: int, columns: int | None) -> str:
    return f"vector<{rows}x{columns}xf32>" if columns else f"vector<{rows}xf32>"


def _kernel(rows: tuple[int, int], columns: int | None, mask: list[int], level: str) -> str:
    """Shuffles two matrices, or lines, for each subgroup."""
    sizes = (*rows, len(mask))
    memories = [f"memref<4x{_vector(n, columns)[7:]}" for n in sizes]
    vectors = [_vector(n, columns) for n in sizes]
    at = "[%s, %c0, %c0]" if columns else "[%s, %c0]"
    inside = "{in_bounds = [true, true]}" if columns else "{in_bounds = [true]}"
    subgroup = "gpu.subgroup_id : index" if "subgroup" in level else "arith.constant 0 : index"
    return f"""
    gpu.module @m {{
      gpu.func @k(%a: {memories[0]}, %b: {memories[1]}, %c: {memories[2]}) kernel
          attributes {{{level}}} {{
        %s = {subgroup}
        %c0 = arith.constant 0 : index
        %f = arith.constant 0.0 : f32
        %x = vector.transfer_read %a{at}, %f {inside} : {memories[0]}, {vectors[0]}
        %y = vector.transfer_read %b{at}, %f {inside} : {memories[1]}, {vectors[1]}
        %r = vector.shuffle %x, %y {mask} : {vectors[0]}, {vectors[1]}
        vector.transfer_write %r, %c{at} {inside} : {vectors[2]}, {memories[2]}
        gpu.return
      }}
    }}"""


def _mask_of(digits: list[tuple[int, int]], offset: int = 0) -> list[int]:
    counts, strides = zip(*digits, strict=True)
    return [
        offset + sum(n * stride for n, stride in zip(at, strides, strict=True))
        for at in np.ndindex(*counts)
    ]


REGULAR: dict[str, tuple[tuple[int, int], int | None, list[int]]] = {
    "two rows": ((1, 1), 16, [0, 1]),
    "both": ((8, 8), 16, _mask_of([(16, 1)])),
    "the second": ((8, 8), 16, _mask_of([(8, 1)], 8)),
    "halves": ((8, 8), 16, _mask_of([(2, 8), (4, 1)], 4)),
    "one row": ((1, 1), 16, [0] * 8),
    "runs of one element": ((16, 16), None, _mask_of([(16, 1), (16, 0)])),
    "a line again and again": ((8, 8), None, _mask_of([(4, 0), (8, 1)])),
    "interleaved rows": ((8, 8), 16, _mask_of([(8, 1), (2, 8)])),
    "interleaved lines": ((64, 64), None, _mask_of([(2, 64), (32, 1), (2, 32)])),
    "runs of two lines": ((128, 128), None, _mask_of([(8, 16), (2, 128), (16, 1)])),
    "each second": ((16, 16), 8, _mask_of([(8, 2)], 1)),
}
"""Rows of the vectors, columns of both, and masks whose digits are powers of two."""


def _random_mask(rows: int) -> list[int]:
    """Digits that are bits of the numbers of rows, in any order, some of which repeat."""
    random = fresh_random()
    bits = [1 << i for i in range((2 * rows).bit_length() - 1)]
    chosen = random.sample(bits, random.randint(1, len(bits)))
    offset = sum(bit for bit in bits if bit not in chosen and random.random() < 0.5)
    strides = [*chosen, *[0] * random.randint(0, 2)]
    random.shuffle(strides)
    return _mask_of([(2, stride) for stride in strides], offset)


def _irregular_mask(rows: int) -> list[int]:
    random = fresh_random()
    return [random.randint(-1, 2 * rows - 1) for _ in range(16)]


def _case(name: str) -> tuple[tuple[int, int], int | None, list[int]]:
    if name in REGULAR:
        return REGULAR[name]
    if name.startswith("random"):
        return (16, 16), 8 if name.endswith("rows") else None, _random_mask(16)
    if name == "uneven":
        return (12, 4), 16, [*range(9), 12, 9, 13, 10, 14, 11, 15]
    return (8, 8), 16 if name.endswith("rows") else None, _irregular_mask(8)


NAMES = [*REGULAR, "random rows", "random lines", "irregular rows", "irregular lines", "uneven"]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["core", "tile", "cuda_tile", "triton", "pvc", "dg2"])
@pytest.mark.parametrize("level", [TILE, SUBGROUPS], ids=["tile", "subgroups"])
@pytest.mark.parametrize("name", NAMES)
def test_values(name: str, level: str, language: str) -> None:
    rows, columns, mask = _case(name)
    module = xtile.parse(_kernel(rows, columns, mask, level))
    if language in ("pvc", "dg2"):
        module = xtile.translate(module, "xegpu", chip=language, xegpu_level="lane")
    elif language == "tile":
        module = compose_shuffles(lift_kernels(module))
    elif language != "core":
        module = xtile.translate(module, language)
    rest = (columns,) if columns else ()
    a, b = (np.arange(4 * n * prod(rest), dtype=np.float32).reshape(4, n, *rest) for n in rows)
    b += 1e6
    c = np.full((4, len(mask), *rest), np.nan, np.float32)
    xtile.run(module, [a, b, c], 1)
    known = [i for i, n in enumerate(mask) if n >= 0]
    count = 4 if level == SUBGROUPS else 1
    expected = np.concatenate([a, b], 1)[:count, [mask[i] for i in known]]
    np.testing.assert_array_equal(c[:count, known], expected)


@pytest.mark.parametrize("level", [TILE, SUBGROUPS], ids=["tile", "subgroups"])
@pytest.mark.parametrize("name", [*REGULAR, "random rows", "random lines"])
def test_regular_ones_are_shapes(name: str, level: str) -> None:
    module = xtile.parse(_kernel(*_case(name), level))
    made = compose_shuffles(lift_kernels(module))
    text = xtile.to_text(made, "mlir")
    assert "vector.shuffle" not in text
    assert "core.gather " not in text


def test_interleaved_rows() -> None:
    made = compose_shuffles(xtile.parse(_kernel(*REGULAR["interleaved rows"], TILE)))
    text = xtile.to_text(made, "mlir")
    assert text.count("vector.transpose") == 1
    assert "vector.extract_strided_slice" not in text
    assert "vector<8x2x16xf32> to vector<16x16xf32>" in text


@pytest.mark.parametrize("name", ["irregular rows", "irregular lines", "uneven"])
def test_others_are_gathers(name: str) -> None:
    made = compose_shuffles(xtile.parse(_kernel(*_case(name), TILE)))
    assert "core.gather " in xtile.to_text(made, "mlir")


def test_a_vector_without_dimensions_is_one_element() -> None:
    text = """
    gpu.module @m {
      gpu.func @k(%x: memref<2xf32>) kernel attributes {core.level = "tile"} {
        %c0 = arith.constant 0 : index
        %f = arith.constant 3.0 : f32
        %g = arith.constant 4.0 : f32
        %a = vector.broadcast %f : f32 to vector<f32>
        %b = vector.broadcast %g : f32 to vector<f32>
        %r = vector.shuffle %a, %b [1, 0] : vector<f32>, vector<f32>
        vector.transfer_write %r, %x[%c0] {in_bounds = [true]} : vector<2xf32>, memref<2xf32>
        gpu.return
      }
    }"""
    x = np.full(2, np.nan, np.float32)
    xtile.run(xtile.translate(text, "triton"), [x], 1)
    np.testing.assert_array_equal(x, [4, 3])


def test_without_shuffles_it_is_the_module_itself() -> None:
    module = xtile.parse("gpu.module @m {}")
    assert compose_shuffles(module) is module


@pytest.mark.parametrize(
    ("mask", "digits"),
    [
        ([5], []),
        ([3, 4, 5], [Digit(3, 1)]),
        ([0, 0, 1, 1], [Digit(2, 1), Digit(2, 0)]),
        ([0, 8, 1, 9, 2, 10, 3, 11], [Digit(4, 1), Digit(2, 8)]),
        ([0, 1, 2, 4], None),
        ([3, 2, 1, 0], None),
        ([0, -1], None),
    ],
)
def test_digits(mask: list[int], digits: list[Digit] | None) -> None:
    assert digits_of(mask) == digits
