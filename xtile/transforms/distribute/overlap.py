"""Inputs that are the output too: they are copied, because inputs are read before it is written.

docs/semantics.md, section "Linear algebra", Aliases.
"""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
)
from xdsl.ir import SSAValue

from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.indices import Index
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.local_memory import local_buffer, size_in_bytes
from xtile.transforms.distribute.shares import for_each_element


def separate(kernel: Kernel, memory: SSAValue, output: SSAValue) -> SSAValue:
    """The memref itself, or a copy in local memory if it is the output.

    Raises:
        DiagnosticError: Its size is not known, or it does not fit into local memory.
    """
    if memory is not output:
        return memory
    shape = cast("AnyMemRef", memory.type).get_shape()
    if DYNAMIC_INDEX in shape:
        raise kernel.error(
            "an input that is the output too must be copied, which needs a static size; "
            "write the result to another memref"
        )
    element = cast("AnyMemRef", memory.type).element_type
    size = math.prod(shape) * size_in_bytes(element)
    most = kernel.target.chip.local_memory
    if size > most:
        raise kernel.error(
            f"an input that is the output too must be copied to local memory, but it has {size} "
            f"bytes and {kernel.target.name} {most}; write the result to another memref"
        )
    copy = local_buffer(kernel, element, shape)
    if kernel.target.vector_unit is not None:
        from xtile.transforms.distribute.vectors.segments import copy_memref

        copy_memref(kernel, memory, copy)
        return copy

    def body(indices: list[Index]) -> None:
        kernel.store(kernel.load(memory, indices), copy, indices)

    for_each_element(kernel, shape, body)
    kernel.barrier()
    return copy
