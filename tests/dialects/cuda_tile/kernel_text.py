"""Lines of a kernel as text: read, verified, and printed again."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp

from tests.conformance.cuda_tile_functions import make_testing_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

_TENSOR = "tensor_view<?x64xf32, strides=[?,1]>"

OPERANDS = {
    "p": "tile<8xptr<f32>>",
    "q": "tile<ptr<f32>>",
    "pi": "tile<8xptr<i32>>",
    "ph": "tile<8xptr<f16>>",
    "pt": "tile<8xptr<tf32>>",
    "pb": "tile<8xptr<i1>>",
    "x": "tile<8xf32>",
    "y": "tile<4xf32>",
    "h": "tile<8xf16>",
    "u": "tile<8xtf32>",
    "n": "tile<8xi32>",
    "m": "tile<8xi1>",
    "o": "tile<4xi1>",
    "v": "tile<8x8xf32>",
    "w": "tile<8x8xi32>",
    "i": "tile<i32>",
    "l": "tile<i64>",
    "c": "tile<i1>",
    "f": "tile<f32>",
    "t": "token",
    "tv": _TENSOR,
    "pv": f"partition_view<tile=(8x8), {_TENSOR}>",
    "pz": f"partition_view<tile=(8x8), padding_value = zero, {_TENSOR}>",
    "sv": f"strided_view<tile=(8x8), traversal_strides=[4,8], {_TENSOR}>",
    "gv": f"gather_scatter_view<tile=(8x8), {_TENSOR}, sparse_dim=0>",
}
"""The values that lines may name, with `%`, and their types."""

LINE = 3
"""Where the first line of a kernel stands."""


def kernel(lines: str) -> str:
    """A module with a kernel that holds some lines."""
    parameters = ", ".join(f"%{name}: {type}" for name, type in OPERANDS.items())
    body = "\n".join(f"    {line}" for line in lines.splitlines())
    return (
        "cuda_tile.module @kernels {\n"
        f"  testing$func @kernel({parameters}) {{\n"
        f"{body}\n    return\n  }}\n}}\n"
    )


def read_kernel(text: str) -> tuple[ModuleOp | None, Diagnostics, Source]:
    """Reads and verifies a module."""
    diagnostics = Diagnostics()
    source = Source("kernel.mlir", text)
    module = read_mlir(source, diagnostics, make_testing_context(is_lenient=False))
    if module is not None:
        verify_module(module, diagnostics, source)
    return module, diagnostics, source


def errors_in(lines: str) -> list[tuple[str, int]]:
    """The messages of what is wrong with lines of a kernel, and the line of each from 1 on."""
    _, diagnostics, source = read_kernel(kernel(lines))
    return _located(diagnostics, source, LINE)


def errors_of_module(text: str) -> list[tuple[str, int]]:
    """The messages of what is wrong with a module, and the line of each."""
    _, diagnostics, source = read_kernel(text)
    return _located(diagnostics, source, 1)


def _located(diagnostics: Diagnostics, source: Source, first: int) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for diagnostic in diagnostics.sorted():
        assert diagnostic.span is not None
        line, _ = source.position(diagnostic.span.start)
        found.append((diagnostic.message, line - first + 1))
    return found


def printed_module(text: str, *, generic: bool = False) -> str:
    """A module that is right, as it is printed."""
    module, diagnostics, _ = read_kernel(text)
    assert diagnostics.sorted() == []
    assert module is not None
    stream = StringIO()
    print_mlir(module, stream, generic=generic)
    return stream.getvalue()


def printed_lines(lines: str) -> str:
    """Lines of a kernel, as they are printed."""
    text = printed_module(kernel(lines))
    body = text.split(") {\n", 1)[1].rsplit("      return\n", 1)[0]
    return "\n".join(line[6:] for line in body.splitlines())


def round_trip(lines: str) -> str:
    """Lines of a kernel as they are printed, after the generic form of the module was read."""
    text = printed_module(printed_module(kernel(lines), generic=True))
    body = text.split(") {\n", 1)[1].rsplit("      return\n", 1)[0]
    return "\n".join(line[6:] for line in body.splitlines())
