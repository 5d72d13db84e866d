"""Prints modules and reads them back, for tests that compare the two."""

from __future__ import annotations

from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, LocationAttr, ModuleOp
from xdsl.ir import Operation

from xtile.dialects.tensorlang import TensorLang
from xtile.dialects.tensorlang.ops.arithmetic import ConstantOp
from xtile.dialects.tensorlang.printer import constant_text, print_module
from xtile.dialects.tensorlang.reader import read
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.mlir_attribute_printer import attribute_text
from xtile.text.source import Source


def ir_text(module: ModuleOp) -> str:
    """A module as tensor language text."""
    stream = StringIO()
    print_module(module, stream)
    return stream.getvalue()


def mlir_text(
    module: ModuleOp,
    *,
    generic: bool = False,
    debuginfo: bool = False,
    local_scope: bool = False,
) -> str:
    """A module as MLIR text."""
    stream = StringIO()
    print_mlir(module, stream, generic=generic, debuginfo=debuginfo, local_scope=local_scope)
    return stream.getvalue()


def module_from_ir(text: str, name: str = "f.ir") -> ModuleOp:
    """Reads tensor language text that must give no diagnostics."""
    diagnostics = Diagnostics()
    module = read(Source(name, text), diagnostics)
    assert not diagnostics, f"unexpected diagnostics:\n{diagnostics.render()}\n{text}"
    return module


def module_from_mlir(text: str, name: str = "f.mlir") -> ModuleOp:
    """Reads MLIR text that must give no diagnostics."""
    diagnostics = Diagnostics()
    module = read_mlir(Source(name, text), diagnostics, tensorlang_context())
    assert not diagnostics, f"unexpected diagnostics:\n{diagnostics.render()}\n{text}"
    assert module is not None
    return module


def tensorlang_context() -> Context:
    """A context that knows the tensor language and builtin, and nothing else."""
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(TensorLang)
    return context


def locations(module: ModuleOp) -> list[LocationAttr]:
    """The locations of all operations within a module, in the order of the text."""
    return [operation.location for operation in module.walk() if operation is not module]


def assert_equivalent(module: ModuleOp, other: ModuleOp, text: str) -> None:
    """Fails unless two modules hold the same operations; `text` is shown then."""
    for first, second in zip(module.walk(), other.walk(), strict=False):
        assert _own_text(first) == _own_text(second), f"an operation changed:\n{text}"
    assert module.is_structurally_equivalent(other), f"the module changed:\n{text}"


def _own_text(operation: Operation) -> str:
    """An operation's name and properties; unlike equality this tells 0.0 from -0.0."""
    if isinstance(operation, ConstantOp):
        return f"constant {constant_text(operation.value)}"
    properties = ", ".join(
        f"{name}: {attribute_text(value)}" for name, value in sorted(operation.properties.items())
    )
    return f"{operation.name} {properties}"
