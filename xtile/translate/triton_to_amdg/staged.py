"""Loads of a loop whose results are operands of products, and that can be made a turn before."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation, SSAValue

from xtile.dialects.triton.amdg.ops import BufferLoadOp
from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr, LinearEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import DotOperandEncodingAttr
from xtile.dialects.triton.operation import element_of, encoding_of
from xtile.dialects.triton.tt.ops import LoadOp
from xtile.dialects.triton.ttg.ops import ConvertLayoutOp
from xtile.translate.triton_to_amdg.staging import bytes_in, memory_of

_PURE = frozenset({"arith", "math"})
_PURE_OPERATIONS = frozenset(
    {
        "tt.addptr",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.make_range",
        "tt.splat",
        "ttg.convert_layout",
    }
)
"""What may be computed for the next iteration before its turn."""

_MOST_OPERATIONS = 200
"""The operations that are computed twice at most, for the loads of a loop."""

_COPIED_BITS = 128
"""What a lane copies to local memory at once."""


@dataclass(frozen=True)
class Staged:
    """A load whose result is an operand of products.

    Attributes:
        load: The load.
        uses: What makes the operand of it.
    """

    load: BufferLoadOp | LoadOp
    uses: list[ConvertLayoutOp]

    @property
    def operand(self) -> DotOperandEncodingAttr:
        """The layout of the operand."""
        found = encoding_of(self.uses[0].result.type)
        assert isinstance(found, DotOperandEncodingAttr)
        return found

    @property
    def can_be_copied(self) -> bool:
        """Whether it is a copy of what lies together in local memory, and 0 where it is masked."""
        load = self.load
        is_together = isinstance(encoding_of(load.result.type), LinearEncodingAttr)
        if not isinstance(load, BufferLoadOp) or not is_together or load.other is not None:
            return False
        count = 1 if load.contiguity is None else load.contiguity.value.data
        return count * getattr(element_of(load.result.type), "bitwidth", 0) == _COPIED_BITS

    def bytes(self, *, is_copied: bool) -> int:
        """The bytes of local memory that it needs."""
        memory = memory_of(self.load.result, self.operand)
        return bytes_in(memory) * (2 if is_copied else 1)


def staged_loads(loop: scf.ForOp) -> list[Staged]:
    """The loads of a loop that can be made an iteration before."""
    found: list[Staged] = []
    for load in loop.body.block.ops:
        if not isinstance(load, BufferLoadOp | LoadOp):
            continue
        uses = [use.operation for use in load.result.uses]
        conversions = [use for use in uses if isinstance(use, ConvertLayoutOp)]
        layout = encoding_of(load.result.type)
        is_known = isinstance(layout, BlockedEncodingAttr | LinearEncodingAttr)
        if not uses or len(conversions) < len(uses) or not is_known:
            continue
        layouts = {encoding_of(each.result.type) for each in conversions}
        operand = layouts.pop()
        if layouts or not isinstance(operand, DotOperandEncodingAttr):
            continue
        if _can_be_ahead(load, loop):
            found.append(Staged(load, conversions))
    return found


def _can_be_ahead(load: Operation, loop: scf.ForOp) -> bool:
    """Whether what a load needs is known an iteration before."""
    block = loop.body.block
    last = block.last_op
    assert last is not None
    seen: set[SSAValue] = set()
    rest = list(load.operands)
    while rest:
        value = rest.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument) and value.block is block:
            if value.index > 0:
                rest.append(last.operands[value.index - 1])
            continue
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent is block:
            if not _is_pure(owner):
                return False
            rest += owner.operands
    return len(seen) <= _MOST_OPERATIONS


def _is_pure(operation: Operation) -> bool:
    is_number = operation.dialect_name() in _PURE and not operation.regions
    return is_number or operation.name in _PURE_OPERATIONS
