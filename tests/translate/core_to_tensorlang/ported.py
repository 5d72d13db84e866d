"""Kernels of any language as the tensor language, and runs of both on equal arguments."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.translate.core_to_tensorlang import translate_module
from xtile.translate.route import Options, translate_to

Array = Any

TOLERANCES = {"f2": 1e-2, "f4": 1e-4, "f8": 1e-9, "c8": 1e-4, "c16": 1e-9}
"""How far apart sums of different orders may be, by the type of an array."""

_OTHER_FLOATS = 2e-2
"""The same of bf16, which numpy knows as bytes."""


def there_and_back(module: ModuleOp) -> ModuleOp:
    """What functions of the tensor language become that were in the core form in between."""
    return checked(translate_module(translate_to(module, "core", Options())))


def ported(kernel: str | ModuleOp) -> ModuleOp:
    """A kernel as the tensor language, as its own text says it."""
    module = kernel if isinstance(kernel, ModuleOp) else xtile.parse(kernel)
    return checked(translate_to(module, "tensorlang", Options()))


def checked(made: ModuleOp) -> ModuleOp:
    """Functions of the tensor language, verified, printed and read again, which gives the same."""
    found = Diagnostics()
    verify_module(made, found)
    assert not found.has_errors, found.render()
    text = xtile.to_text(made, "tensorlang")
    again = xtile.parse(text, language="tensorlang")
    assert xtile.to_text(again, "tensorlang") == text
    return again


def agree(
    kernel: str | ModuleOp,
    arguments: Sequence[Any],
    grid: Any = 1,
    *,
    device: str = "reference",
    **options: Any,
) -> None:
    """Runs a kernel and its port, and compares the arrays.

    Args:
        kernel: The kernel.
        arguments: Its arguments; outputs are NaN or another number that no kernel writes.
        grid: The work-groups.
        device: What runs the port; the kernel runs on the reference device.
        options: Of the launch of the kernel.
    """
    expected, found = (copy.deepcopy(list(arguments)) for _ in range(2))
    xtile.run(kernel, expected, grid, **options)
    xtile.run(ported(kernel), found, grid, device=device)
    for index, (a, b) in enumerate(zip(expected, found, strict=True)):
        if isinstance(a, np.ndarray):
            assert_near(b, a, f"argument {index}")


def assert_near(found: Array, expected: Array, what: str = "") -> None:
    """Compares two arrays, integers exactly."""
    kind = expected.dtype.kind
    if kind in "iub":
        np.testing.assert_array_equal(found, expected, what)
        return
    wide = np.complex128 if kind == "c" else np.float64
    tolerance = TOLERANCES.get(expected.dtype.str[1:], _OTHER_FLOATS)
    np.testing.assert_allclose(
        found.astype(wide), expected.astype(wide), tolerance, tolerance, err_msg=what
    )
