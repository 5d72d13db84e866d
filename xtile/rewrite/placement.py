"""Indices of elements that differ between lanes, computed as a layout says."""

from __future__ import annotations

from xtile.layouts import Layout
from xtile.rewrite.indices import Index, IndexArithmetic


def share(
    indices: IndexArithmetic,
    layout: Layout,
    between: tuple[str, str],
    number: Index,
    wraps: bool = False,
) -> Index:
    """What a number of an input adds to the index in an output.

    Args:
        indices: Where to emit.
        layout: The layout.
        between: The input and the output.
        number: The number.
        wraps: Whether it may be too large; the index is then that of another one.

    Raises:
        LayoutError: The layout is no sum of distances.
    """
    input, output = between
    total: Index = 0
    position = 1
    for size, moved, distance in layout.steps(input):
        if moved == output:
            digit = indices.divide(number, position)
            if wraps or position * size < layout.size(input):
                digit = indices.remainder(digit, size)
            total = indices.add(total, indices.multiply(digit, distance))
        position *= size
    return total
