"""What loads give where the core form leaves elements unspecified.

Source: docs/core-form.md, "Unspecified values".
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from xtile.dialects.effects import UPDATES, WRITES, is_pure
from xtile.dialects.ub import is_poison

_COMBINING = frozenset(
    {
        "core.histogram",
        "core.reduce",
        "core.scaled_contract",
        "core.scan",
        "vector.contract",
        "vector.multi_reduction",
        "vector.outerproduct",
        "vector.reduction",
        "vector.scan",
    }
)
"""Operations whose elements depend on several elements of a vector."""


def leaves_out(padding: SSAValue | None, result: SSAValue) -> bool:
    """Whether a load may leave unspecified what it does not reach.

    So it may where the source does, and only elementwise operations lie between it and stores:
    what a tile has beyond an edge then is beyond the edge of what is stored. Products and
    reductions would spread whatever number is there, so they get 0.
    """
    return (padding is None or is_poison(padding)) and not _is_combined(result)


def _is_combined(loaded: SSAValue) -> bool:
    """Whether a product, a reduction or control flow may see a value."""
    open_values, seen = [loaded], {loaded}
    while open_values:
        for use in open_values.pop().uses:
            operation = use.operation
            if operation.name in WRITES or operation.name in UPDATES:
                continue
            if not _is_elementwise(operation):
                return True
            fresh = [each for each in operation.results if each not in seen]
            seen.update(fresh)
            open_values += fresh
    return False


def _is_elementwise(operation: Operation) -> bool:
    return (
        is_pure(operation)
        and operation.name not in _COMBINING
        and not operation.has_trait(IsTerminator)
    )
