"""Rules of the subgroup instructions.

Source: tensor language reference, sections "Subgroup broadcast" and "Subgroup operation".
"""

from __future__ import annotations

from xtile.dialects.tensorlang.ops.subgroup import SubgroupBroadcastOp, SubgroupOperation
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, type_text
from xtile.dialects.tensorlang.verifier.problem import (
    Problem,
    Problems,
    at_operand,
    mnemonic_of,
    rule,
)


@rule(SubgroupBroadcastOp, SubgroupOperation)
def result_type(operation: SubgroupBroadcastOp | SubgroupOperation) -> Problems:
    """The result has the operand's type."""
    type = operation.a.type
    if operation.result.type != type:
        message = f"{mnemonic_of(operation)} returns {type_text(type)} here, not "
        yield Problem(operation, f"{message}{type_text(operation.result.type)}", "result")


@rule(SubgroupOperation)
def ordered_type(operation: SubgroupOperation) -> Problems:
    """The maximum and minimum of complex numbers are forbidden."""
    type = operation.a.type
    if type in COMPLEX_TYPES and operation.name.endswith(("_max", "_min")):
        message = f"{mnemonic_of(operation)} does not take {type_text(type)}; complex numbers have "
        yield at_operand(operation, "a", f"{message}no order")
