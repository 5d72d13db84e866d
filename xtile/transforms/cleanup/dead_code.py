"""Removes operations whose results nobody uses."""

from __future__ import annotations

from xdsl.ir import Block, Operation
from xdsl.traits import is_side_effect_free

from xtile.dialects.effects import is_pure, may_fail, only_reads
from xtile.rewrite.folding import constant_number


def remove_dead_code(operation: Operation) -> None:
    """Removes what is dead inside of an operation, from the last to the first."""
    for region in operation.regions:
        for block in region.blocks:
            _clean_block(block)


def _clean_block(block: Block) -> None:
    for operation in reversed(list(block.ops)):
        results = operation.results
        used = [result for result in results if result.first_use is not None]
        if results and not used and _is_removable(operation):
            operation.detach()
            operation.erase()
        elif operation.regions:
            remove_dead_code(operation)


def _is_removable(operation: Operation) -> bool:
    """Whether an operation without used results may go.

    A division stays unless its divisor is known, because dividing by zero is a mistake to report.
    """
    if may_fail(operation):
        return constant_number(operation.operands[1]) not in (None, 0)
    return only_reads(operation) or is_pure(operation) or is_side_effect_free(operation)
