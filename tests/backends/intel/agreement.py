"""Runs kernels of the tensor language on OpenCL's device and on the reference device, and compares.

Both get equal random arguments. Where the memory differs afterwards, the errors that
`xtile/checking/tolerances.py` allows say by how much it may: the reference device runs the kernel
some more times, with such errors and in other orders (`xtile/checking/outcomes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tests.backends.intel.orders import Orders
from tests.backends.intel.random_arguments import Memory
from tests.precision.perturbed import Overflow, has_orders, is_determined, launch_perturbed
from tests.seeds import SEED_VARIABLE
from xtile.checking.outcomes import Outcomes, are_same
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics import engine
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.configuration import Size3
from xtile.semantics.errors import ExecutionError

Launch = Callable[[Sequence[Argument], Size3], None]
"""Runs a kernel on the device that is compared with the reference device."""

ONE_GROUP: Size3 = (1, 1, 1)

_PERTURBED_RUNS = (
    (Overflow.SUM, 0.0),
    *((overflow, 1.0) for overflow in Overflow),
    *[(Overflow.ANY, 1.0)] * 3,
)
"""The runs that show what devices may give: what sums that may overflow become, and how much of
the allowed errors is made. The first one shows the numbers that others are off from."""


def memory_of(arguments: Sequence[Argument]) -> list[Memory]:
    """All memory of arguments."""
    memrefs = [
        memref
        for argument in arguments
        if not isinstance(argument, ScalarArgument)
        for memref in (argument.entries if isinstance(argument, GroupArgument) else (argument,))
    ]
    return [memref.base for memref in memrefs if memref.base is not None]


def copied(arguments: Sequence[Argument]) -> list[Argument]:
    """The same arguments with memory of their own."""
    return [_copied(argument) for argument in arguments]


def _copied(argument: Argument) -> Argument:
    if isinstance(argument, GroupArgument):
        return replace(argument, entries=[_copied_memref(entry) for entry in argument.entries])
    return _copied_memref(argument) if isinstance(argument, MemrefArgument) else argument


def _copied_memref(memref: MemrefArgument) -> MemrefArgument:
    return memref if memref.base is None else replace(memref, base=memref.base.copy())


# --- comparison ---


@dataclass
class Agreement:
    """What a comparison came to.

    Attributes:
        elements: The elements that were compared.
        tolerated: Those of them that differ, but not more than is allowed.
        undetermined: Those that were not compared, because allowed errors or orders change them.
    """

    elements: int
    tolerated: int = 0
    undetermined: int = 0


def check_agreement(
    function: FuncOp,
    arguments: Sequence[Argument],
    launch: Launch,
    grid: Size3 = ONE_GROUP,
    seed: int = 0,
) -> Agreement | None:
    """Runs a kernel on both devices and compares all memory.

    Returns: None where the kernel's result on these arguments is not defined.

    Raises:
        AssertionError: The results differ by more than is allowed.
    """
    expected = copied(arguments)
    if not _run(function, expected, grid):
        return None
    found = copied(arguments)
    launch(found, grid)
    pairs = list(zip(memory_of(expected), memory_of(found), strict=True))
    agreement = Agreement(sum(memory.size for memory, _ in pairs))
    if all(are_same(first, second).all() for first, second in pairs):
        return agreement
    outcomes = _outcomes(function, arguments, expected, grid, seed)
    for index, ((first, second), outcome) in enumerate(zip(pairs, outcomes, strict=True)):
        wrong = ~outcome.allows(second)
        if wrong.any():
            raise AssertionError(_message(function, index, second, outcome, wrong, seed))
        differs = ~are_same(first, second) & ~outcome.is_undetermined
        agreement.tolerated += int(differs.sum())
        agreement.undetermined += int(outcome.is_undetermined.sum())
    return agreement


def is_defined(function: FuncOp, arguments: Sequence[Argument], grid: Size3 = ONE_GROUP) -> bool:
    """Whether all devices must agree on a kernel's result on these arguments."""
    return _run(function, copied(arguments), grid)


def _run(function: FuncOp, arguments: Sequence[Argument], grid: Size3) -> bool:
    """Runs a kernel on the reference device, and says whether all devices must agree on it."""
    orders = Orders()
    try:
        engine.launch(function, arguments, grid, observer=orders)
    except ExecutionError:
        return False
    return orders.is_defined


def _outcomes(
    function: FuncOp,
    arguments: Sequence[Argument],
    expected: Sequence[Argument],
    grid: Size3,
    seed: int,
) -> list[Outcomes]:
    """What all memory may hold after a launch."""
    outcomes = [Outcomes(memory, has_orders(function)) for memory in memory_of(expected)]
    if is_determined(function):
        return outcomes
    random = np.random.default_rng(seed)
    for overflow, part in _PERTURBED_RUNS:
        perturbed = copied(arguments)
        try:
            launch_perturbed(function, perturbed, grid, random, overflow, part)
        except ExecutionError:
            for outcome in outcomes:
                outcome.is_undetermined[...] = True
            return outcomes
        for outcome, memory in zip(outcomes, memory_of(perturbed), strict=True):
            outcome.add(memory)
    return outcomes


def _message(
    function: FuncOp,
    index: int,
    found: Memory,
    outcome: Outcomes,
    wrong: npt.NDArray[np.bool_],
    seed: int,
) -> str:
    positions = np.flatnonzero(wrong)[:6]
    lines = [
        f"  [{position}] {found[position]!r} instead of {outcome.text(position)}"
        for position in positions
    ]
    return (
        f"memory {index} differs in {int(wrong.sum())} of {wrong.size} elements; "
        f"{SEED_VARIABLE}={seed} repeats this\n" + "\n".join(lines) + f"\n{function}"
    )
