"""The releases of Triton whose text is read and printed, and what each calls things.

A text is read with any of its names; inside, all have the newest one.

Source: the releases 3.4.0, 3.5.1, 3.6.0, 3.7.1, 3.8.0 and 3.9.0 on PyPI.
"""

from __future__ import annotations

from typing import NamedTuple

from typing_extensions import override


class Release(NamedTuple):
    """A release of Triton; patch releases share a text."""

    major: int
    minor: int

    @override
    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


V3_4 = Release(3, 4)
V3_5 = Release(3, 5)
V3_6 = Release(3, 6)
V3_7 = Release(3, 7)
V3_8 = Release(3, 8)
V3_9 = Release(3, 9)

RELEASES = (V3_4, V3_5, V3_6, V3_7, V3_8, V3_9)
"""Every release that is known, in order."""

OLDEST = V3_4
NEWEST = V3_9
"""What is printed where no release is named."""


def parse_release(text: str) -> Release:
    """The release that a text such as `3.6` or `3.6.0` names.

    Raises:
        ValueError: It names none; the message lists the releases.
    """
    for release in RELEASES:
        if text == str(release) or text.startswith(f"{release}."):
            return release
    known = ", ".join(map(str, RELEASES))
    raise ValueError(f"release '{text}' of Triton is not known; there are {known}")


class _OldName(NamedTuple):
    """What something was called until a release.

    Attributes:
        old: The name that it had.
        new: The name that it has now.
        until: The last release with the old one; None for one that no release prints.
    """

    old: str
    new: str
    until: Release | None


_OLD_DIALECTS = (_OldName("amdgpu", "amdg", V3_5), _OldName("triton_gpu", "ttg", None))

_OLD_OPERATIONS = (
    # The letter was missing until 3.8.
    _OldName("amdg.local_load_packed_tranposed", "amdg.local_load_packed_transposed", V3_8),
    # How it is printed depends on what it orders (`BarrierOp.name_in`).
    _OldName("ttg.local_barrier", "ttg.barrier", None),
)


def new_name(name: str) -> str:
    """What the newest release calls an operation, a type or an attribute."""
    dialect, dot, mnemonic = name.partition(".")
    for row in _OLD_DIALECTS:
        dialect = row.new if dialect == row.old else dialect
    name = f"{dialect}{dot}{mnemonic}"
    return next((row.new for row in _OLD_OPERATIONS if row.old == name), name)


def name_in(name: str, release: Release) -> str:
    """What a release calls an operation, a type or an attribute."""
    for row in _OLD_OPERATIONS:
        if row.new == name and row.until is not None and release <= row.until:
            name = row.old
    dialect, dot, mnemonic = name.partition(".")
    for row in _OLD_DIALECTS:
        if row.new == dialect and row.until is not None and release <= row.until:
            dialect = row.old
    return f"{dialect}{dot}{mnemonic}"
