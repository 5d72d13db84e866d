"""Passes and steps of translations: what options show of them, and what is said where one fails."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import requires, version

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


_XDSL = "xdsl"

_REQUIREMENT = re.compile(
    r"(?P<package>[\w.-]+)(?P<versions>[^;\s]*)(?:.*extra == \"(?P<extra>\w+)\")?"
)

_NOT_FOR_USERS = "dev"
"""xDSL's extra that holds what its developers need, beside packages that passes need."""


class StepError(Exception):
    """A pass or a target cannot do its work, and xtile is not to blame."""


def step_error(error: Exception, description: str, step: object) -> Exception:
    """What to raise where a step has failed.

    Args:
        error: What it raised.
        description: What messages call the step, such as `pass 'canonicalize'`.
        step: The pass or the target, or what makes it.

    Returns:
        A StepError where a package is missing, or the step is xDSL's own; else the error itself.
    """
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        package = error.name.partition(".")[0]
        return StepError(
            f"{description} needs the package {package}, which is not installed; install it with: "
            f"{_installing(package)}"
        )
    module = getattr(step, "__module__", type(step).__module__)
    if module.partition(".")[0] == _XDSL:
        reason = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        return StepError(
            f"{description} failed, which is a part of xDSL {version(_XDSL)} and not of xtile: "
            f"{reason}"
        )
    return error


def _installing(package: str) -> str:
    """The command that installs a package, in the versions that xDSL works with."""
    for requirement in requires(_XDSL) or ():
        found = _REQUIREMENT.match(requirement)
        if found is None or found["package"] != package:
            continue
        if found["extra"] in (None, _NOT_FOR_USERS):
            return f"pip install '{package}{found['versions']}'"
        return f"pip install '{_XDSL}[{found['extra']}]'"
    return f"pip install {package}"
