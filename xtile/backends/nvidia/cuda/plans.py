"""Launches that are repeated: what was checked of arrays is not checked again for others like them.

A launch on arrays of a GPU depends on their types, shapes and strides, and on their addresses.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xtile.backends.argument_values import bytes_before
from xtile.backends.calling_convention import KernelArgument, Role
from xtile.backends.host_memory import promised_alignment
from xtile.backends.nvidia.cuda.arguments import layout_values, scalar_values
from xtile.backends.nvidia.parameters import POINTER_SIZE, sizes_of_element
from xtile.launch.binding import BoundArgument
from xtile.launch.device_memory import DeviceView
from xtile.launch.gpu_arrays import GpuMemory, layout_of, place_of
from xtile.launch.scalars import convert_scalar
from xtile.launch.signature import Parameter, Signature

Arguments: TypeAlias = "Sequence[Any] | Mapping[str, Any]"

_PLANS = 64
"""Layouts that a kernel keeps; more than a program has in a loop."""


@dataclass(frozen=True)
class _Scalar:
    """A parameter of the function that is a number.

    Attributes:
        parameter: The parameter.
        part: What it is for the kernel.
    """

    parameter: Parameter
    part: KernelArgument

    def values(self, value: Any, streams: set[int | None]) -> Sequence[bytes]:
        """The kernel's parameters for a number."""
        return scalar_values(self.part, convert_scalar(self.parameter, value))


@dataclass(frozen=True)
class _Array:
    """A parameter of the function that is an array on the GPU.

    Attributes:
        before: Bytes between the memory's element 0 and the array.
        alignment: Bytes that its address is a multiple of.
        rest: The kernel's parameters behind the pointer.
    """

    before: int
    alignment: int
    rest: tuple[bytes, ...]

    def values(self, value: Any, streams: set[int | None]) -> Sequence[bytes] | None:
        """The kernel's parameters for an array, whose stream is added; None if it is misplaced."""
        address, stream = place_of(value)
        if address % self.alignment:
            return None
        streams.add(stream)
        return ((address - self.before).to_bytes(POINTER_SIZE, "little"), *self.rest)


@dataclass(frozen=True)
class Repeated:
    """A launch that needs no further checks.

    Attributes:
        values: The kernel's parameters.
        streams: The streams in which arrays may still be computed.
    """

    values: Sequence[bytes]
    streams: frozenset[int | None]


_Plan: TypeAlias = "tuple[_Scalar | _Array, ...]"


class Plans:
    """The layouts of arguments that a kernel was launched with."""

    def __init__(self) -> None:
        self._plans: dict[Hashable, _Plan] = {}

    def repeated(self, signature: Signature, arguments: Arguments) -> Repeated | None:
        """The launch for arguments of a layout that is known; None where it is not.

        Raises:
            ArgumentError: A number does not fit its parameter.
        """
        values = _in_order(signature, arguments)
        plan = None if values is None else self._plans.get(_layouts(values))
        if values is None or plan is None:
            return None
        streams: set[int | None] = set()
        parts: list[bytes] = []
        for step, value in zip(plan, values, strict=True):
            found = step.values(value, streams)
            if found is None:
                return None
            parts.extend(found)
        return Repeated(parts, frozenset(streams))

    def remember(
        self,
        conventions: Sequence[Sequence[KernelArgument]],
        signature: Signature,
        arguments: Arguments,
        bound: Sequence[BoundArgument],
    ) -> None:
        """Keeps the layout of a launch that has worked, if its arrays lie on the GPU."""
        values = _in_order(signature, arguments)
        layouts = None if values is None else _layouts(values)
        if layouts is None or len(self._plans) >= _PLANS:
            return
        steps = [
            _step(parameter, convention, argument)
            for parameter, convention, argument in zip(
                signature.parameters, conventions, bound, strict=True
            )
        ]
        plan = tuple(step for step in steps if step is not None)
        if len(plan) == len(steps):
            self._plans[layouts] = plan


def _in_order(signature: Signature, arguments: Arguments) -> Sequence[Any] | None:
    """The arguments in signature order; None if some are missing or superfluous."""
    parameters = signature.parameters
    if len(arguments) != len(parameters):
        return None
    if not isinstance(arguments, Mapping):
        return arguments
    try:
        return [arguments[parameter.name] for parameter in parameters]
    except KeyError:
        return None


def _layouts(values: Sequence[Any]) -> Hashable | None:
    layouts: list[Hashable] = []
    for value in values:
        layout = layout_of(value)
        if layout is None:
            return None
        layouts.append(layout)
    return tuple(layouts)


def _step(
    parameter: Parameter, convention: Sequence[KernelArgument], argument: BoundArgument
) -> _Scalar | _Array | None:
    """How an argument becomes parameters of the kernel; None where that takes more than this."""
    if isinstance(argument, DeviceView) and isinstance(argument.memory, GpuMemory):
        if convention[0].role is not Role.POINTER or argument.offset:
            return None
        rest = layout_values(parameter, convention[1:], argument)
        natural = sizes_of_element(convention[0])[0]
        alignment = math.lcm(natural, promised_alignment(parameter))
        return _Array(bytes_before(parameter), alignment, tuple(rest))
    if convention[0].role is Role.VALUE and not isinstance(argument, DeviceView):
        return _Scalar(parameter, convention[0]) if hasattr(argument, "tobytes") else None
    return None
