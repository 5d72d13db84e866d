"""Prints vectors while a program runs.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, StringAttr, VectorType
from xdsl.irdl import IRDLOperation, opt_operand_def, opt_prop_def, prop_def
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.upstream import TypeWhere
from xtile.dialects.vector.attributes import PrintPunctuation, PrintPunctuationAttr
from xtile.text.directives import Oilist

NEWLINE = PrintPunctuationAttr(PrintPunctuation.NEWLINE)
_PRINTABLE = TypeWhere(
    "a vector, an integer, an index or a float",
    lambda type: isa(type, VectorType | IntegerType | IndexType | AnyFloat),
)


@irdl_custom_directive
class PrintClauses(Oilist):
    """`str "text"` or `punctuation <comma>`."""

    str: AttributeVariable
    punctuation: AttributeVariable


@op_definition
class PrintOp(IRDLOperation):
    """Prints a vector or a scalar and what follows it, or a string.

    ```
    vector.print %v : vector<4xf32> punctuation <comma>
    ```
    """

    name = "vector.print"

    source = opt_operand_def(_PRINTABLE)
    punctuation = prop_def(PrintPunctuationAttr, default_value=NEWLINE)
    stringLiteral = opt_prop_def(StringAttr)  # noqa: N815

    assembly_format = (
        "($source^ `:` type($source))? custom<PrintClauses>($stringLiteral, $punctuation) attr-dict"
    )
    custom_directives = (PrintClauses,)

    @override
    def verify_(self) -> None:
        if self.stringLiteral is None:
            return
        if self.source is not None or self.punctuation != NEWLINE:
            raise VerifyException("a string is printed alone, without a value or a punctuation")
