"""The `llvm` dialect: xDSL's operations and those of upstream that kernels use beside them.

Source: MLIR (LLVM 22), `Dialect/LLVMIR/LLVMOps.td`.
"""

from xdsl.dialects.llvm import LLVM as XdslLLVM
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def
from xdsl.traits import Pure


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


LLVM = Dialect("llvm", [*XdslLLVM.operations, PoisonOp], [*XdslLLVM.attributes])

__all__ = ["LLVM", "PoisonOp"]
