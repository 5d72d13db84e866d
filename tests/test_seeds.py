"""Tests that draw random numbers are marked, show their seed, and repeat with it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.seeds import SEED_VARIABLE

ROOT = Path(__file__).resolve().parents[1]

TEST = """
from tests.seeds import fresh_generator, fresh_random

def test_fails():
    first, second = fresh_generator().random(), fresh_generator().random()
    assert first == second, f"drawn: {first} {second} {fresh_random().random()}"
"""

WITHOUT = """
def test_fails():
    assert False, "drawn: nothing"
"""

PROPERTY = """
from hypothesis import given, strategies

@given(strategies.integers())
def test_numbers(number):
    assert number == number
"""


def _run(file: Path, text: str, seed: str = "", *options: str) -> str:
    """What pytest prints for a file with a test that fails."""
    file.write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-o", "addopts="]
    done = subprocess.run(
        [*command, "-c", str(ROOT / "pyproject.toml"), "--rootdir", file.parent, *options, file],
        cwd=ROOT,
        env={**os.environ, SEED_VARIABLE: seed},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout


def _drawn(output: str) -> str:
    found = re.search(r"AssertionError: (drawn: .*)", output)
    assert found is not None, output
    return found[1]


def test_the_seed_of_a_failure_repeats_it(tmp_path: Path) -> None:
    file = tmp_path / "test_random.py"
    first, other = (_run(file, TEST, "", "-m", "random") for _ in range(2))
    found = re.search(rf"{SEED_VARIABLE}=(\d+) in the environment repeats", first)
    assert found is not None, first
    assert _drawn(_run(file, TEST, found[1])) == _drawn(first)
    assert _drawn(other) != _drawn(first)


def test_a_test_without_random_numbers_has_no_seed(tmp_path: Path) -> None:
    file = tmp_path / "test_fixed.py"
    assert SEED_VARIABLE not in _run(file, WITHOUT)
    assert "1 deselected" in _run(file, WITHOUT, "", "-m", "random")


def test_properties_are_random(tmp_path: Path) -> None:
    assert "1 passed" in _run(tmp_path / "test_property.py", PROPERTY, "", "-m", "random")
