"""Reads pieces of XeGPU in the RFC's form, and prints them in both forms."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.languages import mlir_parser_for
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.dialects.xegpu.rfc.limits import check_rfc
from xtile.dialects.xegpu.rfc.printer import XeGPUPrinter
from xtile.dialects.xegpu.rfc.to_llvm22 import to_llvm22
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

ARGUMENTS = {
    "%m": "memref<64x96xf16>",
    "%line": "memref<640xf32>",
    "%p": "ui64",
    "%i": "index",
    "%j": "index",
    "%h": "index",
    "%w": "index",
    "%one": "index",
    "%offsets": "vector<16xindex>",
    "%mask": "vector<16xi1>",
    "%flags": "vector<16xf32>",
    "%id": "i8",
    "%barrier": "!XeGPU.nbarrier",
    "%block": "!XeGPU.tensor_desc<8x16xf16>",
    "%weights": "!XeGPU.tensor_desc<16x16xf16>",
    "%words": "!XeGPU.tensor_desc<8x16xf32>",
    "%points": "!XeGPU.tensor_desc<16xf32, #scattered>",
    "%chunks": "!XeGPU.tensor_desc<16x8xf32, #scattered>",
    "%a": "vector<8x16xf16>",
    "%a3": "vector<8x8x2xf16>",
    "%b": "vector<16x16xf16>",
    "%b3": "vector<8x16x2xf16>",
    "%c": "vector<8x16xf32>",
    "%t": "vector<8x16xf32>",
}
"""The values that a piece may use."""


def in_function(body: str, before: str = "") -> str:
    """Returns a function that has what a piece may use as arguments."""
    arguments = ", ".join(f"{name}: {type}" for name, type in ARGUMENTS.items())
    return f"{before}\nfunc.func @f({arguments}) {{\n{body}\nreturn\n}}\n"


def read_module(text: str) -> ModuleOp:
    """Reads and verifies a text."""
    diagnostics = Diagnostics()
    source = Source("piece.mlir", text)
    module = read_mlir(source, diagnostics, make_context(), mlir_parser_for(source))
    if module is not None:
        verify_module(module, diagnostics)
    diagnostics.raise_if_errors()
    assert module is not None
    return module


def errors(text: str) -> list[tuple[str, str]]:
    """Returns the text and the message of each error of reading and verifying."""
    try:
        read_module(text)
    except DiagnosticError as error:
        return _located(error)
    return []


def errors_of_rfc(text: str) -> list[tuple[str, str]]:
    """Returns the text and the message of each thing that the RFC's form cannot say."""
    try:
        check_rfc(read_module(text))
    except DiagnosticError as error:
        return _located(error)
    return []


def errors_of_llvm22(text: str) -> list[tuple[str, str]]:
    """Returns the text and the message of each thing that LLVM 22's form cannot say."""
    try:
        to_llvm22(read_module(text))
    except DiagnosticError as error:
        return _located(error)
    return []


def print_rfc(module: ModuleOp) -> str:
    """Prints a module in the RFC's form."""
    check_rfc(module)
    stream = StringIO()
    print_mlir(module, stream, printer_class=XeGPUPrinter)
    return stream.getvalue()


def print_llvm22(module: ModuleOp) -> str:
    """Prints a module in LLVM 22's form, into which it is changed."""
    to_llvm22(module)
    stream = StringIO()
    print_mlir(module, stream)
    return stream.getvalue()


def body(text: str) -> str:
    """The operations of a function, each on a line without indentation."""
    lines = [line.strip() for line in text.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("func.func"))
    end = lines.index("return")
    return "\n".join(lines[start + 1 : end])


def _located(error: DiagnosticError) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for diagnostic in error.diagnostics:
        assert diagnostic.source is not None
        assert diagnostic.span is not None
        span = diagnostic.span
        found.append((diagnostic.source.text[span.start : span.end], diagnostic.message))
    return found
