"""Makes accesses through tiles of pointers what they are, where they are boxes of strided memory.

A gather or a scatter through pointers whose offsets are affine in the tile's indices, and whose
mask compares indices with sizes, becomes a transfer from or to a `core.view`
(docs/core-form-levels.md, "Structure"). `provenance.py` finds out what pointers are, `masks.py`
what masks are, `bounds.py` that nothing wraps around, `demand.py` which elements matter,
`accesses.py` the box, `common_memory.py` the memory that many boxes are in, and `transfers.py`
writes it.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xtile.dialects.core.arguments import promise_noalias
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.signature import source_language
from xtile.dialects.core.views import ViewOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.walk import walk
from xtile.rewrite.kernels import kernels_of, with_kernels_replaced
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup import clean_up
from xtile.transforms.cleanup.carried import count_with_variables, drop_unused


def structure(
    module: ModuleOp,
    diagnostics: Diagnostics | None = None,
    *,
    may_wrap: bool = False,
    common_memory: bool = False,
    disjoint: bool = False,
    longest_row: int | None = None,
) -> ModuleOp:
    """Returns a module in which accesses of boxes through tiles of pointers are transfers.

    Everything else stays as it is; without such an access it is the module itself.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go, which say why accesses stay what they are; None drops them.
        may_wrap: Whether integers may wrap around if nothing proves that they do not; else
            launches check it, as `core.launch_checks` says.
        common_memory: Whether tiles of all blocks, or of a loop, are to be in one memory, as
            hardware needs that fetches tiles by descriptors. Launches may check more then.
        disjoint: Whether launches check that arrays do not overlap which kernels of Triton take.
        longest_row: Tiles with more neighbours in a row stay tiles of pointers; None for no limit.
    """
    # What writes transfers is loaded for kernels that may have such accesses.
    if not any(map(_may_have_boxes, walk(module))):
        return module
    from xtile.transforms.structure.accesses import SCATTERED, is_of_tile_view, relax_sums
    from xtile.transforms.structure.bounds import Bounds
    from xtile.transforms.structure.transfers import Structuring

    def is_chosen(kernel: FuncOp) -> bool:
        return level_of(kernel) is Level.TILE and any(
            isinstance(operation, SCATTERED) or (common_memory and is_of_tile_view(operation))
            for operation in walk(kernel)
        )

    if not any(map(is_chosen, kernels_of(module))):
        return module
    # What a loop adds to pointers is then known to be the same each time.
    module = clean_up(module)
    if count_with_variables(kernels_of(module)):
        module = clean_up(module)
    chosen = {kernel for kernel in kernels_of(module) if is_chosen(kernel)}
    source = source_of(module)
    for kernel in kernels_of(module):
        if disjoint and not may_wrap and _is_of_triton(kernel):
            promise_noalias(kernel)
        relax_sums(kernel)
    result = with_kernels_replaced(
        module,
        chosen.__contains__,
        lambda kernel: Structuring(
            kernel, source, diagnostics, Bounds(may_wrap), common_memory, longest_row
        ).rebuilt(),
    )
    for kernel in kernels_of(result):
        drop_unused(kernel)
    return clean_up(result)


def _is_of_triton(kernel: FuncOp) -> bool:
    return source_language(kernel) == "triton"


_SCATTERED = frozenset({"core.atomic_rmw", "core.gather_load", "core.scatter_store"})


def _may_have_boxes(operation: Operation) -> bool:
    """Whether an operation accesses memory through pointers, or a view of what one points to."""
    return operation.name in _SCATTERED or operation.name == ViewOp.name
