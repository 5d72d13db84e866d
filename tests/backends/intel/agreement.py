"""Runs kernels of the tensor language on OpenCL's device and on the reference device, and compares.

Both get equal random arguments. Where the memory differs afterwards, the errors that
`xtile/testing/tolerances.py` allows say by how much it may: the reference device runs the kernel
some more times, with such errors and in other orders.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tests.backends.intel.orders import Orders
from tests.backends.intel.random_arguments import Memory
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics import engine
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.configuration import Size3
from xtile.semantics.errors import ExecutionError
from xtile.testing.perturbed import has_orders, is_determined, launch_perturbed

Launch = Callable[[Sequence[Argument], Size3], None]
"""Runs a kernel on the device that is compared with the reference device."""

ONE_GROUP: Size3 = (1, 1, 1)

SEED_VARIABLE = "XTILE_TEST_SEED"

_PERTURBED_RUNS = 8

_SAFETY = 2.0
"""How much more than in the perturbed runs errors may grow to; these are only a sample."""


def fresh_seed() -> int:
    """A seed from the environment, or else a new one. Messages of failures show it."""
    given = os.environ.get(SEED_VARIABLE)
    return int(given) if given else int(np.random.SeedSequence().generate_state(1)[0])


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
    if all(_distance(first, second).max(initial=0) == 0 for first, second in pairs):
        return agreement
    allowed = _allowed(function, arguments, expected, grid, seed)
    for index, ((first, second), limit) in enumerate(zip(pairs, allowed, strict=True)):
        distance = _distance(first, second)
        wrong = ~(distance <= limit)
        if wrong.any():
            raise AssertionError(_message(function, index, first, second, limit, wrong, seed))
        agreement.tolerated += int(((distance > 0) & np.isfinite(limit)).sum())
        agreement.undetermined += int(np.isinf(limit).sum())
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


def _allowed(
    function: FuncOp,
    arguments: Sequence[Argument],
    expected: Sequence[Argument],
    grid: Size3,
    seed: int,
) -> list[npt.NDArray[np.float64]]:
    """For each element how far devices may be apart; infinite if it is not determined."""
    limits = [np.zeros(memory.shape) for memory in memory_of(expected)]
    if is_determined(function):
        return limits
    random = np.random.default_rng(seed)
    for _ in range(_PERTURBED_RUNS):
        perturbed = copied(arguments)
        try:
            launch_perturbed(function, perturbed, grid, random)
        except ExecutionError:
            return [np.full(memory.shape, np.inf) for memory in memory_of(expected)]
        for limit, first, second in zip(
            limits, memory_of(expected), memory_of(perturbed), strict=True
        ):
            np.maximum(limit, _SAFETY * _distance(first, second), out=limit)
    if has_orders(function):
        return [np.where(limit > 0, np.inf, 0.0) for limit in limits]
    return limits


def _distance(first: Memory, second: Memory) -> npt.NDArray[np.float64]:
    """How far numbers are apart: 0 where they are equal or both NaN, infinite where one is NaN."""
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    same = (first == second) | ((first != first) & (second != second))
    with np.errstate(all="ignore"):
        difference = np.abs(first.astype(wide) - second.astype(wide))
    # Large integers that differ may be one number in f64.
    difference = np.where(first.dtype.kind in "iu", np.maximum(difference, 1.0), difference)
    return np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))


def _message(
    function: FuncOp,
    index: int,
    expected: Memory,
    found: Memory,
    limit: npt.NDArray[np.float64],
    wrong: npt.NDArray[np.bool_],
    seed: int,
) -> str:
    places = np.flatnonzero(wrong)[:6]
    lines = [
        f"  [{place}] {found[place]!r} instead of {expected[place]!r}, may be off by {limit[place]}"
        for place in places
    ]
    return (
        f"memory {index} differs in {int(wrong.sum())} of {wrong.size} elements; "
        f"{SEED_VARIABLE}={seed} repeats this\n" + "\n".join(lines) + f"\n{function}"
    )
