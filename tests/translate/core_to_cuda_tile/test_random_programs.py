"""Random collective programs keep their meaning in CUDA Tile IR, and tokens order all accesses."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.transforms.distribute.kernels import kernel, read, run
from tests.transforms.distribute.test_random_programs import PARAMETERS, arguments
from tests.transforms.tile_linalg.test_random_programs import TileWriter
from tests.translate.core_to_cuda_tile.entries import (
    CHIPS,
    assemble_for_all,
    from_block_level,
    run_entry,
    unordered_accesses,
)

PROGRAMS = 20

_CONDITIONS = """
    %yes = arith.trunci %yes_bits : i8 to i1
    %no = arith.trunci %no_bits : i8 to i1
"""
"""Truth values are no arguments of kernels."""


def _text(seed: int) -> str:
    parameters = PARAMETERS.replace("%yes: i1, %no: i1", "%yes_bits: i8, %no_bits: i8")
    parameters = re.sub("(%[abv]: [^%]*), %", r"\1 {core.noalias}, %", parameters)
    return kernel(parameters, _CONDITIONS + TileWriter(seed).program())


def _arguments(seed: int) -> list[Any]:
    *others, yes, no = arguments(seed)
    return [*others, np.int8(yes), np.int8(no)]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(seed: int) -> None:
    text = _text(seed)
    module = from_block_level(text, may_overlap=TileWriter(seed).is_aliased)
    expected, found = _arguments(seed), _arguments(seed)
    run(read(text), *expected)
    run_entry(text, module, *found)
    for a, b in zip(expected[:3], found[:3], strict=True):
        assert np.array_equal(a, b), text
    assert not unordered_accesses(text, module, *_arguments(seed)), text


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 10))
def test_assembler(seed: int) -> None:
    assemble_for_all(from_block_level(_text(seed)), CHIPS[seed // 10 :][:1])
