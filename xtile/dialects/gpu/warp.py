"""A region that one lane executes for all.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    I64,
    IndexType,
    IntegerAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    SingleBlockImplicitTerminator,
    ensure_terminator,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.gpu.subgroups import YieldOp


@irdl_op_definition
class WarpExecuteOnLane0Op(IRDLOperation):
    """Executes its region on lane 0, which sees the lanes' vectors as one.

    The vectors of the lanes are distributed along one dimension of the region's vectors; equal
    types are broadcast.

    ```
    %r = gpu.warp_execute_on_lane_0(%lane)[32] args(%a : vector<4xf32>) -> (vector<1xf32>) {
    ^bb0(%b: vector<128xf32>):
      gpu.yield %c : vector<32xf32>
    }
    ```
    """

    name = "gpu.warp_execute_on_lane_0"

    laneid = operand_def(IndexType())
    args = var_operand_def()
    warp_size = prop_def(IntegerAttr[I64])
    outputs = var_result_def()
    body = region_def("single_block")

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp))

    def __init__(
        self,
        laneid: SSAValue,
        warp_size: int,
        args: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: Region,
    ) -> None:
        super().__init__(
            operands=[laneid, args],
            properties={"warp_size": IntegerAttr(warp_size, i64)},
            result_types=[result_types],
            regions=[body],
        )
        # xDSL's `__post_init__` would give a copy, whose region is empty at first, a second block.
        for trait in self.get_traits_of_type(SingleBlockImplicitTerminator):
            ensure_terminator(self, trait)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> WarpExecuteOnLane0Op:
        with parser.in_parens():
            laneid = parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())
        with parser.in_square_brackets():
            warp_size = parser.parse_integer()
        args: Sequence[SSAValue] = ()
        if parser.parse_optional_keyword("args") is not None:
            with parser.in_parens():
                place = parser.pos
                operands = parser.parse_comma_separated_list(
                    parser.Delimiter.NONE, parser.parse_unresolved_operand
                )
                parser.parse_punctuation(":")
                given = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
                args = parser.resolve_operands(operands, given, place)
        results: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->") is not None:
            types = parser.parse_optional_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_type
            )
            results = [parser.parse_type()] if types is None else types
        body = parser.parse_region()
        attributes = parser.parse_optional_attr_dict()
        operation = WarpExecuteOnLane0Op(laneid, warp_size, args, results, body)
        operation.attributes |= attributes
        return operation

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_ssa_value(self.laneid)
        printer.print_string(f")[{self.warp_size.value.data}]")
        if self.args:
            printer.print_string(" args(")
            printer.print_list(self.args, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list(self.args.types, printer.print_attribute)
            printer.print_string(")")
        if self.outputs:
            printer.print_string(" -> (")
            printer.print_list(self.outputs.types, printer.print_attribute)
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(self.body, print_block_terminators=bool(self.outputs))
        printer.print_op_attributes(self.attributes)

    @override
    def verify_(self) -> None:
        inner = self.body.block.arg_types
        if len(inner) != len(self.args):
            raise VerifyException(
                f"expected {len(self.args)} arguments of the body, got {len(inner)}"
            )
        end = self.body.block.last_op
        if not isinstance(end, YieldOp):
            raise VerifyException("expected a gpu.yield at the end of the body")
        if len(end.values) != len(self.outputs):
            raise VerifyException(
                f"expected a gpu.yield of {len(self.outputs)} values, got {len(end.values)}"
            )
        pairs = [
            *zip(inner, self.args.types, strict=True),
            *zip(end.values.types, self.outputs.types, strict=True),
        ]
        for expanded, distributed in pairs:
            _verify_distribution(expanded, distributed, self.warp_size.value.data)


def _verify_distribution(expanded: Attribute, distributed: Attribute, lanes: int) -> None:
    """Checks that the vectors of the lanes make up the vector that lane 0 sees."""
    if expanded == distributed:
        return
    if not isa(expanded, VectorType) or not isa(distributed, VectorType):
        raise VerifyException(
            f"expected vectors or equal types, got {distributed} in a lane and {expanded} in the "
            "body"
        )
    if (
        len(expanded.get_shape()) != len(distributed.get_shape())
        or expanded.element_type != distributed.element_type
    ):
        raise VerifyException(
            f"expected vectors of equal rank and element type, got {distributed} in a lane and "
            f"{expanded} in the body"
        )
    copies = 1
    for whole, part in zip(expanded.get_shape(), distributed.get_shape(), strict=True):
        if part == 0 or whole % part != 0:
            raise VerifyException(
                f"expected a multiple of {distributed} in the body, got {expanded}"
            )
        copies *= whole // part
    if copies != lanes:
        raise VerifyException(
            f"{expanded} holds {copies} times {distributed}, which {lanes} lanes cannot share"
        )


OPERATIONS: list[type[Operation]] = [
    WarpExecuteOnLane0Op,
]
"""The operations of this module."""
