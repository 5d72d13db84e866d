"""Modules of `ttg` and `amdg` around some operations, and their text in each release."""

from __future__ import annotations

import re
from functools import partial
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.triton.adapt import adapt
from xtile.dialects.triton.printer import TritonPrinter
from xtile.dialects.triton.versions import NEWEST, Release
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.mlir import print_mlir


def module_text(
    body: str,
    arguments: str = "",
    *,
    layouts: str = "",
    chip: str = "gfx942",
    lanes: int = 64,
    warps: int = 4,
) -> str:
    """A module of one kernel.

    Args:
        body: Its operations, without the last one.
        arguments: Its arguments with their types.
        layouts: Aliases of layouts.
        chip: What it is for.
        lanes: The lanes of a warp.
        warps: The warps of a program.
    """
    return (
        f"{layouts.strip()}\n"
        f'module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, '
        f'ttg.target = "hip:{chip}", "ttg.threads-per-warp" = {lanes} : i32}} {{\n'
        f"tt.func public @kernel({arguments}) {{\n{body}\ntt.return\n}}\n}}\n"
    )


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
    adapted, diagnostics = module.clone(), Diagnostics()
    adapt(adapted, release, diagnostics)
    if diagnostics.has_errors:
        raise DiagnosticError(diagnostics.sorted())
    return printed(adapted, release)


def without_names(text: str) -> str:
    """A text with its values numbered in the order in which they come up."""
    numbers: dict[str, int] = {}
    return re.sub(
        r"%\w+", lambda match: f"%v{numbers.setdefault(match[0], len(numbers))}", text
    ).strip()
