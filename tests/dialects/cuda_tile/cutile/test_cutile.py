"""What NVIDIA's cuTile exports is read, run with the right numbers, and written back."""

# pyright: basic

from __future__ import annotations

import warnings
from typing import Any

import cuda.tile as ct
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.dialects.cuda_tile.cutile import kernels
from tests.dialects.cuda_tile.cutile.cases import CASES, Case
from tests.dialects.cuda_tile.cutile.launching import Constant, exported, flat
from tests.tile_tools import assembled, disassembled
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.dialects.cuda_tile.versions import V13_1, V13_2, V13_3
from xtile.text.diagnostics import SourceWarning

VERSIONS = {"13.1": V13_1, "13.2": V13_2, "13.3": V13_3}


def launch(case: Case, code: bytes, **options: Any) -> None:
    """Runs the only entry of a file, and checks what it computes."""
    module = ModuleOp([decode(code, "kernel.tileirbc")])
    xtile.run(module, flat(case.arguments), case.grid, **options)
    for position, expected in case.expected.items():
        check(case.arguments[position], expected, case.tolerance)


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
    launch(case, exported(case.kernel, case.arguments, **case.options))


@pytest.mark.parametrize("name", CASES)
def test_sanitizer_finds_nothing(name: str) -> None:
    case = CASES[name]()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", SourceWarning)
        launch(
            case, exported(case.kernel, case.arguments, divisor=16, **case.options), sanitize=True
        )
    messages = [str(each.message) for each in found if each.category is SourceWarning]
    # The histogram stores what was before updates that its mask leaves out.
    assert len(messages) == (1 if name == "histogram" else 0), messages
    assert all("what is stored depends on an element" in message for message in messages)


@pytest.mark.parametrize("name", CASES)
def test_bytecode_is_read_and_written_back(name: str) -> None:
    case = CASES[name]()
    for text, version in VERSIONS.items():
        if text < case.since:
            continue
        code = exported(case.kernel, case.arguments, version=text, **case.options)
        module = decode(code, "kernel.tileirbc")
        again = decode(encode(module, version), "again.tileirbc")
        assert module.is_structurally_equivalent(again)


@pytest.mark.parametrize("name", CASES)
def test_nvidia_reads_what_is_written_back(name: str) -> None:
    case = CASES[name]()
    code = exported(case.kernel, case.arguments, **case.options)
    again = encode(decode(code, "kernel.tileirbc"))
    assert disassembled(again) == disassembled(code)
    assembled(again, case.options.get("gpu_code", "sm_90"))


@pytest.mark.parametrize("name", ["fused", "matmul_f16", "sum_of_list"])
def test_sizes_of_64_bits(name: str) -> None:
    case = CASES[name]()
    launch(case, exported(case.kernel, case.arguments, index_dtype=ct.int64))


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [np.arange(8, dtype=np.float32), Constant(4)]
    module = ModuleOp([decode(exported(kernels.printed, arguments), "kernel.tileirbc")])
    xtile.run(module, flat(arguments), 2)
    assert capsys.readouterr().out == (
        "block 0: [0.0, 1.0, 2.0, 3.0]\nblock 1: [4.0, 5.0, 6.0, 7.0]\n"
    )
