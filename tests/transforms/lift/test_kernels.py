"""Kernels of work-items and subgroups compute the same as tiles, at every level and for devices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.transforms.lift.kernels import KERNELS, NORMALIZATION
from tests.transforms.tile_linalg.from_source import check
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.route import Options, translate

EXAMPLES = Path(xtile.__file__).parents[1] / "examples"


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compute_the_same(name: str) -> None:
    text, shapes = KERNELS[name]
    check(text, 3, shapes={"k": shapes})


@pytest.mark.slow
@pytest.mark.parametrize("target", ["tile", "cuda_tile", "triton"])
def test_softmax(target: str) -> None:
    random = fresh_generator()
    x = np.asfortranarray(random.standard_normal((35, 20)).astype(np.float32))
    y = np.full((35, 20), np.nan, np.float32, order="F")
    xtile.run(xtile.translate(EXAMPLES / "softmax.ir", target, chip="sm_90"), [x, y], grid=(3,))
    powers = np.exp(x.astype(np.float64) - x.max(0))
    np.testing.assert_allclose(y, powers / powers.sum(0), rtol=1e-5, atol=0)


@pytest.mark.parametrize("target", ["tile", "cuda_tile", "triton"])
def test_wide_softmax(target: str) -> None:
    """Subgroups share a column, which is read and written in tiles of what all of them access."""
    random = fresh_generator()
    x = np.asfortranarray(random.standard_normal((2100, 3)).astype(np.float32))
    y = np.full((2100, 3), np.nan, np.float32, order="F")
    ported = xtile.translate(EXAMPLES / "wide_softmax.ir", target, chip="sm_90")
    xtile.run(ported, [x, y], grid=(3,))
    powers = np.exp(x.astype(np.float64) - x.max(0))
    np.testing.assert_allclose(y, powers / powers.sum(0), rtol=1e-5, atol=0)
    if target == "cuda_tile":
        text = xtile.to_text(ported, "mlir")
        assert text.count("tile<1x2048xf32>, token") == 3
        assert text.count("store_view_tko") == 1
        assert "ptr_tko" not in text
        assert "alloca" not in text


@pytest.mark.parametrize("target", ["tile", "cuda_tile", "triton"])
def test_whole_softmax(target: str) -> None:
    """Matrices of all subgroups are one tile, for which there are enough warps."""
    random = fresh_generator()
    x = np.asfortranarray(random.standard_normal((2100, 2)).astype(np.float32))
    y = np.full((2100, 2), np.nan, np.float32, order="F")
    ported = xtile.translate(EXAMPLES / "whole_softmax.ir", target, chip="sm_90")
    xtile.run(ported, [x, y], grid=(2,))
    powers = np.exp(x.astype(np.float64) - x.max(0))
    np.testing.assert_allclose(y, powers / powers.sum(0), rtol=1e-5, atol=0)
    if target == "cuda_tile":
        text = xtile.to_text(ported, "mlir")
        # A view's tile would be fetched in 128 parts, one after the other.
        assert text.count("load_ptr_tko") == text.count("store_ptr_tko") == 1
        assert text.count("tile<1x32768xf32>, token") == 1
        assert "sm_90 = {num_worker_warps_per_cta = 16}" in text


@pytest.mark.parametrize("target", ["cuda_tile", "triton"])
def test_what_the_first_subgroup_leaves_in_local_memory(target: str) -> None:
    """Sums of all subgroups, of which there are fewer than lanes, need no memory."""
    random = fresh_generator()
    x = np.asfortranarray(random.standard_normal((600, 3)).astype(np.float32))
    w = random.standard_normal(600).astype(np.float32)
    y = np.full((600, 3), np.nan, np.float32, order="F")
    ported = xtile.translate(NORMALIZATION, target, chip="sm_90")
    xtile.run(ported, [x, w, y], grid=(3,))
    exact = x.astype(np.float64)
    np.testing.assert_allclose(y, exact * w[:, None] / (exact**2).sum(0), rtol=1e-5, atol=0)
    text = xtile.to_text(ported, "mlir")
    assert "alloca" not in text
    if target == "cuda_tile":
        assert "ptr_tko" not in text
        assert text.count("tile<1x2048xf32>, token") == 2


@pytest.mark.slow
@pytest.mark.parametrize("target", ["tile", "cuda_tile", "triton"])
def test_flash_attention(target: str) -> None:
    random = fresh_generator()
    shape = (64, 90, 2)
    q, k, v = (
        np.asfortranarray(random.standard_normal(shape).astype(np.float16)) for _ in range(3)
    )
    o = np.full(shape, np.nan, np.float16, order="F")
    ported = xtile.translate(EXAMPLES / "flash_attention.ir", target, chip="sm_90")
    xtile.run(ported, [q, k, v, o, 0.125], grid=(2, 2))
    for head in range(2):
        a, b, c = (each[:, :, head].astype(np.float64) for each in (q, k, v))
        scores = 0.125 * (b.T @ a)
        powers = np.exp(scores - scores.max(0))
        np.testing.assert_allclose(o[:, :, head], c @ (powers / powers.sum(0)), atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda_tile", "triton"])
def test_product(target: str) -> None:
    """Subgroups with products of their own compute one, in steps that suit the chip."""
    random = fresh_generator()
    a, b = (
        np.asfortranarray(random.standard_normal(shape).astype(np.float16))
        for shape in ((141, 41), (41, 275))
    )
    c = np.full((141, 275), np.nan, np.float32, order="F")
    ported = xtile.translate(EXAMPLES / "subgroup_gemm.ir", target, chip="sm_90")
    xtile.run(ported, [a, b, c], grid=(2, 2))
    np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), rtol=0, atol=1e-4)
    text = xtile.to_text(ported, "mlir")
    products = [line for line in text.splitlines() if "mmaf" in line or "tt.dot" in line]
    assert len(products) == 1
    assert "256x64xf16" in products[0]
    assert "64x128xf16" in products[0]
    assert ("load_view_tko" in text and "ptr_tko" not in text) == (target == "cuda_tile")


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_become_cuda_tile(name: str) -> None:
    text = xtile.to_text(translated(KERNELS[name][0], "tensorlang-to-cuda_tile"), "mlir")
    assert "entry @k(" in text


def translated(text: str, route: str, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """A kernel of the tensor language in another language."""
    module = xtile.parse(text, language="tensorlang")
    return translate(module, route, Options("sm_90"), diagnostics)


def test_subgroups_compute_one_product() -> None:
    """The grid of 2 x 3 subgroups lies along the sides of one product of 24 x 32 elements."""
    text = xtile.to_text(translated(KERNELS["matrices"][0], "tensorlang-to-tile"), "mlir")
    products = [line for line in text.splitlines() if "vector.contract" in line]
    assert [line.rpartition(" : ")[2] for line in products] == [
        "vector<24x16xf16>, vector<16x32xf16> into vector<24x32xf32>"
    ]


def test_remarks_tell_what_was_recognised() -> None:
    diagnostics = Diagnostics()
    translated(KERNELS["matrices"][0], "tensorlang-to-tile", diagnostics)
    messages = [each.message for each in diagnostics]
    assert messages.count("tiles of subgroups that lie side by side are read as one tile") == 2
    assert messages.count("tiles of subgroups that lie side by side are written as one tile") == 1


REFUSED = {
    "memory of work-items": (
        (
            "func @k(%g: group<memref<f32x9>x9>) {\n    parallel {\n"
            "        %l = subgroup_local_id : i32\n        %i = cast %l : index\n"
            "        %m = load %g[%i] : memref<f32x9>\n    }\n}\n"
        ),
        "<text>:5.14-40: error: memory that differs between work-items has no counterpart",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(DiagnosticError) as raised:
        translated(text, "tensorlang-to-tile")
    assert message in str(raised.value)


_FIRST_ELEMENTS = """
func @k(%x: memref<f32x?>, %y: memref<f32x?>, %n: index, %m: index)
        attributes {subgroup_size=16, work_group_size=[16,1]} {
    parallel {
        %lane32 = subgroup_local_id : i32
        %lane = cast %lane32 : index
        %is_first = less_than %lane, %n : bool
        if %is_first {
            %step = constant 16 : index
            for %i=%lane,%m,%step {
                %a = load %x[%i] : f32
                store %a, %y[%lane]
            }
        }
    }
}
"""


@pytest.mark.parametrize("target", ["cuda_tile", "triton"])
@pytest.mark.parametrize("n", [0, 5, 16])
def test_boxes_without_elements_are_not_accessed(target: str, n: int) -> None:
    """Hardware has no descriptors of memory without elements; the sanitizer reports accesses."""
    x = fresh_generator().standard_normal(16).astype(np.float32)
    ported = xtile.translate(_FIRST_ELEMENTS, target, chip="sm_90")
    for m in (0, 11, 16):
        y = np.full(16, np.nan, np.float32)
        xtile.run(ported, [x, y, n, m], grid=(1,), sanitize=True)
        expected = np.where(np.arange(16) < min(n, m), x, np.float32(np.nan))
        np.testing.assert_array_equal(y, expected)
