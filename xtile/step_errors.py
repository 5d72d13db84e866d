"""What is said of a pass or a target that fails: what is missing, or whose defect it is."""

from __future__ import annotations

import re
from importlib.metadata import requires, version

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
