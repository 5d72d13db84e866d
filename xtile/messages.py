"""What a command says: messages on standard error, or one object of JSON on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from xtile.command import is_colored, write_standard_output
from xtile.text.diagnostics import Diagnostic, words_of

VERSION = 1
"""The version of the objects; keys may be added without another version."""


class Messages:
    """What one command says until it ends.

    Args:
        name: The command, in front of errors that are about no text.
        as_json: Whether all goes into one object, which is printed at the end.
    """

    def __init__(self, *, as_json: bool, name: str = "xtile") -> None:
        self.as_json = as_json
        self._name = name
        self._diagnostics: list[Diagnostic] = []

    def show(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Shows diagnostics."""
        if self.as_json:
            self._diagnostics += diagnostics
            return
        colored = is_colored("auto")
        for diagnostic in diagnostics:
            sys.stderr.write(diagnostic.render(colored) + "\n")

    def fail(self, message: str, code: int) -> int:
        """Shows an error that is about no text, and ends; returns the exit code."""
        if not self.as_json:
            sys.stderr.write(f"{self._name}: error: {message}\n")
        return self.end(code, {"error": message})

    def end(self, code: int, words: Mapping[str, Any] | None = None) -> int:
        """Prints the object, if there is to be one; returns the exit code."""
        if self.as_json:
            diagnostics = [words_of(each) for each in self._diagnostics]
            content = {
                "version": VERSION,
                "exit_code": code,
                "error": None,
                "diagnostics": diagnostics,
                **(words or {}),
            }
            write_standard_output(json.dumps(content, indent=1) + "\n")
        return code
