"""The arguments of a launch, as the engine takes them: memory and numbers, already checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A number.

    Attributes:
        value: The number; the engine rounds it to the parameter's type.
    """

    value: np.generic | bool | int | float | complex


@dataclass(frozen=True, slots=True)
class MemrefArgument:
    """A view on memory.

    Element (i_1, ..., i_n) of the memref is `base[offset + i_1 strides[0] + ... ]`.

    Attributes:
        base: The memory, a one-dimensional array of the element type whose elements follow each
            other without gaps (as_strided makes one of any array whose strides are multiples of
            its element size); None for a null pointer. It is updated in place.
        shape: Mode sizes in elements.
        strides: Strides in elements.
        offset: The position of the first element in `base`, in elements.
        is_initialized: Whether the kernel may read the memory before it writes it. The sanitizer
            reports reads of what is neither initialized nor written.
    """

    base: Array | None
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    offset: int = 0
    is_initialized: bool = True


@dataclass(frozen=True, slots=True)
class GroupArgument:
    """Pointers to memory.

    Attributes:
        entries: The memref at each pointer, its offset without the group's; a null entry has no
            base. Entries may differ in their dynamic sizes and strides. A null group needs none.
        offset: Elements added to each pointer.
        is_associated: Whether the pointer to the pointers is not null.
    """

    entries: Sequence[MemrefArgument]
    offset: int = 0
    is_associated: bool = True


@dataclass(frozen=True, slots=True)
class WordsArgument:
    """Memory of numbers of 64 bits, some of which are addresses.

    Attributes:
        entries: The numbers; memory stands for its address.
    """

    entries: Sequence[MemrefArgument | int]


Argument: TypeAlias = ScalarArgument | MemrefArgument | GroupArgument | WordsArgument
"""One argument of a launch."""
