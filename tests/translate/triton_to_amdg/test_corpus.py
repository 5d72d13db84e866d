"""Kernels of Triton with layouts: real Tritons take them, and they compute what they did.

A sample is tried each time; pytest's option `--all-on-triton` takes all kernels and chips.
"""

from __future__ import annotations

import re

import pytest

import xtile
from tests.translate.triton_to_amdg.laid_out import TAKES_ALL, laid_out, of_corpus, run, said_of
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import NEWEST
from xtile.targets import AMD
from xtile.text.diagnostics import DiagnosticError

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")

NOT_COMPILED = {"matmul_block_pointers"}
"""What Triton 3.9 does not compile."""

SAMPLE = (
    ("attention", "gfx942"),
    ("histogram_by_atomics", "gfx942"),
    ("join_and_split", "gfx1100"),
    ("matmul_f16", "gfx1100"),
    ("prefix_sums", "gfx950"),
)


def _chosen() -> list[tuple[str, str]]:
    if not TAKES_ALL:
        return [*SAMPLE]
    return [(name, chip) for name in CASES if name not in NOT_COMPILED for chip in CHIPS]


@pytest.mark.parametrize(("name", "chip"), _chosen())
def test_kernels(name: str, chip: str) -> None:
    module = of_corpus(name)
    made = laid_out(module, chip)
    assert not said_of(made, NEWEST, chip)
    run(made, CASES[name]())


@pytest.mark.parametrize("release", releases())
@pytest.mark.parametrize("name", ["histogram_by_atomics", "matmul_f16"])
def test_releases(name: str, release: str) -> None:
    made = laid_out(of_corpus(name), "gfx942")
    assert not said_of(made, release, "gfx942")


@pytest.mark.parametrize("chip", CHIPS)
def test_layouts_are_for_the_waves_of_the_chip(chip: str) -> None:
    lanes = AMD.chips[chip].subgroup_size
    text = str(laid_out(of_corpus("join_and_split"), chip))
    found = re.findall(r"threadsPerWarp = \[([\d, ]+)\]", text)
    assert found
    for sizes in found:
        count = 1
        for size in sizes.split(", "):
            count *= int(size)
        assert count == lanes


DESCRIPTOR = """
tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one]
    : !tt.ptr<f32>, !tt.tensordesc<8x8xf32>
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<8x8xf32> -> tensor<8x8xf32>
  tt.descriptor_store %d[%n, %n], %x : !tt.tensordesc<8x8xf32>, tensor<8x8xf32>
  tt.return
}
"""


def test_blocks_of_tensors_are_refused_with_what_to_do() -> None:
    message = "run triton-to-core, then core-cleanup, then tile-to-triton first"
    with pytest.raises(DiagnosticError, match=message) as raised:
        laid_out(xtile.parse(DESCRIPTOR, language="ttir"), "gfx942")
    assert "tt.make_tensor_descriptor is of blocks of tensors" in str(raised.value)
