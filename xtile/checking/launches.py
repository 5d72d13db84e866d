"""Finds launches that a kernel is for: those in which the sanitizer finds no mistake."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, IntegerType
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from xtile.arguments.copies import arrays_of, copied
from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.arguments.writes import locks
from xtile.checking.inputs import Launch, Numbers, elements, is_open, make_arguments
from xtile.launch.devices import REFERENCE
from xtile.launch.reference import ReferenceExecutable
from xtile.launch.run import launch as launch_on
from xtile.semantics.language import language_of
from xtile.text.diagnostics import DiagnosticError

_ODD_SIZES = (33, 17, 48, 40, 80, 64, 16, 128, 32, 8, 4, 1)
"""What is tried for sizes: first those that are no multiples of tiles."""

_LARGE_SIZES = (304, 272, 256, 512, 1024)
"""The same for a second launch, in which there are several tiles where a kernel allows it."""

_EVEN_SIZES = (64, 96, 128, 32, 16, 48)
"""The same for a third launch, in which tiles are full."""

_SMALL_SIZES = (5, 9, 3, 8, 16, 4, 2, 1, 17, 32, 33, 64)
"""The same for a launch that is as small as can be."""

_LARGEST_GRID = 64
"""Work-groups along a dimension, at most."""

_SMALL_GRID = 2
"""The same for a launch that is as small as can be."""

_MOST_ELEMENTS = 1 << 17
"""How many elements an array may have in launches that are found."""

_SECONDS = 10.0
"""How long one launch may take while launches are looked for."""

_LONGEST_SEARCH = 60.0
"""How long launches may be looked for, whatever was found, in seconds of processor time."""

_PATIENCE = 3.0
"""How long a grid may grow, likewise: other work on the machine makes no launch smaller."""

_LONG = 0.7
"""How long a launch may take that grows further, likewise."""

_MORE_PATIENCE = 6.0
"""How long launches may be looked for after which another one still is, likewise."""


@dataclass(frozen=True)
class Given:
    """What a caller says of launches.

    Attributes:
        arguments: Values by the parameters' names.
        shapes: Shapes of arrays by the parameters' names.
        grid: Work-groups; None for as many as have something to do.
        block: Work-items of a work-group, where the launch says so.
        is_known: Whether the arguments and the grid are all of a launch that has no mistakes.
    """

    arguments: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    is_known: bool = False


class Search:
    """Looks for launches of a kernel.

    Args:
        executable: The kernel, on the reference device.
        given: What is known of the launch.
        seed: Of the numbers that it is tried on.
    """

    def __init__(self, executable: ReferenceExecutable, given: Given, seed: int) -> None:
        self._executable = executable
        self._given = given
        self._seed = seed
        self._reason = "nothing was tried"
        self._seconds = 0.0
        self._largest_grid = _LARGEST_GRID
        self._end = time.process_time() + _LONGEST_SEARCH
        self._too_large = math.inf
        self._locks = locks(executable.function)

    def find(self) -> list[Launch]:
        """One launch whose sizes are no multiples of tiles where that can be, and others.

        Raises:
            ArgumentError: None was found; it says what to give.
        """
        sizes = _ODD_SIZES if self._is_open() else _ODD_SIZES[:1]
        first = self._first(sizes)
        if first is None:
            raise ArgumentError(self._advice())
        found = [first]
        end = time.process_time() + _MORE_PATIENCE
        for sizes in (_LARGE_SIZES, _EVEN_SIZES) if self._is_open() else ():
            if time.process_time() > end:
                break
            tried = [launch.size for launch in found]
            other = self._first([size for size in sizes if size not in tried], first)
            found += [other] if other is not None else []
        return found

    def find_small(self) -> Launch | None:
        """A launch of small arrays and few work-groups; None where none was found."""
        self._largest_grid = _SMALL_GRID
        return self._first(_SMALL_SIZES if self._is_open() else _SMALL_SIZES[:1])

    def _is_open(self) -> bool:
        return is_open(self._executable.signature, self._given.arguments)

    def _first(self, sizes: Sequence[int], like: Launch | None = None) -> Launch | None:
        for launch in self._candidates(sizes, like):
            if time.process_time() > self._end:
                break
            if launch.size >= self._too_large:
                continue
            if not self._written(launch) or (like is not None and self._seconds > _LONG):
                continue
            if self._given.grid is not None:
                return launch
            grown = self._grown(launch, sanitize=False)
            return grown if self._written(grown) else self._grown(launch, sanitize=True)
        return None

    def _candidates(self, sizes: Sequence[int], like: Launch | None) -> Iterator[Launch]:
        given, divisor = self._given, _divisor_of_integers(self._executable.function)
        base = Launch(
            0,
            given.shapes,
            grid=given.grid or (1, 1, 1),
            block=given.block,
            locks=self._locks,
        )
        modes = [(False, False), (True, False), (False, True), (True, True)]
        if like is not None:
            base = replace(base, block=like.block)
            modes = [(like.are_outputs_read, like.are_integers_indices)]
        rounded = dict.fromkeys(-(-size // divisor) * divisor for size in sizes)
        small = [size for size in rounded if self._elements(size) <= _MOST_ELEMENTS]
        for reads, indices in modes:
            for size in small:
                yield replace(
                    base,
                    size=size,
                    length=max(base.length, size * (size + 1)),
                    are_outputs_read=reads,
                    are_integers_indices=indices,
                )

    def _elements(self, size: int) -> int:
        """How many elements the largest array has whose open sizes are `size`."""
        return max(
            (elements(each, size) for each in self._executable.signature.parameters), default=0
        )

    def _grown(self, launch: Launch, *, sanitize: bool) -> Launch:
        """The launch with as many work-groups as have something to do."""
        end = time.process_time() + _PATIENCE
        best, most = launch, self._written(launch, sanitize=sanitize)
        for axis in range(3):
            step, is_doubling = best.grid[axis], True
            too_few = best.grid[axis]
            while step and time.process_time() < end and self._seconds < _LONG:
                larger = self._with_more(best, axis, step)
                written = 0 if larger is None else self._written(larger, sanitize=sanitize)
                if larger is not None and written > most:
                    too_few = best.grid[axis]
                    best, most = larger, written
                else:
                    is_doubling = False
                step = best.grid[axis] if is_doubling else step // 2
            best = self._fewest(best, axis, too_few, most, sanitize=sanitize)
        # One work-group too many shows what kernels do with it that can have one.
        more = self._with_more(best, 0, 1)
        return best if more is None or not self._written(more) else more

    def _fewest(
        self, launch: Launch, axis: int, too_few: int, written: int, *, sanitize: bool
    ) -> Launch:
        """The launch with the fewest work-groups along an axis that write as much."""
        while launch.grid[axis] - too_few > 1 and self._seconds < _LONG:
            middle = (launch.grid[axis] + too_few) // 2
            fewer = self._with_more(launch, axis, middle - launch.grid[axis])
            if fewer is not None and self._written(fewer, sanitize=sanitize) >= written:
                launch = fewer
            else:
                too_few = middle
        return launch

    def _with_more(self, launch: Launch, axis: int, step: int) -> Launch | None:
        """A launch with so many more work-groups along an axis; None for too many."""
        x, y, z = (n + step if mode == axis else n for mode, n in enumerate(launch.grid))
        return replace(launch, grid=(x, y, z)) if max(x, y, z) <= self._largest_grid else None

    def _written(self, launch: Launch, *, sanitize: bool = True) -> int:
        """How many elements a launch changes; 0 where it has mistakes."""
        signature, began = self._executable.signature, time.process_time()
        try:
            random = np.random.default_rng(self._seed)
            before = make_arguments(
                signature, launch, Numbers.ORDINARY, random, self._given.arguments
            )
            arguments = copied(before)
            launch_on(
                self._executable,
                arguments,
                launch.grid,
                REFERENCE,
                block=launch.block,
                sanitize=sanitize,
                seconds=_SECONDS,
            )
        except (ArgumentError, DiagnosticError, ValueError) as error:
            self._reason = str(error).splitlines()[0]
            if isinstance(error, DeviceError) and self._is_open():
                # It was not done in time, and larger arrays take longer.
                self._too_large = min(self._too_large, launch.size)
            return 0
        self._seconds = time.process_time() - began
        return changed_elements(before, arguments)

    def _advice(self) -> str:
        """What to give, where no launch was found."""
        signature = self._executable.signature
        wanted = [
            f"--size {each.name}=..." if each.is_memory else f"--arg {each.name}=..."
            for each in signature.parameters
            if each.name not in self._given.arguments
        ]
        return (
            f"@{signature.name}: no launch was found that has no mistakes and writes something; "
            f"give --grid and {' '.join(wanted)}, or --inputs; the last one that was tried: "
            f"{self._reason}"
        )


def changed_elements(before: Sequence[Any], after: Sequence[Any]) -> int:
    """How many elements of arrays a launch has changed."""
    count = 0
    for old, new in zip(before, after, strict=True):
        for first, second in zip(arrays_of(old), arrays_of(new), strict=True):
            same = (first == second) | ((first != first) & (second != second))
            count += int(np.size(same) - np.count_nonzero(same))
    return count


def _divisor_of_integers(function: Operation) -> int:
    """What a kernel promises that its integers are multiples of."""
    attributes = function.get_attr_or_prop("arg_attrs")
    if not isa(attributes, ArrayAttr[DictionaryAttr]):
        return 1
    values = language_of(function).parameters(function)
    promises = [
        given.data.get(_DIVISIBILITY)
        for value, given in zip(values, attributes, strict=True)
        if isinstance(value.type, IntegerType)
    ]
    return max((n.value.data for n in promises if isa(n, IntegerAttr)), default=1)


_DIVISIBILITY = "tt.divisibility"
"""The attribute of Triton's kernels that says so."""
