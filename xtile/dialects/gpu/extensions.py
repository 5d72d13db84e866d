"""Classes of ours for xDSL's `gpu` operations, and what becomes of what those hold.

xDSL's hold no upper bounds of ids, no attributes of arguments, no targets of modules and not all
combiners of reductions; and some name properties that LLVM has as attributes, or the other way
round. Their parents must be of xDSL's classes too, so that no operation of a kernel can be left.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`; xDSL 0.74, `dialects/gpu.py`.
"""

from __future__ import annotations

from xdsl.dialects import gpu
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Operation

from xtile.text.extensions import Replacement, Table

_FUNCTIONS = "xtile.dialects.gpu.functions"
_INDICES = "xtile.dialects.gpu.indices"
_LAUNCH = "xtile.dialects.gpu.launch"
_LAUNCH_FUNC = "xtile.dialects.gpu.launch_func"
_MEMORY = "xtile.dialects.gpu.memory"
_MODULES = "xtile.dialects.gpu.modules"
_SUBGROUPS = "xtile.dialects.gpu.subgroups"


def _keep(_: Operation) -> None:
    """Both classes hold the same."""


def _adapt_function(operation: Operation) -> None:
    """A kernel is marked by an attribute, and the sizes of its launches are properties."""
    from xtile.dialects.gpu.functions import KERNEL, LAUNCH_SIZES, WORKGROUP_ATTRIBUTIONS

    kernel = operation.properties.pop("kernel", None)
    if kernel is not None:
        operation.attributes[KERNEL] = kernel
    for name in LAUNCH_SIZES:
        sizes = operation.attributes.pop(f"gpu.{name}", None)
        if sizes is not None:
            operation.properties[name] = sizes
    operation.attributes.setdefault(WORKGROUP_ATTRIBUTIONS, IntegerAttr(0, i64))


def _restore_function(operation: Operation) -> None:
    """The attribute stays, because LLVM knows nothing of xDSL's property."""
    from xtile.dialects.gpu.functions import KERNEL

    kernel = operation.attributes.get(KERNEL)
    if kernel is not None:
        operation.properties["kernel"] = kernel


def _adapt_dimension(operation: Operation) -> None:
    from xtile.dialects.gpu.attributes import DimensionAttr
    from xtile.dialects.gpu.enumerations import Dimension

    dimension = operation.properties["dimension"]
    if isinstance(dimension, gpu.DimensionAttr):
        operation.properties["dimension"] = DimensionAttr(Dimension(dimension.data.value))


def _restore_dimension(operation: Operation) -> None:
    from xtile.dialects.gpu.attributes import DimensionAttr

    dimension = operation.properties["dimension"]
    if isinstance(dimension, DimensionAttr):
        name = gpu.DimensionEnum(dimension.data.value)
        operation.properties["dimension"] = gpu.DimensionAttr(name)


def _adapt_reduction(operation: Operation) -> None:
    """Its `min` and `max` are of signed integers; of floats they leave open what NaN gives."""
    from xtile.dialects.gpu.attributes import AllReduceOperationAttr
    from xtile.dialects.gpu.enumerations import AllReduceOperation

    combiner = operation.properties.get("op")
    if not isinstance(combiner, gpu.AllReduceOpAttr):
        return
    name = str(combiner.data.value)
    if name in ("min", "max"):
        if not isinstance(operation.operands[0].type, IntegerType):
            return
        name += "si"
    operation.properties["op"] = AllReduceOperationAttr(AllReduceOperation(name))


def _restore_reduction(operation: Operation) -> None:
    """The combiners that xDSL has, but not those that it calls `min` and `max` of any numbers."""
    from xtile.dialects.gpu.attributes import AllReduceOperationAttr

    combiner = operation.properties.get("op")
    names = [each.value for each in gpu.AllReduceOpEnum]
    if isinstance(combiner, AllReduceOperationAttr) and combiner.data.value in names:
        name = gpu.AllReduceOpEnum(combiner.data.value)
        operation.properties["op"] = gpu.AllReduceOpAttr(name)


