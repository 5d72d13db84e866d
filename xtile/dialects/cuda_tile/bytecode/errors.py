"""Errors at a byte of a file."""

from __future__ import annotations

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import Source


def error_at_byte(source: Source, offset: int, section: str, message: str) -> DiagnosticError:
    """An error at a byte of a section."""
    text = f"byte {offset} ({section}): {message}"
    return DiagnosticError([Diagnostic(Severity.ERROR, text, source, None)])
