"""Writes random kernels of collective instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from tests.generators.collective_kernels import control, linear_algebra
from tests.generators.collective_kernels.kernel import CollectiveKernel
from tests.generators.collective_kernels.memory import derived
from tests.generators.collective_kernels.scope import Scope
from tests.generators.tensorlang.choices import NUMBERS
from xtile.dialects.tensorlang.types import type_text

_SIZES = (9, 10, 20, 35, 56, 84, 1, 1, 3, 4, 7, 16, 17, 31, 33, 64, 100)
"""Sizes as applications have them, and those next to the sizes of tiles."""

_LARGE_SIZES = (130, 200, 257, 300)
"""Sizes that are larger than tiles."""

_MAXIMUM_DEPTH = 2

_SHOWN_ORDER = 2
"""The most dimensions that `axpby` copies."""

Maker = Callable[[Scope], object]


def collective_kernel(seed: int, name: str = "kernel") -> CollectiveKernel:
    """A random kernel; the same arguments give the same one.

    Args:
        seed: Chooses the kernel.
        name: Its name.
    """
    random = Random(seed)
    groups = random.choice((1, 1, 2, 3))
    scope = Scope(
        random,
        groups,
        random.choice((0.0, 0.0, 0.3, 1.0)),
        random.choices(NUMBERS, k=random.choice((1, 1, 2, 3))),
        _sizes(random),
    )
    _fill(scope, random.randint(2, 8))
    for view in list(scope.views):
        if view.root.is_local and view.root.is_ready and len(view.shape) <= _SHOWN_ORDER:
            linear_algebra.show(scope, view)
    return CollectiveKernel(
        name, _text(scope, name), tuple(scope.parameters.values()), (groups, 1, 1)
    )


def _sizes(random: Random) -> list[int]:
    sizes = [random.choice((*_SIZES, random.randint(1, 100))) for _ in range(random.randint(1, 3))]
    return [random.choice(_LARGE_SIZES), 3, 20] if random.random() < _LARGE else sizes


_LARGE = 0.1
"""How likely a kernel has a large size."""


def _text(scope: Scope, name: str) -> str:
    parameters = [f"{n}: {type_text(p.type)}" for n, p in scope.parameters.items()]
    lines = [f"func @{name}({', '.join(parameters)}) {{", *scope.head, *scope.lines, "}"]
    return "\n".join(lines) + "\n"


_LINEAR_ALGEBRA: Sequence[Maker] = [
    *[linear_algebra.gemm] * 3,
    linear_algebra.axpby,
    linear_algebra.axpby,
    linear_algebra.total,
    linear_algebra.cumsum,
    linear_algebra.gemv,
    linear_algebra.ger,
    linear_algebra.hadamard,
]

_OTHERS: Sequence[Maker] = [
    *(control.store, control.foreach, control.foreach_tile),
    *[derived] * 3,
]


def _fill(scope: Scope, count: int) -> None:
    """Appends about so many instructions."""
    for _ in range(count):
        if scope.depth < _MAXIMUM_DEPTH and scope.chance(0.15):
            construct = scope.choice((control.loop, control.branch))
            construct(scope, partial(_fill, scope, scope.random.randint(1, 3)))
        else:
            scope.choice(_LINEAR_ALGEBRA if scope.chance(0.7) else _OTHERS)(scope)
