"""Fresh inputs of a kernel: random numbers, and the numbers at the edges of their types."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType, i1

from xtile.arguments.array_arguments import flattened, takes_pointers
from xtile.arguments.arrays import Output
from xtile.arguments.copies import arrays_of
from xtile.arguments.cutile_signature import ArrayArgument, exported_arguments, leaves_of, width_of
from xtile.arguments.errors import ArgumentError
from xtile.arguments.groups import Group
from xtile.arguments.memory_types import DYNAMIC, MemoryType, scalar_type_of
from xtile.arguments.signature import Parameter, Signature
from xtile.arguments.views import list_text
from xtile.checking.rounding_errors import is_inexact_type
from xtile.launch.specification import placed
from xtile.semantics.upstream.numbers import Kind, number_of
from xtile.semantics.values import Array

Random = np.random.Generator

_LARGEST_INTEGER = 8
"""Random integers are small, so that sums and products of them do not wrap around."""

_ONE_OF = 64
"""How many numbers there are for one of each kind that is not finite."""


class Numbers(Enum):
    """What arrays are filled with; the value is what reports call it."""

    ORDINARY = "random"
    WIDE = "wide range"
    SPECIAL = "NaN, infinities"


@dataclass(frozen=True)
class Launch:
    """How a kernel is launched, without the numbers in arrays.

    Attributes:
        size: What every size that a type leaves open is, and every integer.
        shapes: The shapes of arrays by the parameters' names, where they are not of `size`.
        length: The elements behind a pointer.
        grid: Work-groups in each of three dimensions.
        block: Work-items of a work-group, where the launch says so.
        are_outputs_read: Whether what a kernel writes holds numbers before.
        are_integers_indices: Whether integers in arrays are indices: none is negative.
        same: Two parameters that are one array: what the second one would be.
        locks: The numbers of parameters whose elements are locks, which nobody holds at first, and
            what they hold then.
    """

    size: int
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, "tuple[int, ...]"])
    length: int = 1 << 14
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] | None = None
    are_outputs_read: bool = False
    are_integers_indices: bool = False
    same: tuple[str, str] | None = None
    locks: Mapping[int, int] = field(default_factory=dict[int, int])


def is_open(signature: Signature, given: Mapping[str, Any]) -> bool:
    """Whether a launch must say how large something is, besides the arguments that are given."""
    return any(_is_open(each) for each in signature.parameters if each.name not in given)


def _is_open(parameter: Parameter) -> bool:
    if parameter.group is not None:
        return parameter.group.size == DYNAMIC or parameter.group.element.is_open
    if parameter.memory is not None:
        return parameter.memory.is_open
    return is_integer(parameter)


def elements(parameter: Parameter, size: int) -> int:
    """How many elements an array of a parameter has whose open sizes are `size`; 0 for none."""
    memory = parameter.memory if parameter.group is None else parameter.group.element
    if memory is None or memory.has_any_shape:
        return 0
    return prod(size if mode == DYNAMIC else mode for mode in memory.shape)


def is_integer(parameter: Parameter) -> bool:
    """Whether a parameter is an integer, and no truth value."""
    type = scalar_type_of(parameter.type)
    return isinstance(type, IndexType | IntegerType) and type != i1


def make_arguments(
    signature: Signature,
    launch: Launch,
    numbers: Numbers,
    random: Random,
    given: Mapping[str, Any],
) -> list[Any]:
    """The arguments of a launch, in the order of the parameters.

    What a kernel writes is NaN before, or a pattern of bits where its type has none.

    Args:
        signature: That of the kernel.
        launch: How large everything is.
        numbers: What arrays are filled with.
        random: Where numbers come from.
        given: Arguments by name that stay what they are.

    Raises:
        ArgumentError: A parameter is of a type of which there are no random values.
    """
    arguments = _separate_arguments(signature, launch, numbers, random, given)
    return arguments if launch.same is None else _joined(signature, arguments, launch.same)


def can_be_same(
    signature: Signature, arguments: Sequence[Any], locks: Container[int]
) -> list[tuple[str, str]]:
    """The pairs of parameters that may be one array: one that is written, and another one.

    The kernel promises of neither that it overlaps no other, neither has locks, and what they are
    now has one type, shape and order.
    """
    found: list[tuple[str, str]] = []
    parameters = signature.parameters
    alone = [each.is_noalias or i in locks for i, each in enumerate(parameters)]
    for index in sorted(signature.written):
        for other, parameter in enumerate(parameters):
            pair = (parameters[index], parameter)
            if other != index and not (alone[index] or alone[other]):
                own, taken = arrays_of(arguments[index]), arrays_of(arguments[other])
                if len(own) == len(taken) == 1 and _are_alike(own[0], taken[0]):
                    found.append((pair[0].name, pair[1].name))
    return found


def _are_alike(first: Array, second: Array) -> bool:
    known = [(each.dtype, each.shape, each.strides) for each in (first, second)]
    return known[0] == known[1] and first.size > 0


def _joined(signature: Signature, arguments: list[Any], same: tuple[str, str]) -> list[Any]:
    """The arguments with one array for two parameters."""
    names = [parameter.name for parameter in signature.parameters]
    first, second = map(names.index, same)
    (array,) = arrays_of(arguments[second])
    is_output = isinstance(arguments[first], Output)
    arguments[first] = Output(array) if is_output else array
    return arguments


def _separate_arguments(
    signature: Signature,
    launch: Launch,
    numbers: Numbers,
    random: Random,
    given: Mapping[str, Any],
) -> list[Any]:
    maker = _Maker(signature, launch, numbers, random)
    if not takes_pointers(signature):
        return [
            given[parameter.name] if parameter.name in given else maker.argument(index, parameter)
            for index, parameter in enumerate(signature.parameters)
        ]
    follows = _following(signature)
    values = {
        parameter.name: (
            given[parameter.name] if parameter.name in given else maker.argument(index, parameter)
        )
        for index, parameter in enumerate(signature.parameters)
        if parameter.name in given or index not in follows
    }
    return flattened(signature, values)


def _following(signature: Signature) -> frozenset[int]:
    """The numbers of parameters that are known to be sizes or strides of an array before them."""
    found: set[int] = set()
    position = 0
    for argument in leaves_of(exported_arguments(signature.name) or ()):
        width = width_of(argument)
        found.update(range(position + 1, position + width))
        position += width
    return frozenset(found) if position == len(signature.parameters) else frozenset()


@dataclass(frozen=True)
class _Maker:
    signature: Signature
    launch: Launch
    numbers: Numbers
    random: Random

    def argument(self, index: int, parameter: Parameter) -> Any:
        """An argument for a parameter."""
        is_output = index in self.signature.written and not self.launch.are_outputs_read
        if parameter.group is not None:
            count = parameter.group.size if parameter.group.size != DYNAMIC else self.launch.size
            element = parameter.group.element
            entries = [self._memory(parameter, element, index, is_output) for _ in range(count)]
            if parameter.group.offset in (0, DYNAMIC):
                return Group(entries)
            raise ArgumentError(f"{parameter}: a group with an offset needs a value")
        if parameter.memory is not None:
            return self._memory(parameter, parameter.memory, index, is_output)
        return self._scalar(parameter)

    def _memory(self, parameter: Parameter, type: MemoryType, index: int, is_output: bool) -> Any:
        shape = self._shape(parameter, type, index)
        if index in self.launch.locks:
            return placed(type, np.full(shape, self.launch.locks[index], type.dtype))
        array = self._unwritten(type, shape) if is_output else self._filled(type, shape)
        result = array if type.has_any_shape else placed(type, array)
        return Output(result) if is_output and not is_inexact_type(result.dtype) else result

    def _shape(self, parameter: Parameter, type: MemoryType, index: int) -> tuple[int, ...]:
        launch = self.launch
        if parameter.name in launch.shapes:
            return launch.shapes[parameter.name]
        if not type.has_any_shape:
            return tuple(launch.size if size == DYNAMIC else size for size in type.shape)
        known = _array_at(self.signature, index)
        if known is None:
            return (launch.length if launch.size else 0,)
        return tuple(launch.size if each.size is None else each.size for each in known.dimensions)

    def _unwritten(self, type: MemoryType, shape: tuple[int, ...]) -> Array:
        dtype = type.dtype
        if is_inexact_type(dtype):
            with np.errstate(all="ignore"):
                return np.full(shape, np.nan).astype(dtype)
        if dtype.kind == "b":
            return np.zeros(shape, dtype)
        return np.full(shape, _UNWRITTEN % 2 ** (type.number.bits - 1), dtype)

    def _filled(self, type: MemoryType, shape: tuple[int, ...]) -> Array:
        dtype, random = type.dtype, self.random
        if dtype.kind == "b":
            return random.integers(0, 2, shape).astype(dtype)
        if not is_inexact_type(dtype):
            least = 0 if self.launch.are_integers_indices else -_LARGEST_INTEGER
            most = max(1, min(_LARGEST_INTEGER, self.launch.size - 1))
            return random.integers(least, most, shape, endpoint=True).astype(dtype)
        values = _floats(dtype, self.numbers, shape, random)
        if type.number.kind is Kind.COMPLEX:
            real, values = values, np.empty(shape, np.complex128)
            values.real, values.imag = real, _floats(dtype, self.numbers, shape, random)
        with np.errstate(all="ignore"):
            return values.astype(dtype)

    def _scalar(self, parameter: Parameter) -> Any:
        try:
            number = number_of(scalar_type_of(parameter.type))
        except ValueError:
            raise ArgumentError(
                f"{parameter}: there are no random values of this type; give it with "
                f"--arg {parameter.name}=..."
            ) from None
        if number.dtype.kind == "b":
            return True
        if number.kind is Kind.INTEGER:
            return self.launch.size
        real = float(np.float16(self.random.uniform(0.5, 2.0)))
        return complex(real, 0.5) if number.kind is Kind.COMPLEX else real


_UNWRITTEN = 85
"""What integers are before a kernel writes them."""


def _array_at(signature: Signature, index: int) -> ArrayArgument | None:
    """The array that a parameter of a kernel of cuTile begins, if its name says so."""
    position = 0
    for argument in leaves_of(exported_arguments(signature.name) or ()):
        if position == index and isinstance(argument, ArrayArgument):
            return argument
        position += width_of(argument)
    return None


def _floats(
    dtype: np.dtype[Any], numbers: Numbers, shape: tuple[int, ...], random: Random
) -> Array:
    values: Array = random.standard_normal(shape)
    if numbers is Numbers.ORDINARY:
        return values
    flat = values.reshape(-1)
    if numbers is Numbers.WIDE:
        scale = 8.0 if _part_bits(dtype) >= 32 or dtype == ml_dtypes.bfloat16 else 4.0
        flat *= 10.0 ** (random.uniform(-scale, scale, flat.size) / 2)
        flat[random.random(flat.size) < 1 / 16] = -0.0
        return flat.reshape(shape)
    # Of each kind there is one at least, and none takes the place of another.
    kinds = np.repeat([np.nan, np.inf, -np.inf], max(1, flat.size // (_ONE_OF * 16)))
    places = random.choice(flat.size, min(kinds.size, flat.size), replace=False)
    flat[places] = kinds[: places.size]
    return flat.reshape(shape)


def _part_bits(dtype: np.dtype[Any]) -> int:
    return 8 * dtype.itemsize // (2 if dtype.kind == "c" else 1)


def describe(arguments: list[Any], signature: Signature) -> str:
    """What arguments are in one line: shapes of arrays, numbers."""
    words: list[str] = []
    for parameter, argument in zip(signature.parameters, arguments, strict=True):
        value: Any = argument.array if isinstance(argument, Output) else argument
        if isinstance(value, np.ndarray):
            array: Array = value  # pyright: ignore[reportUnknownVariableType]
            words.append(f"{parameter.name}: {list_text(array.shape)}")
        elif isinstance(value, Group):
            words.append(f"{parameter.name}: {len(value.entries)} arrays")
        else:
            words.append(f"{parameter.name} = {value}")
    return ", ".join(words)
