"""Kernels of the corpus, of examples and of the tensor language as Triton: values and verdicts."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import given_seed
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.folders import ALL_VARIABLE, releases
from tests.triton_releases.judges import NEWEST, assembled, compiled, judge
from xtile.translate.route import Options, translate

EXAMPLES = Path(__file__).parents[3] / "examples"

SAMPLE = (
    *("attention_causal", "histogram", "layer_norm_backward", "matmul_fp8", "sort_rows"),
    *("spin_lock", "unsigned"),
)
"""The kernels of the corpus that are run each time; with `--all-on-triton` all are."""

NOT_COMPILED = {"matmul_block_pointers"}
"""What the newest release does not compile."""


def _names() -> list[str]:
    chosen = CASES if os.environ.get(ALL_VARIABLE) else SAMPLE
    return [name for name in chosen if name not in NOT_COMPILED]


def _again(name: str) -> ModuleOp:
    """What a kernel of the corpus is after it was raised and lowered."""
    verdict = compiled(NEWEST, CASES[name]().source(), "gfx942", "ttir")
    assert verdict.accepted, verdict.said
    raised = translate(xtile.parse(verdict.text, language="ttir"), "triton-to-core")
    return translate(raised, "core-to-triton", Options("gfx942"))


@pytest.mark.slow
@pytest.mark.parametrize("name", _names())
def test_kernels_of_the_corpus(name: str) -> None:
    case, text = CASES[name](), xtile.to_text(_again(name), "mlir")
    arguments = case.copied_arguments()
    ones = {name for name, each in arguments.items() if type(each) is int and each == 1}
    given = [each for name, each in arguments.items() if name not in ones]
    xtile.run(xtile.parse(text, language="ttir"), given, case.grid)
    case.check(arguments)
    for release in releases():
        verdict = judge(release, text)
        assert verdict.accepted, (release, verdict.said)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["gfx942", "90"])
def test_machine_code(chip: str) -> None:
    text = (EXAMPLES / "gemm.ir").read_text()
    target = "sm_90" if chip == "90" else chip
    module = xtile.translate(xtile.parse(text, language="tensorlang"), "triton", chip=target)
    verdict = assembled(NEWEST, xtile.to_text(module, "mlir"), chip)
    assert verdict.accepted, verdict.said
    assert {"hsaco", "cubin"} & set(verdict.metadata["kinds"])


@pytest.mark.parametrize("chip", ["gfx942", "sm_90"])
def test_a_port_takes_the_arguments_of_its_source(chip: str) -> None:
    random = np.random.default_rng(given_seed())
    a = np.asfortranarray(random.standard_normal((32, 64)).astype(np.float16))
    b = np.asfortranarray(random.standard_normal((64, 8)).astype(np.float16))
    expected, actual = (np.full((32, 8), np.nan, np.float32, order="F") for _ in range(2))
    xtile.run(EXAMPLES / "matrix_unit.ir", {"A": a, "B": b, "C": expected})
    ported = xtile.port(str(EXAMPLES / "matrix_unit.ir"), "triton", chip=chip)
    xtile.run(ported, {"A": a, "B": b, "C": actual})
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4)


@pytest.mark.slow
def test_every_release_reads_the_same_text() -> None:
    for name in ("axpby", "gemm", "reductions"):
        source = xtile.parse((EXAMPLES / f"{name}.ir").read_text(), language="tensorlang")
        text = xtile.to_text(xtile.translate(source, "triton", chip="gfx942"), "mlir")
        for release in releases():
            verdict = judge(release, text)
            assert verdict.accepted, (release, name, verdict.said)
