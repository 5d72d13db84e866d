"""Modules of `ttg` and `amdg` around some operations, and their text in each release."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from functools import partial
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import ParseError, VerifyException

from xtile.dialects.registry import make_context
from xtile.dialects.triton.adapt import printer_for
from xtile.dialects.triton.parser import TritonParser
from xtile.dialects.triton.printer import TritonPrinter
from xtile.dialects.triton.versions import NEWEST, Release
from xtile.text.mlir import print_mlir
from xtile.text.source import Source


def module_text(
    body: str,
    arguments: str = "",
    *,
    layouts: str = "",
    chip: str = "gfx942",
    lanes: int = 64,
    warps: int = 4,
    blocks: int = 1,
) -> str:
    """A module of one kernel.

    Args:
        body: Its operations, without the last one.
        arguments: Its arguments with their types.
        layouts: Aliases of layouts.
        chip: What it is for.
        lanes: The lanes of a warp.
        warps: The warps of a block.
        blocks: The blocks of a cluster.
    """
    return (
        f"{layouts.strip()}\n"
        f'module attributes {{"ttg.num-ctas" = {blocks} : i32, "ttg.num-warps" = {warps} : i32, '
        f'ttg.target = "hip:{chip}", "ttg.threads-per-warp" = {lanes} : i32}} {{\n'
        f"tt.func public @kernel({arguments}) {{\n{body}\ntt.return\n}}\n}}\n"
    )


LAYOUTS = """
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], \
order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 4], warpsPerCTA = [1, 4], \
order = [0, 1]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], \
order = [1, 0]}>
#scales = #ttg.linear<{register = [[16, 0], [32, 0]], lane = [[0, 0], [0, 0], [0, 1], [0, 2], \
[1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
#squares = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], \
order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#linear = #ttg.linear<{register = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 64]], lane = [[0, 4], \
[0, 8], [0, 16], [0, 32], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]], block = []}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#row = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#dot = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], \
isTransposed = true}>
#packed = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#unpacked = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>
"""
"""Aliases of the layouts that pieces of text name."""


def undefined(text: str) -> dict[str, str]:
    """The types of the values that operations use and do not define, by name."""
    parser = TritonParser(make_context(), Source("text", LAYOUTS + text))
    with suppress(ParseError, VerifyException):
        parser.parse_module()
    return {name: str(values[0].type) for name, values in parser.forward_ssa_references.items()}


def example(kind: type[Operation | Attribute]) -> str:
    """The text in the docstring of a class; nothing if there is none."""
    found = re.search(r"```\n(.*?)```", inspect.cleandoc(kind.__doc__ or ""), re.DOTALL)
    return found[1] if found else ""


def printed(module: ModuleOp, release: Release = NEWEST, *, generic: bool = False) -> str:
    """The text of a module."""
    output = StringIO()
    printer = cast("type[TritonPrinter]", partial(TritonPrinter, release=release))
    print_mlir(module, output, generic=generic, printer_class=printer)
    return output.getvalue()


def printed_for(module: ModuleOp, release: Release) -> str:
    """The text of what `xtile-opt --triton-version` makes of a module.

    Raises:
        DiagnosticError: The release cannot say it.
    """
    adapted, output = module.clone(), StringIO()
    print_mlir(adapted, output, printer_class=printer_for(adapted, release))
    return output.getvalue()


def without_names(text: str) -> str:
    """A text with its values numbered in the order in which they come up.

    Blanks at the ends of lines, which older releases print, are left out.
    """
    numbers: dict[str, int] = {}
    named = re.sub(r"%\w+", lambda match: f"%v{numbers.setdefault(match[0], len(numbers))}", text)
    return re.sub(r" +$", "", named, flags=re.MULTILINE).strip()
