"""Writes kernels and cleans them up."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source
from xtile.transforms.cleanup import clean_up


def kernel(body: str, parameters: str = "") -> str:
    """The text of a module with one kernel."""
    return (
        f"gpu.module @m {{\ngpu.func @k({parameters}) kernel "
        f'attributes {{core.level = "subgroup"}} {{\n{body}\ngpu.return\n}}\n}}\n'
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


def printed(module: ModuleOp) -> str:
    """A module as MLIR text."""
    output = StringIO()
    print_mlir(module, output)
    return output.getvalue()


def cleaned(body: str, parameters: str = "") -> list[str]:
    """The lines of a kernel's body when it is cleaned up, which is verified."""
    module = read(kernel(body, parameters))
    before = printed(module)
    result = clean_up(module)
    assert printed(module) == before
    found = Diagnostics()
    verify_module(result, found)
    assert not found.has_errors, found.render()
    lines = [line[6:] for line in printed(result).splitlines()]
    return lines[3 : lines.index("gpu.return")]
