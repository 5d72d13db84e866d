"""What machine code relies on of its parameters: found of a launch, and checked before each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xtile.arguments.binding import BoundArgument
from xtile.arguments.calling_convention import DIVISIBLE_BY, KernelArgument
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError
from xtile.arguments.gpu_arrays import GpuMemory
from xtile.arguments.signature import Parameter, Signature
from xtile.arguments.views import View
from xtile.backends.argument_values import bytes_before, size_or_stride
from xtile.backends.gpu.session import LoadedKernel
from xtile.backends.host_memory import host_address
from xtile.backends.machine_code import Promises
from xtile.backends.overlaps import size_in_bytes
from xtile.backends.parameters import is_memref, sizes_of, values_of
from xtile.dialects.core.signature import Role

_REACH = 2**31
"""Bytes that offsets of 32 bits reach."""


def promises_of(signature: Signature, arguments: Sequence[BoundArgument]) -> Promises:
    """What a kernel may rely on in a launch on arguments that fit its signature."""
    divisible: set[int] = set()
    in_reach: set[int] = set()
    for position, (index, part) in enumerate(values_of(signature)):
        parameter, argument = signature.parameters[index], arguments[index]
        number = _number(parameter, part, argument)
        if number is not None and number % DIVISIBLE_BY == 0:
            divisible.add(position)
        if part.role is Role.POINTER and is_memref(parameter) and _is_in_reach(parameter, argument):
            in_reach.add(position)
    return Promises(frozenset(divisible), frozenset(in_reach))


def _number(parameter: Parameter, part: KernelArgument, argument: BoundArgument) -> int | None:
    """The address, size or stride that a parameter is, but for a multiple of 128.

    None where that is not known before the launch, or is no integer.
    """
    if isinstance(argument, np.generic):
        return int(argument) if argument.dtype.kind in "iu" else None
    if not is_memref(parameter) or not isinstance(argument, View | DeviceView):
        return None
    if part.role is not Role.POINTER:
        return size_or_stride(part, argument)
    if isinstance(argument, View):
        # A copy is where the array itself is, but for a multiple of its alignment.
        return host_address(argument.memory) - bytes_before(parameter)
    memory = argument.memory
    address = memory.address if isinstance(memory, GpuMemory) else memory
    return address + argument.offset - bytes_before(parameter) if isinstance(address, int) else None


def _is_in_reach(parameter: Parameter, argument: BoundArgument) -> bool:
    if not isinstance(argument, View | DeviceView):
        return argument is None
    return _end(parameter, argument) < _REACH


def _end(parameter: Parameter, array: View | DeviceView) -> int:
    """Bytes from the address that a kernel gets to past an array's last element."""
    return bytes_before(parameter) + size_in_bytes(parameter, array.shape, array.strides)


def check_promises(kernel: LoadedKernel, values: Sequence[bytes]) -> None:
    """Checks the parameters of a kernel, as bytes.

    Raises:
        ArgumentError: The kernel relies on a divisor that one does not have.
    """
    divisors = kernel.interface.divisors
    if not any(divisor > 1 for divisor in divisors):
        return
    owners = [
        (number, part)
        for number, convention in enumerate(kernel.conventions)
        for part in convention
        for _ in sizes_of(part)
    ]
    for (owner, part), divisor, value in zip(owners, divisors, values, strict=True):
        number = int.from_bytes(value, "little")
        if number % divisor:
            what, given = (
                ("an address", hex(number)) if part.pointer_depth else ("a number", number)
            )
            raise ArgumentError(
                f"argument {owner} of @{kernel.name}: expected {what} that is a multiple of "
                f"{divisor}, as the kernel promises, given {given}"
            )


def check_reach(
    kernel: LoadedKernel, signature: Signature, arguments: Sequence[BoundArgument]
) -> None:
    """Checks that offsets of 32 bits reach all of an array for which the kernel has only these.

    Raises:
        ArgumentError: An array is larger.
    """
    if not kernel.interface.in_reach:
        return
    for position, (index, _) in enumerate(values_of(signature)):
        argument = arguments[index]
        if position in kernel.interface.in_reach and isinstance(argument, View | DeviceView):
            _check_size(kernel, signature.parameters[index], argument)


def _check_size(kernel: LoadedKernel, parameter: Parameter, array: View | DeviceView) -> None:
    size = _end(parameter, array)
    if size >= _REACH:
        raise ArgumentError(
            f"{parameter}: @{kernel.name} reaches memory below 2 GB by offsets of 32 bits "
            f"(tt.pointer_range = 32), given {size} bytes; compile the "
            "kernel without it, and without --launch-checks"
        )
