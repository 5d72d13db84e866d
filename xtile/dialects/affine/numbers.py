"""Numbers that affine maps give: `affine.apply`, `min` and `max`.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from typing_extensions import override
from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.affine.assembly import parse_values, print_values, verify_values
from xtile.dialects.definitions import op_definition
from xtile.dialects.upstream import completes


class _Text(IRDLOperation):
    """The text of an operation that is a map and its values."""

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        given = parser.parse_attribute()
        if not isinstance(given, AffineMapAttr):
            parser.raise_error("expected an affine map", position, parser.pos)
        values = parse_values(parser)
        attributes = parser.parse_optional_attr_dict()
        return cls.build(
            operands=[values],
            result_types=[IndexType()],
            properties={"map": given},
            attributes=dict(attributes),
        )

    @override
    def print(self, printer: Printer) -> None:
        given = self.properties["map"]
        assert isinstance(given, AffineMapAttr)
        printer.print_string(" ")
        printer.print_attribute(given)
        print_values(printer, self.operands, given.data.num_dims)
        printer.print_op_attributes(self.attributes)

    @override
    def verify_(self) -> None:
        given = self.properties["map"]
        assert isinstance(given, AffineMapAttr)
        verify_values("the map", given, self.operands)
        results = len(given.data.results)
        if results != 1 if self.name == "affine.apply" else results < 1:
            raise VerifyException(f"the map must have one result, got {results}")


@completes()
class ApplyOp(_Text, affine.ApplyOp):  # pyright: ignore[reportIncompatibleMethodOverride]
    """The number that a map gives.

    ```
    %r = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%i)[%n]
    ```
    """


@completes(traits=(Pure(),))
class MinOp(_Text, affine.MinOp):  # pyright: ignore[reportIncompatibleMethodOverride]
    """The smallest of the numbers that a map gives.

    ```
    %r = affine.min affine_map<(d0) -> (d0, 8)>(%i)
    ```
    """


@op_definition
class MaxOp(_Text):
    """The largest of the numbers that a map gives.

    ```
    %r = affine.max affine_map<(d0) -> (d0, 8)>(%i)
    ```
    """

    name = "affine.max"

    arguments = var_operand_def(IndexType())
    result = result_def(IndexType())
    map = prop_def(AffineMapAttr)

    traits = traits_def(Pure())

    def __init__(self, map_operands: Sequence[SSAValue], affine_map: AffineMapAttr) -> None:
        super().__init__(
            operands=[map_operands],
            properties={"map": affine_map},
            result_types=[IndexType()],
        )


OPERATIONS: list[type[Operation]] = [ApplyOp, MaxOp, MinOp]
"""The operations of this module."""
