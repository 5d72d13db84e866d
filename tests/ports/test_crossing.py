"""Kernels of every language as every other one and back; `--all-ports` runs all of the corpus.

`python -m tests.ports.crossing` prints the table of docs/conformance.md.
"""

from __future__ import annotations

import os

import pytest

from tests.ports.corpus import FAMILIES, kernels_of
from tests.ports.crossing import Crossing, crossings, exact_table_of, table_of

SAMPLE = {
    "tensorlang": ("gemm_f16",),
    "xegpu": ("work_group", "random_subgroup_0"),
    "cuda_tile": ("join_parts",),
    "triton": ("saxpy_loop",),
}
"""The kernels that are ported unless XTILE_ALL_PORTS is set, as `--all-ports` sets it."""

COUNT = 30
"""How many kernels of each language are in the table."""


def _names(source: str) -> tuple[str, ...]:
    return (
        tuple(kernels_of(source))[:COUNT] if os.environ.get("XTILE_ALL_PORTS") else SAMPLE[source]
    )


CASES = [(source, name) for source in FAMILIES for name in _names(source)]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "name"), CASES)
def test_ports_compute_the_same(source: str, name: str) -> None:
    targets = [target for target in FAMILIES if target != source]
    found = list(crossings(kernels_of(source)[name], targets))
    assert [each.target for each in found] == targets
    wrong = [each for each in found if "wrong" in (each.verdict, each.back)]
    assert not wrong, wrong
    if (source, name) in {(family, names[0]) for family, names in SAMPLE.items()}:
        assert {each.verdict for each in found} == {"right"}


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
