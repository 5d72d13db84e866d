"""The `llvm` dialect: xDSL's operations and those of upstream that kernels use beside them.

Source: MLIR (LLVM 22), `Dialect/LLVMIR/LLVMOps.td`.
"""

from xdsl.dialects.llvm import LLVM as XdslLLVM
from xdsl.dialects.llvm import CallOp as XdslCallOp
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def
from xdsl.traits import Pure

from xtile.dialects.upstream import completes
from xtile.text.generic_form import GenericFormIf, never_ambiguous


def _has_bundles(operation: Operation) -> bool:
    return isinstance(operation, XdslCallOp) and bool(operation.op_bundle_sizes)


@never_ambiguous
@completes(traits=[GenericFormIf(_has_bundles)])
class CallOp(XdslCallOp):
    """A call; with operand bundles, which xDSL's custom form leaves out, in the generic form."""


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """A poison value.

    ```
    %r = llvm.mlir.poison : i1
    ```
    """

    name = "llvm.mlir.poison"

    res = result_def(Attribute)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"


_COMPLETED: dict[str, type[Operation]] = {CallOp.name: CallOp}

LLVM = Dialect(
    "llvm",
    [*(_COMPLETED.get(each.name, each) for each in XdslLLVM.operations), PoisonOp],
    [*XdslLLVM.attributes],
)

__all__ = ["LLVM", "CallOp", "PoisonOp"]
