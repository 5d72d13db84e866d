"""From tiles to subgroups: kernels at level tile become kernels at level subgroup.

A grid of subgroups shares every tile (`layouts.py`); what a subgroup holds of one follows from the
grid (`spreads.py`), and elements that it needs of others come through local memory (`exchange.py`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xtile.rewrite.kernels import with_device_code_rebuilt
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.compose_narrow import compose_narrow
from xtile.transforms.compose_shuffles import compose_shuffles
from xtile.transforms.distribute_tiles import (
    atomics,
    bits,
    control,
    elementwise,
    kernels,
    points,
    positions,
    products,
    reductions,
    shapes,
    transfers,
)
from xtile.transforms.distribute_tiles.distribution import Distribution
from xtile.transforms.distribute_tiles.exchange import converted
from xtile.transforms.pad import pad
from xtile.transforms.split_complex import split_complex

_ROWS: dict[str, Rule] = {
    **atomics.RULES,
    **bits.RULES,
    **control.RULES,
    **elementwise.RULES,
    **kernels.RULES,
    **points.RULES,
    **positions.RULES,
    **products.RULES,
    **reductions.RULES,
    **shapes.RULES,
    **transfers.RULES,
}
"""The rule of each operation that is not computed element by element."""

RULES = RuleTable(_ROWS, otherwise=elementwise.compute, keeps_rounding=True)
"""What becomes of each operation."""


def distribute_tiles(
    module: ModuleOp, target: LaneTarget, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Deals out the tiles of kernels to the subgroups of a work-group.

    Args:
        module: The module; it is not changed.
        target: The GPU.
        diagnostics: Where remarks go; None drops them.

    Raises:
        DiagnosticError: Something cannot be dealt out.
    """
    module = pad(compose_shuffles(compose_narrow(split_complex(module))), diagnostics)
    distribution = Distribution(RULES, converted, target, source_of(module), diagnostics)
    result = with_device_code_rebuilt(module, distribution)
    remove_dead_code(result)
    return result
