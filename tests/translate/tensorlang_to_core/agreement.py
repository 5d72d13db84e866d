"""Runs a function and what it has become on the reference device, and compares the memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from xtile.dialects.gpu.functions import FuncOp as CoreFuncOp
from xtile.dialects.tensorlang.ops.collective import ForeachOp, ForeachTileOp
from xtile.dialects.tensorlang.ops.control import ForOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import DYNAMIC, GroupType, MemrefType
from xtile.dialects.tensorlang.verifier.constants import integer_of
from xtile.rewrite.kernels import kernels_of
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.configuration import Size3, configuration_of
from xtile.semantics.engine import launch
from xtile.semantics.errors import ExecutionError
from xtile.semantics.language import handler_of
from xtile.semantics.numeric_types import NUMPY_TYPES
from xtile.translate.tensorlang_to_core.functions import SUBGROUP_SIZE_ATTRIBUTE

GRID: Size3 = (1, 1, 1)

_GAP = 400
"""Elements behind a memref that belong to its memory."""

_LARGEST_BOUND = 100
"""A loop with a larger or an unknown bound could run for very long."""

_LARGEST_DYNAMIC_SIZE = 12

_TOLERANCE: dict[int, float] = {2: 1e-2, 4: 1e-4, 8: 1e-9}
"""How far apart sums of different orders may be, by the bytes of a real number."""


def pairs(source: ModuleOp, translated: ModuleOp) -> Iterable[tuple[FuncOp, CoreFuncOp]]:
    """Each function and what it has become."""
    functions = [op for op in source.body.block.ops if isinstance(op, FuncOp)]
    return zip(functions, kernels_of(translated), strict=True)


def is_runnable(function: Operation) -> bool:
    """Whether the reference device knows every operation, and no loop could be very long."""
    return all(op is function or _is_runnable(op) for op in function.walk())


def _is_runnable(operation: Operation) -> bool:
    if isinstance(operation, ForOp):
        return _are_small((operation.from_, operation.to))
    if isinstance(operation, ForeachOp | ForeachTileOp):
        return _are_small((*operation.from_, *operation.to))
    return operation.has_trait(IsTerminator) or handler_of(operation) is not None


def _are_small(bounds: Iterable[SSAValue]) -> bool:
    numbers = [integer_of(bound) for bound in bounds]
    return all(number is not None and abs(number) <= _LARGEST_BOUND for number in numbers)


class Arguments:
    """Equal random arguments for a function and for what it has become.

    Attributes:
        source: The function's.
        translated: Those of what it has become.
        overlap: Whether two elements of a memref may be one, where the order of writes would count.
    """

    def __init__(self, function: FuncOp, random: Random) -> None:
        self._random = random
        self._generator = np.random.default_rng(random.getrandbits(64))
        self._memory: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        self.overlap = False
        self.source: list[Argument] = []
        self.translated: list[Argument] = []
        for parameter in function.parameters:
            self._add(parameter.type)

    def _add(self, type: Any) -> None:
        if isinstance(type, MemrefType):
            before, after = self._memref(type)
        elif isinstance(type, GroupType):
            before, after = self._group(type)
        else:
            before = after = ScalarArgument(self._numbers(NUMPY_TYPES[type], 1)[0])
        self.source.append(before)
        self.translated.append(after)
        if isinstance(type, GroupType) and type.offset == DYNAMIC:
            assert isinstance(before, GroupArgument)
            self.translated.append(ScalarArgument(np.int64(before.offset)))

    def _size(self, size: int, least: int = 1) -> int:
        return self._random.randint(least, _LARGEST_DYNAMIC_SIZE) if size == DYNAMIC else size

    def _memref(self, type: MemrefType) -> tuple[MemrefArgument, MemrefArgument]:
        shape = tuple(self._size(size) for size in type.shape)
        strides: list[int] = []
        for mode, stride in enumerate(type.strides):
            packed = strides[-1] * shape[mode - 1] if mode else 1
            strides.append(packed if stride == DYNAMIC else stride)
        span = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        self.overlap |= _overlap(shape, strides)
        dtype = NUMPY_TYPES[type.element_type]
        memory = self._numbers(dtype, span + _GAP)
        copy = memory.copy()
        self._memory.append((memory, copy))
        return (
            MemrefArgument(memory, shape, tuple(strides)),
            MemrefArgument(copy, shape[::-1], tuple(strides[::-1])),
        )

    def _group(self, type: GroupType) -> tuple[GroupArgument, GroupArgument]:
        entries = [self._memref(type.element) for _ in range(self._size(type.size, least=0))]
        offset = self._size(type.offset, least=0)
        before, after = [entry[0] for entry in entries], [entry[1] for entry in entries]
        return GroupArgument(before, offset), GroupArgument(after)

    def _numbers(self, dtype: np.dtype[Any], count: int) -> Any:
        numbers, others = self._generator.integers(-8, 9, (2, count))
        if dtype.kind == "b":
            return numbers > 0
        if dtype.kind in "iu":
            return (abs(numbers) // 2).astype(dtype)
        if dtype.kind == "c":
            return (numbers + 1j * others).astype(dtype)
        return (numbers / 2).astype(dtype)

    def assert_equal(self) -> None:
        """Compares what both have made of their memory."""
        for expected, found in self._memory:
            if expected.dtype.kind in "iu":
                np.testing.assert_array_equal(found, expected)
                continue
            is_complex = expected.dtype.kind == "c"
            size = expected.dtype.itemsize // 2 if is_complex else expected.dtype.itemsize
            wide = np.complex128 if is_complex else np.float64
            np.testing.assert_allclose(
                found.astype(wide), expected.astype(wide), _TOLERANCE[size], _TOLERANCE[size]
            )


def _overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    end = 0
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size > 1 and stride <= end:
            return True
        end += stride * (size - 1)
    return False


def agrees(function: FuncOp, kernel: CoreFuncOp, random: Random) -> bool:
    """Runs both on equal arguments and compares; False where the function cannot be executed."""
    arguments = Arguments(function, random)
    if arguments.overlap:
        return False
    try:
        launch(function, arguments.source, GRID)
    except ExecutionError:
        return False
    configuration = configuration_of(function, GRID)
    kernel.attributes[SUBGROUP_SIZE_ATTRIBUTE] = IntegerAttr(configuration.subgroup_size, i32)
    x, y = configuration.work_group_size
    launch(kernel, arguments.translated, GRID, block=(x, y, 1))
    arguments.assert_equal()
    return True
