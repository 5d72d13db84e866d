"""Errors of a running kernel, at its instruction, and warnings of what a language leaves open."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Attribute, Operation

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import source_of, span_of


class ExecutionError(DiagnosticError):
    """An instruction cannot be executed.

    Attributes:
        operation: The instruction.
        message: What is wrong.
    """

    def __init__(self, operation: Operation, message: str) -> None:
        super().__init__([located(operation, message)])
        self.operation = operation
        self.message = message


class UnlocatedError(Exception):
    """What `ExecutionError` says, before the instruction is known."""


def located(operation: Operation, message: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    """A diagnostic at an operation.

    Without a source that knows the operation, the message begins with its location or, if it has
    none, with its name.
    """
    module = operation.get_toplevel_object()
    source = source_of(module) if isinstance(module, Operation) else None
    span = span_of(operation, source)
    if span is None:
        message = f"{_position(operation)}: {message}"
    return Diagnostic(severity, message, source, span)


def _position(operation: Operation) -> str:
    """How messages name an operation that no text is known of."""
    location: Attribute | None = operation.location
    while location is not None and not isinstance(location, FileLineColLoc):
        # What was inlined is shown where it stands itself, and not where it was called.
        location = getattr(location, "callee", getattr(location, "source_location", None))
    if location is None:
        return f"'{operation.name}'"
    return f"{location.filename.data}:{location.line.data}.{location.column.data}"


class RunWarnings:
    """The warnings of a launch, one for each operation: what it did first.

    Attributes:
        messages: What is to say of an operation.
    """

    def __init__(self) -> None:
        self.messages: dict[Operation, str] = {}

    def add(self, operation: Operation, message: str) -> None:
        """Keeps a warning unless the operation has one."""
        self.messages.setdefault(operation, message)

    def diagnostics(self) -> list[Diagnostic]:
        """The warnings, each at its operation."""
        return [
            located(operation, message, Severity.WARNING)
            for operation, message in self.messages.items()
        ]
