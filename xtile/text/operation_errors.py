"""Errors at operations."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import place_of, source_of


def error_at(operation: Operation, message: str) -> DiagnosticError:
    """An error at an operation, at its place in the source if that is known."""
    root = operation.get_toplevel_object()
    source = source_of(root) if isinstance(root, Operation) else None
    span = place_of(operation, source)
    return DiagnosticError([Diagnostic(Severity.ERROR, message, source, span)])


def expect_dialect(module: ModuleOp, name: str, dialect: str, what: str) -> None:
    """Checks that there is an operation of the dialect that a pass is for.

    Args:
        module: What the pass is applied to.
        name: The pass.
        dialect: The name of the dialect.
        what: What messages call its operations.

    Raises:
        DiagnosticError: There is none.
    """
    if not any(operation.dialect_name() == dialect for operation in module.walk()):
        message = f"there are no {what} here, but {name} takes nothing else"
        raise DiagnosticError([Diagnostic(Severity.ERROR, message, source_of(module), None)])
