"""Kernels of every language as every other one and back: a third of the corpus of `crossing.py`.

`--all-ports` runs all of it, and `python -m tests.ports.crossing` prints the table of
docs/conformance.md. All inputs are the same in each run.
"""

from __future__ import annotations

import os
from itertools import islice
from zlib import crc32

import numpy as np
import pytest

from tests.ports.corpus import FAMILIES, kernels_of
from tests.ports.crossing import Crossing, crossings, exact_table_of, table_of
from tests.ports.refusals import BACK, THERE
from tests.seeds import SEED_VARIABLE, fresh_seed

COUNT = 30
"""How many kernels of each language are in the table."""

LONG = frozenset(
    f"example_{name}" for name in ("batched_gemm", "gemm", "matrix_chain", "tall_and_skinny")
)
"""Kernels that take 15 s or more each, which are run with all others only."""

ALSO = {"tensorlang": ("gemm_f16",), "xegpu": (), "cuda_tile": ("join_parts",), "triton": ()}
"""Kernels beside each third one."""


def _sample(source: str) -> tuple[str, ...]:
    names = [name for name in list(kernels_of(source))[:COUNT] if name not in LONG]
    return tuple(dict.fromkeys((*names[::3], *ALSO[source])))


def _names(source: str) -> tuple[str, ...]:
    """The kernels that are ported: all if XTILE_ALL_PORTS is set, as `--all-ports` sets it."""
    if os.environ.get("XTILE_ALL_PORTS"):
        return tuple(kernels_of(source))[:COUNT]
    return _sample(source)


CASES = [(source, name) for source in FAMILIES for name in _names(source)]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "name"), CASES)
def test_ports_compute_the_same(source: str, name: str) -> None:
    targets = [target for target in FAMILIES if target != source]
    found = list(crossings(kernels_of(source)[name], targets))
    assert [each.target for each in found] == targets
    wrong = [each for each in found if "wrong" in (each.verdict, each.back)]
    assert not wrong, wrong
    assert [each for each in found if not each.is_located] == []
    if name not in _sample(source):
        return
    there = {each.target: each.reason for each in found if each.verdict == "refused"}
    back = {each.target: each.back_reason for each in found if each.back == "refused"}
    assert there == THERE.get((source, name), {})
    assert back == BACK.get((source, name), {})


def test_inputs_are_the_same_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """No seed changes what the kernels of other corpora are run on."""
    digests: list[list[int]] = []
    for seed in ("1", "2"):
        monkeypatch.setenv(SEED_VARIABLE, seed)
        fresh_seed.cache_clear()
        kernels = FAMILIES["cuda_tile"](), FAMILIES["triton"]()
        some = [each for family in kernels for each in islice(family, 0, 8, 2)]
        values = [value for each in some if each.arguments for value in each.arguments()]
        assert len(values) > 20
        digests.append([crc32(np.asarray(value).tobytes()) for value in values])
    fresh_seed.cache_clear()
    assert digests[0] == digests[1]


def test_refusals_are_of_the_sample() -> None:
    """There is no line for what nothing runs."""
    sample = {(source, name) for source in FAMILIES for name in _sample(source)}
    assert {*THERE, *BACK} <= sample
    assert len(sample) > 40


def test_the_table_counts() -> None:
    def one(verdict: str, back: str) -> Crossing:
        return Crossing("triton", "k", "xegpu", verdict, "", back, "", 1.0)

    done = [one("right", "right"), one("right", "refused"), one("wrong", ""), one("refused", "")]
    last = table_of(done).splitlines()[-1]
    assert last == "| triton | xegpu | 4 | 2 | 1 | 1 | 1, 1, 0 |"


def test_the_table_of_exact_numbers_counts_what_is_refused_on_its_own() -> None:
    def one(exact: str | None, back: str | None) -> Crossing:
        return Crossing("triton", "k", "xegpu", "right", "", "right", "", 1.0, exact, back)

    done = [one("agrees", "refused"), one("refused", None), one(None, None)]
    assert exact_table_of(done).splitlines()[-1] == "| triton | xegpu | 1 | 1 | 0 | 0, 1, 0 |"
