"""Kernels of subgroups that have no direct way: they become tiles first.

The lanes of a subgroup share its vectors where each is a block that instructions of the chip take
(docs/core-form-targets.md, "To XeGPU"), and the tensor language has matrices of a subgroup that its
instructions take. Other vectors, and on GPUs those of kernels in which each work-item is a
subgroup, as XeGPU's VC form has them, go another way: the lift makes tiles of them, which as many
subgroups share as suit it, of a size that the chip has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import given_subgroup_size
from xtile.rewrite.kernels import kernels_of
from xtile.text.diagnostics import DiagnosticError, Diagnostics, Severity

Translation = Callable[[ModuleOp, Diagnostics | None], ModuleOp]
"""Returns the new module, for the old one, which stays as it is."""


def is_of_single_work_items(kernel: FuncOp) -> bool:
    """Whether each work-item of a kernel of subgroups is one of them."""
    return _is_of_subgroups(kernel) and given_subgroup_size(kernel) == 1


def directly_or_by_tiles(
    module: ModuleOp,
    translate: Translation,
    prepare_tiles: Translation,
    diagnostics: Diagnostics | None,
    has_no_direct_way: Callable[[FuncOp], bool] = lambda kernel: False,
) -> ModuleOp:
    """Translates kernels at level subgroup directly or, where that is refused, by way of tiles.

    Args:
        module: The module; it is not changed.
        translate: Translates kernels at level subgroup, and what `prepare_tiles` makes.
        prepare_tiles: What comes between the lift to level tile and that.
        diagnostics: Where remarks go, one of which says why kernels go by way of tiles; None drops
            them.
        has_no_direct_way: Which kernels are not tried directly.

    Raises:
        DiagnosticError: There is no way; it says why there is no direct one.
    """
    module = _by_tiles(module, has_no_direct_way, prepare_tiles, diagnostics)
    said = Diagnostics()
    try:
        result = translate(module, said)
    except DiagnosticError as refused:
        reason = refused.diagnostics[0]
        said = Diagnostics()
        said.add(replace(reason, severity=Severity.REMARK, message=f"by tiles: {reason.message}"))
        try:
            result = translate(_by_tiles(module, _is_of_subgroups, prepare_tiles, said), said)
        except DiagnosticError:
            raise refused from None
    if diagnostics is not None:
        for each in said:
            diagnostics.add(each)
    return result


def _is_of_subgroups(kernel: FuncOp) -> bool:
    return level_of(kernel) is Level.SUBGROUP


def _by_tiles(
    module: ModuleOp,
    is_chosen: Callable[[FuncOp], bool],
    prepare_tiles: Translation,
    diagnostics: Diagnostics | None,
) -> ModuleOp:
    # Most kernels have a direct way, and lifting loads much.
    if not any(map(is_chosen, kernels_of(module))):
        return module
    from xtile.transforms.lift import lift_kernels

    lifted = lift_kernels(module, diagnostics, is_chosen)
    return prepare_tiles(lifted, diagnostics)
