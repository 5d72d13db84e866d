"""Complex numbers, which are their two parts."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.descriptors import Complex
from xtile.translate.tiles.lowering import TileLowering


def _create(operation: Operation, lowering: TileLowering) -> None:
    lowering.define(operation.results[0], Complex(*lowering.values(operation.operands)))


def _real(operation: Operation, lowering: TileLowering) -> None:
    lowering.define(operation.results[0], lowering.complex(operation.operands[0]).real)


def _imaginary(operation: Operation, lowering: TileLowering) -> None:
    lowering.define(operation.results[0], lowering.complex(operation.operands[0]).imaginary)


RULES: dict[str, Rule] = {
    "complex.create": _create,
    "complex.im": _imaginary,
    "complex.re": _real,
}
"""The rule of each operation, by name."""
