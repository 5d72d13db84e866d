"""Arguments of kernels of the core form by the calling convention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from xtile.arguments.calling_convention import KernelArgument, kernel_arguments
from xtile.dialects.core.signature import Role
from xtile.dialects.gpu.functions import FuncOp
from xtile.semantics.arguments import (
    Argument,
    GroupArgument,
    MemrefArgument,
    ScalarArgument,
    WordsArgument,
)


def all_flattened(function: FuncOp, arguments: Sequence[Argument]) -> Iterator[Argument]:
    """The arguments of a kernel by the calling convention."""
    types = [argument.type for argument in function.arguments]
    for type_, argument in zip(types, arguments, strict=True):
        yield from flattened(type_, argument)


class Padded:
    """Memory of narrow numbers with room for a whole word at its end.

    Atomic updates of 8 and 16 bits swap words of 32 bits, and GPUs allocate memory in larger units.
    """

    def __init__(self) -> None:
        self._copies: dict[tuple[int, int], tuple[Any, Any]] = {}

    def argument(self, argument: Argument) -> Argument:
        """The argument, or one with a padded copy of its memory."""
        base = argument.base if isinstance(argument, MemrefArgument) else None
        if base is None or base.itemsize >= _WORD:
            return argument
        key = base.ctypes.data, base.size
        if key not in self._copies:
            copy = np.zeros(base.size + _WORD, base.dtype)
            copy[: base.size] = base
            self._copies[key] = base, copy
        return replace(argument, base=self._copies[key][1])

    def copy_back(self) -> None:
        """Writes what the copies hold to the memory that they are of."""
        for base, copy in self._copies.values():
            base[...] = copy[: base.size]


_WORD = 4


def flattened(type: Attribute, argument: Argument) -> Iterator[Argument]:
    """The arguments of an entry that one argument of a kernel becomes."""
    if isinstance(argument, MemrefArgument):
        yield from (_of_memref(each, argument) for each in kernel_arguments(type))
    elif isinstance(argument, GroupArgument):
        assert isinstance(type, MemRefType)
        yield from (_of_group(each, argument) for each in kernel_arguments(type))
    elif isinstance(argument, ScalarArgument) and str(type).startswith("complex"):
        number = complex(np.asarray(argument.value).item())
        yield from (ScalarArgument(number.real), ScalarArgument(number.imag))
    else:
        yield argument


def _of_memref(part: KernelArgument, memref: MemrefArgument) -> Argument:
    if part.role is Role.POINTER:
        return _pointer(memref)
    return ScalarArgument(np.int64(_number(part, memref)))


def _number(part: KernelArgument, memref: MemrefArgument) -> int:
    if part.role in (Role.OFFSET, Role.COUNT):
        return 0
    assert part.mode is not None
    is_size = part.role in (Role.SIZE, Role.SIZES)
    return (memref.shape if is_size else memref.strides)[part.mode]


def _pointer(memref: MemrefArgument) -> MemrefArgument:
    """Memory from the first element on; complex numbers are pairs of real ones."""
    base = memref.base
    assert base is not None
    offset = memref.offset
    if base.dtype.kind == "c":
        base, offset = base.view(base.real.dtype), 2 * offset
    return MemrefArgument(base, base.shape, (1,), offset)


def _of_group(part: KernelArgument, group: GroupArgument) -> Argument:
    if part.role is Role.POINTERS:
        return WordsArgument([_pointer(entry) for entry in group.entries])
    if part.role is Role.COUNT:
        return ScalarArgument(np.int64(len(group.entries)))
    return WordsArgument([_number(part, entry) for entry in group.entries])
