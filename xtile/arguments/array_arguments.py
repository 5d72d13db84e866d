"""Arrays as arguments of entries of CUDA Tile IR, whose parameters are pointers and numbers.

An array becomes a pointer, then its sizes, then its strides in elements. Of a kernel that cuTile
exported its name says which parameters belong to which array (`cutile_signature.py`). Of any other
kernel nothing says so, and an array takes a pointer and as many integers behind it as it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import i32, i64

from xtile.arguments.arrays import Output, as_array, element_strides, settled_strides
from xtile.arguments.cutile_signature import (
    ArrayArgument,
    Dimension,
    ExportedArgument,
    ListArgument,
    TupleArgument,
    exported_arguments,
    leaves_of,
    width_of,
)
from xtile.arguments.device_memory import DeviceArray, is_of_pyopencl
from xtile.arguments.errors import ArgumentError, describe_type
from xtile.arguments.gpu_arrays import gpu_array_of
from xtile.arguments.groups import Group
from xtile.arguments.memory_types import scalar_type_of
from xtile.arguments.signature import Parameter, Signature
from xtile.arguments.views import list_text

_Layout: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"
"""The shape and the strides of an array, in elements."""


class MissingValueError(ArgumentError):
    """Nothing is given for a parameter.

    Attributes:
        parameter: The parameter.
    """

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(f"{parameter}: no value is given")
        self.parameter = parameter


def takes_pointers(signature: Signature) -> bool:
    """Whether arrays may be given for several parameters: there are pointers without a shape."""
    return any(_is_pointer(parameter) for parameter in signature.parameters)


def flattened(signature: Signature, given: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
    """The value of each parameter of an entry of CUDA Tile IR.

    Args:
        signature: That of the entry.
        given: One value for each parameter, or an array in place of a pointer and the sizes and
            strides behind it; by name, an array has the name of its pointer.

    Raises:
        ArgumentError: There are too few or too many, or an array is not what the kernel takes.
    """
    arguments = _Arguments(signature)
    if isinstance(given, Mapping):
        return arguments.by_name(given)
    if len(given) == len(signature.parameters):
        arguments.check_flat(given)
        return list(given)
    return arguments.in_order(given)


class _Arguments:
    """What an entry takes.

    Attributes:
        exported: By the number of its first parameter each array and list, as far as it is known.
    """

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._parameters = signature.parameters
        known = exported_arguments(signature.name)
        self._known = None if known is None else list(leaves_of(known))
        self.exported: dict[int, ExportedArgument] = {}
        position = 0
        for argument in self._known or ():
            self.exported[position] = argument
            position += width_of(argument)
        if position != len(self._parameters) or not self._fits():
            self._known, self.exported = None, {}

    def _fits(self) -> bool:
        """Whether the parameters are what the kernel's name says."""
        pointers = {
            position
            for position, argument in self.exported.items()
            if isinstance(argument, ArrayArgument | ListArgument)
        }
        return all(
            _is_pointer(parameter) == (position in pointers)
            for position, parameter in enumerate(self._parameters)
        )

    def in_order(self, given: Sequence[Any]) -> list[Any]:
        """The values of all parameters, from arrays and numbers in their order."""
        values: list[Any] = []
        given = self._without_tuples(given)
        for number, value in enumerate(given):
            if len(values) >= len(self._parameters):
                raise self._wrong_number(given)
            values += self._expanded(len(values), value, number)
        if len(values) != len(self._parameters):
            raise self._wrong_number(given)
        return values

    def by_name(self, given: Mapping[str, Any]) -> list[Any]:
        """The values of all parameters, from arrays and numbers by name."""
        names = [parameter.name for parameter in self._parameters]
        for name in given:
            if name not in names:
                raise ArgumentError(
                    f"@{self._signature.name} has no parameter '{name}'; its parameters are "
                    f"{', '.join(names)}"
                )
        values: list[Any] = []
        while len(values) < len(names):
            position = len(values)
            if names[position] not in given:
                raise MissingValueError(self._parameters[position])
            value = given[names[position]]
            is_alone = names[position + 1 : position + 2] == [] or names[position + 1] in given
            values += [value] if is_alone else self._expanded(position, value, position)
        self.check_flat(values)
        return values

    def _without_tuples(self, given: Sequence[Any]) -> list[Any]:
        """What is given, with the items of tuples in place of those."""
        known = exported_arguments(self._signature.name)
        if self._known is None or known is None or len(known) != len(given):
            return list(given)
        return list(_items(known, given))

    def _expanded(self, position: int, value: Any, number: int) -> list[Any]:
        """The values of the parameters that begin with one, from what is given for it."""
        parameter, known = self._parameters[position], self.exported.get(position)
        if not _is_pointer(parameter):
            return [value]
        if isinstance(value, list | tuple):
            entries: list[Any] = list(cast("Sequence[Any]", value))
            return self._list(parameter, entries, known)
        layout = _layout_of(str(parameter), value)
        if layout is None:
            return [value]
        shape, strides = layout
        behind = self._parameters[position + 1 : position + 1 + 2 * len(shape)]
        if isinstance(known, ArrayArgument):
            _check(f"argument {number} ({_text(known)})", known, layout)
        elif len(behind) < 2 * len(shape) or not all(map(_is_integer, behind)):
            raise ArgumentError(
                f"{parameter}: the array of {_dimensions(len(shape))} needs {2 * len(shape)} "
                f"integers behind it for its sizes and strides, but the kernel has "
                f"{self._integers_behind(position)}; it takes {self._everything()}"
            )
        return [value, *shape, *strides]

    def _integers_behind(self, position: int) -> int:
        behind = self._parameters[position + 1 :]
        return next((n for n, each in enumerate(behind) if not _is_integer(each)), len(behind))

    def _list(
        self, parameter: Parameter, entries: list[Any], known: ExportedArgument | None
    ) -> list[Any]:
        """A list of arrays as addresses, sizes and strides, and their number."""
        words: list[Any] = []
        for index, entry in enumerate(entries):
            label = f"{parameter}: entry {index}"
            layout = _layout_of(label, entry)
            if layout is None:
                return [entries]
            if isinstance(known, ListArgument):
                _check(f"{label} ({_text(known.element)})", known.element, layout)
            words += [entry, *layout[0], *layout[1]]
        return [words, len(entries)]

    def check_flat(self, given: Sequence[Any]) -> None:
        """Checks that sizes that are given behind an array are not those of its transpose.

        Raises:
            ArgumentError: They are its sizes in another order, but its strides in their order.
        """
        for position, parameter in enumerate(self._parameters):
            layout = _layout_of(str(parameter), given[position]) if _is_pointer(parameter) else None
            if layout is None:
                continue
            shape, strides = layout
            rank = len(shape)
            behind = given[position + 1 : position + 1 + 2 * rank]
            sizes, steps = tuple(behind[:rank]), tuple(behind[rank:])
            if not all(isinstance(n, int | np.integer) for n in behind):
                continue
            if sizes != shape and sorted(sizes) == sorted(shape) and steps == strides:
                raise ArgumentError(
                    f"{parameter}: its sizes are {list_text(shape)}, but {list_text(sizes)} are "
                    f"given behind it, with its strides {list_text(strides)}; give the array "
                    "alone, and its sizes and strides follow from it"
                )

    def _wrong_number(self, given: Sequence[Any]) -> ArgumentError:
        if len(given) == len(self.exported):
            for number, known in enumerate(self.exported.values()):
                label, value = f"argument {number} ({_text(known)})", given[number]
                if isinstance(known, ArrayArgument) and _layout_of(label, value) is None:
                    problem = f"expected an array, given {describe_type(value)}"
                    return ArgumentError(f"{label}: {problem}")
        return ArgumentError(
            f"@{self._signature.name} takes {self._everything()}, given {len(given)}"
        )

    def _everything(self) -> str:
        """What all arguments are, in words."""
        count = len(self._parameters)
        single = ", ".join(_runs(self._parameters))
        if self._known is None:
            return (
                f"{count} arguments ({single}), or an array in place of each pointer and the "
                "sizes and strides behind it"
            )
        names = [self._parameters[position].name for position in self.exported]
        texts = [
            f"{name}: {_text(argument)}"
            for name, argument in zip(names, self.exported.values(), strict=True)
        ]
        return f"{len(texts)} arguments ({', '.join(texts)}), or {count} one by one ({single})"


