"""Which kernels are written in `linalg`, or in loops of `affine`, and name no level of their own.

A `gpu.func` with such operations is what a whole work-group does once (docs/linalg.md). Loops of
`affine` beside operations of XeGPU, or of what tells work-items apart, are loops and no more.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.effects import OF_LANES, OF_WORK_ITEMS
from xtile.dialects.walk import walk

_DIALECT = "linalg."

LOOPS = frozenset({"affine.for", "affine.if", "affine.load", "affine.parallel", "affine.store"})
"""Operations of `affine` that are a kernel's structure; its numbers may stand in any kernel."""


def is_of_linalg(operation: Operation) -> bool:
    """Whether an operation makes the kernel around it one of `linalg`."""
    return _is_of_linalg(operation.name)


def _is_of_linalg(name: str) -> bool:
    return name.startswith(_DIALECT) or name in LOOPS


def first_of_linalg(function: Operation) -> Operation | None:
    """The first operation by which a function is written in `linalg`; None if it is not."""
    operations = walk(function)
    # A kernel has few names and many operations.
    names = {each.name for each in operations}
    if not any(map(_is_of_linalg, names)):
        return None
    has_loops_only = not any(name.startswith(_DIALECT) for name in names)
    if has_loops_only and any(map(_is_of_work_items, operations)):
        return None
    return next(each for each in operations if is_of_linalg(each))


def _is_of_work_items(operation: Operation) -> bool:
    """Whether each work-item or each subgroup executes the kernel around an operation."""
    name = operation.name
    if name.startswith("xegpu."):
        return True
    return name in _OF_WORK_ITEMS and not is_parallel(operation)


def is_parallel(operation: Operation) -> bool:
    """Whether an operation stands in a region that each work-item executes."""
    around = operation.parent_op()
    while around is not None and around.name != "core.parallel":
        around = around.parent_op()
    return around is not None


_OF_WORK_ITEMS = OF_WORK_ITEMS | OF_LANES
