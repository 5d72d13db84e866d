"""Launches that are repeated: what was checked of arrays is not checked again for others like them.

A launch on arrays of a GPU depends on their types, shapes and strides, and on their addresses.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

from xtile.arguments.binding import BoundArgument
from xtile.arguments.calling_convention import DIVISIBLE_BY, KernelArgument
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.gpu_arrays import GpuMemory, address_and_stream, layout_of
from xtile.arguments.scalars import convert_scalar
from xtile.arguments.signature import Parameter, Signature
from xtile.backends.argument_values import bytes_before
from xtile.backends.gpu.arguments import layout_values, scalar_values
from xtile.backends.host_memory import promised_alignment
from xtile.backends.overlaps import size_in_bytes
from xtile.backends.parameters import POINTER_SIZE, sizes_of_element
from xtile.dialects.core.signature import Role

Arguments: TypeAlias = "Sequence[Any] | Mapping[str, Any]"

_PLANS = 64
"""Layouts that a kernel keeps; more than a program has in a loop."""


@dataclass
class Positions:
    """Where the arrays of a launch are.

    Attributes:
        streams: The streams in which they may still be computed.
        ranges: For each its first byte, past its last one, whether the kernel writes to it, and
            whether it relies on it that no other array overlaps it.
    """

    streams: set[int | None] = field(default_factory=set[int | None])
    ranges: list[tuple[int, int, bool, bool]] = field(
        default_factory=list[tuple[int, int, bool, bool]]
    )

    @property
    def overlap(self) -> bool:
        """Whether two arrays overlap of which the kernel writes to one and relies on one."""
        return any(
            start < other_end and other_start < end and (written or other_written)
            for (start, end, written, alone), (
                other_start,
                other_end,
                other_written,
                other_alone,
            ) in combinations(self.ranges, 2)
            if alone or other_alone
        )


@dataclass(frozen=True)
class _Scalar:
    """A parameter of the function that is a number.

    Attributes:
        parameter: The parameter.
        part: What it is for the kernel.
    """

    parameter: Parameter
    part: KernelArgument

    def values(self, value: Any, positions: Positions) -> Sequence[bytes]:
        """The kernel's parameters for a number."""
        return scalar_values(self.part, convert_scalar(self.parameter, value))


@dataclass(frozen=True)
class _Array:
    """A parameter of the function that is an array on the GPU.

    Attributes:
        before: Bytes between the memory's element 0 and the array.
        alignment: Bytes that its address is a multiple of.
        size: Its bytes from the first element to past the last one.
        is_written: Whether the kernel writes to it.
        is_noalias: Whether the kernel relies on it that no other array overlaps it.
        rest: The kernel's parameters behind the pointer.
        is_divisible: Whether 16 divides the kernel's address; None where no code relies on that.
    """

    before: int
    alignment: int
    size: int
    is_written: bool
    is_noalias: bool
    rest: tuple[bytes, ...]
    is_divisible: bool | None

    def values(self, value: Any, positions: Positions) -> Sequence[bytes] | None:
        """The kernel's parameters for an array, which is noted; None if it is misplaced."""
        address, stream = address_and_stream(value)
        start = address - self.before
        if address % self.alignment or self.is_divisible is (start % DIVISIBLE_BY != 0):
            return None
        positions.streams.add(stream)
        positions.ranges.append((address, address + self.size, self.is_written, self.is_noalias))
        return (start.to_bytes(POINTER_SIZE, "little"), *self.rest)


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

        Args:
            signature: The function's.
            arguments: As the caller gives them.

        Raises:
            ArgumentError: A number does not fit its parameter.
        """
        values = _in_order(signature, arguments)
        plan = None if values is None else self._plans.get(_layouts(values))
        if values is None or plan is None:
            return None
        positions = Positions()
        parts: list[bytes] = []
        for step, value in zip(plan, values, strict=True):
            found = step.values(value, positions)
            if found is None:
                return None
            parts.extend(found)
        if positions.overlap:
            return None
        return Repeated(parts, frozenset(positions.streams))

    def remember(
        self,
        conventions: Sequence[Sequence[KernelArgument]],
        signature: Signature,
        arguments: Arguments,
        bound: Sequence[BoundArgument],
        *,
        by_divisor: bool = False,
    ) -> None:
        """Keeps the layout of a launch that has worked, if its arrays lie on the GPU.

        Args:
            conventions: The parameters of the kernel, for each one of the function.
            signature: The function's.
            arguments: As the caller gave them.
            bound: What they are.
            by_divisor: Whether other code may be better if 16 divides other addresses.
        """
        values = _in_order(signature, arguments)
        layouts = None if values is None else _layouts(values)
        if layouts is None or len(self._plans) >= _PLANS:
            return
        steps = [
            _step(parameter, convention, argument, index in signature.written, by_divisor)
            for index, (parameter, convention, argument) in enumerate(
                zip(signature.parameters, conventions, bound, strict=True)
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
    parameter: Parameter,
    convention: Sequence[KernelArgument],
    argument: BoundArgument,
    is_written: bool,
    by_divisor: bool,
) -> _Scalar | _Array | None:
    """How an argument becomes parameters of the kernel; None where that takes more than this."""
    if isinstance(argument, DeviceView) and isinstance(argument.memory, GpuMemory):
        if convention[0].role is not Role.POINTER or argument.offset:
            return None
        rest = layout_values(parameter, convention[1:], argument)
        natural = sizes_of_element(convention[0])[0]
        alignment = math.lcm(natural, promised_alignment(parameter))
        size = size_in_bytes(parameter, argument.shape, argument.strides)
        before, is_noalias = bytes_before(parameter), parameter.is_noalias
        start = argument.memory.address - before
        is_divisible = start % DIVISIBLE_BY == 0 if by_divisor else None
        return _Array(before, alignment, size, is_written, is_noalias, tuple(rest), is_divisible)
    if convention[0].role is Role.VALUE and not parameter.may_be_address:
        return _Scalar(parameter, convention[0]) if hasattr(argument, "tobytes") else None
    return None
