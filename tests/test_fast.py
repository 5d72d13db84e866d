"""Tests fall into the class of the fast ones by what they use, and are held to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TESTS = """
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies

import xtile
from tests.fast import MAXIMUM_SECONDS
from tests.mlir_opt import run_mlir_opt


class Tool:
    def answer(self):
        return run_mlir_opt("")


def helper():
    return Tool().answer()


@pytest.fixture
def tool():
    return helper


def test_nothing():
    assert True

def test_a_path(tmp_path):
    assert Path(tmp_path).exists()

@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_devices(device):
    assert device == "reference"

def test_a_process():
    subprocess.run(["true"])

def test_a_helper():
    helper()

def test_a_function_inside():
    assert list(map(lambda _: Tool(), [])) == []

def test_a_fixture(tool):
    assert tool

@pytest.mark.parametrize("function", [helper, str])
def test_parameters(function):
    assert callable(function)

def test_an_import():
    from xtile.backends.intel import compilation
    assert compilation

def test_a_device():
    assert xtile.run(__file__, [], device="opencl")

@given(strategies.integers())
def test_a_property(number):
    assert number == number

@pytest.mark.slow
def test_slow():
    assert True
"""

FAST = {
    "test_nothing",
    "test_a_path",
    "test_devices[reference]",
    "test_parameters[str]",
}

RANDOM_TESTS = """
def test_kernels():
    assert True
"""

CHEATS = """
import importlib

import tests.fast

def test_hides_a_process():
    importlib.import_module("sub" + "process").run(["true"])

def test_keeps_the_processor_busy(monkeypatch):
    monkeypatch.setattr(tests.fast, "MAXIMUM_SECONDS", 0.0)
    assert sum(range(1000)) == 499500
"""


def _run(directory: Path, *options: str) -> str:
    """What pytest prints for the fast tests in a directory."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-o", "addopts="]
    command += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(directory)]
    return subprocess.run(
        [*command, *options, "-m", "fast", str(directory)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    ).stdout


def test_what_a_test_uses_says_whether_it_is_fast(tmp_path: Path) -> None:
    (tmp_path / "test_random_kernels.py").write_text(RANDOM_TESTS)
    (tmp_path / "test_classes.py").write_text(TESTS)
    output = _run(tmp_path, "--collect-only")
    found = {line.split("::")[1] for line in output.splitlines() if "::" in line}
    assert found == FAST, output


def test_a_fast_test_starts_no_process_and_is_short(tmp_path: Path) -> None:
    (tmp_path / "test_cheats.py").write_text(CHEATS)
    output = _run(tmp_path)
    assert "2 failed" in output
    assert "NotFastError: a fast test starts a process (subprocess.Popen)" in output
    assert "of the processor, of at most 0.0 s; make it smaller, or mark it" in output
