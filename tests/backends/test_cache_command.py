"""`xtile cache`."""

from __future__ import annotations

from pathlib import Path

import pytest

from xtile.backends.cache import Cache, make_key
from xtile.cli import main


@pytest.fixture(name="cache")
def make_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cache:
    monkeypatch.setenv("XTILE_CACHE_DIR", str(tmp_path / "cache"))
    return Cache()


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["cache", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_an_empty_cache(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys) == (
        f"directory  {cache.directory}  (set XTILE_CACHE_DIR to change it)\n"
        "entries    0 entries of together 0.0 MB, at most 512.0 MB\n"
    )
    assert not cache.directory.exists()


def test_what_it_holds(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    cache.put(make_key("program"), {}, bytes(1_000_000))
    cache.put(make_key("binary", a="1"), {}, bytes(500_000))
    cache.put(make_key("binary", a="2"), {}, bytes(500_000))
    assert (
        output(capsys, "show")
        == output(capsys)
        == (
            f"directory  {cache.directory}  (set XTILE_CACHE_DIR to change it)\n"
            "entries    3 entries of together 1.9 MB, at most 512.0 MB\n"
            "           built by drivers: 2\n"
            "           compiled by xtile: 1\n"
        )
    )


def test_clearing(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    cache.put(make_key("failure"), {}, bytes(200_000))
    assert output(capsys, "clear") == f"removed 1 entry of together 0.2 MB from {cache.directory}\n"
    assert list(cache.directory.iterdir()) == []
    assert output(capsys, "clear").startswith("removed 0 entries of together 0.0 MB")


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "delete"]) == 2
    assert "invalid choice: 'delete'" in capsys.readouterr().err
