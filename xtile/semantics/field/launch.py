"""A launch of the engine with the floats of the field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, WordsArgument
from xtile.semantics.compiler import Step
from xtile.semantics.field.arrays import FieldArray, cells_of, is_float, is_numpy, made, memory
from xtile.semantics.field.numbers import (
    Field,
    RefusedError,
    known,
    shown,
    unknown,
)
from xtile.semantics.state import State
from xtile.semantics.values import Array, Value

_FOLLOWED_WRONG = (AttributeError, IndexError, NotImplementedError, TypeError, ValueError)
"""What numpy raises where it is asked for what arrays of the field do not do."""


class FieldInterpretation:
    """Floats as numbers of a draw.

    Attributes:
        field: The draw.
        refusal: Why what was computed could not be followed; None as long as it could.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.refusal: str | None = None
        self._memories: dict[tuple[int, int], FieldArray] = {}

    def give(self, arguments: Sequence[Argument]) -> None:
        """Fills the memory of arguments with random numbers, the same ones for each draw.

        An element's number follows from the parameter and the element's position. Infinities and
        NaN stay what they are, and so do integers, and memory that holds nothing yet.
        """
        for index, argument in enumerate(arguments):
            for part, given in enumerate(_memories(argument)):
                if given.base is not None and _key(given.base) not in self._memories:
                    self._fill(given, f"{index} {part}")

    def _fill(self, given: MemrefArgument, name: str) -> None:
        base = given.base
        assert base is not None
        array = memory(base)
        self._memories[_key(base)] = array
        if not is_float(base.dtype) or not given.is_initialized:
            return
        cells = unknown(self.field.algebra.inputs(name, base.size))
        wide = base.astype(np.float64)
        symbols = ~np.isfinite(wide)
        if symbols.any():
            cells[symbols] = known(wide[symbols])
        array[...] = made(cells, base.dtype)

    def memory(self, data: Array) -> Array:
        """The array that stands for memory."""
        if isinstance(data, FieldArray):
            return data
        found = self._around(data)
        return memory(data) if found is None else _seen(data, found)

    def value(self, value: Value) -> Value:
        """Floats that numpy computed, as known numbers."""
        if isinstance(value, FieldArray) or not is_numpy(value):
            return value
        if value.dtype.kind == "c":
            raise RefusedError("complex numbers are not followed in the field")
        return made(cells_of(value), value.dtype) if is_float(value.dtype) else value

    def floats(self, integers: Value, dtype: np.dtype[Any]) -> Value:
        """Integers as known numbers, however many bits they have."""
        return made(cells_of(integers), dtype)

    def step(self, step: Step, results: Sequence[int]) -> Step:
        """What executes an operation, whose results are numbers of the field then."""

        def followed(state: State) -> None:
            try:
                step(state)
                for slot in results:
                    state.values[slot] = self.value(state.values[slot])
            except RefusedError as error:
                self.refusal = self.refusal or str(error)
                raise
            except _FOLLOWED_WRONG as error:
                self.refusal = self.refusal or f"not followed in the field: {error}"
                raise RefusedError(self.refusal) from error

        return followed

    def held(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array of an argument with the numbers that it holds, if the engine was given it."""
        found = self._around(array)
        return array if found is None else _seen(array, found)

    def _around(self, array: npt.NDArray[Any]) -> FieldArray | None:
        if not array.nbytes:
            return None
        for each in self._memories.values():
            if each.shadow is not None and each.shadow.covers(array):
                return each
        return None

    def show(self) -> None:
        """Writes floats that stand for the numbers into memory: between -4 and 4, if unknown."""
        for array in self._memories.values():
            if not is_float(array.dtype):
                continue
            values = shown(array.numbers())
            plain = array.view(np.ndarray)
            plain[...] = values.astype(plain.dtype)


def _seen(array: npt.NDArray[Any], memory: FieldArray) -> FieldArray:
    """An array that lies in memory, with the numbers there."""
    seen = np.ndarray.view(array, FieldArray)
    seen.shadow, seen.is_bytes = memory.shadow, True
    return seen


def _key(data: npt.NDArray[Any]) -> tuple[int, int]:
    return data.__array_interface__["data"][0], data.nbytes


def _memories(argument: Argument) -> Iterator[MemrefArgument]:
    """The memory that belongs to an argument."""
    if isinstance(argument, MemrefArgument):
        yield argument
    elif isinstance(argument, GroupArgument):
        yield from argument.entries
    elif isinstance(argument, WordsArgument):
        yield from (entry for entry in argument.entries if isinstance(entry, MemrefArgument))
