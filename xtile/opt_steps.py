"""What `--time-passes` and `--print-between-passes` show of passes and of steps of translations."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp


class StepLog:
    """Shows on standard error how long each step took, and the kernel between steps.

    Args:
        shows_times: Whether to show times.
        shows_kernels: Whether to show the kernel between steps.
        text_of: The text of a module.
    """

    def __init__(
        self, shows_times: bool, shows_kernels: bool, text_of: Callable[[ModuleOp], str]
    ) -> None:
        self._shows_times = shows_times
        self._shows_kernels = shows_kernels
        self._text_of = text_of
        self._name: str | None = None
        self._is_running = False
        self._started = 0.0

    def begin(self, name: str, module: ModuleOp) -> None:
        """Begins a step, which ends the one before it; `module` is what it gets."""
        self.end()
        if self._shows_kernels and self._name is not None:
            sys.stderr.write(f"// after pass '{self._name}':\n{self._text_of(module)}\n")
        self._name, self._is_running = name, True
        self._started = time.perf_counter()

    def end(self) -> None:
        """Ends the step that runs, if one does."""
        seconds = time.perf_counter() - self._started
        if self._is_running and self._shows_times:
            sys.stderr.write(f"{self._name}: {seconds:.3f} s\n")
        self._is_running = False
