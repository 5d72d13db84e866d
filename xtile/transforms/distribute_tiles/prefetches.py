"""Prefetches ahead: what the next iteration of a loop reads for its products."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.subgroup import PrefetchOp
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.transfers import TransferReadOp
from xtile.rewrite.contractions import uses_as_factor
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.transforms.distribute_tiles.distribution import Distribution
from xtile.transforms.distribute_tiles.exchange import bits_of
from xtile.transforms.distribute_tiles.spreads import Dealt, Spread

_CASTS = frozenset(
    {"arith.extsi", "arith.extui", "arith.index_cast", "arith.index_castui", "core.assume"}
)
"""Operations that keep a number."""


def next_indices(operation: TransferReadOp) -> list[int] | None:
    """How far on along each dimension of memory the next iteration reads; None if nobody knows.

    It is asked for the factors of products in memory that is there before the loop.
    """
    loop = operation.parent_op()
    uses = list(uses_as_factor(operation.result))
    is_factor = bool(uses) and all(
        isinstance(use.operation, ContractionOp) and use.index < 2 for use in uses
    )
    if not isinstance(loop, scf.ForOp) or not is_factor or _is_in(operation.source, loop):
        return None
    step = constant_of(loop.step)
    if step is None:
        return None
    found = [_advance(index, loop, step) for index in operation.indices]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) and any(known) else None


def _is_in(value: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a value is born in a loop."""
    owner = value.owner
    around = owner.parent_op()
    while around is not None and around is not loop:
        around = around.parent_op()
    return around is loop


def _advance(index: SSAValue, loop: scf.ForOp, step: int) -> int | None:
    """How much more a number is in the next iteration; None if nobody knows."""
    if index is loop.body.block.args[0]:
        return step
    if not _is_in(index, loop):
        return 0
    owner = index.owner
    if not isinstance(owner, Operation) or owner.regions:
        return None
    parts = [_advance(operand, loop, step) for operand in owner.operands]
    if not any(parts) and None not in parts:
        return 0
    match owner.name, parts:
        case name, [int(only)] if name in _CASTS:
            return only
        case "arith.addi", [int(first), int(second)]:
            return first + second
        case "arith.muli", [int(first), int(second)]:
            factors = [constant_of(operand) for operand in owner.operands]
            if factors[1] is not None and second == 0:
                return first * factors[1]
            return None if factors[0] is None or first else second * factors[0]
        case _:
            return None


def spread_of_prefetch(
    distribution: Distribution, type_: MemRefType[Attribute], sizes: Sequence[int]
) -> Spread | None:
    """Which part of a matrix each subgroup of a work-group prefetches; None if the chip cannot.

    All of them read through one cache, so it does not matter who needs a part. Its rows are as long
    as one instruction reaches.

    Args:
        distribution: The translation.
        type_: The memory that the matrix is in, of two dimensions.
        sizes: The sizes of the matrix along these.
    """
    access = distribution.target.block_access
    shapes = None if access is None else access.prefetch.get(bits_of(type_.element_type) // 8)
    if shapes is None:
        return None
    strides = type_.get_strides() or (None, 1)
    contiguous = 0 if strides[0] == 1 else 1
    reach = max(shapes.widths) * max(shapes.counts)
    pieces = 1 if sizes[contiguous] % reach else sizes[contiguous] // reach
    along = gcd(distribution.subgroups, pieces)
    across = gcd(distribution.subgroups // along, sizes[1 - contiguous])
    spread = Dealt(across, along), Dealt(along, 1)
    return spread if contiguous == 1 else spread[::-1]


def prefetch(
    distribution: Distribution,
    memory: SSAValue,
    start: Sequence[Index],
    ahead: Sequence[int],
    block: Sequence[int],
) -> None:
    """Brings a matrix into the nearest cache.

    Args:
        distribution: Where to emit.
        memory: The memory, of two dimensions.
        start: Where this iteration reads.
        ahead: How far on the next one does.
        block: The sizes of the matrix along the dimensions of memory.
    """
    indices = [
        distribution.as_value(distribution.add(index, distance))
        for index, distance in zip(start, ahead, strict=True)
    ]
    operation = PrefetchOp.build(
        operands=[memory, indices],
        properties={
            "block": DenseArrayBase.from_list(i64, list(block)),
            "level": IntegerAttr(0, i64),
        },
    )
    distribution.emit(operation)
