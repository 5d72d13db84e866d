"""Checks the restrictions of the tensor language.

Each module holds the rules of one family of instructions; `kinds` checks operands, results and
properties against an instruction's definition first, `regions` and `uniformity` how instructions
interact, and `program` runs them all.

Source: tensor language reference, the parts headed "Restrictions" and the text around them.
"""

from xtile.dialects.tensorlang.verifier import (
    arithmetic,
    collective,
    control,
    cooperative_matrix,
    functions,
    memory,
    subgroup,
)
from xtile.dialects.tensorlang.verifier.problem import Note, Problem
from xtile.dialects.tensorlang.verifier.program import operation_problems, verify

RULE_MODULES = (arithmetic, collective, control, cooperative_matrix, functions, memory, subgroup)
"""Importing these registers their rules."""

__all__ = ["RULE_MODULES", "Note", "Problem", "operation_problems", "verify"]
