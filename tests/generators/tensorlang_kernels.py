"""Random kernels of the tensor language that follow every rule of its reference.

`random_kernel` builds one from a seed; `kernels` is the same as a Hypothesis strategy. Over a few
hundred kernels every instruction, modifier, type and kind of constant occurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from tests.generators.tensorlang.arithmetic import ARITHMETIC
from tests.generators.tensorlang.builder import MAXIMUM_DEPTH, Builder, Level, Maker
from tests.generators.tensorlang.collective import COLLECTIVE, SPMD_REGIONS
from tests.generators.tensorlang.control import CONTROL, MIXED_BUILTINS, SPMD_BUILTINS
from tests.generators.tensorlang.memory import MEMORY, barrier
from tests.generators.tensorlang.spmd import SUBGROUP, SUBGROUP_REGIONS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

LARGEST_SIZE = 30
"""About how many instructions the largest of `kernels` have."""


def random_kernel(seed: int, size: int = 30) -> ModuleOp:
    """Builds a module of one or two functions; the same arguments give the same module.

    Args:
        seed: Chooses the kernel.
        size: About how many instructions to make, without those that they need.
    """
    random = Random(seed)
    count = 2 if random.random() < 0.15 else 1
    functions = [
        Builder(random, _makers, size // count).function(f"kernel{i or ''}") for i in range(count)
    ]
    return ModuleOp(functions)


def kernels() -> SearchStrategy[ModuleOp]:
    """Random kernels for Hypothesis, which finds the smallest size at which a test fails."""
    from hypothesis import strategies

    seeds = strategies.integers(0, 2**32 - 1)
    return strategies.builds(random_kernel, seeds, strategies.integers(1, LARGEST_SIZE))


def _makers(builder: Builder) -> Sequence[Maker]:
    return _table(builder.spmd, builder.level, builder.depth < MAXIMUM_DEPTH)


@cache
def _table(spmd: bool, level: Level, may_nest: bool) -> Sequence[Maker]:
    """What may stand in a region of this kind."""
    together = spmd and level <= Level.SUBGROUP
    tables = [
        (True, ARITHMETIC + MEMORY + MIXED_BUILTINS),
        (level == Level.WORK_GROUP, [barrier]),
        (may_nest, CONTROL * 3),
        (not spmd, COLLECTIVE * 2),
        (not spmd and may_nest, SPMD_REGIONS * 6),
        (spmd, SPMD_BUILTINS * 2),
        (together, SUBGROUP * 2),
        (together and may_nest, SUBGROUP_REGIONS * 3),
    ]
    return [maker for applies, table in tables if applies for maker in table]
