"""Lines of kernels in core form: read, verified and printed again."""

from __future__ import annotations

from io import StringIO

from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source


def verified(parameters: str, body: str, level: str = "tile") -> tuple[str, list[str]]:
    """The lines of a kernel, joined and without indentation, and the errors in it.

    Args:
        parameters: Those of the kernel.
        body: Its text.
        level: Its level.
    """
    text = (
        f"gpu.module @m {{\ngpu.func @f({parameters}) kernel "
        f'attributes {{core.level = "{level}"}} {{\n{body}\ngpu.return\n}}\n}}\n'
    )
    diagnostics = Diagnostics()
    module = read_mlir(Source("k.mlir", text), diagnostics, make_context())
    if module is None:
        return "", [diagnostic.message for diagnostic in diagnostics]
    verify_module(module, diagnostics)
    output = StringIO()
    print_mlir(module, output)
    return joined(output.getvalue()), [diagnostic.message for diagnostic in diagnostics]


def check_round_trip(parameters: str, line: str) -> None:
    """Checks that a line of a kernel is right, and printed as it is read."""
    text, errors = verified(parameters, line)
    assert errors == []
    assert line in text


def check_error(parameters: str, line: str, message: str) -> None:
    """Checks that a line of a kernel has one error, with a message."""
    _, (error,) = verified(parameters, line)
    assert message in error


def joined(text: str) -> str:
    """Text with single spaces for line breaks and indentation."""
    return " ".join(text.split())
