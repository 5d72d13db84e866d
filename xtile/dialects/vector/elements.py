"""Vectors from scalars and back.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`.
"""

from __future__ import annotations

from math import prod

from typing_extensions import override
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.vector.types import element_type, shape_of


@irdl_op_definition
class FromElementsOp(IRDLOperation):
    """A vector with these elements, in row-major order.

    ```
    %r = vector.from_elements %a, %b : vector<2xf32>
    ```
    """

    name = "vector.from_elements"

    elements = var_operand_def()
    dest = result_def(VectorType)

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        count = prod(shape_of(self.dest))
        if len(self.elements) != count:
            raise VerifyException(f"expected {count} elements, got {len(self.elements)}")
        for element in self.elements:
            if element.type != element_type(self.dest):
                raise VerifyException(
                    f"an element must be {element_type(self.dest)}, but is {element.type}"
                )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> FromElementsOp:
        start = parser.pos
        elements = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isa(type_, VectorType):
            parser.raise_error("expected a vector type", start)
        operands = [parser.resolve_operand(e, type_.element_type) for e in elements]
        return cls.build(operands=[operands], result_types=[type_], attributes=attributes)

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.elements, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.dest.type)


@irdl_op_definition
class ToElementsOp(IRDLOperation):
    """The elements of a vector, in row-major order.

    ```
    %r:2 = vector.to_elements %v : vector<2xf32>
    ```
    """

    name = "vector.to_elements"

    source = operand_def(VectorType)
    elements = var_result_def()

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        count = prod(shape_of(self.source))
        if len(self.elements) != count:
            raise VerifyException(f"expected {count} results, got {len(self.elements)}")

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ToElementsOp:
        source = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type_ = parser.parse_type()
        if not isa(type_, VectorType):
            parser.raise_error("expected a vector type", start)
        types: list[Attribute] = [type_.element_type] * prod(type_.get_shape())
        operand = parser.resolve_operand(source, type_)
        return cls.build(operands=[operand], result_types=[types], attributes=attributes)

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)


@irdl_op_definition
class StepOp(IRDLOperation):
    """The numbers 0, 1, 2, ... as indices.

    ```
    %r = vector.step : vector<16xindex>
    ```
    """

    name = "vector.step"

    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($result)"

    @override
    def verify_(self) -> None:
        if len(shape_of(self.result)) != 1 or str(element_type(self.result)) != "index":
            raise VerifyException(
                f"the result must be a one-dimensional vector of index, but is {self.result.type}"
            )
