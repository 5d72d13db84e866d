"""Errors at operations."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import source_of, span_of


def error_at(operation: Operation, message: str) -> DiagnosticError:
    """An error at an operation, at its place in the source if that is known."""
    root = operation.get_toplevel_object()
    source = source_of(root) if isinstance(root, Operation) else None
    span = span_of(operation, source)
    return DiagnosticError([Diagnostic(Severity.ERROR, message, source, span)])
