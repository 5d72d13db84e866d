"""Which product of a matrix unit computes a product, or why none does, and its types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FixedBitwidthType, bf16, f16, f32, f64, i8, i16, i32, i64

from xtile.targets.lanes import LaneTarget
from xtile.targets.target import MatrixUnit, Number

if TYPE_CHECKING:
    from xdsl.ir import Attribute

BUILTIN_TYPES: Mapping[Number, FixedBitwidthType] = {
    "f64": f64,
    "f32": f32,
    "f16": f16,
    "bf16": bf16,
    "i64": i64,
    "i32": i32,
    "i16": i16,
    "i8": i8,
}
"""The types that the tables of chips name and that are xDSL's own."""

_name_of = lru_cache(maxsize=64)(str)
"""The name of a type; printing one takes long."""


def unit_for(
    target: LaneTarget,
    units: Sequence[MatrixUnit],
    factors: tuple[Attribute | str, Attribute | str],
    sums: Attribute | str,
    *,
    lanes: int | None = None,
    shape: tuple[int | None, int | None, int | None] = (None, None, None),
    rounds: bool = False,
) -> MatrixUnit | str:
    """The product of a matrix unit that computes D := A B + C, or why there is none.

    Args:
        target: What the code is made for.
        units: Those of its products that come into question.
        factors: The types of A and B, or their names.
        sums: The type of C and D, or its name.
        lanes: The lanes of the subgroup; None if they do not matter.
        shape: M, N and K; what is None may be anything.
        rounds: Whether factors and sums may be rounded as the unit does.

    Returns:
        The product, or in words that tell of the unit as "it" what it lacks.
    """
    if not units:
        return f"{target.name} has none"
    a, b = map(_name_of, factors)
    fitting = [unit for unit in units if (unit.a, unit.b) == (a, b)]
    if not fitting:
        if a == b == "f32" and any(unit.a == "tf32" for unit in units):
            return "it rounds factors of f32 to tf32"
        return f"it has no products of {a} and {b}"
    if a in target.compiler.missing_factors:
        return f"{target.compiler.name} has no products of {a}"
    total = _name_of(sums)
    fitting = [unit for unit in fitting if unit.sums == total and (rounds or unit.is_exact)]
    if not fitting:
        return f"it has no {'' if rounds else 'exact '}products of {a} with sums of {total}"
    least = target.compiler.least_lanes
    for unit in fitting:
        if unit.lanes is not None and unit.lanes < least:
            return f"{target.compiler.name} has none for subgroups of {unit.lanes} lanes"
        if unit.lanes is not None and lanes not in (None, unit.lanes):
            return f"it needs subgroups of {unit.lanes} lanes"
    return _of_shape(fitting, a, shape)


def _of_shape(
    units: list[MatrixUnit], factor: str, shape: tuple[int | None, int | None, int | None]
) -> MatrixUnit | str:
    """The first product with a shape, or which of its sizes none has."""
    rows, columns, depth = shape
    if rows is not None:
        units = [unit for unit in units if unit.rows == rows]
        if not units:
            return f"it has no products with {rows} rows"
    if columns is not None:
        units = [unit for unit in units if unit.columns == columns]
        if not units:
            return f"it has no products with {columns} columns"
    if depth is not None:
        units = [unit for unit in units if unit.depth == depth]
        if not units:
            return f"it has no products of {factor} with a depth of {depth}"
    return units[0]
