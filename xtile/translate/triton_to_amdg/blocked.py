"""Blocked layouts: of tensors that nothing else decides about, and of accesses to memory.

Lanes that act at once access what is next to each other, and each lane as much as one instruction
takes, as far as it is known that it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr
from xtile.dialects.triton.operation import element_of, shape_of
from xtile.dialects.triton.tt.types import PointerType
from xtile.dialects.walk import walk
from xtile.translate.triton_to_amdg.axis_facts import AxisFacts

ACCESSES = frozenset({"tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas"})
"""The operations that access memory through a tensor of pointers, which is their first operand."""

_MOST_BYTES = 16
"""The bytes of the longest access of a lane."""


@dataclass(frozen=True)
class Machine:
    """What layouts are for.

    Attributes:
        lanes: The lanes of a warp.
        warps: The warps of a program.
    """

    lanes: int
    warps: int

    def blocked(
        self,
        shape: Sequence[int],
        order: Sequence[int] | None = None,
        held: int = 1,
        rows: int = 1,
    ) -> BlockedEncodingAttr:
        """The layout in which lanes and then warps go through a tensor.

        Where there are more of them than elements, those that are left over hold the same.

        Args:
            shape: The shape of the tensor.
            order: The dimensions, the fastest first; None for the last one first.
            held: The elements that a lane has in a row along the fastest dimension.
            rows: How many of such rows it has along the next one.
        """
        rank = len(shape)
        order = list(reversed(range(rank))) if order is None else list(order)
        sizes = [1] * rank
        for dimension, size in zip(order, (held, rows), strict=False):
            sizes[dimension] = min(size, shape[dimension])
        left = [size // own for size, own in zip(shape, sizes, strict=True)]
        lanes = _shared_out(self.lanes, left, order)
        left = [max(1, size // own) for size, own in zip(left, lanes, strict=True)]
        return BlockedEncodingAttr(sizes, lanes, _shared_out(self.warps, left, order), order)


def _shared_out(count: int, sizes: Sequence[int], order: Sequence[int]) -> list[int]:
    """How many of `count` go along each dimension; the slowest one takes what is left."""
    shares = [1] * len(sizes)
    for dimension in order[:-1]:
        shares[dimension] = min(count, sizes[dimension])
        count //= shares[dimension]
    shares[order[-1]] = count
    return shares


def layouts_of_accesses(
    function: Operation, machine: Machine, facts: AxisFacts
) -> dict[Operation, BlockedEncodingAttr]:
    """The layout of each access through a tensor of pointers.

    Accesses of one shape in one order have the same layout, so that what is loaded can be stored
    as it is.
    """
    found = {operation: _order_and_held(operation, facts) for operation in _accesses(function)}
    most: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    for operation, (order, held) in found.items():
        shape = shape_of(operation.operands[0].type)
        fair = max(1, prod(shape) // (machine.lanes * machine.warps))
        key = shape, order
        most[key] = max(most.get(key, 1), min(held, fair))
    return {
        operation: machine.blocked(
            shape_of(operation.operands[0].type),
            order,
            most[shape_of(operation.operands[0].type), order],
        )
        for operation, (order, _) in found.items()
    }


def _accesses(function: Operation) -> Iterator[Operation]:
    for operation in walk(function):
        if operation.name in ACCESSES and shape_of(operation.operands[0].type):
            yield operation


def _order_and_held(operation: Operation, facts: AxisFacts) -> tuple[tuple[int, ...], int]:
    """The order in which an access goes through its tensor, and the elements of one instruction."""
    pointer = operation.operands[0]
    axes = facts.of(pointer)
    rank = len(axes)
    order = sorted(range(rank), key=lambda d: (-axes[d].contiguity, -d))
    return tuple(order), elements_at_once(pointer, order[0], facts)


def elements_at_once(pointer: SSAValue, dimension: int, facts: AxisFacts) -> int:
    """How many elements in a row along a dimension are certainly next to each other and aligned."""
    type_ = element_of(pointer.type)
    assert isinstance(type_, PointerType)
    size = bytes_of(type_)
    axis = facts.of(pointer)[dimension]
    aligned = max(1, axis.divisor // size)
    return max(1, min(axis.contiguity, aligned, _MOST_BYTES // size))


def bytes_of(pointer: PointerType) -> int:
    """The bytes of what a pointer points to."""
    return max(1, getattr(pointer.pointee, "bitwidth", 64) // 8)
