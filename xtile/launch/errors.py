"""What a launch can object to, apart from mistakes in the kernel's text."""

from __future__ import annotations


class ArgumentError(ValueError):
    """An argument of a launch does not fit the kernel's signature, or the launch itself is odd."""
