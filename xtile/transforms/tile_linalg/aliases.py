"""Inputs that are the output too: they are copied, because inputs are read before it is written.

docs/semantics.md, section "Linear algebra", Aliases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType

from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.memref.allocation import AllocaOp
from xtile.transforms.tile_linalg import memory
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import Operand, cut
from xtile.transforms.tile_linalg.spans import Span


def separated(kernel: Kernel, operand: Operand, output: Operand, spans: Sequence[Span]) -> Operand:
    """The operand itself, or a copy if it is the output and there are several tiles of that.

    Raises:
        DiagnosticError: Its size is not known.
    """
    if operand.old is not output.old or all(span.is_single for span in spans):
        return operand
    shape = operand.type.get_shape()
    if DYNAMIC_INDEX in shape:
        raise kernel.error(
            "an input that is the output too must be copied, which needs a static size; "
            "write the result to another memref"
        )
    space = AddressSpaceAttr(AddressSpace.WORKGROUP)
    type_ = MemRefType(operand.element, shape, memory_space=space)
    copy = kernel.emit(AllocaOp(operands=[[], []], result_types=[type_])).memref
    both = cut(kernel, shape)
    inside = [span.is_even for span in both]
    tile = [span.tile for span in both]
    with kernel.tiles(both) as at:
        read = memory.read(kernel, operand.memory, at, tile, inside)
        memory.write(kernel, read, copy, at, inside)
    return replace(operand, moved=copy)
