"""Square matrices that are transposed in registers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import SSAValue

from xtile.dialects.vector import ShuffleOp
from xtile.translate.rule import Rebuilder


def transposed(rebuilder: Rebuilder, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """The columns of a square matrix whose rows are given; their number is a power of two.

    Each stage joins the first half of the vectors with the second half element by element, as
    cards are shuffled; after as many stages as the number has bits, the rows are columns.
    """
    count = len(rows)
    half = count // 2
    low = [n for i in range(half) for n in (i, count + i)]
    high = [n + half for n in low]
    masks = [DenseArrayBase.from_list(i64, mask) for mask in (low, high)]
    vectors = list(rows)
    for _ in range(count.bit_length() - 1):
        pairs = zip(vectors[:half], vectors[half:], strict=True)
        vectors = [_shuffled(rebuilder, a, b, mask) for a, b in pairs for mask in masks]
    return vectors


def _shuffled(
    rebuilder: Rebuilder, a: SSAValue, b: SSAValue, mask: DenseArrayBase[IntegerType]
) -> SSAValue:
    """Elements of two vectors, as many as each has."""
    operation = ShuffleOp.build(operands=[a, b], result_types=[a.type], properties={"mask": mask})
    return rebuilder.emit(operation).results[0]
