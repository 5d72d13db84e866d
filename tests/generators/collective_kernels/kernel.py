"""A random kernel with its launch, and arguments for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.types import GroupType, MemrefType
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.configuration import Size3
from xtile.semantics.numeric_types import NUMPY_TYPES

Memory: TypeAlias = npt.NDArray[Any]
Numbers: TypeAlias = Callable[[np.random.Generator, np.dtype[Any], int], Memory]

GUARD = 96
"""Elements before and after a memref that belong to its memory, and that nobody may change.

A multiple of what tile compilers assume of the alignment of memory."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a random kernel, with what a launch gives it.

    Attributes:
        type: Its type.
        shape: The sizes of its memory, or of an entry of the group.
        strides: The strides, in elements.
        is_filled: Whether its memory holds numbers at first, and not NaN or -1.
        value: The number, if the kernel depends on which one it is.
        count: The entries of the group.
        offset: The offset of the group.
    """

    type: Attribute
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    is_filled: bool = True
    value: int | None = None
    count: int = 0
    offset: int = 0

    def argument(self, random: np.random.Generator, numbers: Numbers) -> Argument:
        """A random argument."""
        if isinstance(self.type, MemrefType):
            return self._memref(self.type, random, numbers)
        if isinstance(self.type, GroupType):
            element = self.type.element
            entries = [self._memref(element, random, numbers) for _ in range(self.count)]
            return GroupArgument(entries, self.offset)
        if self.value is not None:
            return ScalarArgument(NUMPY_TYPES[self.type].type(self.value))
        return ScalarArgument(numbers(random, NUMPY_TYPES[self.type], 1)[0])

    def _memref(
        self, type: MemrefType, random: np.random.Generator, numbers: Numbers
    ) -> MemrefArgument:
        """Memory in which only the elements of the memref are numbers."""
        dtype = NUMPY_TYPES[type.element_type]
        span = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        memory = np.full((span + 2 * GUARD + self.offset) * dtype.itemsize, 0xFF, np.uint8).view(
            dtype
        )
        if self.is_filled:
            positions = GUARD + self.offset + positions_of(self.shape, self.strides)
            memory[positions] = numbers(random, dtype, positions.size)
        return MemrefArgument(memory, self.shape, self.strides, GUARD)


def positions_of(shape: Sequence[int], strides: Sequence[int]) -> npt.NDArray[np.int64]:
    """Where the elements of a memref lie in its memory."""
    positions = np.zeros(1, np.int64)
    for size, stride in zip(shape, strides, strict=True):
        positions = (positions[:, None] + stride * np.arange(size)).reshape(-1)
    return positions


@dataclass(frozen=True)
class CollectiveKernel:
    """A random kernel.

    Attributes:
        name: Its name.
        text: Its text.
        parameters: Its parameters.
        grid: The work-groups of the launch.
    """

    name: str
    text: str
    parameters: tuple[Parameter, ...]
    grid: Size3

    def arguments(self, random: np.random.Generator, numbers: Numbers) -> list[Argument]:
        """Random arguments of a launch."""
        return [parameter.argument(random, numbers) for parameter in self.parameters]
