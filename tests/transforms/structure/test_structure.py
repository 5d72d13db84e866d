"""Accesses through tiles of pointers become transfers, and compute the same as before."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.transforms.structure.oracle import accesses_of
from tests.transforms.structure.pointer_builder import Kernel, Tile, Writer
from tests.transforms.structure.pointer_kernels import CASES, Launch
from xtile.arguments.errors import ArgumentError
from xtile.dialects.shapes import as_vector
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.structure import structure
from xtile.transforms.structure.accesses import SCATTERED, accessed_value
from xtile.translate.route import translate


@lru_cache(maxsize=64)
def raised(text: str) -> ModuleOp:
    """A kernel in core form, with gathers and scatters."""
    return translate(xtile.parse(text, language="mlir"), "cuda_tile-to-core")


@lru_cache(maxsize=64)
def structured(module: ModuleOp, *, common_memory: bool = True) -> ModuleOp:
    """What the pass makes of a module; it is printed, read again and verified."""
    made = structure(module, common_memory=common_memory)
    return xtile.parse(xtile.to_text(made, "mlir"), language="mlir")


def scattered(module: ModuleOp) -> int:
    """The number of accesses of tiles that are gathers and scatters."""
    return sum(
        isinstance(operation, SCATTERED) and as_vector(accessed_value(operation).type) is not None
        for operation in module.walk()
    )


def arrays_after(module: ModuleOp, launch: Launch) -> list[Any]:
    """The arrays among copies of the arguments, after a kernel ran on them."""
    arguments, grid = copy.deepcopy(launch)
    xtile.run(_text_of(module), arguments, grid)
    return [each for each in arguments if isinstance(each, np.ndarray)]


@lru_cache(maxsize=64)
def _text_of(module: ModuleOp) -> str:
    return xtile.to_text(module, "mlir")


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_kernels_compute_the_same(name: str) -> None:
    before = raised(CASES[name].text())
    after = structured(before)
    for launch in CASES[name].launches():
        pairs = zip(arrays_after(before, launch), arrays_after(after, launch), strict=True)
        for wanted, found in pairs:
            np.testing.assert_array_equal(found, wanted)


BEGIN_AGAIN = {"matmul_wrapping": 2}
"""How many accesses of kernels are boxes only as far as their elements matter."""


@pytest.mark.slow
def test_nine_of_ten_boxes_are_found() -> None:
    boxes = others = found = 0
    for name, case in CASES.items():
        seen = accesses_of(case)
        left = scattered(structured(raised(CASES[name].text())))
        affine = sum(seen.values())
        boxes, others = boxes + affine, others + len(seen) - affine
        least = len(seen) - affine - BEGIN_AGAIN.get(name, 0)
        assert left >= least, f"{name}: more became transfers than are boxes"
        found += len(seen) - left
    assert boxes > 80
    assert others >= 5
    assert found >= 0.9 * boxes, f"{found} of {boxes} boxes became transfers"


# --- what is not proved ---


def written(write: Writer) -> str:
    """A kernel in CUDA Tile IR."""
    kernel = Kernel()
    write(kernel)
    return kernel.text()


def remarks_of(text: str, *, may_wrap: bool = False) -> list[str]:
    """What the pass says of a kernel."""
    found = Diagnostics()
    structure(raised(text), found, may_wrap=may_wrap)
    return [each.message for each in found.sorted()]


def _wrapping(k: Kernel) -> None:
    x, out = k.pointers("x out")
    a, b = k.integers("a b")
    at = k.arange(16)
    k.store(out + at, k.load(x + (at * a * b + at)))


def wrapping_kernel() -> str:
    """A kernel that reads every (1 + a b)-th element, where that does not wrap around."""
    return written(_wrapping)


def test_offsets_that_wrap_around_are_refused_at_a_launch() -> None:
    before = raised(wrapping_kernel())
    after = structured(before)
    assert scattered(after) == 0
    x, blank = fresh_generator().random(64).astype(np.float32), np.full(16, np.nan, np.float32)
    for a, b in ((1, 2), (2, 1)):
        launch = [x, blank, a, b], (1, 1, 1)
        np.testing.assert_array_equal(arrays_after(after, launch)[1], x[0:48:3])
        np.testing.assert_array_equal(arrays_after(before, launch)[1], x[0:48:3])
    wrapping: Launch = ([x, blank, 65536, 65536], (1, 1, 1))
    np.testing.assert_array_equal(arrays_after(before, wrapping)[1], x[:16])
    with pytest.raises(ArgumentError, match=r"was translated for launches in which .*argument 3"):
        arrays_after(after, wrapping)


def test_without_checks_only_proofs_count() -> None:
    assert remarks_of(wrapping_kernel(), may_wrap=True) == [
        "core.gather_load stays: muli of 32 bits may wrap around, as far as it is known"
    ]
    made = structure(raised(CASES["softmax"].text()), may_wrap=True)
    assert scattered(made) == 0
    assert "core.launch_checks" not in xtile.to_text(made, "mlir")


def test_a_stride_that_is_not_positive_is_refused_at_a_launch() -> None:
    made = structured(raised(CASES["strided_copy"].text()))
    blank = np.full(32, np.nan, np.float32)
    for step in (0, -1):
        with pytest.raises(ArgumentError, match=r"argument 3 is from 1 to"):
            xtile.run(made, [np.zeros(64, np.float32), blank, 32, step])


@pytest.mark.parametrize("step", [0, 1])
def test_elements_that_share_a_location_are_scattered(step: int) -> None:
    def write(k: Kernel) -> None:
        (out,) = k.pointers("out")
        rows, columns = k.arange(4), k.arange(8)
        value = k.cast("itof", rows[:, None] + columns[None, :] * step, "f32")
        k.store(out + (rows[:, None] + columns[None, :] * step), value)

    assert remarks_of(written(write)) == [
        "core.scatter_store stays: several of its elements are written to one location"
    ]


def _loads(offsets: Callable[[Kernel, Tile, Tile], Tile]) -> str:
    """A kernel that loads from offsets of an index and an integer."""

    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        (n,) = k.integers("n")
        at = k.arange(16)
        k.store(out + at, k.load(x + offsets(k, at, n)))

    return written(write)


REASONS: dict[str, Callable[[Kernel, Tile, Tile], Tile]] = {
    "its offsets are products of indices": lambda k, at, n: at * at,
    "its offsets are quotients": lambda k, at, n: at // 4,
    "its offsets come from xori": lambda k, at, n: k.binary("xor", at, n),
}


@pytest.mark.parametrize("reason", REASONS)
def test_remarks_say_why_an_access_stays(reason: str) -> None:
    assert remarks_of(_loads(REASONS[reason])) == [f"core.gather_load stays: {reason}"]


def test_a_remainder_that_changes_nothing_is_none() -> None:
    text = _loads(lambda k, at, n: (at + 16) % 64)
    assert remarks_of(text) == []
    assert scattered(structure(raised(text))) == 0


MASKS: dict[str, Callable[[Kernel, Tile, Tile], Tile]] = {
    "its mask comes from xori": lambda k, i, j: k.binary("xor", i < 3, j < 3),
    "its mask compares indices along several dimensions with each other": lambda k, i, j: i < j,
}


@pytest.mark.parametrize("reason", MASKS)
def test_remarks_say_why_a_mask_is_no_box(reason: str) -> None:
    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        rows, columns = k.arange(8)[:, None], k.arange(8)[None, :]
        at = rows * 8 + columns
        k.store(out + at, k.load(x + at, MASKS[reason](k, rows, columns), 0))

    assert remarks_of(written(write)) == [f"core.gather_load stays: {reason}"]


def test_pointers_that_nothing_uses_any_more_are_not_carried() -> None:
    made = structured(raised(CASES["matmul_advancing"].text()))
    (loop,) = (each for each in made.walk() if isinstance(each, scf.ForOp))
    assert [str(each.type) for each in loop.results] == ["vector<16x16xf32>"]


def test_a_condition_without_an_else_and_an_access_in_it() -> None:
    text = """
    gpu.module @m {
      gpu.func @k(%x: !core.ptr<f32>, %c: i1) kernel attributes {core.level = "tile"} {
        scf.if %c {
          %i = vector.step : vector<8xindex>
          %xs = vector.broadcast %x : !core.ptr<f32> to vector<8x!core.ptr<f32>>
          %at = core.pointer_add %xs, %i : vector<8x!core.ptr<f32>>, vector<8xindex>
          %one = arith.constant dense<1.0> : vector<8xf32>
          core.scatter_store %one, %at : vector<8xf32>, vector<8x!core.ptr<f32>>
        }
        gpu.return
      }
    }"""
    made = structured(xtile.parse(text, language="mlir"))
    assert scattered(made) == 0
    for condition in (True, False):
        x = np.full(9, np.nan, np.float32)
        xtile.run(made, [x, condition])
        np.testing.assert_array_equal(x, [1 if condition and i < 8 else np.nan for i in range(9)])
