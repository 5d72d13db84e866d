"""Products of cooperative matrices."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

# ruff: noqa: E501

CASES = [
]
