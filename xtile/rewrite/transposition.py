"""Vectors whose elements are interleaved in registers, which transposes square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, VectorType, i64
from xdsl.dialects.vector import ShuffleOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.construction import made
from xtile.rewrite.rebuilder import Rebuilder


def interleaved(
    rebuilder: Rebuilder, vectors: Sequence[SSAValue], group: int = 1
) -> list[SSAValue]:
    """The first groups of elements of all vectors, then the second ones, .. as as many vectors.

    Of the rows of a square matrix these are the columns.

    Each stage joins the first half of the vectors with the second half group by group, as cards
    are shuffled.

    Args:
        rebuilder: Where to emit.
        vectors: The vectors; their number and their length are powers of two.
        group: How many elements stay together, a divisor of the length.
    """
    (length,) = cast("VectorType[Attribute]", vectors[0].type).get_shape()
    starts = [start for i in range(0, length, group) for start in (i, length + i)]
    order = [start + i for start in starts for i in range(group)]
    masks = [DenseArrayBase.from_list(i64, half) for half in (order[:length], order[length:])]
    half = len(vectors) // 2
    result = list(vectors)
    for _ in range(len(vectors).bit_length() - 1):
        pairs = zip(result[:half], result[half:], strict=True)
        result = [_shuffled(rebuilder, a, b, mask) for a, b in pairs for mask in masks]
    return result


def _shuffled(
    rebuilder: Rebuilder, a: SSAValue, b: SSAValue, mask: DenseArrayBase[IntegerType]
) -> SSAValue:
    """Elements of two vectors, as many as each has."""
    return rebuilder.emit(made(ShuffleOp, (a, b), (a.type,), {"mask": mask})).results[0]
