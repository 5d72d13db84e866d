"""Random kernels of four languages with layouts compute what they do without.

A few are tried here; `random_kernels.py` tries as many as one likes.
"""

from __future__ import annotations

import pytest

from tests.seeds import given_seed
from tests.translate.triton_to_amdg.laid_out import said_of
from tests.translate.triton_to_amdg.random_kernels import KERNELS, check, with_layouts
from tests.triton_releases.judges import NEWEST
from xtile.text.diagnostics import DiagnosticError

SEEDS = 4
"""The kernels of each language."""

REFUSALS = ("cannot be translated to Triton", "must be copied, which needs a static size")
"""Why there may be no kernel of Triton."""


@pytest.mark.parametrize("language", KERNELS)
@pytest.mark.parametrize("number", range(SEEDS))
def test_kernels(language: str, number: int) -> None:
    seed = (given_seed() or 0) + number
    try:
        kernel = KERNELS[language](seed)
    except DiagnosticError as error:
        assert any(words in str(error) for words in REFUSALS)  # noqa: PT017
        return
    module, chip = with_layouts(kernel, seed)
    check(kernel, module)
    if number == 0:
        assert not said_of(module, NEWEST, chip)


def test_a_loop_that_begins_with_what_it_loads_ahead() -> None:
    # Two operands are loaded ahead, and the first operation of the loop is one of the loads.
    seed = 3935894104
    kernel = KERNELS["triton"](seed)
    module, _ = with_layouts(kernel, seed)
    assert str(module).count("ttg.local_alloc") == 2
    check(kernel, module)


def test_loops_in_loops_give_what_they_carry() -> None:
    # What uses the result of the outer loop asks for another layout than the loop carries.
    seed = 2982312515
    kernel = KERNELS["tensorlang"](seed)
    module, _ = with_layouts(kernel, seed)
    check(kernel, module)
