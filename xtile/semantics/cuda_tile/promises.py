"""Tells an observer of results that an operation promises not to have."""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.semantics.cuda_tile.numbers import element_place
from xtile.semantics.state import State
from xtile.semantics.values import Array


def report_broken_promise(state: State, operation: Operation, broken: Array, message: str) -> None:
    """Tells the observer, if there is one, of the first element that breaks a promise.

    Args:
        state: What runs.
        operation: The operation whose result or operand was promised something.
        broken: Which elements break the promise; an array of any shape.
        message: What is wrong with such an element, as in `the sum does not fit into i32`.
    """
    if state.observer is not None and broken.any():
        place = element_place(int(broken.argmax()), broken.shape)
        state.observer.on_broken_promise(operation, f"{message}, in {place}")
