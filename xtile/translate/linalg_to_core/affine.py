"""Loops of `affine` in kernels that a whole work-group executes once."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import affine
from xdsl.ir import Operation

from xtile.dialects.effects import BARRIERS
from xtile.dialects.linalg.structure import is_structured
from xtile.dialects.walk import walk
from xtile.rewrite import affine_control
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.linalg_to_core.kernel import Kernel


def _for(operation: affine.ForOp, kernel: Kernel) -> None:
    if not kernel.is_in_points and not isinstance(operation.parent_op(), affine.ForOp):
        kernel.remark(
            "all work-items execute this loop alike, one turn after another; affine.parallel says "
            "that turns are independent, and lets work-items share them"
        )
    affine_control.for_loop(operation, kernel)


def _parallel(operation: affine.ParallelOp, kernel: Kernel) -> None:
    """Points of a space, where the body is what work-items can do on their own."""
    hindrance = next((each for each in walk(operation) if _is_of_all(each)), None)
    if hindrance is not None:
        kernel.remark(
            f"the turns of this affine.parallel are done one after the other, because "
            f"{spelling_of(hindrance)} is work of the work-group as a whole"
        )
    if kernel.is_in_points or hindrance is not None:
        affine_control.parallel_in_order(operation, kernel)
        return
    turns = affine_control.turns_of(operation, kernel)
    with kernel.points(turns.sizes) as point:
        turns.emit(kernel, point)


def _is_of_all(operation: Operation) -> bool:
    """Whether only a work-group as a whole can do something."""
    name = operation.name
    return is_structured(operation) or name in BARRIERS or name == "memref.alloca"


RULES: Mapping[str, Rule] = {
    **affine_control.RULES,
    "affine.for": _for,
    "affine.parallel": _parallel,
}
"""The rule of each operation, by name."""