def _forget_segments(operation: Operation) -> None:
    """LLVM counts the operands of these, so that nothing else needs to say it."""
    operation.attributes.pop("operandSegmentSizes", None)


def _restore_copy(operation: Operation) -> None:
    _count_segments(operation, 2)


def _restore_deallocation(operation: Operation) -> None:
    _count_segments(operation, 1)


def _count_segments(operation: Operation, single: int) -> None:
    """Says that the last operands stand alone, after the tokens that are waited for."""
    segments = [len(operation.operands) - single, *([1] * single)]
    operation.attributes["operandSegmentSizes"] = DenseArrayBase.from_list(i32, segments)


OPERATIONS: Table = {
    gpu.AllReduceOp: Replacement(_SUBGROUPS, "AllReduceOp", _adapt_reduction, _restore_reduction),
    gpu.AllocOp: Replacement(_MEMORY, "AllocOp", _keep, _keep),
    gpu.BarrierOp: Replacement(_SUBGROUPS, "BarrierOp", _keep, _keep),
    gpu.BlockDimOp: Replacement(_INDICES, "BlockDimOp", _adapt_dimension, _restore_dimension),
    gpu.BlockIdOp: Replacement(_INDICES, "BlockIdOp", _adapt_dimension, _restore_dimension),
    gpu.DeallocOp: Replacement(_MEMORY, "DeallocOp", _forget_segments, _restore_deallocation),
    gpu.FuncOp: Replacement(_FUNCTIONS, "FuncOp", _adapt_function, _restore_function),
    gpu.GlobalIdOp: Replacement(_INDICES, "GlobalIdOp", _adapt_dimension, _restore_dimension),
    gpu.GridDimOp: Replacement(_INDICES, "GridDimOp", _adapt_dimension, _restore_dimension),
    gpu.HostRegisterOp: Replacement(_MEMORY, "HostRegisterOp", _keep, _keep),
    gpu.HostUnregisterOp: Replacement(_MEMORY, "HostUnregisterOp", _keep, _keep),
    gpu.LaneIdOp: Replacement(_INDICES, "LaneIdOp", _keep, _keep),
    gpu.LaunchFuncOp: Replacement(_LAUNCH_FUNC, "LaunchFuncOp", _keep, _keep),
    gpu.LaunchOp: Replacement(_LAUNCH, "LaunchOp", _keep, _keep),
    gpu.MemcpyOp: Replacement(_MEMORY, "MemcpyOp", _forget_segments, _restore_copy),
    gpu.ModuleOp: Replacement(_MODULES, "ModuleOp", _keep, _keep),
    gpu.NumSubgroupsOp: Replacement(_INDICES, "NumSubgroupsOp", _keep, _keep),
    gpu.ReturnOp: Replacement(_FUNCTIONS, "ReturnOp", _keep, _keep),
    gpu.SetDefaultDeviceOp: Replacement(_MEMORY, "SetDefaultDeviceOp", _keep, _keep),
    gpu.SubgroupIdOp: Replacement(_INDICES, "SubgroupIdOp", _keep, _keep),
    gpu.SubgroupSizeOp: Replacement(_INDICES, "SubgroupSizeOp", _keep, _keep),
    gpu.TerminatorOp: Replacement(_LAUNCH, "TerminatorOp", _keep, _keep),
    gpu.ThreadIdOp: Replacement(_INDICES, "ThreadIdOp", _adapt_dimension, _restore_dimension),
    gpu.WaitOp: Replacement(_MEMORY, "WaitOp", _keep, _keep),
    gpu.YieldOp: Replacement(_SUBGROUPS, "YieldOp", _keep, _keep),
}
"""Every `gpu` operation that xDSL has; its classes lack too much of LLVM's."""
