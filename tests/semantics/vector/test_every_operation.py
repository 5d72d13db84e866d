"""Every operation of the vector dialect has a meaning, or a reason for having none."""

from __future__ import annotations

from xtile.dialects.registry import all_dialects
from xtile.semantics.vector import HANDLERS

TERMINATORS = {"vector.yield"}
"""The operation around a block takes what they yield."""

SCALABLE = {"vector.scalable.extract", "vector.scalable.insert", "vector.vscale"}
"""Their vectors have sizes that are not known."""


def test_every_operation_has_a_meaning() -> None:
    names = {operation.name for operation in all_dialects()["vector"]().operations}
    assert names - TERMINATORS - SCALABLE == set(HANDLERS)
