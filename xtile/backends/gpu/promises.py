"""What machine code relies on of its parameters, which each launch checks."""

from __future__ import annotations

from collections.abc import Sequence

from xtile.arguments.binding import BoundArgument
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Parameter, Signature
from xtile.arguments.views import View
from xtile.backends.gpu.session import LoadedKernel
from xtile.backends.overlaps import size_in_bytes
from xtile.backends.parameters import sizes_of

_REACH = 2**31
"""Bytes that offsets of 32 bits reach."""


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
                f"{divisor}, as the kernel promises (tt.divisibility), given {given}"
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
    position = 0
    for parameter, convention, argument in zip(
        signature.parameters, kernel.conventions, arguments, strict=True
    ):
        if position in kernel.interface.in_reach and isinstance(argument, View | DeviceView):
            _check_size(kernel, parameter, argument)
        position += len(convention)


def _check_size(kernel: LoadedKernel, parameter: Parameter, array: View | DeviceView) -> None:
    size = size_in_bytes(parameter, array.shape, array.strides)
    if size >= _REACH:
        raise ArgumentError(
            f"{parameter}: @{kernel.name} reaches memory below 2 GB by offsets of 32 bits "
            f"(tt.pointer_range = 32), given {size} bytes; compile the kernel without it"
        )
