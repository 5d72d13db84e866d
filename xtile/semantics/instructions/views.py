"""Views of memrefs as the tensor language makes them; the first mode varies fastest.

Source: tensor language reference, sections "Expand", "Fuse" and "Subview".
"""

from __future__ import annotations

from collections.abc import Sequence

from xtile.semantics.errors import UnlocatedError
from xtile.semantics.fused_modes import fused_modes
from xtile.semantics.memory import Index, Mask, View, where_active
from xtile.semantics.values import first_where


def subview(view: View, offsets: Sequence[Index], sizes: Sequence[Index | None]) -> View:
    """The block at `offsets`; a mode whose size is None is left out."""
    kept = [mode for mode, size in enumerate(sizes) if size is not None]
    return View(
        view.buffer,
        view.element(offsets),
        tuple(size for size in sizes if size is not None),
        tuple(view.strides[mode] for mode in kept),
    )


def expand(view: View, mode: int, sizes: Sequence[Index], mask: Mask) -> View:
    """Mode `mode` as several modes of the given sizes, the first of which varies fastest.

    Raises:
        UnlocatedError: The product of the sizes is not the mode's size, in an active work-item.
    """
    strides: list[Index] = []
    stride = view.strides[mode]
    count: Index = 1
    for size in sizes:
        strides.append(stride)
        stride = stride * size
        count = count * size
    wrong = where_active(count != view.shape[mode], mask)
    if wrong.any():
        raise UnlocatedError(
            f"the product of the expand shape is {first_where(count, wrong)}, but mode {mode} "
            f"has size {first_where(view.shape[mode], wrong)}"
        )
    return View(
        view.buffer,
        view.offset,
        (*view.shape[:mode], *sizes, *view.shape[mode + 1 :]),
        (*view.strides[:mode], *strides, *view.strides[mode + 1 :]),
    )


def fuse(view: View, first: int, last: int, told: int | None, mask: Mask) -> View:
    """The modes from `first` to `last` as one, with the stride `told` if its type gives one.

    Raises:
        UnlocatedError: The modes do not follow each other without gaps, in an active work-item.
    """
    size, stride = fused_modes(view, range(first, last + 1), told, mask, "mode")
    return View(
        view.buffer,
        view.offset,
        (*view.shape[:first], size, *view.shape[last + 1 :]),
        (*view.strides[:first], stride, *view.strides[last + 1 :]),
    )
