"""The releases of Triton whose text is read and printed.

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
