"""Enumerants as text."""

from __future__ import annotations

from xtile.dialects.spirv.grammar import enumerants
from xtile.dialects.spirv.words import known_enumerants


def enumerant_argument(kind: str, value: int) -> str | int:
    """A value of an enumeration by name, `Volatile|Aligned`; itself if it has no name."""
    section = enumerants(kind)
    if section is None:
        return value
    known = list(known_enumerants(section, value))
    bits = 0
    for entry in known:
        bits |= entry.number
    return "|".join(entry.name for entry in known) if known and bits == value else value
