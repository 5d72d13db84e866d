"""How a launch is divided into subgroups and work-groups, and what is chosen where nothing is said.

Source: tensor language reference, section "Functions"; docs/semantics.md, "Sizes of subgroups and
work-groups".
"""

from __future__ import annotations

from dataclasses import dataclass

from xtile.dialects.tensorlang.operation import array_entries, integer_value
from xtile.dialects.tensorlang.ops.collective import BlasOperation
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.errors import ExecutionError

DEFAULT_SUBGROUP_SIZES = (16, 32, 8)
"""Tried in this order; the first that divides the rows of the work-group is taken."""

DEFAULT_BLAS_TILING = (2, 2)
"""Subgroups in each mode of the work-group of a function with linear algebra instructions."""


@dataclass(frozen=True)
class Configuration:
    """Sizes of a launch.

    Attributes:
        subgroup_size: Work-items in a subgroup.
        work_group_size: Work-items in a work-group, in two modes.
        grid: Work-groups in the launch, in three dimensions.
    """

    subgroup_size: int
    work_group_size: tuple[int, int]
    grid: tuple[int, int, int]

    @property
    def num_subgroups(self) -> tuple[int, int, int]:
        """Subgroups in each dimension of a work-group."""
        rows, columns = self.work_group_size
        return rows // self.subgroup_size, columns, 1

    @property
    def subgroups(self) -> int:
        """Subgroups in a work-group."""
        x, y, z = self.num_subgroups
        return x * y * z


def configuration_of(function: FuncOp, grid: tuple[int, int, int]) -> Configuration:
    """The sizes that a function's attributes give, or the defaults.

    Raises:
        ExecutionError: The attributes contradict each other or are not positive.
    """
    given = array_entries(function.work_group_size)
    size = _subgroup_size(function, None if given is None else integer_value(given[0]))
    if given is None:
        has_blas = any(isinstance(op, BlasOperation) for op in function.body.walk())
        m, n = DEFAULT_BLAS_TILING if has_blas else (1, 1)
        return Configuration(size, (m * size, n), grid)
    rows, columns = (integer_value(entry) for entry in given)
    if rows < 1 or columns < 1 or rows % size:
        raise ExecutionError(
            function,
            f"work_group_size=[{rows},{columns}] is not a positive multiple of subgroup size "
            f"{size}",
        )
    return Configuration(size, (rows, columns), grid)


def _subgroup_size(function: FuncOp, rows: int | None) -> int:
    if function.subgroup_size is not None:
        size = integer_value(function.subgroup_size)
        if size < 1:
            raise ExecutionError(function, f"subgroup_size={size} is not positive")
        return size
    if rows is None:
        return DEFAULT_SUBGROUP_SIZES[0]
    for size in DEFAULT_SUBGROUP_SIZES:
        if rows % size == 0:
            return size
    raise ExecutionError(
        function,
        f"the first work-group size {rows} is no multiple of a subgroup size "
        f"({', '.join(map(str, sorted(DEFAULT_SUBGROUP_SIZES)))})",
    )
