"""Every example's own check passes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "checking")

BUILT = {"linalg_product"}
"""Examples that build their kernels."""

CHECKED_BY_ANOTHER = {"older_syntax": "old_syntax"}


@pytest.mark.slow
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
    monkeypatch.setattr(xtile, "run", partial(_run, xtile.run, sanitize))
    module = importlib.import_module(name)
    assert module.main() == 0, capsys.readouterr().out
    assert "tolerance" in capsys.readouterr().out


def _run(
    launch: Callable[..., object],
    sanitize: bool,
    *arguments: Any,
    device: str = "reference",
    **options: Any,
) -> object:
    """Sanitizes where the device can."""
    can_sanitize = sanitize and device == "reference"
    return launch(*arguments, device=device, sanitize=can_sanitize, **options)


def test_every_kernel_has_a_check() -> None:
    files = [*EXAMPLES.glob("*.ir"), *EXAMPLES.glob("cutile/*.mlir")]
    kernels = {path.stem for path in files}
    assert {CHECKED_BY_ANOTHER.get(name, name) for name in kernels} == set(SCRIPTS) - BUILT


def test_a_mismatch_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    checking = importlib.import_module("checking")
    import numpy as np

    assert checking.compare("right", np.ones(3), np.ones(3), 0.0)
    assert not checking.compare("wrong", np.ones(3), np.zeros(3), 0.5)
    assert not checking.compare("unwritten", np.full(3, np.nan), np.zeros(3), 0.5)
    assert checking.exit_status(True, False) == 1


def test_a_kernel_in_the_rfcs_spelling_computes_the_product() -> None:
    generator = fresh_generator()
    a = generator.standard_normal((8, 16)).astype(np.float16)
    b = generator.standard_normal((16, 16)).astype(np.float16)
    c = np.full((8, 16), np.nan, np.float32)
    kernel = EXAMPLES / "xegpu" / "rfc_product.mlir"
    xtile.run(kernel, {"A": a, "B": b, "C": c}, block=(16, 1, 1))
    # Products of f16 numbers are exact in f32; 16 of them are added up in any order.
    tolerance = 16 * 2.0**-24 * np.max(np.abs(a).astype(float) @ np.abs(b).astype(float))
    np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), rtol=0, atol=tolerance)
