"""The own check of every example in the tensor language passes on OpenCL's device."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import xtile
from tests.backends.intel.opencl_kernels import opencl_device

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.ir") if path.with_suffix(".py").exists())


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_check_passes(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))  # pyright: ignore[reportUnknownMemberType]
    # An example may have the name of a module that a test made.
    monkeypatch.delitem(sys.modules, name, raising=False)
    launches: list[str] = []

    on_opencl: Callable[..., Any] = partial(xtile.run, device="opencl")

    def run(*arguments: Any, **options: Any) -> Any:
        result = on_opencl(*arguments, **options)
        launches.append(result.device)
        return result

    monkeypatch.setattr(xtile, "run", run)
    module = importlib.import_module(name)
    assert module.main() == 0, capsys.readouterr().out
    assert "tolerance" in capsys.readouterr().out
    assert set(launches) == {str(opencl_device())}
