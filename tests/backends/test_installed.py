"""Finding commands: this Python's own before those of the PATH."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from xtile.backends.installed import find_command


def _command(directory: Path, name: str) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The directories of this Python and of the PATH."""
    own, path = tmp_path / "own", tmp_path / "path"
    monkeypatch.setattr(sys, "executable", str(own / "python"))
    monkeypatch.setenv("PATH", str(path))
    return own, path


def test_this_pythons_command_comes_first(positions: tuple[Path, Path]) -> None:
    first, _ = (str(_command(position, "tool")) for position in positions)
    assert find_command("tool") == first


def test_a_command_of_the_path(positions: tuple[Path, Path]) -> None:
    assert find_command("tool") is None
    found = _command(positions[1], "tool")
    assert find_command("tool") == str(found)
    assert find_command(str(found)) == str(found)


def test_what_is_no_program_is_no_command(positions: tuple[Path, Path]) -> None:
    _command(positions[0], "tool").chmod(0o644)
    assert find_command("tool") is None


def test_a_python_without_an_executable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current directory is no position for commands."""
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.chdir(tmp_path)
    _command(tmp_path, "tool")
    assert find_command("tool") is None