def _runs(parameters: Sequence[Parameter]) -> Iterator[str]:
    """The parameters in words, with one word for several of a type that follow each other."""
    for _, same in groupby(parameters, key=lambda parameter: parameter.type):
        run = list(same)
        first, last = run[0].name, run[-1].name
        yield (
            f"{first}: {run[0].type_text}"
            if first == last
            else (f"{first} to {last}: {run[0].type_text}")
        )


def _items(known: Sequence[ExportedArgument], given: Sequence[Any]) -> Iterator[Any]:
    for argument, value in zip(known, given, strict=True):
        if isinstance(argument, TupleArgument):
            if not isinstance(value, list | tuple) or len(argument.items) != len(
                items := cast("Sequence[Any]", value)
            ):
                raise ArgumentError(
                    f"expected a tuple of {len(argument.items)}, given {describe_type(value)}"
                )
            yield from _items(argument.items, items)
        else:
            yield value


def _text(argument: ExportedArgument) -> str:
    match argument:
        case ArrayArgument():
            return f"{argument.element} array of {_dimensions(len(argument.dimensions))}"
        case ListArgument():
            return f"list of {_text(argument.element)}"
        case TupleArgument():
            return "tuple"
        case _:
            return argument.type


def _dimensions(rank: int) -> str:
    return "1 dimension" if rank == 1 else f"{rank} dimensions"


