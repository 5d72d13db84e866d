"""Which cases of large families a run takes: a part that is the same in each, or all of them.

`XTILE_EVERY_CASE=1 pytest` takes all, which no limit of time allows CI.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar
from zlib import crc32

EVERY_VARIABLE = "XTILE_EVERY_CASE"
"""The environment variable by which all cases are run."""

CaseT = TypeVar("CaseT")


def one_of(count: int, cases: Iterable[CaseT]) -> list[CaseT]:
    """About one case of so many, by their texts, which no order of the cases changes."""
    given = list(cases)
    if os.environ.get(EVERY_VARIABLE):
        return given
    return [each for each in given if crc32(repr(each).encode()) % count == 0]
