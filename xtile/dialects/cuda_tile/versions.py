"""The versions of CUDA Tile IR, which its operations, types and attributes came in with.

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeOpcodes.td`, `SupportedVersion`; for 13.4 and 13.5 what
tileiras 13.5 accepts.
"""

from __future__ import annotations

from typing import NamedTuple

from typing_extensions import override


class Version(NamedTuple):
    """A version of CUDA Tile IR and of its bytecode."""

    major: int
    minor: int

    @override
    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


V13_1 = Version(13, 1)
V13_2 = Version(13, 2)
V13_3 = Version(13, 3)
V13_4 = Version(13, 4)
V13_5 = Version(13, 5)

VERSIONS = (V13_1, V13_2, V13_3, V13_4, V13_5)
"""Every version that is known, in order."""

DEFAULT_VERSION = V13_3
"""What is written where no version is named: the last one whose description is public."""


def parse_version(text: str) -> Version:
    """The version that a text such as `13.2` names.

    Raises:
        ValueError: It names none; the message lists the versions.
    """
    for version in VERSIONS:
        if str(version) == text:
            return version
    known = ", ".join(map(str, VERSIONS))
    raise ValueError(f"there is no version '{text}' of CUDA Tile IR; there are {known}")
