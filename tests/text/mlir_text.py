"""Reads and prints MLIR text in tests, and asks the real mlir-opt."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tests.mlir_opt import run_mlir_opt
from xtile.dialects.registry import make_context
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source


def read(text: str) -> tuple[ModuleOp | None, Diagnostics]:
    """Reads a text that may use unknown dialects."""
    diagnostics = Diagnostics()
    context = make_context()
    context.allow_unregistered = True
    return read_mlir(Source("t.mlir", text), diagnostics, context), diagnostics


def read_well(text: str) -> ModuleOp:
    """Reads a text that must have no mistake."""
    module, diagnostics = read(text)
    assert diagnostics.render() == ""
    assert module is not None
    return module


def error_of(text: str) -> str:
    """Returns the first line of the only error of a text."""
    module, diagnostics = read(text)
    assert module is None
    return diagnostics.render().split("\n")[0]


def printed(
    module: ModuleOp, *, generic: bool = False, debuginfo: bool = False, local_scope: bool = False
) -> str:
    """Returns a module as text."""
    output = StringIO()
    print_mlir(module, output, generic=generic, debuginfo=debuginfo, local_scope=local_scope)
    return output.getvalue()


def attribute_of(text: str, before: str = "") -> Attribute:
    """Reads an attribute, after definitions that it may use."""
    module = read_well(f'{before}\n"test.op"() {{a = {text}}} : () -> ()')
    return next(iter(module.body.block.ops)).attributes["a"]


def error_of_attribute(text: str) -> str:
    """Returns what is wrong with an attribute, with the columns counted in the attribute."""
    head = '"test.op"() {a = '
    line = error_of(f"{head}{text}}} : () -> ()")
    position, _, message = line.removeprefix("t.mlir:1.").partition(": error: ")
    columns = (str(int(column) - len(head)) for column in position.split("-"))
    return f"{'-'.join(columns)}: {message}"


def attribute_text(text: str) -> str:
    """Reads an attribute and prints it in full."""
    line = printed(read_well(f'"test.op"() {{a = {text}}} : () -> ()'), local_scope=True).split(
        "\n"
    )[1]
    return line.removeprefix('  "test.op"() {a = ').removesuffix("} : () -> ()")


def from_mlir_opt(text: str, *arguments: str) -> str:
    """Returns what mlir-opt makes of a text, without the empty line at the end."""
    result = run_mlir_opt(text, "-allow-unregistered-dialect", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout.rstrip("\n") + "\n"
