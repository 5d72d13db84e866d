"""What a launch can object to, and the words for it."""

from __future__ import annotations

from typing import Any

from xtile.chips import OptionError
from xtile.text.diagnostics import DiagnosticError


class ArgumentError(ValueError):
    """An argument of a launch does not fit the kernel's signature, or the launch itself is odd."""


class DeviceError(ArgumentError):
    """There is no such device here, or its driver failed."""


class UnknownDeviceError(DeviceError, OptionError):
    """No device has that name, here or elsewhere."""


class HostFunctionError(ArgumentError):
    """A function of the host cannot run on a device."""


class SanitizerError(DiagnosticError):
    """The sanitizer found mistakes in a kernel.

    The launch ran to its end, or to the first instruction that cannot be executed.
    """


def describe_type(value: Any) -> str:
    """The type of a value as messages name it: `a str`, `an ndarray`, `None`."""
    if value is None:
        return "None"
    name = type(value).__name__
    article = "an" if name[0].lower() in "aeiou" or name == "ndarray" else "a"
    return f"{article} {name}"
