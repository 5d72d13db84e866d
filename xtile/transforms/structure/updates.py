"""Atomic updates of which nobody can tell what they order."""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation

from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.arguments import argument_of, is_noalias
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.attributes import MemoryOrder, MemoryOrderAttr, MemoryScope
from xtile.dialects.effects import read_operands
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.walk import walk


def relax_sums(kernel: FuncOp) -> None:
    """Makes the sums in memory relaxed that a kernel only adds to, a tile of floats at a time.

    Sums are the same in any order but for rounding, and nothing in the kernel sees one that is not
    complete. So nothing can depend on what an acquire or a release of them orders, which languages
    say of updates that say nothing.
    """
    for operation in walk(kernel):
        if isinstance(operation, AtomicRMWOp) and _only_adds(operation, kernel):
            operation.order = MemoryOrderAttr(MemoryOrder.RELAXED)


def _only_adds(update: AtomicRMWOp, kernel: FuncOp) -> bool:
    """Whether an update adds floats to an argument that nothing in the kernel reads."""
    if not _ignores_old(update) or kind_of(update.kind).name != "addf":
        return False
    argument = argument_of(update.memory)
    if argument is None or not is_noalias(argument) or update.scope.data is MemoryScope.SYSTEM:
        return False
    return isinstance(update.value.type, VectorType) and not any(
        argument_of(memory) is argument
        for other in walk(kernel)
        if not _ignores_old(other)
        for memory in read_operands(other)
    )


def _ignores_old(operation: Operation) -> bool:
    """Whether an operation is an update of which nobody looks at what was there before."""
    return isinstance(operation, AtomicRMWOp) and not operation.result.uses
