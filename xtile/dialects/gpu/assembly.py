"""The directives that the `gpu` operations share in their assembly formats.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUDialect.cpp`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.builtin import IndexType, IntegerAttr, i32
from xdsl.dialects.gpu import AsyncTokenType
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from xtile.dialects.gpu.attributes import AllReduceOperationAttr
from xtile.dialects.gpu.enumerations import AllReduceOperation


@irdl_custom_directive
class AsyncDependencies(CustomDirective):
    """`async [%a, %b]`: whether there is a token, and the tokens to wait for."""

    token: TypeDirective
    dependencies: VariadicOperandVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        has_token = parser.parse_optional_keyword("async") is not None
        self.token.set(state, (AsyncTokenType(),) if has_token else ())
        operands = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        self.dependencies.set(state, operands or ())

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        # Upstream prints this space even where nothing follows.
        state.print_whitespace(printer)
        has_token = bool(self.token.get(op))
        dependencies = self.dependencies.get(op)
        if has_token:
            printer.print_string("async")
        if not dependencies:
            return
        printer.print_string(" [" if has_token else "[")
        printer.print_list(dependencies, printer.print_ssa_value)
        printer.print_string("]")


@irdl_custom_directive
class LaunchDimType(CustomDirective):
    """`: i32`: the type of all sizes of a launch, if it is not `index`."""

    grid_size: TypeDirective
    cluster_size_x: OptionalOperandVariable
    cluster_type_x: TypeDirective
    cluster_type_y: TypeDirective
    cluster_type_z: TypeDirective

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        type: Attribute = IndexType()
        if parser.parse_optional_punctuation(":") is not None:
            type = parser.parse_type()
        self.grid_size.set(state, (type,))
        has_clusters = bool(state.operands[self.cluster_size_x.index])
        for directive in (self.cluster_type_x, self.cluster_type_y, self.cluster_type_z):
            directive.set(state, (type,) if has_clusters else ())

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        # Upstream prints this space even where nothing follows.
        state.print_whitespace(printer)
        (type,) = self.grid_size.get(op)
        if not isinstance(type, IndexType):
            printer.print_string(": ")
            printer.print_attribute(type)


@irdl_custom_directive
class LaunchFuncOperands(CustomDirective):
    """`args(%a : f32, %b : i32)`: the operands of a kernel, if there are any."""

    values: VariadicOperandVariable
    types: TypeDirective

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands: list[UnresolvedOperand] = []
        types: list[Attribute] = []

        def parse_operand() -> None:
            operands.append(parser.parse_unresolved_operand())
            parser.parse_punctuation(":")
            types.append(parser.parse_type())

        if parser.parse_optional_keyword("args") is not None:
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_operand)
        self.values.set(state, operands)
        self.types.set(state, types)

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        # Upstream prints this space even where nothing follows.
        state.print_whitespace(printer)
        values = self.values.get(op)
        if not values:
            return
        printer.print_string("args(")
        for index, value in enumerate(values):
            if index:
                printer.print_string(", ")
            printer.print_ssa_value(value)
            printer.print_string(" : ")
            printer.print_attribute(value.type)
        printer.print_string(")")


@irdl_custom_directive
class OptionalCombiner(CustomDirective):
    """`add`: a built-in combiner, if there is one."""

    operation: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        names = [str(operation) for operation in AllReduceOperation]
        name = parser.parse_optional_keyword_in(names)
        if name is not None:
            self.operation.set(state, AllReduceOperationAttr(AllReduceOperation(name)))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        # Upstream prints this space even where nothing follows.
        state.print_whitespace(printer)
        operation = self.operation.get(op)
        if isinstance(operation, AllReduceOperationAttr):
            printer.print_string(f" {operation.data.value}")


@irdl_custom_directive
class Cluster(CustomDirective):
    """`cluster(size = 4, stride = 2)`: which lanes reduce together, if not all of them."""

    size: AttributeVariable
    stride: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("cluster") is None:
            return
        with parser.in_parens():
            self.size.set(state, _parse_setting(parser, "size"))
            if parser.parse_optional_punctuation(",") is not None:
                self.stride.set(state, _parse_setting(parser, "stride"))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        size = self.size.get(op)
        if not isinstance(size, IntegerAttr):
            return
        state.print_whitespace(printer)
        printer.print_string(f"cluster(size = {size.value.data}")
        stride = self.stride.get(op)
        if isinstance(stride, IntegerAttr) and stride.value.data != 1:
            printer.print_string(f", stride = {stride.value.data}")
        printer.print_string(")")


def _parse_setting(parser: Parser, name: str) -> Attribute:
    """Reads `name = integer`."""
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return IntegerAttr(parser.parse_integer(), i32)
