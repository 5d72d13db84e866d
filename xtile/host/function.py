"""How host functions run, and what their code has on top of what kernels have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from typing_extensions import override
from xdsl.ir import Operation

from xtile.host import calls, launches, loops, memory
from xtile.semantics.addresses import AddressSpace
from xtile.semantics.arguments import Argument
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import Configuration, configuration_of
from xtile.semantics.language import Language
from xtile.semantics.program import Program, bind
from xtile.semantics.upstream import function as device

HANDLERS: dict[str, Callable[[Any, Any], Step]] = {
    **calls.HANDLERS,
    **launches.HANDLERS,
    **loops.HANDLERS,
    **memory.HANDLERS,
}
"""The handlers that host code has instead of those of kernels, by the operation's name."""


class HostCompiler(Compiler):
    """Compiles host code.

    Attributes:
        depth: How many calls of functions that call themselves run now.
        generator: Where the runtime library's random numbers come from.
        launcher: What launches kernels.
        lockstep: The loops whose iterations run at once.
        is_at_once: Whether a loop is compiled whose iterations run at once.
        flattened: The loops within one that runs at once whose iterations run at once with its.
        is_on_device: Whether a loop is compiled that may run on the device.
    """

    def __init__(
        self,
        configuration: Configuration,
        is_observed: bool,
        seed: int | None = None,
        launcher: launches.Launcher = launches.launch_here,
    ) -> None:
        """Makes a compiler.

        Args:
            configuration: Sizes of the host's launch, one work-item.
            is_observed: Whether the run will have an observer.
            seed: What the random numbers follow from; None: fresh ones.
            launcher: What launches kernels.
        """
        super().__init__(configuration, is_observed)
        self.depth = 0
        self.generator = np.random.default_rng(seed)
        self.launcher = launcher
        self.lockstep: set[Operation] = set()
        self.is_at_once = False
        self.flattened: Sequence[Operation] = ()
        self.is_on_device = False

    @override
    def handler(self, operation: Operation) -> Handler | None:
        return HANDLERS.get(operation.name) or super().handler(operation)


def _may_share(function: Operation) -> bool:
    """What the host allocates and prints belongs to one process."""
    return False


LANGUAGE: Language = replace(device.LANGUAGE, compiler=HostCompiler, may_share=_may_share)


def run_host(
    function: Operation,
    arguments: Sequence[Argument] = (),
    *,
    seed: int | None = None,
    launcher: launches.Launcher = launches.launch_here,
) -> None:
    """Runs a host function; what it prints goes to standard output.

    Args:
        function: A verified `func.func` with a body.
        arguments: Its arguments in signature order, which are updated in place.
        seed: What the runtime library's random numbers follow from; None: fresh ones.
        launcher: What launches kernels.

    Raises:
        ExecutionError: An operation cannot be executed, in the host's code or in a kernel.
        ValueError: The number or kind of arguments does not fit the parameters.
    """
    configuration = configuration_of(function, (1, 1, 1))
    addresses = AddressSpace()
    values = bind(function, arguments, addresses)
    compiler = HostCompiler(configuration, False, seed, launcher)
    Program(function, values, configuration, addresses, compiler=compiler).run()
