"""Vectors from scalars and back.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`.
"""

from __future__ import annotations

from math import prod

from typing_extensions import override
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
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

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import AnyVector, as_vector, shape_of, verify_type
from xtile.dialects.vector.types import FIXED_VECTOR, INDEX_LINE, element_type


@op_definition
class FromElementsOp(IRDLOperation):
    """A vector with these elements, in row-major order.

    ```
    %r = vector.from_elements %a, %b : vector<2xf32>
    ```
    """

    name = "vector.from_elements"

    elements = var_operand_def()
    dest = result_def(FIXED_VECTOR)

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        count = prod(shape_of(self.dest))
        if len(self.elements) != count:
            raise VerifyException(f"expected {count} elements, got {len(self.elements)}")
        for element in self.elements:
            verify_type(element.type, element_type(self.dest), "an element")

    @classmethod
    @override
    def parse(cls, parser: Parser) -> FromElementsOp:
        elements = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = _parse_vector_type(parser)
        operands = [parser.resolve_operand(element, type.element_type) for element in elements]
        return cls.build(operands=[operands], result_types=[type], attributes=attributes)

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.elements, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.dest.type)


@op_definition
class ToElementsOp(IRDLOperation):
    """The elements of a vector, in row-major order.

    ```
    %r:2 = vector.to_elements %v : vector<2xf32>
    ```
    """

    name = "vector.to_elements"

    source = operand_def(FIXED_VECTOR)
    elements = var_result_def()

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        count = prod(shape_of(self.source))
        if len(self.elements) != count:
            raise VerifyException(f"expected {count} results, got {len(self.elements)}")
        for element in self.elements:
            verify_type(element.type, element_type(self.source), "an element")

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ToElementsOp:
        source = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = _parse_vector_type(parser)
        types: list[Attribute] = [type.element_type] * prod(type.get_shape())
        operand = parser.resolve_operand(source, type)
        return cls.build(operands=[operand], result_types=[types], attributes=attributes)

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)


@op_definition
class StepOp(IRDLOperation):
    """The numbers 0, 1, 2, ... as indices.

    ```
    %r = vector.step : vector<16xindex>
    ```
    """

    name = "vector.step"

    result = result_def(INDEX_LINE)

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($result)"


@op_definition
class VectorScaleOp(IRDLOperation):
    """How many times their size scalable dimensions have when the program runs.

    ```
    %r = vector.vscale
    ```
    """

    name = "vector.vscale"

    res = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "attr-dict"


def _parse_vector_type(parser: Parser) -> AnyVector:
    start = parser.pos
    type = parser.parse_type()
    vector = as_vector(type)
    if vector is None:
        parser.raise_error(f"expected a vector type, got {type}", start, parser.pos)
    return vector
