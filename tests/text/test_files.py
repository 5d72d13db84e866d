"""Output files are whole or as they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from xtile.text.files import write_file


def test_text_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_file(str(path), "é\n")
    assert path.read_bytes() == b"\xc3\xa9\n"
    write_file(str(path), b"\xff")
    assert path.read_bytes() == b"\xff"
    assert os.listdir(tmp_path) == ["out"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "out", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_file(str(link), "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_device_is_not_replaced() -> None:
    write_file(os.devnull, "text")
    assert not Path(os.devnull).is_file()


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_file(str(path), "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_file(str(tmp_path / "none" / "out"), "text")
