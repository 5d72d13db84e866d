"""Loops.

Source: CUDA Tile IR specification, "Operations", "Control Flow"; NVIDIA/cuda-tile 13.3.0,
`Ops.td`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.constraints import SCALAR_INTEGER, VALUE, SameType
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.control_flow import BreakOp, ContinueOp, ReturnOp
from xtile.dialects.cuda_tile.ops.control_flow_rules import (
    verify_carried,
    verify_end,
    verify_types,
)
from xtile.dialects.cuda_tile.region_text import parse_types, print_body, print_types
from xtile.dialects.cuda_tile.type_text import parse_type, print_type
from xtile.dialects.cuda_tile.versions import V13_2, Version
from xtile.dialects.definitions import op_definition
from xtile.dialects.scf.assembly import (
    ensure_terminator,
    parse_assignments,
    print_assignments,
    resolve_assignments,
)


@op_definition
class ForOp(CudaTileOperation):
    """Counts from a bound up to another, and carries values from one iteration to the next.

    ```
    %sum = for %i in (%lower to %upper, step %step) : tile<i32>
        iter_values(%a = %zero) -> (tile<f32>) {
      continue %a : tile<f32>
    }
    ```
    """

    name = "cuda_tile.for"
    OPCODE: ClassVar[int] = 0x29
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"unsigned_cmp": V13_2})

    T: ClassVar = SameType("T", SCALAR_INTEGER)

    lower_bound = operand_def(T)
    upper_bound = operand_def(T)
    step = operand_def(T)
    init_values = var_operand_def(VALUE)
    unsigned_cmp = opt_prop_def(UnitAttr, prop_name="unsignedCmp")
    result_values = var_result_def(VALUE)
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        lower_bound: Operand,
        upper_bound: Operand,
        step: Operand,
        init_values: Sequence[Operand],
        region: Region,
        *,
        unsigned_cmp: bool = False,
    ) -> None:
        super().__init__(
            operands=(lower_bound, upper_bound, step, init_values),
            properties={"unsignedCmp": UnitAttr() if unsigned_cmp else None},
            result_types=([SSAValue.get(value).type for value in init_values],),
            regions=(region,),
        )

    @property
    def induction_variable(self) -> BlockArgument:
        """The number of the iteration."""
        return self.region.blocks[0].args[0]

    @property
    def iteration_values(self) -> Sequence[BlockArgument]:
        """The values that are carried, at the beginning of an iteration."""
        return self.region.blocks[0].args[1:]

    @override
    def verify_(self) -> None:
        arguments = self.region.blocks[0].arg_types
        if not arguments:
            raise VerifyException("the region must have an argument for the number of iterations")
        verify_types("the number of iterations", arguments[:1], (self.lower_bound.type,))
        verify_types("the results", self.result_types, self.init_values.types)
        verify_carried(self.init_values.types, arguments[1:], self.result_types)
        verify_end(self.region, (ContinueOp.name,))

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ForOp:
        is_unsigned = parser.parse_optional_keyword("unsigned") is not None
        variable = parser.parse_argument(expect_type=False)
        parser.parse_keyword("in")
        parser.parse_punctuation("(")
        lower = parser.parse_unresolved_operand()
        parser.parse_keyword("to")
        upper = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("step")
        step = parser.parse_unresolved_operand()
        parser.parse_punctuation(")")
        parser.parse_punctuation(":")
        type = parse_type(parser)
        start = parser.pos
        assignments = []
        types: Sequence[Attribute] = ()
        if parser.parse_optional_keyword("iter_values") is not None:
            assignments = parse_assignments(parser)
            parser.parse_punctuation("->")
            parser.parse_punctuation("(")
            types = parse_types(parser)
            parser.parse_punctuation(")")
        arguments, initial = resolve_assignments(parser, assignments, types, start)
        bounds = [parser.resolve_operand(bound, type) for bound in (lower, upper, step)]
        region = parser.parse_region([variable.resolve(type), *arguments])
        ensure_terminator(region, ContinueOp)
        attributes = parser.parse_optional_attr_dict()
        return cls.build(
            operands=(*bounds, initial),
            properties={"unsignedCmp": UnitAttr() if is_unsigned else None},
            attributes=attributes,
            result_types=(types,),
            regions=(region,),
        )

    @override
    def print(self, printer: Printer) -> None:
        if self.unsigned_cmp is not None:
            printer.print_string(" unsigned")
        bounds = (self.lower_bound, self.upper_bound, self.step)
        values = (self.induction_variable, *bounds)
        for before, value in zip((" ", " in (", " to ", ", step "), values, strict=True):
            printer.print_string(before)
            printer.print_ssa_value(value)
        printer.print_string(") : ")
        print_type(printer, self.induction_variable.type)
        printer.print_string(" ")
        if self.init_values:
            printer.print_string("iter_values")
            print_assignments(printer, self.iteration_values, self.init_values)
            printer.print_string(" -> (")
            print_types(printer, self.init_values.types)
            printer.print_string(") ")
        print_body(printer, self.region, ContinueOp)
        printer.print_op_attributes(self.attributes)


@op_definition
class LoopOp(CudaTileOperation):
    """Repeats until a `break`, and carries values from one iteration to the next.

    ```
    %r = loop iter_values(%a = %zero) : tile<f32> -> tile<i32> {
      if %p {
        break %b : tile<i32>
      }
      continue %a : tile<f32>
    }
    ```
    """

    name = "cuda_tile.loop"
    OPCODE: ClassVar[int] = 0x41

    init_values = var_operand_def(VALUE)
    result_values = var_result_def(VALUE)
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self, init_values: Sequence[Operand], result_types: Sequence[Attribute], region: Region
    ) -> None:
        super().__init__(operands=(init_values,), result_types=(result_types,), regions=(region,))

    @property
    def iteration_values(self) -> Sequence[BlockArgument]:
        """The values that are carried, at the beginning of an iteration."""
        return self.region.blocks[0].args

    @override
    def verify_(self) -> None:
        arguments = self.region.blocks[0].arg_types
        verify_carried(self.init_values.types, arguments, self.result_types)
        verify_end(self.region, (ContinueOp.name, BreakOp.name, ReturnOp.name))

    @classmethod
    @override
    def parse(cls, parser: Parser) -> LoopOp:
        start = parser.pos
        assignments = []
        types: Sequence[Attribute] = ()
        results: Sequence[Attribute] = ()
        if parser.parse_optional_keyword("iter_values") is not None:
            assignments = parse_assignments(parser)
            parser.parse_punctuation(":")
            types = parse_types(parser)
            if parser.parse_optional_punctuation("->") is not None:
                results = parse_types(parser)
        elif parser.parse_optional_punctuation(":") is not None:
            results = parse_types(parser)
        arguments, initial = resolve_assignments(parser, assignments, types, start)
        region = parser.parse_region(arguments)
        ensure_terminator(region, ContinueOp)
        attributes = parser.parse_optional_attr_dict()
        return cls.build(
            operands=(initial,),
            attributes=attributes,
            result_types=(results,),
            regions=(region,),
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.init_values:
            printer.print_string("iter_values")
            print_assignments(printer, self.iteration_values, self.init_values)
            printer.print_string(" : ")
            print_types(printer, self.init_values.types)
            printer.print_string(" -> " if self.results else " ")
        elif self.results:
            printer.print_string(": ")
        if self.results:
            print_types(printer, self.result_types)
            printer.print_string(" ")
        print_body(printer, self.region, ContinueOp)
        printer.print_op_attributes(self.attributes)


OPERATIONS: list[type[Operation]] = [ForOp, LoopOp]
"""Every operation of this module."""
