"""What a launch can object to, and the words for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xtile.command import EXIT_TOOL_FAILED, EXIT_USAGE_WRONG, CommandError
from xtile.targets import OptionError
from xtile.text.diagnostics import DiagnosticError, shorten


class ArgumentError(CommandError, ValueError):
    """An argument of a launch does not fit the kernel's signature, or the launch itself is odd."""


class UnfitLaunchError(ArgumentError):
    """A kernel was translated for other launches, as its launch checks say."""


class UnfitDeviceError(ArgumentError):
    """A device runs no kernels of a language, which others run."""


class DeviceError(ArgumentError):
    """There is no such device here, or its driver failed."""

    EXIT_CODE = EXIT_TOOL_FAILED


class UnknownDeviceError(DeviceError, OptionError):
    """No device has that name, here or elsewhere."""

    EXIT_CODE = EXIT_USAGE_WRONG


class HostFunctionError(ArgumentError):
    """A function of the host cannot run on a device."""


class SanitizerError(DiagnosticError):
    """The sanitizer found mistakes in a kernel.

    The launch ran to its end, or to the first instruction that cannot be executed.
    """


_LONGEST_NUMBER = 40
_LONGEST_TEXT = 80


def describe_value(value: object) -> str:
    """A value as messages show it; of an integer with very many digits only how many."""
    if isinstance(value, int) and abs(value) >= 10**_LONGEST_NUMBER:
        # Python itself refuses to write some of them.
        digits = int(math.log10(abs(value))) + 1
        return f"{'a negative' if value < 0 else 'an'} integer of {digits} digits"
    if isinstance(value, list | tuple):
        items = [describe_value(item) for item in cast("Sequence[object]", value)]
        comma = "," if len(items) == 1 else ""
        text = ", ".join(items)
        return f"[{text}]" if isinstance(value, list) else f"({text}{comma})"
    return shorten(repr(value), _LONGEST_TEXT)


def describe_type(value: Any) -> str:
    """The type of a value as messages name it: `a str`, `an ndarray`, `None`."""
    if value is None:
        return "None"
    name = type(value).__name__
    article = "an" if name[0].lower() in "aeiou" or name == "ndarray" else "a"
    return f"{article} {name}"


def too_long(name: str, seconds: float, device: object | None = None) -> DeviceError:
    """The error of a launch that was not done in time, and that goes on in a device, if any."""
    remark = "" if device is None else f"; it runs on the device {device} until the process ends"
    return DeviceError(f"@{name} was not done after {seconds:g} s{remark}")
