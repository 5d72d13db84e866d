"""Another meaning of floats: what a launch does with numbers in place of numpy's own arithmetic.

The engine asks in three places: where memory is made, where an argument becomes a value, and where
an operation has given its results. All that is between these, numpy does with the arrays that it is
given; an interpretation gives it arrays of a class of its own, whose functions compute otherwise.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from xtile.semantics.compiler import Step
    from xtile.semantics.values import Array, Value


class Interpretation(Protocol):
    """What floats mean in a launch."""

    def memory(self, data: Array) -> Array:
        """The array that stands for new memory, or for that of an argument."""
        ...

    def value(self, value: Value) -> Value:
        """What stands for a value that numpy computed, such as an argument."""
        ...

    def floats(self, integers: Value, dtype: np.dtype[Any]) -> Value:
        """What stands for integers as floats of a type, with nothing rounded."""
        ...

    def step(self, step: Step, results: Sequence[int]) -> Step:
        """What executes an operation, given how it is executed and the slots of its results."""
        ...


_CURRENT: ContextVar[Interpretation | None] = ContextVar("interpretation", default=None)


def interpretation() -> Interpretation | None:
    """The interpretation of the launch that runs; None for numpy's own arithmetic."""
    return _CURRENT.get()


@contextmanager
def interpreted(by: Interpretation) -> Generator[None]:
    """What is compiled and launched meanwhile is interpreted."""
    token = _CURRENT.set(by)
    try:
        yield
    finally:
        _CURRENT.reset(token)
