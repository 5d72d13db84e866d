"""Reading, writing and updating elements of buffers.

Work-items act in ascending order: where several write one element, the last one's value stays;
where several update one element, each sees what those before it made.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from xtile.semantics.memory import Buffer, Index, Mask
from xtile.semantics.values import Array, Value, is_array, zeros_beside


def read(buffer: Buffer, position: Index, mask: Mask) -> Value:
    """The elements at `position`; work-items that are not active get any element.

    Raises:
        UnlocatedError: An active work-item reads outside of the buffer.
    """
    if isinstance(position, int):
        buffer.check(position)
        return buffer.data[position]
    if mask is not None:
        position = np.where(mask, position, _any_of(position, mask))
    buffer.check(position)
    return buffer.data[position]


def _any_of(position: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_]) -> np.int64:
    """The position of some active work-item; there is one wherever an instruction runs."""
    position, mask = np.broadcast_arrays(position, mask)
    return position[mask][0]


def write(buffer: Buffer, position: Index, value: Value, mask: Mask) -> None:
    """Writes the active work-items' values.

    Raises:
        UnlocatedError: An active work-item writes outside of the buffer.
    """
    if isinstance(position, int):
        buffer.check(position)
        buffer.data[position] = _last(value, mask)
        return
    if mask is None:
        buffer.check(position)
        if is_array(value):
            position, value = np.broadcast_arrays(position, value)
        buffer.data[position] = value
        return
    position, value, mask = np.broadcast_arrays(position, value, mask)
    chosen = position[mask]
    buffer.check(chosen)
    buffer.data[chosen] = value[mask]


def _last(value: Value, mask: Mask) -> Value:
    if not is_array(value):
        return value
    if mask is None:
        return value[-1, -1]
    value, mask = np.broadcast_arrays(value, mask)
    return value[mask][-1]


def update(
    buffer: Buffer,
    position: npt.NDArray[np.int64],
    value: Array,
    function: Callable[[Value, Value], Value],
) -> Array:
    """Replaces elements by function(element, value), one after another; returns the old ones.

    Args:
        buffer: The memory.
        position: The positions of the elements, in the order of the updates.
        value: A value for each.
        function: The update.

    Raises:
        UnlocatedError: A position lies outside of the buffer.
    """
    buffer.check(position)
    data = buffer.data
    old = zeros_beside(data, position.shape)
    for chosen in rounds(position):
        where = position[chosen]
        old[chosen] = data[where]
        data[where] = function(old[chosen], value[chosen])
    return old


def rounds(position: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """The updates in rounds that keep their order; in a round no position occurs twice."""
    order = np.argsort(position, kind="stable")
    ordered = position[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(starts, len(ordered)))
    if lengths.max(initial=0) <= 1:
        return [np.arange(len(position))]
    rank = np.arange(len(ordered)) - np.repeat(starts, lengths)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1])
