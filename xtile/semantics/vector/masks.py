"""Masks: vectors of truth values."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.upstream.elementwise import constant
from xtile.semantics.vector.arrays import AXES, shape_of
from xtile.semantics.vector.shapes import numbers


def _constant_mask(operation: Operation, compiler: Compiler) -> Step:
    shape = shape_of(operation.results[0])
    sizes = numbers(operation, "mask_dim_sizes")
    if not shape:
        # A mask without dimensions has one number, which is its value.
        return constant(operation, compiler, np.full((1,) * AXES, sizes[0] == 1))
    mask = np.zeros((1,) * AXES + shape, np.bool_)
    mask[(..., *(slice(size) for size in sizes))] = True
    return constant(operation, compiler, mask)


HANDLERS: dict[str, Handler] = {"vector.constant_mask": _constant_mask}
