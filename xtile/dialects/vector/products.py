"""Products of vectors.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import AnyVector, as_vector, vector_type, verify_type
from xtile.dialects.vector.attributes import ADD, verify_combining_kind
from xtile.dialects.vector.types import (
    FLOAT_VECTOR,
    VECTOR_WITH_DIMENSIONS,
    dimensions_of,
    make_vector,
    verify_elements,
)
from xtile.text.extensions import Extension, Table

_FLOATS = VarConstraint("FLOATS", FLOAT_VECTOR)


@op_definition
class OuterProductOp(IRDLOperation):
    """Products of each element of one vector and each of another, or a scalar; combined with `acc`.

    ```
    %r = vector.outerproduct %a, %b, %acc {kind = #vector.kind<add>} : vector<4xf32>, vector<8xf32>
    ```
    """

    name = "vector.outerproduct"

    lhs = operand_def(VECTOR_WITH_DIMENSIONS)
    rhs = operand_def()
    acc = opt_operand_def(VECTOR_WITH_DIMENSIONS)
    kind = prop_def(CombiningKindAttr, default_value=ADD)
    result = result_def(VECTOR_WITH_DIMENSIONS)

    traits = traits_def(Pure())

    @classmethod
    @override
    def parse(cls, parser: Parser) -> OuterProductOp:
        start = parser.pos
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        if len(operands) not in (2, 3):
            parser.raise_error(f"expected 2 or 3 operands, got {len(operands)}", start, parser.pos)
        attributes = {**parser.parse_optional_attr_dict()}
        kind = attributes.pop("kind", ADD)
        parser.parse_punctuation(":")
        start = parser.pos
        left = parser.parse_type()
        parser.parse_punctuation(",")
        right = parser.parse_type()
        result = _outer_product_type(left, right)
        if result is None:
            parser.raise_error(
                f"expected vectors of one dimension, got {left} and {right}", start, parser.pos
            )
        values = [
            parser.resolve_operand(operand, type)
            for operand, type in zip(operands, (left, right, result), strict=False)
        ]
        return cls.build(
            operands=[values[0], values[1], values[2:]],
            result_types=[result],
            properties={"kind": kind},
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        if self.acc is not None:
            # As in MLIR, which leaves everything out where there is nothing to combine with.
            printer.print_op_attributes({"kind": self.kind, **self.attributes})
        printer.print_string(" : ")
        printer.print_list((self.lhs.type, self.rhs.type), printer.print_attribute)

    @override
    def verify_(self) -> None:
        left, result = vector_type(self.lhs), vector_type(self.result)
        verify_elements(self.lhs.type, result.element_type, "the first operand")
        verify_elements(self.rhs.type, result.element_type, "the second operand")
        expected = _outer_product_type(left, self.rhs.type)
        if expected is None:
            raise VerifyException(
                f"expected vectors of one dimension, got {left} and {self.rhs.type}"
            )
        right = as_vector(self.rhs.type)
        if right is not None and left.get_scalable_dims()[0] and not right.get_scalable_dims()[0]:
            raise VerifyException(
                f"both vectors or only the second may be scalable, got {left} and {right}"
            )
        # As in MLIR, which dimensions of the result are scalable is not compared.
        if result.get_shape() != expected.get_shape():
            verify_type(result, expected, "the result")
        if self.acc is not None:
            verify_type(self.acc.type, result, "the accumulator")
        verify_combining_kind(self.kind, result.element_type)


def _outer_product_type(left: Attribute, right: Attribute) -> AnyVector | None:
    """Returns the type of a product; None if the operands have more than one dimension."""
    one, other = as_vector(left), as_vector(right)
    if one is None or one.get_num_dims() != 1:
        return None
    if other is None:
        return make_vector(one.element_type, dimensions_of(one))
    if other.get_num_dims() != 1:
        return None
    return make_vector(one.element_type, [*dimensions_of(one), *dimensions_of(other)])


EXTENSIONS: Table = {
    vector.FMAOp: Extension(
        operands={"lhs": _FLOATS, "rhs": _FLOATS, "acc": _FLOATS}, results={"res": _FLOATS}
    ),
}
"""What LLVM says of xDSL's operations of this module."""
