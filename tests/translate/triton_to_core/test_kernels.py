"""Kernels of the corpus compute what their references say when they are tiles of the core form."""

from __future__ import annotations

from functools import cache

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.triton_kernels.case import Case
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.judges import NEWEST, compiled
from xtile.translate.route import translate

NOT_COMPILED = {"matmul_block_pointers"}
"""What the newest release does not compile."""

NAMES = [name for name in CASES if name not in NOT_COMPILED]


@cache
def _text(name: str) -> str:
    """What Triton makes of a kernel before it chooses layouts."""
    verdict = compiled(NEWEST, CASES[name]().source(), "gfx942", "ttir")
    assert verdict.accepted, verdict.said
    return verdict.text


def _raised(name: str) -> ModuleOp:
    return translate(xtile.parse(_text(name), language="ttir"), "triton-to-core")


def _given(case: Case) -> tuple[dict[str, object], list[object]]:
    """Arguments by name, and those that the compiled kernel takes: no ones."""
    arguments = case.copied_arguments()
    ones = {name for name, each in arguments.items() if type(each) is int and each == 1}
    return arguments, [each for name, each in arguments.items() if name not in ones]


@pytest.mark.parametrize("name", NAMES)
def test_raised_kernels(name: str) -> None:
    case = CASES[name]()
    arguments, given = _given(case)
    xtile.run(_raised(name), given, case.grid)
    case.check(arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_kernels_on_opencl(name: str) -> None:
    case = CASES[name]()
    arguments, given = _given(case)
    module = xtile.parse(_text(name), language="ttir")
    xtile.run(module, given, case.grid, device="opencl")
    case.check(arguments)
