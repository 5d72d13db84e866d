"""The `llvm` dialect: xDSL's operations and those of upstream that kernels use beside them.

Source: MLIR (LLVM 22), `Dialect/LLVMIR/LLVMOps.td`.
"""

from __future__ import annotations

from typing import Self

from typing_extensions import override
from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, i1, i32
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from xtile.dialects.definitions import op_definition
from xtile.text.extensions import Extension, Table, completed


def _has_bundles(operation: llvm.CallOp) -> bool:
    """Whether a call has operand bundles, which xDSL's custom form leaves out."""
    return bool(operation.op_bundle_sizes)


@op_definition
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


@op_definition
class AssumeOp(IRDLOperation):
    """What the optimizer may assume; without operand bundles.

    ```
    llvm.intr.assume %c : i1
    ```
    """

    name = "llvm.intr.assume"

    cond = operand_def(i1)
    op_bundle_sizes = prop_def(DenseArrayBase.constr(i32))

    def __init__(self, cond: SSAValue | Operation) -> None:
        super().__init__(operands=[cond], properties={"op_bundle_sizes": _NO_BUNDLES})

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operation = cls(parser.resolve_operand(operand, parser.parse_type()))
        operation.attributes.update(attributes)
        return operation

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.cond)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.cond.type)


_NO_BUNDLES = DenseArrayBase.from_list(i32, [])


OPERATIONS: Table = {
    llvm.CallOp: Extension(is_ambiguous=_has_bundles),
}
"""What LLVM says of xDSL's operations."""

LLVM = Dialect(
    "llvm",
    completed(list(llvm.LLVM.operations), OPERATIONS, [AssumeOp, PoisonOp]),
    [*llvm.LLVM.attributes],
)

__all__ = ["LLVM", "AssumeOp", "PoisonOp"]
