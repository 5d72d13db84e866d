"""Modules as text, compared without the names of values."""

from __future__ import annotations

import re
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

_VALUE = re.compile(r"%[\w$.-]+(?::\d+|#\d+)?")
_RESULTS = re.compile(r"^(?:%, )+(?=% =)")


def read(text: str, name: str = "kernel.mlir") -> ModuleOp:
    """Reads a module and verifies it.

    Raises:
        DiagnosticError: It is wrong.
    """
    diagnostics = Diagnostics()
    module = read_mlir(Source(name, text), diagnostics, make_context())
    if module is not None:
        verify_module(module, diagnostics)
    if module is None or diagnostics.has_errors:
        raise DiagnosticError(list(diagnostics))
    return module


def printed(module: Operation, *, locations: bool = False) -> str:
    """The text of a module whose values have no names."""
    for operation in module.walk():
        values = [*operation.results]
        values += [value for region in operation.regions for b in region.blocks for value in b.args]
        for value in values:
            value.name_hint = None
    root = module if isinstance(module, ModuleOp) else ModuleOp([module])
    output = StringIO()
    print_mlir(root, output, debuginfo=locations)
    if root is not module:
        module.detach()
    return output.getvalue()


def nameless(text: str) -> list[str]:
    """The lines of a text with one space between words, and `%` for each value.

    Several results are one `%`, because NVIDIA's names stand for each, and ours for all of them.
    """
    lines = (" ".join(_VALUE.sub("%", line).split()) for line in text.strip().splitlines())
    return [_RESULTS.sub("", line) for line in lines]


def body(text: str) -> str:
    """What stands in a `cuda_tile.module` in a `builtin.module`."""
    return "\n".join(text.strip().splitlines()[2:-2])
