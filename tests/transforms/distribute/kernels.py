"""Writes block-level kernels, distributes them, prints and runs them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from io import StringIO
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tests.lane_targets import for_either
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.rewrite.kernels import kernels_of
from xtile.semantics.arguments import Argument, MemrefArgument, ScalarArgument, WordsArgument
from xtile.semantics.engine import launch
from xtile.targets import INTEL
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source
from xtile.transforms.distribute.distribution import distribute

BLOCK_SIZE = "known_block_size = array<i32: 32, 1, 1>"

DTYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}
"""How numpy holds the elements of each type."""


def kernel(parameters: str, body: str, attributes: str = BLOCK_SIZE) -> str:
    """The text of a module with one block-level kernel."""
    all_attributes = ", ".join(filter(None, ['core.level = "block"', attributes]))
    return (
        f"gpu.module @m {{\ngpu.func @k({parameters}) kernel "
        f"attributes {{{all_attributes}}} {{\n{body}\ngpu.return\n}}\n}}\n"
    )


def read(text: str) -> ModuleOp:
    """Reads and verifies a module."""
    diagnostics = Diagnostics()
    module = read_mlir(Source("kernel.mlir", text), diagnostics, make_context())
    if module is not None:
        verify_module(module, diagnostics)
    if module is None or diagnostics.has_errors:
        raise DiagnosticError(diagnostics.sorted())
    return module


@lru_cache(maxsize=64)
def distributed(text: str, chip: str = "pvc") -> ModuleOp:
    """The distributed module, which is verified; nobody may change it."""
    module = distribute(read(text), for_either(INTEL.chips[chip]))
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    return module


def printed(module: ModuleOp, generic: bool = False) -> str:
    """A module as MLIR text."""
    output = StringIO()
    print_mlir(module, output, generic=generic)
    return output.getvalue()


def body_of(text: str, chip: str = "pvc") -> list[str]:
    """The lines of the distributed kernel's body, without their indentation."""
    lines = [line.strip() for line in printed(distributed(text, chip)).splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("gpu.func"))
    return lines[start + 1 : lines.index("gpu.return")]


def run(module: ModuleOp, *arguments: Any, grid: tuple[int, int, int] = (1, 1, 1)) -> None:
    """Runs the only kernel of a module on the reference device, on arrays and numbers."""
    launch(function_of(module), arguments_of(arguments), grid)


def function_of(module: ModuleOp) -> FuncOp:
    """The only kernel of a module."""
    (function,) = kernels_of(module)
    return function


def arguments_of(values: Iterable[Any]) -> list[Argument]:
    """Arrays, lists of arrays and numbers as the engine takes them."""
    return [_argument(value) for value in values]


def _argument(value: Any) -> Argument:
    if isinstance(value, list):
        return WordsArgument([_memory(array) for array in cast("list[Any]", value)])
    return _memory(value) if isinstance(value, np.ndarray) else ScalarArgument(value)


def _memory(value: Any) -> MemrefArgument:
    array: np.ndarray[Any, Any] = value
    strides = tuple(stride // array.itemsize for stride in array.strides)
    span = 1 + sum((size - 1) * stride for size, stride in zip(array.shape, strides, strict=True))
    # numpy's as_strided does not know the name of f8E5M2.
    bits = array.view(f"V{array.itemsize}") if array.dtype.kind in "fV" else array
    flat = np.lib.stride_tricks.as_strided(bits, (span,), (array.itemsize,)).view(array.dtype)
    return MemrefArgument(flat, array.shape, strides)
