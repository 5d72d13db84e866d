"""Which types the operands and the result of common instructions have.

Instructions that are in no table here are checked by the kinds of their operands only.
"""

from __future__ import annotations

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.rules import arithmetic, composites, matrices, memory

_RULES = {**arithmetic.RULES, **composites.RULES, **matrices.RULES, **memory.RULES}


def check_types(instruction: Instruction) -> None:
    """Checks the types of an instruction's operands and result.

    Raises:
        ArgumentError: They are not what the specification says.
    """
    rules = arithmetic.EXTENDED_RULES if instruction.is_extended else _RULES
    rule = rules.get(instruction.entry.name)
    if rule is not None:
        rule(instruction)
