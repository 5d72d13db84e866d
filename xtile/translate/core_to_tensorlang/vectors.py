"""What becomes of vectors, which depends on the level of the kernel."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from xdsl.ir import Operation

from xtile.dialects.core.attributes import Level
from xtile.translate.core_to_tensorlang.lowering import Lowering

_MODULES = {
    Level.BLOCK: "matrices",
    Level.SUBGROUP: "matrices",
    Level.TILE: "tiles",
    Level.LANE: "tiles",
}
"""The module that knows vectors of a level."""


def _module(r: Lowering) -> Any:
    return import_module(f"{__package__}.{_MODULES[r.level]}")


def elementwise(operation: Operation, r: Lowering) -> None:
    """An operation on each element of vectors."""
    _module(r).elementwise(operation, r)


def constant(operation: Operation, r: Lowering) -> None:
    """A constant vector."""
    _module(r).constant(operation, r)


def splat(operation: Operation, r: Lowering, number: float) -> None:
    """A vector of equal numbers."""
    _module(r).splat(operation, r, number)
