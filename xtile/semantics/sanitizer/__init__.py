"""Finds mistakes in a kernel that a launch alone does not show."""

from __future__ import annotations

from xtile.semantics.sanitizer.report import Kind, Report
from xtile.semantics.sanitizer.sanitizer import sanitize

__all__ = ["Kind", "Report", "sanitize"]
