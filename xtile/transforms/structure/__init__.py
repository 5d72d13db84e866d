"""Makes accesses through tiles of pointers what they are, where they are boxes of strided memory.

A gather or a scatter through pointers whose offsets are affine in the tile's indices, and whose
mask compares indices with sizes, becomes a transfer from or to a `core.view` (docs/core-form.md,
"Structure"). `provenance.py` finds out what pointers are, `masks.py` what masks are, `bounds.py`
that nothing wraps around, `demand.py` which elements matter, `accesses.py` the box, `loops.py` what
of it a loop shares, and `transfers.py` writes it.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.core import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.walk import walk
from xtile.rewrite.kernels import kernels_of, with_kernels_replaced
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup import clean_up
from xtile.transforms.cleanup.carried import drop_unused
from xtile.transforms.structure.accesses import SCATTERED
from xtile.transforms.structure.transfers import Structuring


def structure(
    module: ModuleOp, diagnostics: Diagnostics | None = None, *, may_wrap: bool = False
) -> ModuleOp:
    """Returns a module in which accesses of boxes through tiles of pointers are transfers.

    Everything else stays as it is; without such an access it is the module itself.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go, which say why accesses stay what they are; None drops them.
        may_wrap: Whether integers may wrap around if nothing proves that they do not; else
            launches check it, as `core.launch_checks` says.
    """
    if not any(map(_is_scattered, kernels_of(module))):
        return module
    # What a loop adds to pointers is then known to be the same each time.
    module = clean_up(module)
    chosen = {kernel for kernel in kernels_of(module) if _is_scattered(kernel)}
    source = source_of(module)
    result = with_kernels_replaced(
        module,
        chosen.__contains__,
        lambda kernel: Structuring(kernel, source, diagnostics, may_wrap).rebuilt(),
    )
    for kernel in kernels_of(result):
        drop_unused(kernel)
    return clean_up(result)


def _is_scattered(kernel: FuncOp) -> bool:
    return level_of(kernel) is Level.TILE and any(
        isinstance(operation, SCATTERED) for operation in walk(kernel)
    )
