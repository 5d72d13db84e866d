"""The dialect's operations, each by its name; its family is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.triton.amdg.ops.accesses import (
        AsyncCopyLocalToGlobalOp,
        MaskedLoadOp,
        MaskedStoreOp,
    )
    from xtile.dialects.triton.amdg.ops.buffers import (
        BufferAtomicCASOp,
        BufferAtomicRMWOp,
        BufferLoadOp,
        BufferLoadToLocalOp,
        BufferStoreOp,
    )
    from xtile.dialects.triton.amdg.ops.numbers import (
        ScaledDowncastFp4Op,
        ScaledDowncastFp8Op,
        ScaledUpcastFp4Op,
        ScaledUpcastFp8Op,
        UpcastMXFPOp,
    )
    from xtile.dialects.triton.amdg.ops.registers import (
        ConcatOp,
        ExtractSliceOp,
        InThreadTransposeOp,
        LocalLoadPackedTransposedOp,
    )
    from xtile.dialects.triton.amdg.ops.scheduling import (
        ArriveBarrierOp,
        AsyncCopyMbarrierArriveOp,
        AsyncTDMIntrinsicWaitOp,
        AsyncTDMWaitOp,
        AsyncWaitOp,
        ClusterBarrierArriveOp,
        ClusterBarrierWaitOp,
        CondBarrierOp,
        InitBarrierOp,
        InstructionSchedHintOp,
        WaitBarrierOp,
    )
    from xtile.dialects.triton.amdg.ops.tensor_data_mover import (
        AsyncTDMCopyGlobalToLocalOp,
        AsyncTDMCopyLocalToGlobalOp,
        AsyncTDMFusedCopyGlobalToLocalOp,
        AsyncTDMGatherOp,
        AsyncTDMScatterOp,
        TDMPrefetchOp,
        UpdateTensorDescriptorOp,
    )

__all__ = [
    "ArriveBarrierOp",
    "AsyncCopyLocalToGlobalOp",
    "AsyncCopyMbarrierArriveOp",
    "AsyncTDMCopyGlobalToLocalOp",
    "AsyncTDMCopyLocalToGlobalOp",
    "AsyncTDMFusedCopyGlobalToLocalOp",
    "AsyncTDMGatherOp",
    "AsyncTDMIntrinsicWaitOp",
    "AsyncTDMScatterOp",
    "AsyncTDMWaitOp",
    "AsyncWaitOp",
    "BufferAtomicCASOp",
    "BufferAtomicRMWOp",
    "BufferLoadOp",
    "BufferLoadToLocalOp",
    "BufferStoreOp",
    "ClusterBarrierArriveOp",
    "ClusterBarrierWaitOp",
    "ConcatOp",
    "CondBarrierOp",
    "ExtractSliceOp",
    "InThreadTransposeOp",
    "InitBarrierOp",
    "InstructionSchedHintOp",
    "LocalLoadPackedTransposedOp",
    "MaskedLoadOp",
    "MaskedStoreOp",
    "ScaledDowncastFp4Op",
    "ScaledDowncastFp8Op",
    "ScaledUpcastFp4Op",
    "ScaledUpcastFp8Op",
    "TDMPrefetchOp",
    "UpcastMXFPOp",
    "UpdateTensorDescriptorOp",
    "WaitBarrierOp",
]

_FAMILIES = (
    "accesses",
    "buffers",
    "numbers",
    "registers",
    "scheduling",
    "tensor_data_mover",
)


def __getattr__(name: str) -> object:
    """Finds an operation in the families."""
    from xtile.dialects.lazy_operations import find_operation

    value = find_operation(__name__, _FAMILIES, name)
    globals()[name] = value
    return value
