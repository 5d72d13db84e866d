"""Loops near the end of their type end, although the devices' own loop would not."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    body_of,
    lowered,
    run_entry,
    tile_kernel,
)
from tests.translate.loop_ends import ALL, NAMES, Loop, constants_text, summary_text

pytestmark = pytest.mark.slow

_DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}


def _kernel(loop: Loop, is_known: bool) -> str:
    """A kernel that counts iterations and adds up the variable."""
    parameters = [] if is_known else [f"%{name}: {loop.type}" for name in NAMES]
    body = (constants_text(loop) if is_known else "") + summary_text(loop)
    return tile_kernel(", ".join([*parameters, "%out: memref<2xi64>"]), body)


def _step(lines: list[str]) -> str:
    """The step of the only loop, as a constant's text."""
    (step,) = re.findall(r"= for .* step (%\w+)\)", "\n".join(lines))
    (number,) = re.findall(rf"^{step} = constant <\w+: (-?\d+)>", "\n".join(lines), re.MULTILINE)
    return number


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("loop", ALL, ids=str)
def test_loops_near_the_end_of_their_type(loop: Loop, is_known: bool) -> None:
    text = _kernel(loop, is_known)
    module = lowered(text)
    bounds = np.array([loop.lower, loop.upper, loop.step], _DTYPES[loop.type])
    found = np.full(2, -1, np.int64)
    run_entry(text, module, *([] if is_known else bounds), found)
    assert found.tolist() == loop.summary()
    if not is_known:
        assert _step(body_of(module)) == "1"


@pytest.mark.parametrize("is_unsigned", [False, True])
@pytest.mark.parametrize("type", ["i8", "index"])
def test_nvidias_assembler_takes_them(type: str, is_unsigned: bool) -> None:
    assemble_for_all(lowered(_kernel(Loop(type, 0, 9, 2, is_unsigned), is_known=False)), ["sm_90"])


def test_a_loop_that_cannot_wrap_around_stays_what_it_is() -> None:
    lines = body_of(lowered(_kernel(Loop("i32", 0, 9, 2), is_known=True)))
    assert _step(lines) == "2"
