"""Every operation of the dialect has a meaning."""

from __future__ import annotations

from xtile.dialects.registry import all_dialects
from xtile.semantics.xegpu.table import HANDLERS


def test_every_operation_has_a_meaning() -> None:
    assert {operation.name for operation in all_dialects()["xegpu"]().operations} == set(HANDLERS)
