"""Operations on constants, which are constants too."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation

from xtile.rewrite.folding import fold_numbers
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import register_type


def is_folded(operation: Operation, lowering: Lowering) -> bool:
    """Records the result of an operation on constants, which is a constant too.

    Sizes of work-groups become known after everything else was folded.
    """
    known = lowering.constants.numbers
    numbers: list[int | float] = []
    for operand in operation.operands:
        number = known.get(lowering.value(operand))
        if number is None:
            return False
        numbers.append(number)
    attribute = fold_numbers(operation, numbers)
    if not isinstance(attribute, IntegerAttr):
        return False
    (result,) = operation.results
    number = cast("IntegerAttr[IntegerType]", attribute).value.data
    lowering.define(result, lowering.integer(number, register_type(result.type)))
    return True
