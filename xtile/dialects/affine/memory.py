"""Accesses of elements at indices that affine maps give.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from typing_extensions import override
from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.affine.assembly import ExpressionParser, print_expression, verify_values
from xtile.dialects.upstream import completes


@completes()
class LoadOp(affine.LoadOp):
    """The element at indices that are expressions of loop variables.

    ```
    %r = affine.load %a[%i + 1, %j] : memref<4x8xf32>
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        memref, map_, indices, attributes, type_ = _parse_access(parser)
        operation = cls(parser.resolve_operand(memref, type_), indices, map_, type_.element_type)
        operation.attributes |= attributes
        return operation

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_access(printer, self, self.memref, self.map.data, self.indices)

    @override
    def verify_(self) -> None:
        _verify_access(self.map, self.memref, self.indices)


@completes()
class StoreOp(affine.StoreOp):
    """Replaces the element at indices that are expressions of loop variables.

    ```
    affine.store %x, %a[%i * 2, 0] : memref<4x8xf32>
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        memref, map_, indices, attributes, type_ = _parse_access(parser)
        stored = parser.resolve_operand(value, type_.element_type)
        operation = cls(stored, parser.resolve_operand(memref, type_), indices, map_)
        operation.attributes |= attributes
        return operation

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_access(printer, self, self.memref, self.map.data, self.indices)

    @override
    def verify_(self) -> None:
        _verify_access(self.map, self.memref, self.indices)


def _parse_access(
    parser: Parser,
) -> tuple[
    UnresolvedOperand,
    AffineMapAttr,
    list[SSAValue],
    dict[str, Attribute],
    MemRefType[Attribute],
]:
    """Reads `%a[%i + 1] {attributes} : memref<4xf32>`."""
    memref = parser.parse_unresolved_operand()
    expressions = ExpressionParser(parser)
    results = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, expressions.expression)
    indices = expressions.values()
    attributes = dict(parser.parse_optional_attr_dict())
    parser.parse_punctuation(":")
    position = parser.pos
    type_ = parser.parse_type()
    if not isa(type_, MemRefType):
        parser.raise_error("expected a memref", position, parser.pos)
    return memref, expressions.map_of(results), indices, attributes, type_


def _print_access(
    printer: Printer,
    operation: Operation,
    memref: SSAValue,
    map_: AffineMap,
    indices: Sequence[SSAValue],
) -> None:
    printer.print_ssa_value(memref)
    with printer.in_square_brackets():
        printer.print_list(
            map_.results,
            lambda result: print_expression(printer, result, indices, map_.num_dims),
        )
    printer.print_op_attributes(operation.attributes)
    printer.print_string(" : ")
    printer.print_attribute(memref.type)


def _verify_access(map_: AffineMapAttr, memref: SSAValue, indices: Sequence[SSAValue]) -> None:
    verify_values("the map", map_, indices)
    rank = memref.type.get_num_dims() if isa(memref.type, MemRefType) else 0
    if len(map_.data.results) != rank:
        raise VerifyException(
            f"expected an index for each of {rank} dimensions, got {len(map_.data.results)}"
        )


OPERATIONS: list[type[Operation]] = [LoadOp, StoreOp, affine.VectorLoadOp, affine.VectorStoreOp]
"""The operations of this module."""
