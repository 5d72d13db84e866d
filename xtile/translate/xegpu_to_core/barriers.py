"""Barriers, fences and layouts: tiles need none of them."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.dialects.xegpu.ops.barriers import (
    AllocNbarrierOp,
    FenceOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
)
from xtile.dialects.xegpu.ops.convert_layout import ConvertLayoutOp
from xtile.rewrite.facts import constant_of
from xtile.rewrite.rebuilder import Rule, copy
from xtile.translate.xegpu_to_core.raising import Barrier, Raising


def _nothing(operation: Operation, raising: Raising) -> None:
    """What is there without being asked for."""


def _init_nbarrier(operation: InitNbarrierOp, raising: Raising) -> None:
    threads = constant_of(operation.participant_thread_num)
    raising.define(operation.result, Barrier(None if threads is None else threads % 256))


def _nbarrier_wait(operation: NbarrierWaitOp, raising: Raising) -> None:
    """A barrier of the work-group where all subgroups arrive and wait.

    Raises:
        DiagnosticError: Some may not.
    """
    if raising.is_of_tiles:
        return
    barrier: Barrier = raising.meaning(operation.nbarrier)
    if barrier.threads is None or barrier.threads != raising.subgroups:
        have = "an unknown number of" if raising.subgroups is None else str(raising.subgroups)
        count = "an unknown number of" if barrier.threads is None else str(barrier.threads)
        raise raising.error(
            f"{count} subgroups wait for this barrier, but the work-group has {have} subgroups; "
            "the core form has barriers of the whole work-group only, so both must be known and "
            "equal (known_block_size says how many there are)"
        )
    branch = _branch_around(operation)
    if branch is not None:
        raise raising.error(
            f"this barrier stands in {branch.name}, which not all subgroups may enter; the core "
            "form has barriers of the whole work-group only"
        )
    raising.emit(BarrierOp())


def _branch_around(operation: Operation) -> Operation | None:
    """The innermost construct around an operation that is no loop of scf.for."""
    around = operation.parent_op()
    while around is not None and around.name == "scf.for":
        around = around.parent_op()
    return None if around is None or around.name == "gpu.func" else around


def _barrier(operation: Operation, raising: Raising) -> None:
    """Tiles access memory in the order of the text."""
    if not raising.is_of_tiles:
        copy(operation, raising)


def _convert_layout(operation: ConvertLayoutOp, raising: Raising) -> None:
    """The same vector; only who holds which part of it changes."""
    raising.define(operation.result, raising.value(operation.source))


RULES: dict[str, Rule] = {
    AllocNbarrierOp.name: _nothing,
    BarrierOp.name: _barrier,
    ConvertLayoutOp.name: _convert_layout,
    FenceOp.name: _barrier,
    InitNbarrierOp.name: _init_nbarrier,
    NbarrierArriveOp.name: _nothing,
    NbarrierWaitOp.name: _nbarrier_wait,
}
