"""What host code has on top of what kernels have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from typing_extensions import override
from xdsl.ir import Operation

from xtile.host import calls, launches, loops, memory
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import Configuration

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
        lockstep: The loops whose iterations run at once.
    """

    def __init__(
        self, configuration: Configuration, is_observed: bool, seed: int | None = None
    ) -> None:
        """Makes a compiler.

        Args:
            configuration: Sizes of the host's launch, one work-item.
            is_observed: Whether the run will have an observer.
            seed: What the random numbers follow from; None: fresh ones.
        """
        super().__init__(configuration, is_observed)
        self.depth = 0
        self.generator = np.random.default_rng(seed)
        self.lockstep: set[Operation] = set()

    @override
    def handler(self, operation: Operation) -> Handler | None:
        return HANDLERS.get(operation.name) or super().handler(operation)
