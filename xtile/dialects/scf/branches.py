"""Regions that run once or not at all.

Source: MLIR (LLVM 22), `Dialect/SCF/IR/SCFOps.td` and `SCF.cpp`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, IndexType, UnitAttr, i1, i64
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import BaseAttr, OptPropertyDef
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.scf.assembly import (
    ensure_terminator,
    parse_optional_results,
    print_optional_results,
)
from xtile.dialects.scf.loops import verify_types
from xtile.dialects.upstream import completes
from xtile.text.extensions import Extension, Table

NO_INLINE = "no_inline"
"""The property of an `scf.execute_region` that must stay a region."""


def _verify_end(region: Region, operation: Operation) -> None:
    end = region.block.last_op
    if not isinstance(end, scf.YieldOp):
        raise VerifyException("every region must end with an scf.yield")
    verify_types("an scf.yield", operation.result_types, end.arguments.types)


def _parse_if(parser: Parser) -> scf.IfOp:
    """`scf.if`: runs one of two regions.

    ```
    %r = scf.if %c -> (f32) {
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    }
    ```
    """
    condition = parser.resolve_operand(parser.parse_unresolved_operand(), i1)
    types = parse_optional_results(parser)
    then_region = _parse_region(parser)
    has_else = parser.parse_optional_keyword("else") is not None
    else_region = _parse_region(parser) if has_else else Region()
    attributes = parser.parse_optional_attr_dict()
    return scf.IfOp(condition, types, then_region, else_region, attributes)


def _print_if(operation: scf.IfOp, printer: Printer) -> None:
    printer.print_string(" ")
    printer.print_ssa_value(operation.cond)
    has_results = bool(operation.output)
    if has_results:
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(operation.output.types, printer.print_attribute)
    printer.print_string(" ")
    _print_region(printer, operation.true_region, has_results)
    if operation.false_region.blocks:
        printer.print_string(" else ")
        _print_region(printer, operation.false_region, has_results)
    printer.print_op_attributes(operation.attributes)


def _verify_if(operation: scf.IfOp) -> None:
    for region in (operation.true_region, operation.false_region):
        if region.blocks and region.blocks[0].args:
            raise VerifyException("the regions of an scf.if must not have arguments")
    if operation.output and not operation.false_region.blocks:
        raise VerifyException("an scf.if with results must have an else region")
    _verify_end(operation.true_region, operation)
    if operation.false_region.blocks:
        _verify_end(operation.false_region, operation)


def _parse_region(parser: Parser) -> Region:
    region = parser.parse_region()
    ensure_terminator(region, scf.YieldOp)
    return region


def _print_region(printer: Printer, region: Region, has_results: bool) -> None:
    printer.print_region(
        region,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=has_results,
    )


@completes(properties={NO_INLINE: OptPropertyDef(BaseAttr(UnitAttr))})
class ExecuteRegionOp(scf.ExecuteRegionOp):
    """Runs a region, which may have several blocks, once.

    ```
    %r = scf.execute_region -> f32 {
      scf.yield %x : f32
    }
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ExecuteRegionOp:
        types = parse_optional_results(parser)
        no_inline = parser.parse_optional_keyword(NO_INLINE) is not None
        region = parser.parse_region()
        attributes = parser.parse_optional_attr_dict()
        return ExecuteRegionOp.build(
            result_types=[types],
            regions=[region],
            properties={NO_INLINE: UnitAttr() if no_inline else None},
            attributes={**attributes},
        )

    @override
    def print(self, printer: Printer) -> None:
        print_optional_results(printer, self.outs.types)
        printer.print_string(" ")
        if NO_INLINE in self.properties:
            printer.print_string(f"{NO_INLINE} ")
        printer.print_region(self.region, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)

    @override
    def verify_(self) -> None:
        if not self.region.blocks:
            raise VerifyException("the region must have at least one block")
        if self.region.blocks[0].args:
            raise VerifyException("the region must not have arguments")
        for block in self.region.blocks:
            if isinstance(block.last_op, scf.YieldOp):
                verify_types("an scf.yield", self.outs.types, block.last_op.arguments.types)


def _parse_index_switch(parser: Parser) -> scf.IndexSwitchOp:
    """`scf.index_switch`: runs the region of a value, or the default one.

    ```
    %r = scf.index_switch %i -> f32
    case 2 {
      scf.yield %a : f32
    }
    default {
      scf.yield %b : f32
    }
    ```
    """
    value = parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())
    attributes = parser.parse_optional_attr_dict()
    types: list[Attribute] = []
    if parser.parse_optional_punctuation("->") is not None:
        types = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
    cases: list[int] = []
    regions: list[Region] = []
    while parser.parse_optional_keyword("case") is not None:
        cases.append(parser.parse_integer())
        regions.append(_parse_region(parser))
    parser.parse_keyword("default")
    default = _parse_region(parser)
    return scf.IndexSwitchOp(
        value, DenseArrayBase.from_list(i64, cases), default, regions, types, {**attributes}
    )


def _print_index_switch(operation: scf.IndexSwitchOp, printer: Printer) -> None:
    printer.print_string(" ")
    printer.print_ssa_value(operation.arg)
    printer.print_op_attributes(operation.attributes)
    if operation.output:
        printer.print_string(" -> ")
        printer.print_list(operation.output.types, printer.print_attribute)
    # Upstream prints a space at the end of this line.
    printer.print_string(" \n")
    for case, region in zip(operation.cases.iter_values(), operation.case_regions, strict=True):
        printer.print_string(f"case {case} ")
        printer.print_region(region, print_entry_block_args=False)
        printer.print_string("\n")
    printer.print_string("default ")
    _print_region(printer, operation.default_region, bool(operation.output))


def _verify_index_switch(operation: scf.IndexSwitchOp) -> None:
    cases = list(operation.cases.iter_values())
    if len(cases) != len(operation.case_regions):
        raise VerifyException(
            f"expected {len(cases)} regions, one for each case, got {len(operation.case_regions)}"
        )
    repeated = {case for case in cases if cases.count(case) > 1}
    if repeated:
        names = ", ".join(str(case) for case in sorted(repeated))
        raise VerifyException(f"every case must stand once, but {names} stands twice")
    for region in (operation.default_region, *operation.case_regions):
        _verify_end(region, operation)


EXTENSIONS: Table = {
    scf.IfOp: Extension(parse=_parse_if, print=_print_if, verify=_verify_if),
    scf.IndexSwitchOp: Extension(
        parse=_parse_index_switch, print=_print_index_switch, verify=_verify_index_switch
    ),
}
"""What LLVM says of xDSL's operations of this module."""
