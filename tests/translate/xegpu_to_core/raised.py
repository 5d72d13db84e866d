"""Runs kernels of XeGPU and what they become in the core form on the reference device."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.api import parse
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate_to

Size = tuple[int, int, int]


def kernel(
    parameters: str, body: str, *, attributes: str = "", around: str = "", aliases: str = ""
) -> str:
    """The text of a module with the kernel @k.

    Args:
        parameters: The parameters with their types.
        body: The operations, without the return.
        attributes: Attributes of the kernel.
        around: Further functions and variables in the kernel's module.
        aliases: Names of attributes.
    """
    tail = f"attributes {{{attributes}}}" if attributes else ""
    return f"""{aliases}
    gpu.module @m {{
      {around}
      gpu.func @k({parameters}) kernel {tail} {{
        {body}
        gpu.return
      }}
    }}"""


def raised(text: str) -> ModuleOp:
    """A kernel in the core form, which its own text says again."""
    return parse(_raised(text))


@lru_cache(maxsize=64)
def _raised(text: str) -> str:
    return printed(translate_to(parse(text), "core", Options(), Diagnostics()))


def printed(module: ModuleOp) -> str:
    """The text of a module."""
    return xtile.to_text(module, "mlir")


def results(
    kernel: str | ModuleOp,
    arguments: Sequence[Any],
    grid: Size = (1, 1, 1),
    block: Size | None = None,
    device: str = "reference",
) -> list[Any]:
    """What a kernel leaves in its arguments."""
    own = [copy.deepcopy(each) for each in arguments]
    xtile.run(kernel, own, grid, device, block=block)
    return own


def check(
    text: str,
    arguments: Sequence[Any],
    grid: Size = (1, 1, 1),
    block: Size | None = None,
    tolerance: float = 0.0,
    *,
    on_opencl: bool = False,
) -> str:
    """Compares what a kernel and its core form leave in their arguments, bit by bit by default.

    With `on_opencl` it is compared with what an OpenCL device makes of it, too.

    Returns:
        The core form's text.
    """
    core = _raised(text)
    expected = results(text, arguments, grid, block)
    actual = results(core, arguments, grid, block)
    compare(actual, expected, tolerance)
    if on_opencl:
        compare(results(text, arguments, grid, block, "opencl"), expected, tolerance)
    return core


def compare(actual: Sequence[Any], expected: Sequence[Any], tolerance: float = 0.0) -> None:
    """Compares arrays bit by bit, or floats with a tolerance."""
    for wanted, given in zip(expected, actual, strict=True):
        if not hasattr(wanted, "dtype"):
            continue
        if tolerance and not np.issubdtype(wanted.dtype, np.integer):
            close = given.astype(np.float64), wanted.astype(np.float64)
            np.testing.assert_allclose(*close, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(given.view(np.uint8), wanted.view(np.uint8))
