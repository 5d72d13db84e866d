"""Runs what kernels at tile level become for Triton, beside what they become for others.

Of many kernels a sample is run; with pytest's option `--all-on-triton` all are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from weakref import WeakKeyDictionary
from zlib import crc32

from xdsl.dialects.builtin import ModuleOp

from tests.translate.flattened import Padded, all_flattened
from tests.translate.on_cpu import Array, assert_close, memory_of, overlap
from tests.triton_releases.folders import ALL_VARIABLE
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.triton.tt.ops import FuncOp as TritonFuncOp
from xtile.dialects.verification import verify_module
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.route import Options, translate

_ONE_OF = 40
"""How many kernels there are for one that is run."""

_REFUSED = ("cannot be translated to Triton", "has no form in Triton", " Triton ", "cast it to f32")
"""What Triton has no way to do, in the words of messages."""

_CHIP = "gfx942"

_TRANSLATED: WeakKeyDictionary[ModuleOp, ModuleOp | None] = WeakKeyDictionary()


class TritonRun:
    """A run, on the reference device, of what a kernel at tile level becomes for Triton.

    Args:
        function: The kernel; others are not run.
        arguments: Its arguments, which are copied.
        grid: The size of the grid.
    """

    def __init__(self, function: FuncOp, arguments: Sequence[Argument], grid: Size3) -> None:
        self._memory: list[Array] | None = None
        kernel = None if overlap(memory_of(arguments)) else _kernel(function)
        if kernel is not None:
            own, padded = deepcopy(list(arguments)), Padded()
            flat = [padded.argument(argument) for argument in all_flattened(function, own)]
            launch(kernel, flat, grid)
            padded.copy_back()
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


def _kernel(function: FuncOp) -> TritonFuncOp | None:
    """What a kernel becomes for Triton; None at another level, or if it needs what that lacks."""
    if level_of(function) is not Level.TILE:
        return None
    module = function.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    if module not in _TRANSLATED:
        _TRANSLATED[module] = _translated(module)
    made = _TRANSLATED[module]
    functions = [] if made is None else [op for op in made.ops if isinstance(op, TritonFuncOp)]
    names = {each.sym_name.data: each for each in functions}
    return names.get(function.sym_name.data)


def _is_chosen(module: ModuleOp) -> bool:
    return bool(os.environ.get(ALL_VARIABLE)) or crc32(str(module).encode()) % _ONE_OF == 0


def _translated(module: ModuleOp) -> ModuleOp | None:
    # Tests of messages would see them twice.
    if any(operation.name == "core.print" for operation in module.walk()):
        return None
    if not _is_chosen(module):
        return None
    try:
        result = translate(module, "core-to-triton", Options(_CHIP))
    except DiagnosticError as error:
        if any(words in str(error) for words in _REFUSED):
            return None
        raise
    diagnostics = Diagnostics()
    verify_module(result, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    return result
