"""Operations on numbers, whatever holds them: scalars, matrices, tiles, work-items' vectors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.ir import Operation

from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.core_to_tensorlang import arithmetic, complexes, mathematics
from xtile.translate.core_to_tensorlang.arithmetic import Compute
from xtile.translate.core_to_tensorlang.lowering import Lowering
from xtile.translate.core_to_tensorlang.memory import Deferred
from xtile.translate.core_to_tensorlang.types import shape_of

COMPUTE: Mapping[str, Compute] = {
    **arithmetic.COMPUTE,
    **mathematics.COMPUTE,
    **complexes.COMPUTE,
}
"""What each operation gives, for one element of its operands."""


def _compute(operation: Operation, r: Lowering) -> None:
    if any(shape_of(value.type) for value in (*operation.operands, *operation.results)):
        from xtile.translate.core_to_tensorlang.vectors import elementwise

        elementwise(operation, r)
        return
    compute = COMPUTE[operation.name]
    if any(isinstance(r.meaning(operand), Deferred) for operand in operation.operands):
        r.define(
            operation.results[0],
            Deferred(lambda r: compute(r, operation, r.values(operation.operands))[0]),
        )
        return
    results = compute(r, operation, r.values(operation.operands))
    for old, new in zip(operation.results, results, strict=True):
        r.define(old, new)


def _assume(operation: Operation, r: Lowering) -> None:
    """The tensor language has no promises about values."""
    r.define(operation.results[0], r.meaning(operation.operands[0]))


@cache
def _names() -> tuple[str, ...]:
    return tuple(COMPUTE)


def _refuse_bits(operation: Operation, r: Lowering) -> None:
    before, after = operation.operands[0].type, operation.results[0].type
    if before == after:
        r.define(operation.results[0], r.meaning(operation.operands[0]))
        return
    raise r.error(
        f"{spelling_of(operation)} cannot be translated: the tensor language does not take the "
        f"bits of {before} for {after}; compute the number, or keep it in memory as what it is"
    )


RULES: dict[str, Rule] = {
    **dict.fromkeys(_names(), _compute),
    "arith.bitcast": _refuse_bits,
    "core.assume": _assume,
}
"""The rule of each operation, by name."""
