"""Comparisons and the choice between two values.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td` and `ArithBase.td`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import VarConstraint
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.arith.types import BOOLEAN_LIKE, truth_type
from xtile.dialects.upstream import FLOAT_LIKE, SIGNLESS_INTEGER_LIKE, completes

CMPI_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""The comparisons of integers; the attribute holds the position in this list."""

CMPF_PREDICATES = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)
"""The comparisons of floats; the attribute holds the position in this list."""


def _parse_predicate(parser: Parser, predicates: Sequence[str]) -> IntegerAttr:
    position = parser.pos
    name = parser.parse_identifier()
    if name not in predicates:
        parser.raise_error(
            f"expected one of {', '.join(predicates)}, got {name}", position, parser.pos
        )
    parser.parse_punctuation(",")
    return IntegerAttr(predicates.index(name), i64)


def _verify_comparison(operation: CmpIOp | CmpFOp, predicates: Sequence[str]) -> None:
    predicate = operation.predicate.value.data
    if not 0 <= predicate < len(predicates):
        raise VerifyException(f"the predicate must be below {len(predicates)}, got {predicate}")
    expected = truth_type(operation.lhs.type)
    if operation.result.type != expected:
        raise VerifyException(f"expected a result of type {expected}, got {operation.result.type}")


_INTEGER = VarConstraint("T", SIGNLESS_INTEGER_LIKE)
_FLOAT = VarConstraint("T", FLOAT_LIKE)


@completes(operands={"lhs": _INTEGER, "rhs": _INTEGER}, results={"result": BOOLEAN_LIKE})
class CmpIOp(arith.CmpiOp):
    """Compares integers; a vector gives a vector of truth values.

    ```
    %c = arith.cmpi slt, %a, %b : vector<4xi32>
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> CmpIOp:
        predicate = _parse_predicate(parser, CMPI_PREDICATES)
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return CmpIOp.build(
            operands=[parser.resolve_operand(lhs, type), parser.resolve_operand(rhs, type)],
            properties={"predicate": predicate},
            attributes={**attributes},
            result_types=[truth_type(type)],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(f" {CMPI_PREDICATES[self.predicate.value.data]}, ")
        printer.print_list((self.lhs, self.rhs), printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    @override
    def verify_(self) -> None:
        _verify_comparison(self, CMPI_PREDICATES)


@completes(operands={"lhs": _FLOAT, "rhs": _FLOAT}, results={"result": BOOLEAN_LIKE})
class CmpFOp(arith.CmpfOp):
    """Compares floats; a vector gives a vector of truth values.

    ```
    %c = arith.cmpf olt, %a, %b fastmath<nnan> : f32
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> CmpFOp:
        predicate = _parse_predicate(parser, CMPF_PREDICATES)
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        flags = FastMathFlagsAttr("none")
        if parser.parse_optional_keyword("fastmath") is not None:
            flags = FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return CmpFOp.build(
            operands=[parser.resolve_operand(lhs, type), parser.resolve_operand(rhs, type)],
            properties={"predicate": predicate, "fastmath": flags},
            attributes={**attributes},
            result_types=[truth_type(type)],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(f" {CMPF_PREDICATES[self.predicate.value.data]}, ")
        printer.print_list((self.lhs, self.rhs), printer.print_ssa_value)
        if self.fastmath.data:
            printer.print_string(" fastmath")
            self.fastmath.print_parameter(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    @override
    def verify_(self) -> None:
        _verify_comparison(self, CMPF_PREDICATES)


@completes(operands={"cond": BOOLEAN_LIKE})
class SelectOp(arith.SelectOp):
    """One of two values, or for a vector of truth values the elements of both.

    ```
    %r = arith.select %c, %a, %b : vector<4xi1>, vector<4xf32>
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> SelectOp:
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        condition: Attribute = i1
        type = parser.parse_type()
        if parser.parse_optional_punctuation(",") is not None:
            condition, type = type, parser.parse_type()
        types = (condition, type, type)
        values: list[SSAValue] = [
            parser.resolve_operand(operand, type)
            for operand, type in zip(operands, types, strict=True)
        ]
        operation = SelectOp(*values)
        operation.attributes |= attributes
        return operation

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.cond, self.lhs, self.rhs), printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)

    @override
    def verify_(self) -> None:
        condition = self.cond.type
        expected = truth_type(self.result.type)
        if condition != i1 and condition != expected:
            raise VerifyException(f"expected a condition of type i1 or {expected}, got {condition}")
