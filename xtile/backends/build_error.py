"""Why a driver or an assembler did not build a program; for all backends."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from xtile.backends.cache import Header
from xtile.command import EXIT_TOOL_FAILED, CommandError

_SHORTAGES = ("OUT_OF_HOST_MEMORY", "OUT_OF_RESOURCES", "MEM_OBJECT_ALLOCATION_FAILURE")
"""Errors that are not the program's fault."""

_LONGEST_LOG = 20_000
"""Characters of a log that are kept."""


@dataclass
class BuildError(CommandError):
    """What builds programs refused one, died over it, or took too long.

    Attributes:
        cause: What happened, in one line.
        log: What it said.
        seconds: The time after which it was stopped; None if it ended by itself.
    """

    EXIT_CODE = EXIT_TOOL_FAILED

    cause: str
    log: str
    seconds: float | None = None

    @override
    def __str__(self) -> str:
        return self.cause

    @property
    def is_lasting(self) -> bool:
        """Whether another attempt would end in the same way."""
        return not any(shortage in self.cause for shortage in _SHORTAGES)

    def may_succeed_within(self, seconds: float | None) -> bool:
        """Whether another attempt with more time might succeed; None is all the time."""
        return self.seconds is not None and (seconds is None or seconds > self.seconds)

    def message(self, builder: str, *, is_remembered: bool = False) -> str:
        """What users are told: what did not build it, the cause, and the log below it."""
        remembered = (
            " (in an earlier attempt; `xtile cache clear` forgets it)" if is_remembered else ""
        )
        log = f"\n{self.log}" if self.log else ""
        what = f"{builder} cannot build the kernel: {self.cause}"
        return what + remembered + log

    def header(self) -> Header:
        """What the cache keeps of it."""
        return {"cause": self.cause, "log": self.log[:_LONGEST_LOG], "seconds": self.seconds}

    @staticmethod
    def from_header(header: Header) -> BuildError:
        """The failure that `header` describes."""
        return BuildError(header["cause"], header["log"], header["seconds"])