def _check(label: str, known: ArrayArgument, layout: _Layout) -> None:
    """Checks an array against what the kernel was exported for."""
    shape, strides = layout
    if len(shape) != len(known.dimensions):
        raise ArgumentError(f"{label}: given an array of shape {list_text(shape)}")
    for number, dimension in enumerate(known.dimensions):
        what = f"of dimension {number}"
        size, stride = shape[number], strides[number]
        _check_number(f"{label}: size {size} {what}", size, dimension.size, dimension.size_divisor)
        # Of an array without elements, numpy says that every stride is 0.
        if size > 1 and 0 not in shape:
            _check_stride(f"{label}: stride {stride} {what}", stride, dimension)


def _check_stride(what: str, stride: int, known: Dimension) -> None:
    _check_number(what, stride, known.stride, known.stride_divisor)
    if known.least_stride is not None and stride < known.least_stride:
        raise ArgumentError(f"{what} is below {known.least_stride}, which the kernel relies on")


def _check_number(what: str, number: int, wanted: int | None, divisor: int) -> None:
    if wanted is not None and number != wanted:
        raise ArgumentError(f"{what} is not the {wanted} that the kernel was exported for")
    if number % divisor:
        raise ArgumentError(f"{what} is no multiple of {divisor}, which the kernel relies on")


def _is_pointer(parameter: Parameter) -> bool:
    memory = parameter.memory
    return memory is not None and memory.has_any_shape


def _is_integer(parameter: Parameter) -> bool:
    return scalar_type_of(parameter.type) in (i32, i64)


def _layout_of(label: str, value: Any) -> _Layout | None:
    """The shape and the strides of an array of the host or of a GPU; None for anything else."""
    given: Any = value.array if isinstance(value, Output) else value
    if given is None or isinstance(given, int | float | np.generic | list | tuple | Group):
        return None
    if isinstance(given, DeviceArray):
        return _of_device_array(given)
    if is_of_pyopencl(given):
        return None
    on_gpu = gpu_array_of(label, given)
    if on_gpu is not None:
        strides = settled_strides(on_gpu.shape, on_gpu.element_strides(), is_row_major=True)
        return on_gpu.shape, strides
    array = as_array(label, given)
    return array.shape, element_strides(label, array, is_row_major=True)


def _of_device_array(array: DeviceArray) -> _Layout | None:
    if array.shape is None:
        return None
    shape = tuple(array.shape)
    packed = [int(np.prod(shape[mode + 1 :], dtype=np.int64)) for mode in range(len(shape))]
    strides = packed if array.strides is None else array.strides
    return shape, settled_strides(shape, strides, is_row_major=True)
