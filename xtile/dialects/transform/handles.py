"""Operations on handles, parameters and patterns that xDSL lacks or has no custom text for.

Source: MLIR (LLVM 22), `Dialect/Transform/IR/TransformOps.td` and
`Dialect/Transform/DebugExtension`.
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.dialects.transform import (
    AnyOpType,
    AnyParamType,
    AnyValueType,
    OperationType,
    ParamType,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator

from xtile.dialects.upstream import TypeWhere
from xtile.dialects.xegpu.assembly import integers

OPERATION_HANDLE = TypeWhere(
    "a handle of operations", lambda type: isinstance(type, AnyOpType | OperationType)
)
VALUE_HANDLE = TypeWhere("a handle of values", lambda type: isinstance(type, AnyValueType))
PARAMETER = TypeWhere("a parameter", lambda type: isinstance(type, AnyParamType | ParamType))
ANY_HANDLE = TypeWhere(
    "a handle",
    lambda type: isinstance(type, AnyOpType | OperationType | AnyValueType),
)
PARAMETER_OR_HANDLE = TypeWhere(
    "a parameter or a handle",
    lambda type: isinstance(
        type, AnyParamType | ParamType | AnyOpType | OperationType | AnyValueType
    ),
)


@irdl_custom_directive
class MatchDims(CustomDirective):
    """`custom<TransformMatchDims>`: `0, 1`, `except(0, 1)` or `all`."""

    positions: AttributeVariable
    is_inverted: AttributeVariable
    is_all: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        positions: list[int] = []
        if parser.parse_optional_keyword("all") is not None:
            self.is_all.set(state, UnitAttr())
        elif parser.parse_optional_keyword("except") is not None:
            self.is_inverted.set(state, UnitAttr())
            positions = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_integer
            )
        else:
            positions = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, parser.parse_integer
            )
        self.positions.set(state, DenseArrayBase.from_list(i64, positions))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        numbers = ", ".join(str(number) for number in integers(self.positions.get(op)))
        if self.is_all.get(op) is not None:
            numbers = "all"
        elif self.is_inverted.get(op) is not None:
            numbers = f"except({numbers})"
        printer.print_string(numbers)
        state.should_emit_space = True
        state.last_was_punctuation = False


@irdl_op_definition
class GetOperandOp(IRDLOperation):
    """Operands of the payload operations.

    ```
    %b = transform.get_operand %op[1] : (!transform.any_op) -> !transform.any_value
    ```
    """

    name = "transform.get_operand"

    target = operand_def(OPERATION_HANDLE)
    raw_position_list = prop_def(DenseArrayBase.constr(i64))
    is_inverted = opt_prop_def(UnitAttr)
    is_all = opt_prop_def(UnitAttr)
    result = result_def(VALUE_HANDLE)

    assembly_format = (
        "$target `[` custom<MatchDims>($raw_position_list, $is_inverted, $is_all) `]` "
        "attr-dict `:` functional-type(operands, results)"
    )
    custom_directives: ClassVar = (MatchDims,)


@irdl_op_definition
class ParamConstantOp(IRDLOperation):
    """A parameter with a value of its own.

    ```
    %n = transform.param.constant 8 : i64 -> !transform.param<i64>
    ```
    """

    name = "transform.param.constant"

    value = prop_def(Attribute)
    param = result_def(PARAMETER)

    assembly_format = "$value attr-dict `->` type($param)"


@irdl_op_definition
class ApplyPatternsOp(IRDLOperation):
    """Rewrites with the patterns of its region until nothing changes.

    ```
    transform.apply_patterns to %op {
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    ```
    """

    name = "transform.apply_patterns"

    target = operand_def(OPERATION_HANDLE)
    apply_cse = opt_prop_def(UnitAttr)
    max_iterations = prop_def(IntegerAttr.constr(i64), default_value=IntegerAttr(-1, i64))
    max_num_rewrites = prop_def(IntegerAttr.constr(i64), default_value=IntegerAttr(-1, i64))
    patterns = region_def("single_block")

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(NoTerminator())
    assembly_format = "`to` $target $patterns attr-dict `:` type($target)"


@irdl_op_definition
class ApplyCanonicalizationPatternsOp(IRDLOperation):
    """The canonicalization patterns of all dialects.

    ```
    transform.apply_patterns.canonicalization
    ```
    """

    name = "transform.apply_patterns.canonicalization"

    assembly_format = "attr-dict"


@irdl_op_definition
class EmitRemarkAtOp(IRDLOperation):
    """Prints a remark at each payload object.

    ```
    transform.debug.emit_remark_at %op, "found" : !transform.any_op
    ```
    """

    name = "transform.debug.emit_remark_at"

    at = operand_def(ANY_HANDLE)
    message = prop_def(StringAttr)

    assembly_format = "$at `,` $message attr-dict `:` type($at)"


OPERATIONS: list[type[Operation]] = [
    GetOperandOp,
    ParamConstantOp,
    ApplyPatternsOp,
    ApplyCanonicalizationPatternsOp,
    EmitRemarkAtOp,
]
"""Every operation of this module."""
