"""Checks the promises that a function's parameter attributes make about arguments.

Source: tensor language reference, sections "Alignment attribute" and "Greatest common divisor
(GCD) attributes"; Triton 3.9, `lib/Analysis/AxisInfo.cpp` and AMD's `ConvertToBufferOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.operation import array_entries, integer_value
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import (
    Argument,
    GroupArgument,
    MemrefArgument,
    ScalarArgument,
)
from xtile.semantics.observer import Launch
from xtile.semantics.sanitizer.report import Kind, Report
from xtile.semantics.values import Array, is_array


def broken_promises(launch: Launch) -> Iterator[Report]:
    """A report for each promise that an argument does not keep."""
    function = launch.function
    if function.name == "tt.func":
        yield from _of_triton(launch)
        return
    if not isinstance(function, FuncOp):
        return
    pairs = zip(function.parameters, launch.arguments, strict=True)
    for number, (parameter, argument) in enumerate(pairs):
        attributes = function.attributes_of_parameter(number)
        name = f"%{parameter.name_hint or number}"
        for message in _of_argument(attributes, name, argument):
            yield Report(Kind.BROKEN_PROMISE, function, message, parameter=parameter)


_LARGEST_RANGE = 2**31 - 1


def _of_triton(launch: Launch) -> Iterator[Report]:
    """A report for each promise of a kernel of Triton that an argument does not keep."""
    function = launch.function
    promises: Any = function.get_attr_or_prop("arg_attrs")
    if promises is None:
        return
    parameters = function.regions[0].blocks[0].args
    for parameter, argument, given in zip(parameters, launch.arguments, promises, strict=True):
        name = f"%{parameter.name_hint or parameter.index}"
        for message in _of_program_argument(given.data, name, argument):
            yield Report(Kind.BROKEN_PROMISE, function, message, parameter=parameter)


def _of_program_argument(
    promises: Mapping[str, Attribute], name: str, argument: Argument
) -> Iterator[str]:
    divisor = _integer(promises, "tt.divisibility") or 1
    match argument:
        case ScalarArgument(value=int() | np.integer() as value) if int(value) % divisor:
            yield f"{name} is {value}, which is no multiple of the promised {divisor}"
        case MemrefArgument(base=base, offset=offset) if base is not None:
            address = _address(base) + offset * base.itemsize
            if address % divisor:
                yield (
                    f"{name} begins {address} bytes after the start of its allocation, which is no "
                    f"multiple of the promised tt.divisibility = {divisor}"
                )
            is_small = _integer(promises, "tt.pointer_range") == _SMALL_RANGE_BITS
            size = base.nbytes - offset * base.itemsize
            if is_small and size > _LARGEST_RANGE:
                yield (
                    f"{name} has {size} bytes, but tt.pointer_range = 32 promises at most "
                    f"{_LARGEST_RANGE}"
                )
        case _:
            return


_SMALL_RANGE_BITS = 32


def _integer(promises: Mapping[str, Attribute], name: str) -> int | None:
    return integer_value(promises[name]) if name in promises else None


def _of_argument(attributes: dict[str, Attribute], name: str, argument: Argument) -> Iterator[str]:
    if isinstance(argument, MemrefArgument):
        yield from _of_memref(attributes, name, argument, 0)
    elif isinstance(argument, GroupArgument):
        for number, entry in enumerate(argument.entries):
            entry_name = f"entry {number} of {name}"
            yield from _of_memref(attributes, entry_name, entry, argument.offset)


def _of_memref(
    attributes: dict[str, Attribute], name: str, argument: MemrefArgument, offset: int
) -> Iterator[str]:
    if argument.base is None:
        return
    yield from _of_divisors(attributes.get("shape_gcd"), name, "size", argument.shape)
    yield from _of_divisors(attributes.get("stride_gcd"), name, "stride", argument.strides)
    if "alignment" in attributes:
        alignment = integer_value(attributes["alignment"])
        address = _address(argument.base) + (argument.offset + offset) * argument.base.itemsize
        if alignment > 0 and address % alignment:
            yield (
                f"{name} begins {address} bytes after the start of its allocation, which is no "
                f"multiple of the promised alignment={alignment}"
            )


def _of_divisors(
    divisors: Attribute | None, name: str, what: str, values: Sequence[int]
) -> Iterator[str]:
    for mode, (entry, value) in enumerate(zip(array_entries(divisors) or (), values, strict=False)):
        divisor = integer_value(entry)
        if divisor > 0 and value % divisor:
            yield (
                f"{what} {value} of mode {mode} of {name} is no multiple of the promised {divisor}"
            )


def _address(base: Array) -> int:
    """Bytes from the start of the allocation that `base` is a part of.

    An allocation counts as aligned to everything, because on a device it would be: numpy's own
    alignment says nothing about the kernel.
    """
    start = base.ctypes.data
    current: Any = base.base
    while current is not None:
        if is_array(current):
            start = current.ctypes.data
        current = getattr(current, "base", None)
    return int(base.ctypes.data - start)
