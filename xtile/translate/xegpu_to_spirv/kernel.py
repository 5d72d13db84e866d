"""What holds for a kernel as a whole: its sizes, and its variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import DEFAULT_SUBGROUP_SIZE, given_subgroup_size
from xtile.dialects.walk import walk

if TYPE_CHECKING:
    from xtile.translate.xegpu_to_spirv.lowering import Lowering


@dataclass
class Kernel:
    """A kernel that is being translated.

    Attributes:
        work_group_size: Work-items of a work-group in x, y and z; None if a launch chooses.
        grid: Work-groups in x, y and z, if it is known.
        subgroup_size: Work-items of a subgroup; None if the driver chooses.
        local_bytes: How much local memory its variables need.
        has_rows: Whether a subgroup's work-items all have one y and z, as on CPUs.
    """

    work_group_size: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None
    subgroup_size: int | None = None
    local_bytes: int = 0
    has_rows: bool = False

    @property
    def lanes(self) -> int:
        """Work-items of a subgroup, for what depends on it: nobody else chooses it then.

        Raises:
            ValueError: The device has other subgroups.
        """
        if self.subgroup_size is None:
            self.subgroup_size = DEFAULT_SUBGROUP_SIZE
        lanes, size = self.subgroup_size, self.work_group_size
        if self.has_rows and size is not None and size[0] % lanes and size[1] * size[2] > 1:
            raise ValueError(
                f"a CPU's subgroups lie along x, where this work-group has {size[0]} work-items; "
                f"that must be a multiple of the subgroup's {lanes}, or y and z 1"
            )
        return lanes

    @property
    def lanes_together(self) -> int:
        """Work-items of a subgroup, for what its lanes hold together.

        Raises:
            ValueError: The last subgroup of a work-group has fewer.
        """
        lanes, size = self.lanes, self.work_group_size
        if size is not None and prod(size) % lanes:
            raise ValueError(
                f"the lanes of a subgroup of {lanes} hold this together, but a work-group has "
                f"{prod(size)} work-items; that must be a multiple of {lanes}"
            )
        return lanes


HELD_TOGETHER = frozenset({"xegpu.dpas", "xegpu.load_nd", "xegpu.prefetch_nd", "xegpu.store_nd"})
"""Operations of which each lane of a subgroup holds a part."""


def lanes_together(function: FuncOp) -> int:
    """What the number of work-items must be a multiple of where a launch chooses it."""
    for operation in walk(function):
        if operation.name in HELD_TOGETHER or "subgroup_block_io" in operation.properties:
            return given_subgroup_size(function) or DEFAULT_SUBGROUP_SIZE
    return 1


def kernel_of(function: FuncOp, lowering: Lowering) -> Kernel:
    """What a function says of its launch.

    Raises:
        DiagnosticError: The device has not the size of work-groups or of subgroups.
    """
    size, target = _sizes(function, "known_block_size"), lowering.target
    if size is not None and prod(size) > target.chip.most_work_items:
        raise lowering.error(
            f"a work-group has {prod(size)} work-items, but {target.name} allows "
            f"{target.chip.most_work_items}"
        )
    return Kernel(
        size,
        _sizes(function, "known_grid_size"),
        _subgroup_size(function, lowering),
        has_rows=lowering.target.vector_unit is not None,
    )


def _sizes(function: FuncOp, name: str) -> tuple[int, int, int] | None:
    attribute = function.known_block_size if "block" in name else function.known_grid_size
    if attribute is None:
        return None
    x, y, z = cast("Sequence[int]", attribute.get_values())
    return x, y, z


def _subgroup_size(function: FuncOp, lowering: Lowering) -> int | None:
    size = given_subgroup_size(function)
    target = lowering.target
    if size is not None and size not in target.chip.subgroup_sizes:
        known = ", ".join(map(str, target.chip.subgroup_sizes))
        raise lowering.error(
            f"{target.name} has no subgroups of {size} work-items; its sizes are {known}"
        )
    return size
