"""The progress bar of `xtile run`."""

from __future__ import annotations

import sys

import pytest

from xtile.launch import progress


def look_like_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes the captured standard error, to us and to rich."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")


def test_a_long_launch_has_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    look_like_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with progress.progress_bar() as update:
        assert update is not None
        update(3, 4)
    captured = capsys.readouterr()
    assert "3/4" in captured.err
    assert captured.out == ""


def test_a_short_launch_has_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    look_like_a_terminal(monkeypatch)
    with progress.progress_bar() as update:
        assert update is not None
        update(3, 4)
    assert capsys.readouterr() == ("", "")


def test_a_file_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with progress.progress_bar() as update:
        assert update is None
