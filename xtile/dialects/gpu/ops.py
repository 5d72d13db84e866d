"""The `gpu` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from __future__ import annotations

from xtile.dialects.gpu.functions import (
    FuncOp,
    ReturnOp,
)
from xtile.dialects.gpu.indices import (
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
)
from xtile.dialects.gpu.launch import (
    LaunchOp,
    TerminatorOp,
)
from xtile.dialects.gpu.launch_func import (
    LaunchFuncOp,
)
from xtile.dialects.gpu.memory import (
    AllocOp,
    DeallocOp,
    DynamicSharedMemoryOp,
    HostRegisterOp,
    HostUnregisterOp,
    MemcpyOp,
    MemsetOp,
    PrintfOp,
    SetDefaultDeviceOp,
    WaitOp,
)
from xtile.dialects.gpu.modules import (
    BinaryOp,
    ModuleOp,
)
from xtile.dialects.gpu.subgroups import (
    AllReduceOp,
    BarrierOp,
    RotateOp,
    ShuffleOp,
    SubgroupBroadcastOp,
    SubgroupReduceOp,
    YieldOp,
)

__all__ = [
    "AllReduceOp",
    "AllocOp",
    "BarrierOp",
    "BinaryOp",
    "BlockDimOp",
    "BlockIdOp",
    "ClusterBlockIdOp",
    "ClusterDimBlocksOp",
    "ClusterDimOp",
    "ClusterIdOp",
    "DeallocOp",
    "DynamicSharedMemoryOp",
    "FuncOp",
    "GlobalIdOp",
    "GridDimOp",
    "HostRegisterOp",
    "HostUnregisterOp",
    "LaneIdOp",
    "LaunchFuncOp",
    "LaunchOp",
    "MemcpyOp",
    "MemsetOp",
    "ModuleOp",
    "NumSubgroupsOp",
    "PrintfOp",
    "ReturnOp",
    "RotateOp",
    "SetDefaultDeviceOp",
    "ShuffleOp",
    "SubgroupBroadcastOp",
    "SubgroupIdOp",
    "SubgroupReduceOp",
    "SubgroupSizeOp",
    "TerminatorOp",
    "ThreadIdOp",
    "WaitOp",
    "YieldOp",
]
