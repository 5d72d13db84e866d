"""Kernels that releases of Triton compile compute what their references in numpy say."""

from __future__ import annotations

from itertools import product

import pytest

import xtile
from tests.samples import one_of
from tests.triton_kernels.corpus import CASES
from tests.triton_kernels.test_corpus import REFUSALS
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import NEWEST, compiled

CHIP = "gfx942"

STAGES = ("ttir", "ttgir")


def _is_refused(name: str, release: str) -> bool:
    return any(
        name in each.kernels and release in each.releases and CHIP in each.chips
        for each in REFUSALS
    )


@pytest.mark.parametrize(
    ("name", "release", "stage"),
    [
        *product(CASES, [NEWEST], ["ttir"]),
        *one_of(2, product(CASES, [NEWEST], ["ttgir"])),
        *one_of(6, product(CASES, [each for each in releases() if each != NEWEST], STAGES)),
    ],
)
def test_values(name: str, release: str, stage: str) -> None:
    case = CASES[name]()
    source = case.source()
    verdict = compiled(release, source, CHIP, stage)
    if _is_refused(name, release):
        assert not verdict.accepted
        return
    arguments = case.copied_arguments()
    given = [arguments[parameter] for parameter in source.signature]
    xtile.run(xtile.parse(verdict.text, language="mlir"), given, grid=case.grid)
    case.check(arguments)
