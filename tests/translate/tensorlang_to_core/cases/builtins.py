"""Builtin values."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

CASES = [
    Case(
        "group_id",
        """
%x = group_id.x : index
%y = group_id.y : index
%z = group_id.z : index
""",
        """
%x = gpu.block_id  x
%y = gpu.block_id  y
%z = gpu.block_id  z
""",
    ),
    Case(
        "num_groups",
        """
%x = num_groups.x : index
%y = num_groups.y : index
%z = num_groups.z : index
""",
        """
%x = gpu.grid_dim  x
%y = gpu.grid_dim  y
%z = gpu.grid_dim  z
""",
    ),
    Case(
        "num_subgroups",
        """
%x = num_subgroups.x : i32
%y = num_subgroups.y : i32
%z = num_subgroups.z : i32
""",
        """
%0 = gpu.block_dim  x
%1 = gpu.subgroup_size : index
%2 = arith.divui %0, %1 : index
%x = arith.index_cast %2 : index to i32
%3 = gpu.block_dim  y
%y = arith.index_cast %3 : index to i32
%z = arith.constant 1 : i32
""",
    ),
    Case(
        "subgroup_size",
        "%x = subgroup_size : i32",
        """
%0 = gpu.subgroup_size : index
%x = arith.index_cast %0 : index to i32
""",
    ),
    Case(
        "subgroup_id",
        """
%x = subgroup_id.x : i32
%y = subgroup_id.y : i32
%z = subgroup_id.z : i32
""",
        """
%z = arith.constant 0 : i32
%0 = gpu.subgroup_id : index
%1 = gpu.block_dim  x
%2 = gpu.subgroup_size : index
%3 = arith.divui %1, %2 : index
%4 = arith.remui %0, %3 : index
%x = arith.index_cast %4 : index to i32
%5 = gpu.subgroup_id : index
%6 = gpu.block_dim  x
%7 = gpu.subgroup_size : index
%8 = arith.divui %6, %7 : index
%9 = arith.divui %5, %8 : index
%y = arith.index_cast %9 : index to i32
""",
        is_spmd=True,
    ),
    Case(
        "subgroup_linear_id",
        "%x = subgroup_linear_id : i32",
        """
%0 = gpu.subgroup_id : index
%x = arith.index_cast %0 : index to i32
""",
        is_spmd=True,
    ),
    Case(
        "subgroup_local_id",
        "%x = subgroup_local_id : i32",
        """
%0 = gpu.lane_id
%x = arith.index_cast %0 : index to i32
""",
        is_spmd=True,
    ),
]
