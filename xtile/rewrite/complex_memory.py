"""Memory of complex numbers, part by part: vectors hold no complex numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import SSAValue

from xtile.dialects.core.attributes import ComplexPart
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.rewrite.emitter import element_type
from xtile.rewrite.rebuilder import Rebuilder


def part_views(rebuilder: Rebuilder, memory: SSAValue) -> list[SSAValue]:
    """The memory of each part of the numbers in memory; that of real numbers is itself."""
    if not isinstance(element_type(memory), ComplexType):
        return [memory]
    return [part_view(rebuilder, memory, part) for part in ComplexPart]


def part_view(rebuilder: Rebuilder, memory: SSAValue, part: ComplexPart) -> SSAValue:
    """The memory of one part of the complex numbers in memory."""
    return rebuilder.shared(
        (ComplexPartOp, memory, part),
        (memory,),
        lambda: rebuilder.emit(ComplexPartOp(memory, part)).result,
    )
