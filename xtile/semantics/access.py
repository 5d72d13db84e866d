"""Reading, writing and updating elements of buffers.

Work-items act in ascending order: where several write one element, the last one's value stays;
where several update one element, each sees what those before it made.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from xtile.semantics.memory import Buffer, Index, Mask
from xtile.semantics.values import Array, Value, is_array


def read(buffer: Buffer, place: Index, mask: Mask) -> Value:
    """The elements at `place`; work-items that are not active get any element.

    Raises:
        UnlocatedError: An active work-item reads outside of the buffer.
    """
    if isinstance(place, int):
        buffer.check(place)
        return buffer.data[place]
    if mask is not None:
        place = np.where(mask, place, _any_of(place, mask))
    buffer.check(place)
    return buffer.data[place]


def _any_of(place: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_]) -> np.int64:
    """The place of some active work-item; there is one wherever an instruction runs."""
    place, mask = np.broadcast_arrays(place, mask)
    return place[mask][0]


def write(buffer: Buffer, place: Index, value: Value, mask: Mask) -> None:
    """Writes the active work-items' values.

    Raises:
        UnlocatedError: An active work-item writes outside of the buffer.
    """
    if isinstance(place, int):
        buffer.check(place)
        buffer.data[place] = _last(value, mask)
        return
    if mask is None:
        buffer.check(place)
        if is_array(value):
            place, value = np.broadcast_arrays(place, value)
        buffer.data[place] = value
        return
    place, value, mask = np.broadcast_arrays(place, value, mask)
    chosen = place[mask]
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
    place: npt.NDArray[np.int64],
    value: Array,
    function: Callable[[Value, Value], Value],
) -> Array:
    """Replaces elements by function(element, value), one after another; returns the old ones.

    Args:
        buffer: The memory.
        place: The places of the elements, in the order of the updates.
        value: A value for each.
        function: The update.

    Raises:
        UnlocatedError: A place lies outside of the buffer.
    """
    buffer.check(place)
    data = buffer.data
    old = np.empty(place.shape, data.dtype)
    for chosen in rounds(place):
        where = place[chosen]
        old[chosen] = data[where]
        data[where] = function(old[chosen], value[chosen])
    return old


def rounds(place: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """The updates in rounds that keep their order; in a round no place occurs twice."""
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(starts, len(ordered)))
    if lengths.max(initial=0) <= 1:
        return [np.arange(len(place))]
    rank = np.arange(len(ordered)) - np.repeat(starts, lengths)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1])
