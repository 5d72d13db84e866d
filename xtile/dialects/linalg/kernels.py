"""Which kernels are written in `linalg`, or in loops of `affine`, and name no level of their own.

A `gpu.func` with such operations is what a whole work-group does once (docs/linalg.md).
"""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.walk import walk

LOOPS = frozenset({"affine.for", "affine.if", "affine.load", "affine.parallel", "affine.store"})
"""Operations of `affine` that are a kernel's structure; its numbers may stand in any kernel."""


def is_of_linalg(operation: Operation) -> bool:
    """Whether an operation makes the kernel around it one of `linalg`."""
    return _is_of_linalg(operation.name)


def _is_of_linalg(name: str) -> bool:
    return name.startswith("linalg.") or name in LOOPS


def first_of_linalg(function: Operation) -> Operation | None:
    """The first operation by which a function is written in `linalg`; None if it is not."""
    operations = walk(function)
    # A kernel has few names and many operations.
    if not any(map(_is_of_linalg, {each.name for each in operations})):
        return None
    return next(each for each in operations if is_of_linalg(each))
