"""Checking that a port computes what its source computes: `xtile.check` (docs/checking.md)."""

from __future__ import annotations

from xtile.checking.agreement import check
from xtile.checking.results import CheckResult, Comparison, Verdict

__all__ = ["CheckResult", "Comparison", "Verdict", "check"]
