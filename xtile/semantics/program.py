"""Compiled functions, which run work-groups on numpy arrays, work-items in lockstep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xtile.semantics.addresses import AddressSpace
from xtile.semantics.arguments import Argument
from xtile.semantics.binding import Buffers
from xtile.semantics.compiler import Body, Compiler, Instrument
from xtile.semantics.configuration import Configuration, Size3, configuration_of
from xtile.semantics.errors import RunWarnings
from xtile.semantics.interpretation import interpretation
from xtile.semantics.language import language_of
from xtile.semantics.observer import Observer
from xtile.semantics.state import State
from xtile.semantics.values import Value

Progress = Callable[[int, int], None]


class Program:
    """A compiled function with the values of its parameters, which runs work-groups.

    Attributes:
        configuration: Sizes of the launch.
        warnings: What was undefined so far, but has an effect that devices agree on.
    """

    def __init__(
        self,
        function: Operation,
        values: Sequence[Value],
        configuration: Configuration,
        addresses: AddressSpace,
        observer: Observer | None = None,
        compiler: Compiler | None = None,
        instrument: Instrument | None = None,
    ) -> None:
        """Compiles a function.

        Args:
            function: The function, of any language that can be launched.
            values: The run-time values of its parameters.
            configuration: Sizes of the launch.
            addresses: Where the memory of the values lies.
            observer: Is told what happens.
            compiler: What compiles the function; None: what its language says.
            instrument: What changes every step that the language's compiler makes.

        Raises:
            ExecutionError: An operation has no meaning.
        """
        language = language_of(function)
        self.configuration = configuration
        self.warnings = RunWarnings()
        self._addresses = addresses
        self._observer = observer
        self._is_collective = language.is_collective
        if compiler is None:
            compiler = (language.compiler or Compiler)(configuration, observer is not None)
            compiler.instrument = instrument
        parameters = compiler.slots(language.parameters(function))
        # Constants that are too large for their type are infinite.
        with np.errstate(all="ignore"):
            self._body: Body = language.compile(function, compiler)
        self._initial: list[Value] = [None] * compiler.slot_count
        for slot, value in zip(parameters, values, strict=True):
            self._initial[slot] = value

    def run_group(self, group: Size3) -> None:
        """Runs one work-group.

        Raises:
            ExecutionError: An operation cannot be executed.
        """
        if self._observer is not None:
            self._observer.on_group(group)
        state = State(
            list(self._initial),
            group,
            self.configuration,
            self._addresses,
            self._observer,
            self._is_collective,
            self.warnings,
        )
        # Wrapping around, infinities and NaN are results like others.
        with np.errstate(all="ignore"):
            self._body.run(state)
        if self._observer is not None:
            self._observer.on_group_end()

    def run(self, progress: Progress | None = None) -> None:
        """Runs all work-groups; `progress` is called with the numbers of done and of all.

        Raises:
            ExecutionError: An operation cannot be executed.
        """
        x, y, z = self.configuration.grid
        for done, group in enumerate(group_ids(self.configuration.grid), 1):
            self.run_group(group)
            if progress is not None:
                progress(done, x * y * z)


def prepare(
    function: Operation,
    arguments: Sequence[Argument],
    grid: Size3,
    block: Size3 | None = None,
    observer: Observer | None = None,
    instrument: Instrument | None = None,
) -> Program:
    """Compiles a function for arguments of the host; the arguments are as `launch` takes them."""
    configuration = configuration_of(function, grid, block)
    addresses = AddressSpace()
    values = bind(function, arguments, addresses)
    return Program(function, values, configuration, addresses, observer, instrument=instrument)


def group_ids(grid: Size3) -> Iterator[Size3]:
    """The ids of all work-groups; x varies fastest."""
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                yield x, y, z


def bind(
    function: Operation, arguments: Sequence[Argument], addresses: AddressSpace
) -> list[Value]:
    """The values of a function's parameters.

    Raises:
        ValueError: The number or kind of arguments does not fit the parameters.
    """
    language = language_of(function)
    parameters = language.parameters(function)
    if len(arguments) != len(parameters):
        raise ValueError(
            f"@{_name_of(function)} takes {len(parameters)} arguments, given {len(arguments)}"
        )
    buffers = Buffers(addresses)
    # Arguments that are too large for their type are infinite.
    with np.errstate(all="ignore"):
        values = [
            language.bind(parameter.type, _label(parameter, index), argument, buffers)
            for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True))
        ]
    current = interpretation()
    return values if current is None else [current.value(value) for value in values]


def _label(parameter: SSAValue, index: int) -> str:
    return f"%{parameter.name_hint or index}"


def _name_of(function: Operation) -> str:
    name = function.get_attr_or_prop("sym_name")
    return str(getattr(name, "data", "?"))
