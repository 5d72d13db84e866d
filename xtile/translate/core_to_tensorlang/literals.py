"""Constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_tensorlang.lowering import Lowering
from xtile.translate.core_to_tensorlang.types import scalar_type, shape_of


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
        from xtile.translate.core_to_tensorlang.vectors import constant

        constant(operation, r)
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
        from xtile.translate.core_to_tensorlang.vectors import splat

        splat(operation, r, 0)
        return
    r.define(result, r.constant(0, scalar_type(result.type)))


RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "complex.constant": _complex_constant,
    "ub.poison": _poison,
}
"""The rule of each operation, by name."""
