"""The meaning of upstream's operations that say how they are rounded.

Source: docs/core-form.md, "Numbers"; IEEE 754, 4.3.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.number_attributes import (
    FLUSHED,
    ROUNDED,
    SATURATED,
    Rounding,
    direction_of_cast,
    flushes,
    rounding_of,
)
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.conversions import float_to_float
from xtile.semantics.cuda_tile.floating_point import flushed, rounded_function
from xtile.semantics.upstream import floats
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import number_of

_MODES = {
    None: RoundingMode.NEAREST_EVEN,
    Rounding.DOWNWARD: RoundingMode.NEGATIVE_INF,
    Rounding.TOWARD_ZERO: RoundingMode.ZERO,
    Rounding.UPWARD: RoundingMode.POSITIVE_INF,
}


_MEANINGS = {**floats.BINARY, **floats.UNARY_MATH}


def _rounded(operation: Operation, compiler: Compiler) -> Step:
    name = operation.name.partition(".")[2]
    number = number_of(operation.operands[0].type)
    if operation.name in ROUNDED:
        function = rounded_function(name, number, _MODES[rounding_of(operation)])
    else:
        function = _MEANINGS[name](number)
    if flushes(operation):
        function = flushed(function, number)
    return apply(operation, compiler, function)


def _saturated(operation: Operation, compiler: Compiler) -> Step:
    """What CUDA Tile IR's `ftof` gives; f8E8M0FNU is rounded up where nothing else is said."""
    source, target = (
        number_of(each.type) for each in (operation.operands[0], operation.results[0])
    )
    mode = _MODES[direction_of_cast(operation)]
    return apply(operation, compiler, float_to_float(source, target, mode))


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(FLUSHED, _rounded),
    **dict.fromkeys(SATURATED, _saturated),
}
"""The handler of each operation, by name."""
