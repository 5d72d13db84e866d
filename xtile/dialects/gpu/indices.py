"""Where a work-item stands: ids and sizes of threads, blocks, clusters, subgroups and the grid.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation
from xdsl.irdl import (
    IRDLOperation,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xtile.dialects.definitions import op_definition
from xtile.dialects.gpu.attributes import DimensionAttr
from xtile.dialects.gpu.enumerations import Dimension
from xtile.text.extensions import generic_elsewhere


def dimension_number(operation: Operation) -> int:
    """The number of the dimension that an id or a size is along: 0 for x."""
    attribute = operation.properties["dimension"]
    assert isinstance(attribute, DimensionAttr)
    return list(Dimension).index(attribute.data)


class DimensionOperation(IRDLOperation, ABC):
    """An id or a size along one dimension; `upper_bound` promises that it is not larger."""

    dimension = prop_def(DimensionAttr)
    upper_bound = opt_prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType())

    # Upstream prints two spaces here.
    assembly_format = "` ` $dimension (`upper_bound` $upper_bound^)? attr-dict"

    traits = traits_def(Pure())

    def __init__(self, dimension: Dimension, upper_bound: int | None = None) -> None:
        super().__init__(
            result_types=[IndexType()],
            properties={
                "dimension": DimensionAttr(dimension),
                "upper_bound": _bound(upper_bound),
            },
        )


class SubgroupOperation(IRDLOperation, ABC):
    """A number that all work-items of a subgroup agree on; `upper_bound` limits it."""

    upper_bound = opt_prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType())

    assembly_format = "(`upper_bound` $upper_bound^)? attr-dict `:` type($result)"

    traits = traits_def(Pure())

    def __init__(self, upper_bound: int | None = None) -> None:
        super().__init__(
            result_types=[IndexType()], properties={"upper_bound": _bound(upper_bound)}
        )


def _bound(upper_bound: int | None) -> IntegerAttr[IndexType] | None:
    return None if upper_bound is None else IntegerAttr(upper_bound, IndexType())


@generic_elsewhere
@op_definition
class ThreadIdOp(DimensionOperation):
    """The id of the thread in its block.

    ```
    %thread_id_x = gpu.thread_id  x
    ```
    """

    name = "gpu.thread_id"


@generic_elsewhere
@op_definition
class BlockIdOp(DimensionOperation):
    """The id of the block in the grid.

    ```
    %block_id_y = gpu.block_id  y upper_bound 64
    ```
    """

    name = "gpu.block_id"


@generic_elsewhere
@op_definition
class BlockDimOp(DimensionOperation):
    """How many threads a block has.

    ```
    %block_dim_x = gpu.block_dim  x
    ```
    """

    name = "gpu.block_dim"


@generic_elsewhere
@op_definition
class GridDimOp(DimensionOperation):
    """How many blocks the grid has.

    ```
    %grid_dim_z = gpu.grid_dim  z
    ```
    """

    name = "gpu.grid_dim"


@generic_elsewhere
@op_definition
class GlobalIdOp(DimensionOperation):
    """The id of the thread in the grid.

    ```
    %global_id_x = gpu.global_id  x
    ```
    """

    name = "gpu.global_id"


@op_definition
class ClusterDimOp(DimensionOperation):
    """How many clusters the grid has.

    ```
    %cluster_dim_x = gpu.cluster_dim  x
    ```
    """

    name = "gpu.cluster_dim"


@op_definition
class ClusterDimBlocksOp(DimensionOperation):
    """How many blocks a cluster has.

    ```
    %cluster_dim_blocks_x = gpu.cluster_dim_blocks  x
    ```
    """

    name = "gpu.cluster_dim_blocks"


@op_definition
class ClusterIdOp(DimensionOperation):
    """The id of the cluster in the grid.

    ```
    %cluster_id_x = gpu.cluster_id  x
    ```
    """

    name = "gpu.cluster_id"


@op_definition
class ClusterBlockIdOp(DimensionOperation):
    """The id of the block in its cluster.

    ```
    %cluster_block_id_x = gpu.cluster_block_id  x
    ```
    """

    name = "gpu.cluster_block_id"


@generic_elsewhere
@op_definition
class LaneIdOp(SubgroupOperation):
    """The id of the work-item in its subgroup.

    ```
    %lane = gpu.lane_id upper_bound 16
    ```
    """

    name = "gpu.lane_id"

    assembly_format = "(`upper_bound` $upper_bound^)? attr-dict"


@generic_elsewhere
@op_definition
class SubgroupIdOp(SubgroupOperation):
    """The id of the subgroup in its block.

    ```
    %subgroup = gpu.subgroup_id : index
    ```
    """

    name = "gpu.subgroup_id"


@generic_elsewhere
@op_definition
class NumSubgroupsOp(SubgroupOperation):
    """How many subgroups a block has.

    ```
    %count = gpu.num_subgroups : index
    ```
    """

    name = "gpu.num_subgroups"


@generic_elsewhere
@op_definition
class SubgroupSizeOp(SubgroupOperation):
    """How many work-items a subgroup has.

    ```
    %size = gpu.subgroup_size : index
    ```
    """

    name = "gpu.subgroup_size"


OPERATIONS: list[type[Operation]] = [
    BlockDimOp,
    BlockIdOp,
    ClusterBlockIdOp,
    ClusterDimBlocksOp,
    ClusterDimOp,
    ClusterIdOp,
    GlobalIdOp,
    GridDimOp,
    LaneIdOp,
    NumSubgroupsOp,
    SubgroupIdOp,
    SubgroupSizeOp,
    ThreadIdOp,
]
"""The operations of this module."""
