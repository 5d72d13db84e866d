"""Tells an observer of integers that overflow although an operation promises that they do not.

Source: NVIDIA/cuda-tile 13.3.0, `AttrDefs.td` (`IntegerOverflow`) and `Ops.td`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import IntegerOverflow
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.cuda_tile.numbers import operand_number, result_number
from xtile.semantics.promises import no_overflow, observed
from xtile.semantics.upstream.constants import word_attribute

_INTERPRETATIONS = {
    IntegerOverflow.NONE: (),
    IntegerOverflow.NSW: (True,),
    IntegerOverflow.NUW: (False,),
    IntegerOverflow.NW: (True, False),
}
"""As signed or other numbers the exact result fits into the type, for each promise."""


def without_overflow(operation: Operation, compiler: Compiler, step: Step) -> Step:
    """`step`, before which it is checked that the result fits, if the operation promises so."""
    overflow = IntegerOverflow(word_attribute(operation, "overflow") or IntegerOverflow.NONE)
    check = no_overflow(
        operation,
        str(overflow),
        _INTERPRETATIONS[overflow],
        operand_number(operation),
        result_number(operation),
    )
    return observed(operation, compiler, step, check)
