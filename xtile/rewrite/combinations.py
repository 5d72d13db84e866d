"""Reductions whose combination is one operation on a pair, as `vector` names their kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat

if TYPE_CHECKING:
    from xtile.dialects.core.reductions import AggregateOperation

COMBINING: dict[str, tuple[type[Any], type[Any]]] = {
    "add": (arith.AddiOp, arith.AddfOp),
    "mul": (arith.MuliOp, arith.MulfOp),
    "minsi": (arith.MinSIOp, arith.MinSIOp),
    "maxsi": (arith.MaxSIOp, arith.MaxSIOp),
    "minui": (arith.MinUIOp, arith.MinUIOp),
    "maxui": (arith.MaxUIOp, arith.MaxUIOp),
    "minnumf": (arith.MinnumfOp, arith.MinnumfOp),
    "maxnumf": (arith.MaxnumfOp, arith.MaxnumfOp),
    "minimumf": (arith.MinimumfOp, arith.MinimumfOp),
    "maximumf": (arith.MaximumfOp, arith.MaximumfOp),
    "and": (arith.AndIOp, arith.AndIOp),
    "or": (arith.OrIOp, arith.OrIOp),
    "xor": (arith.XOrIOp, arith.XOrIOp),
}
"""For each kind of reduction the operation on integers and on floats."""

_KINDS = {each.name: kind for kind, both in COMBINING.items() for each in both}
"""The kind of `vector` that each operation on a pair is."""

_LEAST_EXACT = 32
"""Bits of floats whose sums `vector.multi_reduction` does not widen."""


def kind_of(operation: AggregateOperation) -> str | None:
    """The kind of `vector` that a combination is; None if it is none, or would be widened."""
    block = operation.body.block
    first, *rest = block.ops
    if len(rest) != 1 or len(operation.sources) != 1 or rest[0].operands[0] not in first.results:
        return None
    if set(first.operands) != set(block.args) or len(first.operands) != 2:
        return None
    element = operation.elements[0]
    if isinstance(element, AnyFloat) and element.bitwidth < _LEAST_EXACT:
        return None
    return _KINDS.get(first.name)
