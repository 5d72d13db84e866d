"""The `llvm` dialect: xDSL's operations and those of upstream that kernels use beside them.

Source: MLIR (LLVM 22), `Dialect/LLVMIR/LLVMOps.td`.
"""

from xdsl.dialects import llvm
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def
from xdsl.traits import Pure

from xtile.text.extensions import Extension, Table, completed


def _has_bundles(operation: llvm.CallOp) -> bool:
    """Whether a call has operand bundles, which xDSL's custom form leaves out."""
    return bool(operation.op_bundle_sizes)


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


OPERATIONS: Table = {
    llvm.CallOp: Extension(is_ambiguous=_has_bundles),
}
"""What LLVM says of xDSL's operations."""

LLVM = Dialect(
    "llvm",
    completed(list(llvm.LLVM.operations), OPERATIONS, [PoisonOp]),
    [*llvm.LLVM.attributes],
)

__all__ = ["LLVM", "PoisonOp"]
