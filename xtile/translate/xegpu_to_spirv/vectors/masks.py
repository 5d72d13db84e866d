"""Masks, and operations that are executed under them.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, cast

from xdsl.dialects.builtin import VectorType, i1, i64
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.xegpu_to_spirv import literals
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import of_length, piece_lengths
from xtile.translate.xegpu_to_spirv.vectors import arithmetic, memory, transfers
from xtile.translate.xegpu_to_spirv.vectors.entries import Entry, entries, numbers_in, shape_of


def _constant_mask(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    sizes = numbers_in(operation, "mask_dim_sizes")
    shape = shape_of(result.type)
    if not shape:
        lowering.define_pieces(result, [lowering.integer(sizes[0], i1)])
        return
    flags = [
        all(position < size for position, size in zip(index, sizes, strict=True))
        for index in product(*map(range, shape))
    ]
    type_ = cast("VectorType[Any]", result.type)
    lowering.define(result, literals.vector(lowering, flags, type_))


def _create_mask(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    *outer, inner = lowering.values(operation.operands)
    shape = shape_of(result.type) or (1,)
    pieces: list[SSAValue] = []
    lengths = piece_lengths(cast("VectorType[Any]", result.type))
    of_row = len(lengths) // max(1, math.prod(shape[:-1]))
    for index in product(*map(range, shape[:-1])):
        done = 0
        for length in lengths[:of_row]:
            piece = _below(lowering, done, length, inner)
            for position, size in zip(index, outer, strict=True):
                is_below = _below(lowering, position, 1, size)
                truth = of_length(i1, length)
                all_of = lowering.splat(is_below, length)
                piece = lowering.compute("LogicalAnd", truth, piece, all_of)
            pieces.append(piece)
            done += length
    lowering.define_pieces(result, pieces)


def _below(lowering: Lowering, first: int, length: int, size: SSAValue) -> SSAValue:
    """Whether numbers that follow each other are below a size."""
    type_ = VectorType(i64, [length])
    numbers = literals.vector(lowering, range(first, first + length), type_)[0]
    truth = of_length(i1, length)
    return lowering.compute("SLessThan", truth, numbers, lowering.splat(size, length))


# --- operations under masks ---


def _transfer_read(
    operation: Operation, lowering: Lowering, mask: Sequence[Entry], other: SSAValue | None
) -> None:
    transfers.transfer_read(operation, lowering, _values(lowering, mask), other)


def _transfer_write(
    operation: Operation, lowering: Lowering, mask: Sequence[Entry], other: SSAValue | None
) -> None:
    transfers.transfer_write(operation, lowering, _values(lowering, mask))


def _gather(
    operation: Operation, lowering: Lowering, mask: Sequence[Entry], other: SSAValue | None
) -> None:
    memory.gather(operation, lowering, _values(lowering, mask))


def _values(lowering: Lowering, mask: Sequence[Entry]) -> list[SSAValue]:
    from xtile.translate.xegpu_to_spirv.vectors.entries import element

    return [element(lowering, entry) for entry in mask]


def _without_other(
    rule: Callable[[Operation, Lowering, Sequence[Entry]], None],
) -> Callable[[Operation, Lowering, Sequence[Entry], SSAValue | None], None]:
    return lambda operation, lowering, mask, other: rule(operation, lowering, mask)


_MASKED: dict[str, Callable[[Operation, Lowering, Sequence[Entry], SSAValue | None], None]] = {
    "vector.gather": _gather,
    "vector.multi_reduction": _without_other(arithmetic.multi_reduction),
    "vector.outerproduct": _without_other(arithmetic.outer_product),
    "vector.reduction": _without_other(arithmetic.reduction),
    "vector.transfer_read": _transfer_read,
    "vector.transfer_write": _transfer_write,
}
"""What emits an operation under a mask and with what passes through, by the operation's name."""


def _mask(operation: Operation, lowering: Lowering) -> None:
    given = cast(Any, operation)
    mask = entries(given.mask, lowering)
    masked: Operation | None = given.masked
    if masked is None:
        _nothing_masked(operation, lowering, mask)
        return
    emit = _MASKED.get(masked.name)
    if emit is None:
        raise lowering.error(f"{spelling_of(masked)} under a mask cannot be translated to SPIR-V")
    emit(masked, lowering, mask, given.passthru)
    for result, value in zip(operation.results, masked.results, strict=True):
        lowering.define(result, lowering.meaning(value))


def _nothing_masked(operation: Operation, lowering: Lowering, mask: Sequence[Entry]) -> None:
    """The results are what the region yields, and where the mask is not set what passes through."""
    given = cast(Any, operation)
    end = operation.regions[0].block.last_op
    assert end is not None
    for result, value in zip(operation.results, end.operands, strict=True):
        if given.passthru is None:
            lowering.define(result, lowering.meaning(value))
            continue
        conditions = lowering.pieces(given.mask)
        pairs = zip(lowering.pieces(value), lowering.pieces(given.passthru), strict=True)
        made = [lowering.select(c, a, b) for c, (a, b) in zip(conditions, pairs, strict=True)]
        lowering.define_pieces(result, made)


RULES: dict[str, Rule] = {
    "vector.constant_mask": _constant_mask,
    "vector.create_mask": _create_mask,
    "vector.mask": _mask,
}
"""The rule of each operation, by name."""
