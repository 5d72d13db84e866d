"""Several modes of a memref as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Index, Mask, View, where_active
from xtile.semantics.values import first_where


def fused_modes(
    view: View, modes: Sequence[int], told: int | None, mask: Mask, word: str
) -> tuple[Index, Index]:
    """The size and the stride of several modes as one.

    The stride is that of the innermost mode with several elements, because the others' have no
    effect.

    Args:
        view: The memref.
        modes: The modes, the innermost first.
        told: The stride that the result's type gives; None where it leaves it open.
        mask: The active work-items.
        word: What the language calls a mode.

    Raises:
        UnlocatedError: The elements do not follow each other with one stride, in an active
            work-item.
    """
    stride = _stride_of(view, modes) if told is None else told
    size: Index = 1
    for mode in modes:
        _check_no_gap(view, mode, stride * size, mask, word)
        size = size * view.shape[mode]
    return size, stride


def _stride_of(view: View, modes: Sequence[int]) -> Index:
    stride = view.strides[modes[0]]
    for mode in reversed(modes):
        size, own = view.shape[mode], view.strides[mode]
        if isinstance(size, int):
            stride = stride if size == 1 else own
        else:
            stride = np.where(size == 1, stride, own)
    return stride


def _check_no_gap(view: View, mode: int, expected: Index, mask: Mask, word: str) -> None:
    stride = view.strides[mode]
    has_gap = (np.asanyarray(stride) != expected) & (np.asanyarray(view.shape[mode]) > 1)
    # Where there is no element, there is none to be apart from another one.
    for size in view.shape:
        has_gap = has_gap & (np.asanyarray(size) > 0)
    wrong = where_active(has_gap, mask)
    if wrong.any():
        raise UnlocatedError(
            f"{word} {mode} cannot be fused with its neighbours: its stride is "
            f"{first_where(stride, wrong)}, but must be {first_where(expected, wrong)}, so that "
            "the elements follow each other without gaps"
        )
