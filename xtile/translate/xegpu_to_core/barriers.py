"""Barriers, fences and layouts: tiles need none of them."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

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
    """A barrier of the work-group where all subgroups wait, be it for a part of them each.

    Where subgroups of several sets wait for those of their own set, all of them wait for more than
    they have to. Who waits here has done what stands before, so all have arrived: docs/semantics.md
    8, "Barriers".

    Raises:
        DiagnosticError: Some may not wait here, or as many sets are not the work-group.
    """
    if raising.is_of_tiles:
        return
    barrier: Barrier = raising.meaning(operation.nbarrier)
    if not barrier.threads or raising.subgroups is None or raising.subgroups % barrier.threads:
        have = "an unknown number of" if raising.subgroups is None else str(raising.subgroups)
        count = "an unknown number of" if barrier.threads is None else str(barrier.threads)
        raise raising.error(
            f"{count} subgroups wait for this barrier, but the work-group has {have} subgroups; "
            "the core form has barriers of the whole work-group only, so both must be known, and "
            "the first must divide the second (known_block_size says how many there are)"
        )
    is_of_all = barrier.threads == raising.subgroups
    branch = _branch_around(operation, is_of_all=is_of_all)
    if branch is not None:
        what = "enter equally often" if branch.name == "scf.for" else "enter"
        raise raising.error(
            f"this barrier stands in {branch.name}, which not all subgroups may {what}; the core "
            "form has barriers of the whole work-group only"
        )
    if not is_of_all:
        raising.remark(
            f"all {raising.subgroups} subgroups of the work-group wait here, where sets of "
            f"{barrier.threads} of them do"
        )
    raising.emit(BarrierOp())


def _branch_around(operation: Operation, *, is_of_all: bool) -> Operation | None:
    """The innermost construct around a wait that not all subgroups may enter together.

    Args:
        operation: The wait.
        is_of_all: Whether all subgroups wait for each other. Then a loop has as many iterations for
            all of them, since otherwise they would wait for ever.
    """
    around = operation.parent_op()
    while around is not None and around.name != "gpu.func":
        is_joint = (
            around.name == "scf.for"
            and (is_of_all or all(map(_is_equal_in_group, around.operands[:3])))
        ) or (around.name == "scf.if" and _is_equal_in_group(around.operands[0]))
        if not is_joint:
            return around
        around = around.parent_op()
    return None


_DEPTH = 32
"""How many operations back a number is followed."""


def _is_equal_in_group(value: SSAValue, depth: int = _DEPTH) -> bool:
    """Whether a number is certainly the same in all subgroups of a work-group."""
    owner = value.owner
    if depth == 0:
        return False
    if isinstance(owner, Operation):
        is_known = owner.name in _EQUAL or owner.dialect_name() in ("arith", "index", "math")
        return is_known and all(_is_equal_in_group(each, depth - 1) for each in owner.operands)
    around = owner.parent_op()
    if around is None or around.name == "gpu.func":
        return around is not None
    return (
        around.name == "scf.for"
        and owner.args[0] is value
        and all(_is_equal_in_group(each, depth - 1) for each in around.operands[:3])
    )


_EQUAL = frozenset({"affine.apply", "gpu.block_dim", "gpu.block_id", "gpu.grid_dim"})
"""Operations beside arithmetic that give all subgroups the same."""


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
