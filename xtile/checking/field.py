"""The comparison of a kernel with its port on exact numbers, which has no tolerance.

Source: docs/field.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import byte_bounds

from xtile.arguments.binding import bind
from xtile.launch.executable import Grid, Kernel
from xtile.launch.field import load_for_field
from xtile.launch.run import checked_sizes
from xtile.semantics.field.launch import FieldInterpretation
from xtile.semantics.field.numbers import Field, RefusedError, computing_in, is_unknown
from xtile.semantics.field.numbers import agree as numbers_agree
from xtile.text.diagnostics import DiagnosticError


@dataclass(frozen=True)
class Agreement:
    """What is known of a kernel and its port after both ran in the field.

    Attributes:
        verdict: "agree" if all numbers are equal in all draws, "differ" if one is not, "refused" if
            one of the kernels computes what the field does not follow, which says nothing.
        elements: How many elements were compared in a draw.
        unknown: How many of them depend on inputs of floats.
        reason: The first element that differs, or what is not followed; None if they agree.
        meant: For each literal that was not taken exactly what it was taken for.
    """

    verdict: Literal["agree", "differ", "refused"]
    elements: int
    unknown: int
    reason: str | None
    meant: Mapping[float, str]


def agree(
    source: object,
    port: object,
    arguments: Sequence[Any] | Mapping[str, Any],
    grid: int | Sequence[int] = (1, 1, 1),
    *,
    port_grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] | None = None,
    port_block: int | Sequence[int] | None = None,
    entry: str | None = None,
    port_entry: str | None = None,
    draws: int = 2,
    seed: int | None = None,
) -> Agreement:
    """Compares a kernel with its port on random numbers of the field.

    Args:
        source: A kernel, as `xtile.run` takes it.
        port: Another one that takes the same arguments.
        arguments: The arguments, as `xtile.run` takes them, with arrays of numpy. Integers,
            scalars and the sizes of arrays are used; the numbers in arrays of floats are drawn,
            but for infinities and NaN. Nothing is written to them.
        grid: The number of work-groups in x, y and z.
        port_grid: That of the port; None for the same.
        block: The number of work-items of a work-group, for a `gpu.func`.
        port_block: That of the port; None for what it says itself.
        entry: The function, if the kernel has several.
        port_entry: That of the port.
        draws: How many independent draws of the algebra and of the inputs are compared.
        seed: What the draws follow from; None draws it.

    Raises:
        ArgumentError: An argument does not fit the signatures.
        DiagnosticError: A kernel cannot be read, or breaks rules when it is executed.
    """
    first = secrets.randbits(48) if seed is None else seed
    sides = (
        _Side(source, entry, checked_sizes("grid", grid), _block(block)),
        _Side(
            port,
            port_entry,
            checked_sizes("grid", grid if port_grid is None else port_grid),
            _block(port_block),
        ),
    )
    result = Agreement("agree", 0, 0, None, {})
    for draw in range(draws):
        result = _compared(sides, arguments, Field(first + draw))
        if result.verdict != "agree":
            break
    return result


class _Side:
    """A kernel that is compared."""

    def __init__(self, kernel: object, entry: str | None, grid: Grid, block: Grid | None) -> None:
        self.executable = load_for_field(Kernel(kernel, entry))
        self.grid = grid
        self.block = block

    def launched(
        self, field: Field, arguments: Sequence[Any] | Mapping[str, Any]
    ) -> FieldInterpretation:
        """Runs the kernel.

        Raises:
            RefusedError: It computes what is not followed.
        """
        numbers = FieldInterpretation(field)
        bound = bind(self.executable.signature, arguments)
        try:
            self.executable.launch_in(numbers, bound, self.grid, self.block)
        except DiagnosticError as error:
            if numbers.refusal is None:
                raise
            raise RefusedError(str(error)) from error
        return numbers


def _block(block: int | Sequence[int] | None) -> Grid | None:
    return None if block is None else checked_sizes("block", block)


def _compared(
    sides: tuple[_Side, _Side], arguments: Sequence[Any] | Mapping[str, Any], field: Field
) -> Agreement:
    with computing_in(field):
        return _compared_in(sides, arguments, field)


def _compared_in(
    sides: tuple[_Side, _Side], arguments: Sequence[Any] | Mapping[str, Any], field: Field
) -> Agreement:
    given = [_copied(arguments) for _ in sides]
    meant = field.literals.meant
    try:
        launched = [side.launched(field, each) for side, each in zip(sides, given, strict=True)]
        elements = hidden = 0
        for (label, left), (_, right) in zip(*map(_arrays, given), strict=True):
            held = _Held(launched[0].numbers(left), launched[1].numbers(right))
            elements += left.size
            hidden += held.unknown
            wrong = held.first_difference(left, right)
            if wrong is not None:
                return Agreement("differ", elements, hidden, f"{label}{wrong}", meant)
    except RefusedError as error:
        return Agreement("refused", 0, 0, str(error), meant)
    return Agreement("agree", elements, hidden, None, meant)


class _Held:
    """What two arrays hold after the launches; None where it is no floats."""

    def __init__(self, left: Any, right: Any) -> None:
        self._left, self._right = left, right

    @property
    def unknown(self) -> int:
        """How many elements depend on inputs of floats."""
        return 0 if self._left is None else int(is_unknown(self._left).sum())

    def first_difference(
        self, left: npt.NDArray[Any], right: npt.NDArray[Any]
    ) -> tuple[int, ...] | None:
        """The index of the first element that differs."""
        if self._left is None or self._right is None:
            equal = left == right
        else:
            equal = numbers_agree(self._left, self._right)
        if equal.all():
            return None
        return tuple(int(each) for each in np.argwhere(~equal)[0])


def _copied(arguments: Sequence[Any] | Mapping[str, Any]) -> Any:
    """Arguments whose arrays are copies, with the same strides, that overlap where they did."""
    copies: dict[tuple[int, int], Any] = {}

    def copied(value: Any) -> Any:
        if isinstance(value, list | tuple):
            entries = cast("Any", value)
            return type(entries)(copied(each) for each in entries)
        if not _is_array(value):
            return value
        low, high = byte_bounds(value)
        key = (low, high)
        if key not in copies:
            copies[key] = _bytes_at(value, low, high).copy()
        return np.ndarray(
            value.shape, value.dtype, copies[key].data, _start(value) - low, value.strides
        )

    if isinstance(arguments, Mapping):
        return {name: copied(value) for name, value in arguments.items()}
    return [copied(value) for value in arguments]


def _bytes_at(array: npt.NDArray[Any], low: int, high: int) -> npt.NDArray[np.uint8]:
    """The memory between the first and the last byte of an array."""
    interface = {"data": (low, True), "shape": (high - low,), "typestr": "|u1", "version": 3}
    holder = type("Memory", (), {"__array_interface__": interface, "array": array})()
    return np.asarray(holder)


def _start(array: npt.NDArray[Any]) -> int:
    return array.__array_interface__["data"][0]


def _arrays(arguments: Any) -> list[tuple[str, npt.NDArray[Any]]]:
    """The arrays among arguments, each with what messages call it."""
    named: Any = enumerate(arguments)
    if isinstance(arguments, Mapping):
        named = cast("Any", arguments).items()
    return [(f"argument {name}", array) for name, value in named for array in _arrays_of(value)]


def _arrays_of(value: Any) -> Iterator[npt.NDArray[Any]]:
    if _is_array(value):
        yield value
    elif isinstance(value, list | tuple):
        entries = cast("Any", value)
        for each in entries:
            yield from _arrays_of(each)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)
