"""Constants and operations on numbers, whatever holds them.

That is scalars, matrices, tiles or work-items' vectors: what becomes of vectors depends on the
level of the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xtile.dialects.core.attributes import Level
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.core_to_tensorlang import arithmetic, complexes, mathematics
from xtile.translate.core_to_tensorlang.arithmetic import Compute
from xtile.translate.core_to_tensorlang.lowering import Lowering
from xtile.translate.core_to_tensorlang.memory import Deferred
from xtile.translate.core_to_tensorlang.types import scalar_type, shape_of

COMPUTE: Mapping[str, Compute] = {
    **arithmetic.COMPUTE,
    **mathematics.COMPUTE,
    **complexes.COMPUTE,
}
"""What each operation gives, for one element of its operands."""

_MODULES = {
    Level.BLOCK: "matrices",
    Level.SUBGROUP: "matrices",
    Level.TILE: "tiles",
    Level.LANE: "tiles",
}
"""The module that knows vectors of a level."""


def _vectors(r: Lowering) -> Any:
    """What knows vectors: their constants, and operations on each of their elements."""
    return import_module(f"{__package__}.{_MODULES[r.level]}")


def _compute(operation: Operation, r: Lowering) -> None:
    if any(shape_of(value.type) for value in (*operation.operands, *operation.results)):
        _vectors(r).elementwise(operation, r)
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


def _refuse_bits(operation: Operation, r: Lowering) -> None:
    before, after = operation.operands[0].type, operation.results[0].type
    if before == after:
        r.define(operation.results[0], r.meaning(operation.operands[0]))
        return
    raise r.error(
        f"{spelling_of(operation)} cannot be translated: the tensor language does not take the "
        f"bits of {before} for {after}; compute the number, or keep it in memory as what it is"
    )


# --- constants ---


def numbers_of(attribute: Attribute) -> Sequence[float | int]:
    """The numbers of a constant; one for a vector of equal ones.

    Raises:
        ValueError: It has none.
    """
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        given = cast("DenseIntOrFPElementsAttr[Any]", attribute)
        values = given.get_values()
        # No NaN is equal to itself.
        return values[:1] if len({*map(repr, values)}) == 1 else values
    if isa(attribute, IntegerAttr) or isa(attribute, FloatAttr):
        return [cast(Any, attribute.value).data]
    raise ValueError(f"the tensor language has no constant {attribute}")


def _constant(operation: Operation, r: Lowering) -> None:
    result = operation.results[0]
    if shape_of(result.type):
        _vectors(r).constant(operation, r)
        return
    (number,) = numbers_of(operation.properties["value"])
    value = r.constant(number, scalar_type(result.type))
    if value.name_hint is None:
        value.name_hint = result.name_hint
    r.define(result, value)


def _complex_constant(operation: Operation, r: Lowering) -> None:
    parts = cast(Any, operation.properties["value"]).data
    number = complex(*(part.value.data for part in parts))
    r.define(operation.results[0], r.constant(number, scalar_type(operation.results[0].type)))


def _poison(operation: Operation, r: Lowering) -> None:
    """Any value will do."""
    result = operation.results[0]
    if shape_of(result.type):
        _vectors(r).splat(operation, r, 0)
        return
    r.define(result, r.constant(0, scalar_type(result.type)))


RULES: dict[str, Rule] = {
    **dict.fromkeys(COMPUTE, _compute),
    "arith.bitcast": _refuse_bits,
    "arith.constant": _constant,
    "complex.constant": _complex_constant,
    "core.assume": _assume,
    "ub.poison": _poison,
}
"""The rule of each operation, by name."""
