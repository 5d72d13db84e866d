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
    name = operation.name
    return name.startswith("linalg.") or name in LOOPS


def first_of_linalg(function: Operation) -> Operation | None:
    """The first operation by which a function is written in `linalg`; None if it is not."""
    return next((each for each in walk(function) if is_of_linalg(each)), None)
