"""What NVIDIA's cuTile exports is read, run with the right numbers, and written back."""

# pyright: basic

from __future__ import annotations

from typing import Any

import cuda.tile as ct
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.dialects.cuda_tile.cutile.cases import CASES, Case
from tests.dialects.cuda_tile.cutile.launching import exported, flat
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.dialects.cuda_tile.versions import V13_1, V13_2, V13_3

VERSIONS = {"13.1": V13_1, "13.2": V13_2, "13.3": V13_3}


def launch(case: Case, code: bytes, **options: Any) -> None:
    """Runs the only entry of a file, and checks what it computes."""
    module = ModuleOp([decode(code, "kernel.tileirbc")])
    xtile.run(module, flat(case.arguments), case.grid, **options)
    for place, expected in case.expected.items():
        check(case.arguments[place], expected, case.tolerance)


def check(given: np.ndarray, expected: Any, tolerance: float) -> None:
    """Checks a result; a pair says where it is known."""
    if isinstance(expected, tuple):
        expected, known = expected
        given, expected = given[known], expected[known]
    if given.dtype.kind in "iu" or not tolerance:
        np.testing.assert_array_equal(given, expected)
        return
    error = np.abs(given.astype(np.float64) - expected)
    assert np.max(error) <= tolerance * max(1.0, float(np.abs(expected).max()))


@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    case = CASES[name]()
    launch(case, exported(case.kernel, case.arguments))


@pytest.mark.parametrize("name", CASES)
def test_sanitizer_finds_nothing(name: str) -> None:
    case = CASES[name]()
    launch(case, exported(case.kernel, case.arguments, divisor=16), sanitize=True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", CASES)
def test_bytecode_is_read_and_written_back(name: str, version: str) -> None:
    case = CASES[name]()
    module = decode(exported(case.kernel, case.arguments, version=version), "kernel.tileirbc")
    again = decode(encode(module, VERSIONS[version]), "again.tileirbc")
    assert module.is_structurally_equivalent(again)


@pytest.mark.parametrize("name", ["fused", "matmul_f16", "sum_of_list"])
def test_sizes_of_64_bits(name: str) -> None:
    case = CASES[name]()
    launch(case, exported(case.kernel, case.arguments, index_dtype=ct.int64))
