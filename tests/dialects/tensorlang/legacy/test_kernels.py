"""Whole kernels in the style of a large application's generator: sizes that are no powers of two,
modes of size 1, padded strides, groups with offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

KERNELS = Path(__file__).parent / "kernels"


@pytest.mark.parametrize("name", ["volume", "one_modes", "mixed"])
def test_kernel_migrates(name: str, migrate: Callable[..., str]) -> None:
    old = (KERNELS / f"{name}.old.ir").read_text()
    assert migrate(old, warns=name == "mixed") == (KERNELS / f"{name}.ir").read_text()
