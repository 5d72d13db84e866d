"""The source's side of a check: inputs, what the source makes of them, and what else it may make.

One source is checked against several ports with the same trials.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.binding import bind
from xtile.arguments.copies import copied
from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Signature
from xtile.checking.comparison import Expectation
from xtile.checking.inputs import (
    Launch,
    Numbers,
    can_be_same,
    describe,
    is_open,
    make_arguments,
)
from xtile.checking.launches import Given, Search, changed_elements
from xtile.checking.rounding_errors import (
    RoundingErrors,
    has_exact_quotients,
    has_rounding_errors,
)
from xtile.launch.devices import REFERENCE
from xtile.launch.executable import Kernel
from xtile.launch.reference import load
from xtile.launch.run import launch as launch_on
from xtile.text.diagnostics import DiagnosticError

_RUNS = ((np.inf, False), (-np.inf, False), (np.nan, True))
"""A source runs once with each of these in place of sums that overflow in some order.

The last run takes subnormal numbers for zeros where a quotient or root may do so.
"""

LAUNCH_SECONDS = 120.0
"""How long one launch may take."""

_FOUND_SECONDS = 40.0
"""The same of a source, where the launch was found because it is short."""

_LONGEST = 90.0
"""How long trials may be made after which another one still is, in seconds of processor time."""

NO_ELEMENTS = "no elements"
"""What reports call inputs of no size."""


@dataclass(frozen=True)
class Trial:
    """One set of inputs, and what the source makes of it.

    Attributes:
        launch: How the kernel is launched.
        numbers: What arrays are filled with.
        arguments: The arguments before the launch, in the source's order.
        expectation: What they may be afterwards.
        sizes: The shapes of arrays, and the numbers, in words.
        expect_rough: Makes what the arguments may be where quotients may be approximations.
    """

    launch: Launch
    numbers: Numbers
    arguments: Sequence[Any]
    expectation: Expectation
    sizes: str
    expect_rough: Callable[[], Expectation]

    @cached_property
    def rough_expectation(self) -> Expectation:
        """What a port may give whose quotients and roots in f32 may be approximations."""
        return self.expect_rough()

    @property
    def inputs(self) -> str:
        """What reports call the inputs."""
        if self.launch.same is not None:
            first, second = self.launch.same
            return f"{self.numbers.value}, {first} is {second}"
        return self.numbers.value if self.launch.size else NO_ELEMENTS


class Trials:
    """The launches of a source that its ports are compared in.

    Args:
        source: A path, a text or a module.
        entry: The function, if there are several.
        given: What a caller says of the launches.
        seed: Of the inputs.

    Attributes:
        source: The source, as `run` takes it.
        signature: That of the function.
        seed: Of the inputs.

    Raises:
        ArgumentError: There is no such kernel.
        DiagnosticError: The source cannot be read.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | ModuleOp,
        entry: str | None,
        given: Given,
        seed: int,
    ) -> None:
        self.source = as_path(source)
        self._executable = load(Kernel(self.source, entry))
        self.signature: Signature = self._executable.signature
        self.seed = seed
        self._given = given
        if self._executable.is_host:
            name = self.signature.name
            raise ArgumentError(f"@{name} is a function of the host; choose a kernel with entry")

    def __iter__(self) -> Iterator[Trial]:
        """The trials, which are made once.

        Raises:
            ArgumentError: No launch was found; it says what to give.
        """
        return iter(self._trials)

    @cached_property
    def _trials(self) -> list[Trial]:
        given = self._given
        if given.is_known:
            launch = Launch(1, grid=given.grid or (1, 1, 1), block=given.block)
            trial = self.trial(launch, Numbers.ORDINARY)
            return [] if trial is None else [trial]
        return self._of(Search(self._executable, given, self.seed).find())

    @cached_property
    def small(self) -> list[Trial]:
        """Trials of one launch that is as small as can be, for ports that are slow to run.

        None where a caller says all of the launch, or no smaller one was found.
        """
        if not self.can_be_small:
            return []
        launch = Search(self._executable, self._given, self.seed).find_small()
        return [] if launch is None else self._of([launch])

    @property
    def can_be_small(self) -> bool:
        """Whether a caller leaves something of the launches open."""
        given = self._given
        is_open_in_size = is_open(self.signature, given.arguments) and not given.shapes
        return not given.is_known and (given.grid is None or is_open_in_size)

    @property
    def _limit(self) -> float:
        """How long a launch of the source may take."""
        return LAUNCH_SECONDS if self._given.is_known else _FOUND_SECONDS

    def _of(self, launches: Sequence[Launch]) -> list[Trial]:
        """The trials of launches, of which the first one is taken with all kinds of numbers."""
        given = self._given
        has_own_numbers = any(
            each.is_memory and each.name not in given.arguments
            for each in self.signature.parameters
        )
        kinds = tuple(Numbers) if has_own_numbers else (Numbers.ORDINARY,)
        wanted = [(launches[0], numbers) for numbers in kinds]
        wanted += [(launch, Numbers.ORDINARY) for launch in launches[1:]]
        if is_open(self.signature, {}) and not given.arguments:
            nothing = replace(launches[0], size=0, shapes={}, length=0)
            wanted.append((nothing, Numbers.ORDINARY))
        found: list[Trial] = []
        end = time.process_time() + _LONGEST
        for launch, numbers in wanted:
            made = self.trial(launch, numbers) if time.process_time() < end else None
            found += [] if made is None else [made]
        return [*found, *self._of_one_array(found[0], end)] if found else found

    def _of_one_array(self, trial: Trial, end: float) -> list[Trial]:
        """The first launch with one array for two parameters, where the source is for that."""
        for same in can_be_same(self.signature, trial.arguments, trial.launch.locks):
            if time.process_time() > end:
                break
            if not self._given.arguments.keys().isdisjoint(same):
                continue
            launch = replace(trial.launch, same=same)
            if self._has_mistakes(launch):
                continue
            made = self.trial(launch, Numbers.ORDINARY)
            if made is not None:
                return [made]
        return []

    def _has_mistakes(self, launch: Launch) -> bool:
        """Whether the sanitizer finds mistakes in the source, such as races."""
        random = np.random.default_rng(self.seed)
        try:
            arguments = make_arguments(
                self.signature, launch, Numbers.ORDINARY, random, self._given.arguments
            )
            launch_on(
                self._executable,
                arguments,
                launch.grid,
                REFERENCE,
                block=launch.block,
                sanitize=True,
                seconds=self._limit,
            )
        except (ArgumentError, DiagnosticError, ValueError):
            return True
        return False

    def trial(self, launch: Launch, numbers: Numbers) -> Trial | None:
        """What the source makes of inputs; None where it does not take them, or does nothing."""
        signature = self.signature
        random = np.random.default_rng([self.seed, launch.size, list(Numbers).index(numbers)])
        try:
            arguments = make_arguments(signature, launch, numbers, random, self._given.arguments)
            after = copied(arguments)
            launch_on(
                self._executable,
                after,
                launch.grid,
                REFERENCE,
                block=launch.block,
                seconds=self._limit,
            )
            expectation = self._expectation(arguments, after, launch, numbers)
        except (ArgumentError, DiagnosticError, ValueError):
            # Nothing of no size, or an index that is NaN: the source itself stops there.
            return None
        if launch.size and not changed_elements(arguments, after):
            return None

        def expect_rough() -> Expectation:
            if not has_exact_quotients(self._executable.function):
                return expectation
            try:
                return self._expectation(arguments, after, launch, numbers, is_rough=True)
            except (ArgumentError, DiagnosticError, ValueError):
                return expectation

        sizes = describe(arguments, signature)
        return Trial(launch, numbers, arguments, expectation, sizes, expect_rough)

    def _expectation(
        self,
        arguments: Sequence[Any],
        after: Sequence[Any],
        launch: Launch,
        numbers: Numbers,
        *,
        is_rough: bool = False,
    ) -> Expectation:
        runs = self._runs_with_errors(arguments, launch, is_rough)
        return Expectation(
            self.signature.parameters, after, runs, may_overflow=numbers is Numbers.WIDE
        )

    def _runs_with_errors(
        self, arguments: Sequence[Any], launch: Launch, is_rough: bool
    ) -> list[list[Any]]:
        source = self._executable
        if not is_rough and not has_rounding_errors(source.function):
            return []
        runs: list[list[Any]] = []
        for number, (overflow, flushes) in enumerate(_RUNS):
            own = copied(arguments)
            bound = bind(source.signature, own)
            errors = RoundingErrors(
                np.random.default_rng([self.seed, number]),
                overflow,
                flushes=flushes,
                is_rough=is_rough,
            )
            source.launch_instrumented(
                bound, launch.grid, launch.block, errors, seconds=self._limit
            )
            runs.append(own)
        return runs


def as_path(kernel: Any) -> Any:
    """What `run` takes: a folder and a file by their path, everything else as it is."""
    if isinstance(kernel, str) and "\n" not in kernel and os.path.exists(kernel):
        return Path(kernel)
    return kernel
