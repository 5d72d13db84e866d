"""Who executes an operation: a work-group, a subgroup or a lane, as the types say.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`; docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from enum import Enum

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.xegpu.operation import is_for_workgroup
from xtile.semantics.memory import Index, Memref, View, ViewChoice
from xtile.semantics.state import State, per_row
from xtile.semantics.values import with_axes


class Level(Enum):
    """Who holds a value and acts as one. The value is what `State.level` calls it."""

    WORK_GROUP = "block"
    SUBGROUP = "subgroup"


def level_of(operation: Operation) -> Level:
    """Who executes an operation on whole vectors: the work-group if a layout spreads over it."""
    return Level.WORK_GROUP if is_for_workgroup(operation) else Level.SUBGROUP


@contextmanager
def acting(state: State, level: Level) -> Generator[None]:
    """Lets the subgroups, or the work-group, act as one where any of their work-items is active."""
    mask, before = state.mask, state.level
    if mask is not None:
        axes = (0, 1) if level is Level.WORK_GROUP else 1
        state.mask = np.logical_or.reduce(state.active(), axis=axes, keepdims=True)
    state.level = level.value
    try:
        yield
    finally:
        state.mask, state.level = mask, before


def agreed(index: Index, state: State) -> Index:
    """A number of elements that the work-items of a subgroup agree on.

    Where they do not agree, the first active work-item decides.
    """
    if isinstance(index, int):
        return index
    chosen = per_row(index, state)
    return int(chosen[0, 0]) if chosen.size == 1 else chosen


def agreed_memref(memref: Memref, state: State) -> Memref:
    """A memref that the work-items of a subgroup agree on."""
    if isinstance(memref, ViewChoice):
        views = {key: _agreed_view(view, state) for key, view in memref.views.items()}
        return ViewChoice(per_row(memref.selector, state), views)
    return _agreed_view(memref, state)


def _agreed_view(view: View, state: State) -> View:
    return View(
        view.buffer,
        agreed(view.offset, state),
        tuple(agreed(size, state) for size in view.shape),
        tuple(agreed(stride, state) for stride in view.strides),
    )


def spread(index: Index, axes: int) -> Index:
    """A number of elements with so many more axes, if it is not the same for all work-items."""
    return index if isinstance(index, int) else with_axes(index, axes)
