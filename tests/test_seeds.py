"""Tests that draw random numbers are marked, show their seed, and repeat."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.seeds import SEED_VARIABLE, fresh_generator, fresh_seed, has_drawn, same_numbers

ROOT = Path(__file__).resolve().parents[1]

RANDOM = """
from pathlib import Path
from tests.seeds import fresh_generator, fresh_random, given_seed, share_of

def _count(name):
    with Path(__file__).with_name(name).open("a") as file:
        file.write("run\\n")

def test_draws():
    _count("draws")
    fresh_random()

def test_asks_for_the_seed():
    _count("asks" + str(share_of(6)))
    given_seed()

def test_draws_nothing():
    _count("nothing")

def test_fails():
    first, second = fresh_generator().random(), fresh_generator().random()
    assert first == second, f"drawn: {first} {second} {fresh_random().random()}"
"""

COUNTS = ("draws", "asks2", "nothing")
"""The files to which tests write how often they ran when they are repeated."""

PROPERTY = """
from hypothesis import given, strategies

@given(strategies.integers())
def test_numbers(number):
    assert number == number
"""

FIXED = """
def test_fails():
    assert False, "fixed"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tests that draw random numbers, and others."""
    made = tmp_path_factory.mktemp("tests")
    for name, text in (("random", RANDOM), ("property", PROPERTY), ("fixed", FIXED)):
        (made / f"test_{name}.py").write_text(text)
    return made


def _run(folder: Path, seed: str = "", *options: str) -> str:
    """What pytest prints for the tests of a folder."""
    for count in COUNTS:
        (folder / count).unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-o", "addopts="]
    done = subprocess.run(
        [*command, "-c", str(ROOT / "pyproject.toml"), "--rootdir", folder, *options, folder],
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


def test_the_seed_of_a_failure_repeats_it(folder: Path) -> None:
    first = _run(folder)
    found = re.findall(rf"{SEED_VARIABLE}=(\d+) in the environment repeats", first)
    # The test that draws nothing fails, too.
    assert len(found) == 1, first
    assert "2 failed, 4 passed" in first
    assert _drawn(_run(folder, found[0])) == _drawn(first)


def test_tests_that_draw_are_random_and_run_as_often_as_is_wanted(folder: Path) -> None:
    output = _run(folder, "", "-m", "random", "--random-runs", "3")
    assert "1 failed, 4 passed, 1 deselected" in output
    runs = [len((folder / n).read_text().splitlines()) for n in COUNTS]
    assert runs == [3, 3, 1]
    assert _drawn(output) != _drawn(_run(folder))


def test_numbers_of_a_name_are_the_same_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(name: str, seed: str) -> list[int]:
        monkeypatch.setenv(SEED_VARIABLE, seed)
        fresh_seed.cache_clear()
        with same_numbers(name):
            return [int(fresh_generator().integers(2**31)) for _ in range(4)]

    before = has_drawn()
    first = drawn("triton rope", "1")
    assert len(set(first)) > 1
    assert drawn("triton rope", "2") == first
    assert drawn("triton add", "1") != first
    assert has_drawn() == before
    fresh_seed.cache_clear()
