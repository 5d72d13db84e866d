"""How host functions run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation

from xtile.host.compiler import HostCompiler
from xtile.semantics.addresses import AddressSpace
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import configuration_of
from xtile.semantics.language import Language
from xtile.semantics.program import Program, bind
from xtile.semantics.upstream import function as device


def _may_share(function: Operation) -> bool:
    """What the host allocates and prints belongs to one process."""
    return False


LANGUAGE: Language = replace(device.LANGUAGE, compiler=HostCompiler, may_share=_may_share)


def run_host(
    function: Operation, arguments: Sequence[Argument] = (), *, seed: int | None = None
) -> None:
    """Runs a host function; what it prints goes to standard output.

    Args:
        function: A verified `func.func` with a body.
        arguments: Its arguments in signature order, which are updated in place.
        seed: What the runtime library's random numbers follow from; None: fresh ones.

    Raises:
        ExecutionError: An operation cannot be executed, in the host's code or in a kernel.
        ValueError: The number or kind of arguments does not fit the parameters.
    """
    configuration = configuration_of(function, (1, 1, 1))
    addresses = AddressSpace()
    values = bind(function, arguments, addresses)
    compiler = HostCompiler(configuration, False, seed)
    Program(function, values, configuration, addresses, compiler=compiler).run()
