"""Kernels with layouts: what real Tritons say of them, and what they compute here."""

from __future__ import annotations

import os
from functools import cache

from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.triton_kernels.case import Case
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.folders import ALL_VARIABLE
from tests.triton_releases.judges import NEWEST, compiled, judge
from xtile.dialects.triton.adapt import adapt
from xtile.dialects.triton.printer import TritonPrinter
from xtile.dialects.triton.versions import parse_release
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate

TAKES_ALL = bool(os.environ.get(ALL_VARIABLE))
"""Whether all kernels are tried, as pytest's option `--all-on-triton` says."""


@cache
def of_corpus(name: str) -> ModuleOp:
    """A kernel of the corpus, in `tt`."""
    # What is compiled for gfx942 rounds factors, which only that chip's text may ask for.
    chip = "gfx942" if name == "matmul_tf32" else "gfx950"
    verdict = compiled(NEWEST, CASES[name]().source(), chip, "ttir")
    assert verdict.accepted, verdict.said
    return xtile.parse(verdict.text, language="ttir")


def laid_out(
    module: ModuleOp, chip: str, warps: int | None = None, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """A kernel of `tt` with layouts, which our verifier takes."""
    made = translate(module, "triton-to-amdg", Options(chip, warps=warps), diagnostics)
    found = Diagnostics()
    verify_module(made, found)
    assert not found.has_errors, found.render()
    return made


def text_for(module: ModuleOp, release: str) -> str:
    """A kernel's text for a release."""
    number, found, own = parse_release(release.rpartition(".")[0]), Diagnostics(), module.clone()
    adapt(own, number, found)
    assert not found.has_errors, found.render()
    return "".join(TritonPrinter(release=number).print_top_level(own))


def said_of(module: ModuleOp, release: str, chip: str) -> str:
    """What a release says against a kernel; nothing if it takes it."""
    verdict = judge(release, text_for(module, release), chip=chip)
    return "" if verdict.accepted else verdict.said


def run(module: ModuleOp, case: Case) -> None:
    """Runs a kernel on the reference device with a case's arguments, and checks what it computes.

    Raises:
        AssertionError: It computes something else.
    """
    arguments = case.copied_arguments()
    ones = {key for key, each in arguments.items() if type(each) is int and each == 1}
    given = [each for key, each in arguments.items() if key not in ones]
    xtile.run(module, given, case.grid)
    case.check(arguments)
