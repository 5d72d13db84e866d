"""How a launch is divided into work-groups, subgroups and work-items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from xtile.semantics.errors import ExecutionError
from xtile.targets import LARGEST_WORK_GROUP

if TYPE_CHECKING:
    from xdsl.ir import Operation

Size3: TypeAlias = tuple[int, int, int]
"""A size or an id in x, y and z."""

Level: TypeAlias = Literal["block", "subgroup", "lane", "tile"]
"""What a function's text describes: a work-group, a subgroup, or a work-item.

A work-group that is described by tiles has one work-item."""


@dataclass(frozen=True)
class Configuration:
    """Sizes of a launch.

    Attributes:
        subgroup_size: Work-items in a subgroup.
        work_group_size: Work-items in each mode of a work-group; x varies fastest.
        num_subgroups: Subgroups in each dimension of a work-group. The last subgroup is not full
            where its size does not divide the work-group's.
        grid: Work-groups in the launch, in three dimensions.
        level: What the function's text describes; None where it does not say.
        dynamic_shared_memory: Bytes that the launch gives each work-group.
    """

    subgroup_size: int
    work_group_size: tuple[int, ...]
    num_subgroups: Size3
    grid: Size3
    level: Level | None = None
    dynamic_shared_memory: int = 0

    @property
    def subgroups(self) -> int:
        """Subgroups in a work-group."""
        return math.prod(self.num_subgroups)

    @property
    def work_items(self) -> int:
        """Work-items in a work-group."""
        return math.prod(self.work_group_size)


def require_full_subgroups(configuration: Configuration) -> None:
    """Checks that what the lanes of a subgroup hold together is held by all of its lanes.

    Raises:
        ValueError: The last subgroup of a work-group has fewer work-items than the others.
    """
    items, size = configuration.work_items, configuration.subgroup_size
    if items % size:
        raise ValueError(
            f"{size} lanes of a subgroup hold this together, but the last subgroup of a work-group "
            f"of {items} work-items has only {items % size}; launch a multiple of {size}"
        )


def configuration_of(function: Operation, grid: Size3, block: Size3 | None = None) -> Configuration:
    """The sizes that a launch and a function's attributes give, or the defaults.

    Args:
        function: The function to launch.
        grid: Work-groups in three dimensions.
        block: Work-items of a work-group in three dimensions, where the launch says so.

    Raises:
        ExecutionError: The sizes contradict each other, are not positive, or no device has them.
    """
    from xtile.semantics.language import language_of

    configuration = language_of(function).configure(function, grid, block)
    largest = max(configuration.work_items, configuration.subgroup_size)
    if largest > LARGEST_WORK_GROUP:
        raise ExecutionError(
            function,
            f"{largest} work-items are too many for a work-group: no device has more than "
            f"{LARGEST_WORK_GROUP}",
        )
    return configuration
