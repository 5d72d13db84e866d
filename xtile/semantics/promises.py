"""Tells an observer of what an operation promises, but does not keep."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.state import State
from xtile.semantics.values import Array


def element_place(flat: int, shape: tuple[int, ...]) -> str:
    """How messages name an element: `element [1, 2]`, or `the value` of what has no dimensions.

    Args:
        flat: The element's place in row-major order.
        shape: The shape of what it is an element of.
    """
    if not shape:
        return "the value"
    index = np.unravel_index(flat, shape)
    return f"element [{', '.join(str(int(each)) for each in index)}]"


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
