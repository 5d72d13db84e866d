"""The `core` dialect: the few words the core form needs beside upstream's (docs/core-form.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import loaded_when_asked_for

if TYPE_CHECKING:
    from xtile.dialects.core.ops import Core

__all__ = ["Core"]

__getattr__ = loaded_when_asked_for("xtile.dialects.core.ops", "Core")
