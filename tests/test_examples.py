"""Every example's own check passes."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from pathlib import Path

import pytest

import xtile

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "checking")

CHECKED_BY_ANOTHER = {"older_syntax": "old_syntax"}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("sanitize", [False, True], ids=["run", "sanitize"])
def test_the_check_passes(
    name: str,
    sanitize: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    # An example may have the name of a module that a test made.
    monkeypatch.delitem(sys.modules, name, raising=False)
    # The sanitizer raises if it finds anything, and there is nothing to find.
    monkeypatch.setattr(xtile, "run", partial(xtile.run, sanitize=sanitize))
    module = importlib.import_module(name)
    assert module.main() == 0, capsys.readouterr().out
    assert "tolerance" in capsys.readouterr().out


def test_every_kernel_has_a_check() -> None:
    kernels = {path.stem for path in EXAMPLES.glob("*.ir")}
    assert {CHECKED_BY_ANOTHER.get(name, name) for name in kernels} == set(SCRIPTS)


def test_a_mismatch_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    checking = importlib.import_module("checking")
    import numpy as np

    assert checking.compare("right", np.ones(3), np.ones(3), 0.0)
    assert not checking.compare("wrong", np.ones(3), np.zeros(3), 0.5)
    assert not checking.compare("unwritten", np.full(3, np.nan), np.zeros(3), 0.5)
    assert checking.exit_status(True, False) == 1
