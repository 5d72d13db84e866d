"""Conditions, and the ends of regions.

Source: CUDA Tile IR specification, "Operations", "Control Flow"; NVIDIA/cuda-tile 13.3.0,
`Ops.td`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import FunctionType, StringAttr, i1
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import (
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.constraints import BOOLEAN_TILE, SCALAR_BOOLEAN, VALUE
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.control_flow_rules import (
    FOR,
    IF,
    LOOP,
    find_function,
    find_loop,
    verify_branch,
    verify_no_views,
    verify_parent,
    verify_types,
)
from xtile.dialects.cuda_tile.region_text import print_body, print_types
from xtile.dialects.cuda_tile.type_text import parse_type
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.definitions import op_definition
from xtile.dialects.scf.assembly import ensure_terminator


class _Terminator(CudaTileOperation, ABC):
    """The end of a region."""

    arguments = var_operand_def(VALUE)

    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($arguments^ `:` custom<CudaTileType>(type($arguments)))?"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, arguments: Sequence[Operand] = ()) -> None:
        super().__init__(operands=(arguments,))


@op_definition
class BreakOp(_Terminator):
    """Leaves the `loop` around it with its results.

    ```
    break %a, %b : tile<f32>, tile<i32>
    ```
    """

    name = "cuda_tile.break"
    OPCODE: ClassVar[int] = 0x0A

    @override
    def verify_(self) -> None:
        loop = find_loop(self, (LOOP,))
        verify_types("what leaves the loop", self.arguments.types, loop.result_types)


@op_definition
class ContinueOp(_Terminator):
    """Begins the next iteration of the loop around it with the values that it carries.

    ```
    continue %a : tile<f32>
    ```
    """

    name = "cuda_tile.continue"
    OPCODE: ClassVar[int] = 0x11

    @override
    def verify_(self) -> None:
        loop = find_loop(self, (FOR, LOOP))
        carried = loop.operand_types if loop.name == LOOP else loop.result_types
        verify_types("what the loop carries on", self.arguments.types, carried)


@op_definition
class ReturnOp(_Terminator):
    """Ends a kernel.

    ```
    return
    ```
    """

    name = "cuda_tile.return"
    OPCODE: ClassVar[int] = 0x5C

    @override
    def verify_(self) -> None:
        type = find_function(self).properties.get("function_type")
        results = type.outputs.data if isinstance(type, FunctionType) else ()
        verify_types("what a function returns", self.arguments.types, results)


@op_definition
class YieldOp(_Terminator):
    """Gives the results of an `if`, or those of the combination of a `reduce` or a `scan`.

    ```
    yield %a : tile<f32>
    ```
    """

    name = "cuda_tile.yield"
    OPCODE: ClassVar[int] = 0x6D

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        verify_parent(self, (IF, "cuda_tile.reduce", "cuda_tile.scan"))


@op_definition
class AssertOp(CudaTileOperation):
    """Stops the kernel with a message where a condition does not hold.

    ```
    assert %p, "the size is negative" : tile<8xi1>
    ```
    """

    name = "cuda_tile.assert"
    OPCODE: ClassVar[int] = 0x05

    condition = operand_def(BOOLEAN_TILE)
    message = prop_def(StringAttr)

    assembly_format = "$condition `,` $message attr-dict `:` custom<CudaTileType>(type($condition))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, condition: Operand, message: str) -> None:
        super().__init__(operands=(condition,), properties={"message": StringAttr(message)})


@op_definition
class IfOp(CudaTileOperation):
    """Runs one of two regions.

    ```
    %r = if %p -> (tile<f32>) {
      yield %a : tile<f32>
    } else {
      yield %b : tile<f32>
    }
    ```
    """

    name = "cuda_tile.if"
    OPCODE: ClassVar[int] = 0x32

    condition = operand_def(SCALAR_BOOLEAN)
    result_values = var_result_def(VALUE)
    then_region = region_def("single_block")
    else_region = region_def()

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        condition: Operand,
        result_types: Sequence[Attribute],
        then_region: Region,
        else_region: Region | None = None,
    ) -> None:
        super().__init__(
            operands=(condition,),
            result_types=(result_types,),
            regions=(then_region, Region() if else_region is None else else_region),
        )

    @override
    def verify_(self) -> None:
        verify_no_views("result", self.result_types)
        if self.results and not self.else_region.blocks:
            raise VerifyException("an 'if' with results must have an else branch")
        verify_branch("then", self.then_region, self.result_types)
        if self.else_region.blocks:
            verify_branch("else", self.else_region, self.result_types)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> IfOp:
        condition = parser.parse_unresolved_operand()
        types: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->") is not None:
            types = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: parse_type(parser)
            )
        then_region = _parse_branch(parser)
        has_else = parser.parse_optional_keyword("else") is not None
        else_region = _parse_branch(parser) if has_else else Region()
        attributes = parser.parse_optional_attr_dict()
        return cls.build(
            operands=(parser.resolve_operand(condition, TileType((), i1)),),
            attributes=attributes,
            result_types=(types,),
            regions=(then_region, else_region),
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        if self.results:
            printer.print_string(" -> ")
            with printer.in_parens():
                print_types(printer, self.result_types)
        printer.print_string(" ")
        print_body(printer, self.then_region, YieldOp)
        if self.else_region.blocks:
            printer.print_string(" else ")
            print_body(printer, self.else_region, YieldOp)
        printer.print_op_attributes(self.attributes)


def _parse_branch(parser: Parser) -> Region:
    region = parser.parse_region()
    ensure_terminator(region, YieldOp)
    return region


OPERATIONS: list[type[Operation]] = [
    AssertOp,
    BreakOp,
    ContinueOp,
    IfOp,
    ReturnOp,
    YieldOp,
]
"""Every operation of this module."""
