"""What a running kernel does that its language leaves undefined, but that devices agree on."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.semantics.errors import located
from xtile.text.diagnostics import Diagnostic, Severity


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
