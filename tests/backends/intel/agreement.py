"""Runs kernels of the tensor language on OpenCL's device and on the reference device, and compares.

Both get equal random arguments. Where the memory differs afterwards, the errors that
`xtile/testing/tolerances.py` allows say by how much it may: the reference device runs the kernel
some more times, with such errors and in other orders.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute

from tests.backends.intel.orders import Orders
from xtile.dialects.tensorlang.operation import array_entries, integer_value
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixStoreOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import StoreOp
from xtile.dialects.tensorlang.types import DYNAMIC, GroupType, MemrefType
from xtile.semantics import engine
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.configuration import Size3
from xtile.semantics.errors import ExecutionError
from xtile.semantics.numeric_types import NUMPY_TYPES
from xtile.testing.perturbed import has_orders, is_determined, launch_perturbed

Memory = npt.NDArray[Any]

Launch = Callable[[Sequence[Argument], Size3], None]
"""Runs a kernel on the device that is compared with the reference device."""

ONE_GROUP: Size3 = (1, 1, 1)

SEED_VARIABLE = "XTILE_TEST_SEED"

_GAP = 2048
"""Elements behind a memref that belong to its memory."""

_ATTEMPTS = 50

_PERTURBED_RUNS = 8

_SAFETY = 2.0
"""How much more than in the perturbed runs errors may grow to; these are only a sample."""


def fresh_seed() -> int:
    """A seed from the environment, or else a new one. Messages of failures show it."""
    given = os.environ.get(SEED_VARIABLE)
    return int(given) if given else int(np.random.SeedSequence().generate_state(1)[0])


# --- arguments ---


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
        """Sizes and strides that a type allows, so that no two elements are in one place."""
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


def memory_of(arguments: Sequence[Argument]) -> list[Memory]:
    """All memory of arguments."""
    memrefs = [
        memref
        for argument in arguments
        if not isinstance(argument, ScalarArgument)
        for memref in (argument.entries if isinstance(argument, GroupArgument) else (argument,))
    ]
    return [memref.base for memref in memrefs if memref.base is not None]


def copied(arguments: Sequence[Argument]) -> list[Argument]:
    """The same arguments with memory of their own."""
    return [_copied(argument) for argument in arguments]


def _copied(argument: Argument) -> Argument:
    if isinstance(argument, GroupArgument):
        return replace(argument, entries=[_copied_memref(entry) for entry in argument.entries])
    return _copied_memref(argument) if isinstance(argument, MemrefArgument) else argument


def _copied_memref(memref: MemrefArgument) -> MemrefArgument:
    return memref if memref.base is None else replace(memref, base=memref.base.copy())


# --- comparison ---


@dataclass
class Agreement:
    """What a comparison came to.

    Attributes:
        elements: The elements that were compared.
        tolerated: Those of them that differ, but not more than is allowed.
        undetermined: Those that were not compared, because allowed errors or orders change them.
    """

    elements: int
    tolerated: int = 0
    undetermined: int = 0


def check_agreement(
    function: FuncOp,
    arguments: Sequence[Argument],
    launch: Launch,
    grid: Size3 = ONE_GROUP,
    seed: int = 0,
) -> Agreement | None:
    """Runs a kernel on both devices and compares all memory.

    Returns: None where the kernel's result on these arguments is not defined.

    Raises:
        AssertionError: The results differ by more than is allowed.
    """
    expected = copied(arguments)
    if not _run(function, expected, grid):
        return None
    found = copied(arguments)
    launch(found, grid)
    pairs = list(zip(memory_of(expected), memory_of(found), strict=True))
    agreement = Agreement(sum(memory.size for memory, _ in pairs))
    if all(_distance(first, second).max(initial=0) == 0 for first, second in pairs):
        return agreement
    allowed = _allowed(function, arguments, expected, grid, seed)
    for index, ((first, second), limit) in enumerate(zip(pairs, allowed, strict=True)):
        distance = _distance(first, second)
        wrong = ~(distance <= limit)
        if wrong.any():
            raise AssertionError(_message(function, index, first, second, limit, wrong, seed))
        agreement.tolerated += int(((distance > 0) & np.isfinite(limit)).sum())
        agreement.undetermined += int(np.isinf(limit).sum())
    return agreement


def is_defined(function: FuncOp, arguments: Sequence[Argument], grid: Size3 = ONE_GROUP) -> bool:
    """Whether all devices must agree on a kernel's result on these arguments."""
    return _run(function, copied(arguments), grid)


def _run(function: FuncOp, arguments: Sequence[Argument], grid: Size3) -> bool:
    """Runs a kernel on the reference device, and says whether all devices must agree on it."""
    orders = Orders()
    try:
        engine.launch(function, arguments, grid, observer=orders)
    except ExecutionError:
        return False
    return orders.is_defined


def _allowed(
    function: FuncOp,
    arguments: Sequence[Argument],
    expected: Sequence[Argument],
    grid: Size3,
    seed: int,
) -> list[npt.NDArray[np.float64]]:
    """For each element how far devices may be apart; infinite if it is not determined."""
    limits = [np.zeros(memory.shape) for memory in memory_of(expected)]
    if is_determined(function):
        return limits
    random = np.random.default_rng(seed)
    for _ in range(_PERTURBED_RUNS):
        perturbed = copied(arguments)
        try:
            launch_perturbed(function, perturbed, grid, random)
        except ExecutionError:
            return [np.full(memory.shape, np.inf) for memory in memory_of(expected)]
        for limit, first, second in zip(
            limits, memory_of(expected), memory_of(perturbed), strict=True
        ):
            np.maximum(limit, _SAFETY * _distance(first, second), out=limit)
    if has_orders(function):
        return [np.where(limit > 0, np.inf, 0.0) for limit in limits]
    return limits


def _distance(first: Memory, second: Memory) -> npt.NDArray[np.float64]:
    """How far numbers are apart: 0 where they are equal or both NaN, infinite where one is NaN."""
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    same = (first == second) | ((first != first) & (second != second))
    with np.errstate(all="ignore"):
        difference = np.abs(first.astype(wide) - second.astype(wide))
    # Large integers that differ may be one number in f64.
    difference = np.where(first.dtype.kind in "iu", np.maximum(difference, 1.0), difference)
    return np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))


def _message(
    function: FuncOp,
    index: int,
    expected: Memory,
    found: Memory,
    limit: npt.NDArray[np.float64],
    wrong: npt.NDArray[np.bool_],
    seed: int,
) -> str:
    places = np.flatnonzero(wrong)[:6]
    lines = [
        f"  [{place}] {found[place]!r} instead of {expected[place]!r}, may be off by {limit[place]}"
        for place in places
    ]
    return (
        f"memory {index} differs in {int(wrong.sum())} of {wrong.size} elements; "
        f"{SEED_VARIABLE}={seed} repeats this\n" + "\n".join(lines) + f"\n{function}"
    )
