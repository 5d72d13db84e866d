"""The `cf` dialect, with branch weights and checks of the values that are passed.

Source: MLIR (LLVM 22), `Dialect/ControlFlow/IR/ControlFlowOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects import cf
from xdsl.dialects.builtin import I32, DenseArrayBase, i32
from xdsl.ir import Attribute, Block, Dialect
from xdsl.irdl import IRDLOperation, OptPropertyDef
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.upstream import completes
from xtile.text.extensions import Extension, Replacement, Table, completed


def _verify_passed(block: Block, types: Sequence[Attribute]) -> None:
    """Checks that a branch passes what the block takes."""
    expected = block.arg_types
    if tuple(expected) != tuple(types):
        names = [", ".join(str(type) for type in list) or "none" for list in (expected, types)]
        raise VerifyException(f"expected values of types {names[0]} for the block, got {names[1]}")


def _verify_branch(operation: cf.BranchOp) -> None:
    """`cf.br`: goes on in another block.

    ```
    cf.br ^bb1(%a : f32)
    ```
    """
    _verify_passed(operation.successor, operation.arguments.types)


@irdl_custom_directive
class Weights(CustomDirective):
    """`weights([1, 3])`: how often each branch is taken, if it is said."""

    weights: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("weights") is None:
            return
        with parser.in_parens():
            values = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_integer
            )
        self.weights.set(state, DenseArrayBase.from_list(i32, values))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        weights = self.weights.get(op)
        if isa(weights, DenseArrayBase[I32]):
            state.print_whitespace(printer)
            printer.print_string(f"weights({list(weights.get_values())})")


@completes(
    properties={"branch_weights": OptPropertyDef(DenseArrayBase.constr(i32))},
    assembly_format=(
        "$cond custom<Weights>($branch_weights) `,` "
        "$then_block (`(` $then_arguments^ `:` type($then_arguments) `)`)? `,` "
        "$else_block (`(` $else_arguments^ `:` type($else_arguments) `)`)? attr-dict"
    ),
    custom_directives=(Weights,),
)
class ConditionalBranchOp(cf.ConditionalBranchOp):
    """Goes on in one of two blocks.

    ```
    cf.cond_br %c weights([1, 3]), ^bb1(%a : f32), ^bb2
    ```
    """

    @override
    def verify_(self) -> None:
        _verify_passed(self.then_block, self.then_arguments.types)
        _verify_passed(self.else_block, self.else_arguments.types)


OPERATIONS: Table = {
    cf.BranchOp: Extension(verify=_verify_branch),
    cf.ConditionalBranchOp: Replacement("xtile.dialects.cf", "ConditionalBranchOp"),
}
"""What LLVM says of xDSL's operations; its `cf.cond_br` holds no weights."""

Cf = Dialect("cf", completed(list(cf.Cf.operations), OPERATIONS), [*cf.Cf.attributes])
