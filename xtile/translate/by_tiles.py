"""Kernels of subgroups that lanes cannot share as they are: they become tiles first.

The lanes of a subgroup share its vectors where each is a block that instructions of the chip take
(docs/core-form-targets.md, "To XeGPU"). Other vectors, and those of kernels in which each work-item
is a subgroup, as XeGPU's VC form has them, are distributed anew: the lift makes tiles of them,
which are shared by as many subgroups, of a size that the chip has, as suit it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import given_subgroup_size
from xtile.text.diagnostics import DiagnosticError, Diagnostics, Severity
from xtile.transforms.lift import lift_kernels

Distribute = Callable[[ModuleOp, Diagnostics | None], ModuleOp]
"""Takes kernels from level tile to level subgroup."""


def spread_over_lanes(
    module: ModuleOp,
    spread: Callable[[ModuleOp, Diagnostics | None], ModuleOp],
    distribute: Distribute,
    diagnostics: Diagnostics | None,
) -> ModuleOp:
    """Makes code of lanes of kernels at level subgroup, directly or by way of tiles.

    Args:
        module: The module; it is not changed.
        spread: Makes code of lanes of kernels at level subgroup.
        distribute: Takes kernels from level tile to level subgroup.
        diagnostics: Where remarks go, one of which says why a kernel goes by way of tiles; None
            drops them.

    Raises:
        DiagnosticError: There is no way; it says why there is no direct one.
    """
    module = _by_tiles(module, _is_of_single_work_items, distribute, diagnostics)
    said = Diagnostics()
    try:
        result = spread(module, said)
    except DiagnosticError as refused:
        reason = refused.diagnostics[0]
        said = Diagnostics()
        said.add(replace(reason, severity=Severity.REMARK, message=f"by tiles: {reason.message}"))
        try:
            result = spread(_by_tiles(module, _is_of_subgroups, distribute, said), said)
        except DiagnosticError:
            raise refused from None
    for each in said if diagnostics is not None else ():
        diagnostics.add(each)
    return result


def _is_of_subgroups(kernel: FuncOp) -> bool:
    return level_of(kernel) is Level.SUBGROUP


def _is_of_single_work_items(kernel: FuncOp) -> bool:
    return _is_of_subgroups(kernel) and given_subgroup_size(kernel) == 1


def _by_tiles(
    module: ModuleOp,
    is_chosen: Callable[[FuncOp], bool],
    distribute: Distribute,
    diagnostics: Diagnostics | None,
) -> ModuleOp:
    lifted = lift_kernels(module, diagnostics, is_chosen)
    return distribute(lifted, diagnostics)
