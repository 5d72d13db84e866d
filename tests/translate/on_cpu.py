"""Runs what kernels at tile level become for a CPU, beside what they become for a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import combinations
from typing import Any
from weakref import WeakKeyDictionary

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tests.translate.ported import as_bits, kernels_of
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.verification import verify_module
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument
from xtile.semantics.engine import launch
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.route import Options, translate

Array = np.ndarray[Any, Any]

_REFUSED = (
    "with core.rounding cannot be translated to",
    "with core.saturate cannot be translated to",
)
"""What a CPU has no way to do, in the words of messages."""

_TRANSLATED: WeakKeyDictionary[ModuleOp, ModuleOp | None] = WeakKeyDictionary()


class CpuRun:
    """A run, on the reference device, of what a kernel at tile level becomes for a CPU.

    Args:
        function: The kernel; others are not run.
        arguments: Its arguments, which are copied.
        grid: The size of the grid.
    """

    def __init__(
        self, function: FuncOp, arguments: Sequence[Argument], grid: tuple[int, int, int]
    ) -> None:
        self._memory: list[Array] | None = None
        kernel = None if overlap(memory_of(arguments)) else _kernel(function)
        if kernel is not None:
            own = deepcopy(list(arguments))
            launch(kernel, [_as_bytes(argument) for argument in as_bits(own)], grid)
            self._memory = memory_of(own)

    def check(self, arguments: Sequence[Argument]) -> None:
        """Compares all memory with that of another run.

        Raises:
            AssertionError: It differs.
        """
        if self._memory is None:
            return
        for found, expected in zip(self._memory, memory_of(arguments), strict=True):
            assert_close(found, expected)


_NARROW = (
    ml_dtypes.float4_e2m1fn,
    ml_dtypes.float6_e2m3fn,
    ml_dtypes.float6_e3m2fn,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e8m0fnu,
)


def _as_bytes(argument: Argument) -> Argument:
    """The same memory, of narrow floats as bytes, as kernels of CPUs take it."""
    if not isinstance(argument, MemrefArgument) or argument.base.dtype not in _NARROW:
        return argument
    return replace(argument, base=argument.base.view(np.int8))


def _kernel(function: FuncOp) -> FuncOp | None:
    """What a kernel becomes for a CPU; None if it is at another level, or needs what CPUs lack."""
    if level_of(function) is not Level.TILE:
        return None
    module: Any = function.parent_op()
    while not isinstance(module, ModuleOp):
        module = module.parent_op()
    if module not in _TRANSLATED:
        _TRANSLATED[module] = _translated(module)
    made = _TRANSLATED[module]
    names = {} if made is None else {each.sym_name.data: each for each in kernels_of(made)}
    return names.get(function.sym_name.data)


def _translated(module: ModuleOp) -> ModuleOp | None:
    # Tests of messages would see them twice.
    if any(operation.name in ("core.print", "memref.global") for operation in module.walk()):
        return None
    try:
        result = translate(module, "core-to-lane", Options("cpu"))
    except DiagnosticError as error:
        if any(words in str(error) for words in _REFUSED):
            return None
        raise
    diagnostics = Diagnostics()
    verify_module(result, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    return result


def overlap(memory: Sequence[Array]) -> bool:
    """Whether copies of arrays would not share the memory that they share."""
    return any(np.shares_memory(a, b) for a, b in combinations(memory, 2))


def memory_of(arguments: Sequence[Argument]) -> list[Array]:
    """The arrays that arguments are, or are made of."""
    result: list[Array] = []
    for argument in arguments:
        if isinstance(argument, MemrefArgument):
            result.append(argument.base)
        elif isinstance(argument, GroupArgument):
            result += [entry.base for entry in argument.entries]
    return result


def assert_close(found: Array, expected: Array) -> None:
    """Compares numbers: integers exactly, floats up to another order of sums.

    Raises:
        AssertionError: They differ.
    """
    if expected.dtype in _NARROW:
        np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
        return
    if expected.dtype == ml_dtypes.bfloat16:
        found, expected = found.astype(np.float32), expected.astype(np.float32)
        relative = 2.0**-7
    elif expected.dtype.kind in "fc":
        relative = 16 * float(np.finfo(expected.dtype).eps)
    elif expected.dtype.kind == "V":
        found, expected = (array.view(np.uint8) for array in (found, expected))
        relative = 0.0
    else:
        relative = 0.0
    if relative:
        size = np.abs(np.where(np.isfinite(expected), expected, 0)).max(initial=0)
        np.testing.assert_allclose(found, expected, rtol=relative, atol=relative * float(size))
    else:
        assert np.array_equal(found, expected)
