"""What dialects and operations are called in each release.

A text is read with any of its names; inside, all have the newest one.
"""

from __future__ import annotations

from typing import NamedTuple

from xtile.dialects.triton.versions import V3_5, V3_8, Release


class OldName(NamedTuple):
    """What something was called until a release.

    Attributes:
        old: The name that it had.
        new: The name that it has now.
        until: The last release with the old one; None for one that no release prints.
    """

    old: str
    new: str
    until: Release | None


OLD_DIALECTS = (OldName("amdgpu", "amdg", V3_5), OldName("triton_gpu", "ttg", None))

OLD_OPERATIONS = (
    # The letter was missing until 3.8.
    OldName("amdg.local_load_packed_tranposed", "amdg.local_load_packed_transposed", V3_8),
    # How it is printed depends on what it orders (`BarrierOp.name_in`).
    OldName("ttg.local_barrier", "ttg.barrier", None),
)


def new_name(name: str) -> str:
    """What the newest release calls an operation, a type or an attribute."""
    dialect, dot, mnemonic = name.partition(".")
    for row in OLD_DIALECTS:
        dialect = row.new if dialect == row.old else dialect
    name = f"{dialect}{dot}{mnemonic}"
    return next((row.new for row in OLD_OPERATIONS if row.old == name), name)


def name_in(name: str, release: Release) -> str:
    """What a release calls an operation, a type or an attribute."""
    for row in OLD_OPERATIONS:
        if row.new == name and row.until is not None and release <= row.until:
            name = row.old
    dialect, dot, mnemonic = name.partition(".")
    for row in OLD_DIALECTS:
        if row.new == dialect and row.until is not None and release <= row.until:
            dialect = row.old
    return f"{dialect}{dot}{mnemonic}"
