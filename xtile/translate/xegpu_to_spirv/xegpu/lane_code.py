"""Checks that code is that of one lane: SPIR-V's work-items are lanes.

LLVM's passes `xegpu-wg-to-sg-distribute` and `xegpu-subgroup-distribute` make lane code of what is
refused here.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`; docs/semantics.md, "XeGPU", "Levels".
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from xtile.dialects.effects import differs_between_lanes
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.xegpu.operation import is_for_workgroup, shape_of, shape_text
from xtile.text.diagnostics import DiagnosticError
from xtile.text.source import spelling_of
from xtile.translate.xegpu_to_spirv.lowering import Lowering

_ONLY = "only code of one lane can be translated to SPIR-V"
_DISTRIBUTES_SUBGROUPS = "xegpu-subgroup-distribute"

_DIFFERING = frozenset({"func.call", "xegpu.dpas", "xegpu.load_nd"})
"""Operations, beside those of lanes, whose results differ between lanes, or may."""


def check_no_work_group(operation: Operation, lowering: Lowering) -> None:
    """Checks that no layout spreads an operation over the subgroups of a work-group.

    Raises:
        DiagnosticError: One does.
    """
    if is_for_workgroup(operation):
        raise lowering.error(
            f"{spelling_of(operation)} with sg_layout is the work of a work-group; {_ONLY}, which "
            f"LLVM's passes xegpu-wg-to-sg-distribute and {_DISTRIBUTES_SUBGROUPS} make"
        )


def check_points(operation: Operation, count: int, lowering: Lowering) -> None:
    """Checks that an operation on scattered points has the point of one lane.

    Raises:
        DiagnosticError: It has the points of a subgroup.
    """
    if count != 1:
        raise lowering.error(
            f"{spelling_of(operation)} of {count} points is the work of a subgroup; {_ONLY}, which "
            f"has one point and which LLVM's pass {_DISTRIBUTES_SUBGROUPS} makes"
        )


def check_part(
    operation: Operation,
    data: Attribute,
    layout: Attribute | None,
    offsets: Iterable[SSAValue],
    lowering: Lowering,
) -> None:
    """Checks that a part of a matrix is what one lane accesses.

    A vector of one dimension is. One of two dimensions is a lane's where its place may depend on
    the lane, as in what LLVM distributes.

    Raises:
        DiagnosticError: It is what a subgroup accesses.
    """
    shape = shape_of(data)
    is_for_lane = len(shape) < 2 or prod(shape) == 1 or _may_differ(offsets)
    if layout is not None or not is_for_lane:
        raise _part_error(operation, shape, lowering)


def check_row(
    operation: Operation, data: Attribute, layout: Attribute | None, lowering: Lowering
) -> None:
    """Checks that a part of a matrix is what one lane has of a row that lanes access together.

    Raises:
        DiagnosticError: It is what a subgroup accesses.
    """
    shape = shape_of(data)
    if layout is not None or sum(size != 1 for size in shape) > 1:
        raise _part_error(operation, shape, lowering)


def _part_error(
    operation: Operation, shape: tuple[int, ...], lowering: Lowering
) -> DiagnosticError:
    return lowering.error(
        f"{spelling_of(operation)} of {shape_text(shape)} elements is the work of a subgroup; "
        f"{_ONLY}, which has no layout and which LLVM's pass {_DISTRIBUTES_SUBGROUPS} makes"
    )


def _may_differ(values: Iterable[SSAValue]) -> bool:
    """Whether values may differ between the lanes of a subgroup, by what they are computed of."""
    remaining, seen = list(values), set[SSAValue]()
    while remaining:
        value = remaining.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        operation = owner if isinstance(owner, Operation) else owner.parent_op()
        if operation is None or isinstance(operation, FuncOp):
            continue
        if differs_between_lanes(operation) or operation.name in _DIFFERING:
            return True
        remaining += operation.operands
        remaining += _yielded(operation)
    return False


def _yielded(operation: Operation) -> Iterable[SSAValue]:
    """What the regions of an operation end with."""
    for block in (block for region in operation.regions for block in region.blocks):
        last = block.last_op
        if last is not None and last.has_trait(IsTerminator):
            yield from last.operands
