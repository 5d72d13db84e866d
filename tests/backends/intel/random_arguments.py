"""Random arguments for functions of the tensor language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.operation import array_entries, integer_value
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixStoreOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import StoreOp
from xtile.dialects.tensorlang.types import DYNAMIC, GroupType, MemrefType
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.numeric_types import NUMPY_TYPES

Memory = npt.NDArray[Any]

_GAP = 2048
"""Elements behind a memref that belong to its memory."""

_ATTEMPTS = 50


class NoArgumentsError(Exception):
    """A function promises what no arguments can keep."""


Numbers = Callable[[np.random.Generator, np.dtype[Any], int], Memory]
"""Makes random numbers of a type."""


def plain_numbers(random: np.random.Generator, dtype: np.dtype[Any], count: int) -> Memory:
    """Multiples of 1/2 up to 4: few of them add up exactly in every floating type.

    Integers are not negative, so that they can be indices and shifts.
    """
    if dtype.kind in "iu":
        return random.integers(0, 5, count).astype(dtype)
    numbers = random.integers(-8, 9, (2, count)) / 2
    return (numbers[0] + 1j * numbers[1] if dtype.kind == "c" else numbers[0]).astype(dtype)


def any_numbers(random: np.random.Generator, dtype: np.dtype[Any], count: int) -> Memory:
    """Normally distributed numbers with all their bits; integers are as in `plain_numbers`."""
    if dtype.kind in "iu":
        return plain_numbers(random, dtype, count)
    numbers = random.normal(0.0, 2.0, (2, count))
    return (numbers[0] + 1j * numbers[1] if dtype.kind == "c" else numbers[0]).astype(dtype)


def odd_numbers(random: np.random.Generator, dtype: np.dtype[Any], count: int) -> Memory:
    """Numbers as in `any_numbers`; real ones are also zeros, infinities, NaN and very large."""
    numbers = any_numbers(random, dtype, count)
    if dtype.kind in "iuc":
        return numbers
    with np.errstate(all="ignore"):
        odd = random.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30], count).astype(dtype)
    return np.where(random.random(count) < _ODD, odd, numbers).astype(dtype)


_ODD = 0.15


class Arguments:
    """Random arguments of a function.

    Args:
        function: The function.
        random: The source of all choices.
        numbers: Makes numbers.
        outputs: The numbers of parameters that are outputs, beside those that are only stored to.
            They are filled with NaN and -1.
        largest_size: The largest size that a dynamic mode gets.
    """

    def __init__(
        self,
        function: FuncOp,
        random: np.random.Generator,
        numbers: Numbers = plain_numbers,
        outputs: Iterable[int] = (),
        largest_size: int = 12,
    ) -> None:
        self._random = random
        self._numbers = numbers
        self._largest_size = largest_size
        self._sizes = [*_static_sizes(function, largest_size), self._between(1, largest_size)]
        self._outputs = {*outputs, *_only_stored_to(function)}
        self.values = [
            self._argument(index, parameter.type, function.attributes_of_parameter(index))
            for index, parameter in enumerate(function.parameters)
        ]

    def _argument(self, index: int, type: Attribute, promises: dict[str, Attribute]) -> Argument:
        is_output = index in self._outputs
        if isinstance(type, MemrefType):
            return self._memref(type, promises, is_output)
        if isinstance(type, GroupType):
            count = self._between(4, 12) if type.size == DYNAMIC else type.size
            entries = [self._memref(type.element, promises, is_output) for _ in range(count)]
            offset = self._between(0, 8) if type.offset == DYNAMIC else type.offset
            return GroupArgument(entries, offset)
        return ScalarArgument(self._numbers(self._random, NUMPY_TYPES[type], 1)[0])

    def _memref(
        self, type: MemrefType, promises: dict[str, Attribute], is_output: bool
    ) -> MemrefArgument:
        shape, strides = self._layout(type, promises)
        span = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        memory = self._memory(NUMPY_TYPES[type.element_type], span + _GAP, is_output)
        return MemrefArgument(memory, shape, strides)

    def _layout(
        self, type: MemrefType, promises: dict[str, Attribute]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Sizes and strides that a type allows, so that no two elements are in one location."""
        size_divisors = _divisors(promises, "shape_gcd", type.order)
        stride_divisors = _divisors(promises, "stride_gcd", type.order)
        for _ in range(_ATTEMPTS):
            shape = tuple(map(self._size, type.shape, size_divisors))
            strides: list[int] = []
            for mode, stride in enumerate(type.strides):
                packed = strides[-1] * shape[mode - 1] if mode else 1
                divisor = stride_divisors[mode]
                strides.append(-(-packed // divisor) * divisor if stride == DYNAMIC else stride)
            if _is_injective(shape, strides):
                return shape, tuple(strides)
        raise NoArgumentsError(f"no sizes and strides keep what {type.text()} promises")

    def _size(self, size: int, divisor: int) -> int:
        if size != DYNAMIC:
            return size
        chosen = int(self._random.choice([*self._sizes, self._between(1, self._largest_size)]))
        return -(-chosen // divisor) * divisor

    def _memory(self, dtype: np.dtype[Any], count: int, is_output: bool) -> Memory:
        if is_output:
            return np.full(count * dtype.itemsize, 0xFF, np.uint8).view(dtype)
        return self._numbers(self._random, dtype, count)

    def _between(self, least: int, largest: int) -> int:
        return int(self._random.integers(least, largest + 1))


def _only_stored_to(function: FuncOp) -> Iterator[int]:
    for index, parameter in enumerate(function.parameters):
        users = [use.operation for use in parameter.uses]
        if users and all(isinstance(user, StoreOp | CooperativeMatrixStoreOp) for user in users):
            yield index


def _static_sizes(function: FuncOp, largest: int) -> Iterator[int]:
    """Sizes of the function's memrefs; dynamic ones may have to be equal to them."""
    for parameter in function.parameters:
        type_ = parameter.type.element if isinstance(parameter.type, GroupType) else parameter.type
        if isinstance(type_, MemrefType):
            yield from (size for size in type_.shape if 0 < size <= largest)


def _is_injective(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether every mode with more than one element lies outside of the one before."""
    modes = [(n, stride) for n, stride in zip(shape, strides, strict=True) if n > 1]
    return all(n * inner <= outer for (n, inner), (_, outer) in pairwise(modes))


def _divisors(promises: dict[str, Attribute], name: str, order: int) -> list[int]:
    divisors = [integer_value(entry) for entry in array_entries(promises.get(name)) or ()]
    return (divisors + [1] * order)[:order]
