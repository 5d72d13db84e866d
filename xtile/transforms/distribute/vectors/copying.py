"""Copies of memrefs as vectors."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from xtile.rewrite.emitter import AnyMemRef, element_type
from xtile.rewrite.indices import Index
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.vectors.segments import for_each_vector
from xtile.transforms.distribute.vectors.values import is_contiguous, load, store, width_of


def copy_memref(kernel: Kernel, source: SSAValue, target: SSAValue) -> None:
    """Copies a memref of a known size."""
    is_wide = is_contiguous(source) and is_contiguous(target)
    width = width_of(kernel, element_type(source)) if is_wide else 1

    def body(indices: list[Index], width: int) -> None:
        store(kernel, load(kernel, source, indices, width), target, indices, width)

    for_each_vector(kernel, cast("AnyMemRef", source.type).get_shape(), width, body)
