"""Operations that give XeGPU operations a layout, prefetches or threads.

Numbers may be given as parameters, as in `sg_layout = [%n, 4]`.

Source: MLIR (LLVM 22), `Dialect/XeGPU/TransformOps/XeGPUTransformOps.td`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OperandVariable,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.transform.handles import OPERATION_HANDLE, PARAMETER_OR_HANDLE, VALUE_HANDLE
from xtile.dialects.xegpu.assembly import DimensionList

_NUMBERS = DenseArrayBase.constr(i64)
_NUMBER = IntegerAttr.constr(i64)


class OperandTypes(CustomDirective, ABC):
    """`type(operands)` where there are several lists, as long as the text before it has them.

    A derived class has one field of type `TypeDirective` for each operand or list.
    """

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        place = parser.pos
        types = parser.parse_comma_separated_list(self.DELIMITER, parser.parse_type)
        groups = self._groups()
        sizes = [len(state.operands[group.index] or ()) for group in groups]
        if len(types) != sum(sizes):
            message = f"there are {sum(sizes)} operands, but {len(types)} types; expected as many"
            parser.raise_error(message, place, parser.pos)
        start = 0
        for group, size in zip(groups, sizes, strict=True):
            group.set_types(state, types[start : start + size])
            start += size

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        types = ", ".join(str(type) for type in op.operand_types)
        opening, closing = self.DELIMITER.value or ("", "")
        printer.print_string(f"{opening}{types}{closing}")

    DELIMITER: ClassVar[Parser.Delimiter] = Parser.Delimiter.NONE
    """What stands around the types."""

    def _groups(self) -> Sequence[OperandVariable | VariadicOperandVariable]:
        directives = [cast(TypeDirective, getattr(self, name)) for name in self.parameters]
        return [
            cast(OperandVariable | VariadicOperandVariable, directive.inner)
            for directive in directives
        ]


@irdl_custom_directive
class LayoutTypes(OperandTypes):
    """The types of a target and three lists."""

    target: TypeDirective
    sg_layout: TypeDirective
    sg_data: TypeDirective
    inst_data: TypeDirective


@irdl_custom_directive
class LayoutArguments(OperandTypes):
    """The types of a target and three lists, in parentheses."""

    DELIMITER: ClassVar[Parser.Delimiter] = Parser.Delimiter.PAREN

    target: TypeDirective
    sg_layout: TypeDirective
    sg_data: TypeDirective
    inst_data: TypeDirective


@irdl_custom_directive
class ConversionArguments(OperandTypes):
    """The types of a target and six lists, in parentheses."""

    DELIMITER: ClassVar[Parser.Delimiter] = Parser.Delimiter.PAREN

    target: TypeDirective
    input_sg_layout: TypeDirective
    input_sg_data: TypeDirective
    input_inst_data: TypeDirective
    target_sg_layout: TypeDirective
    target_sg_data: TypeDirective
    target_inst_data: TypeDirective


@irdl_custom_directive
class NumberOrParameter(CustomDirective):
    """A number or an operand that stands for one."""

    dynamic: OptionalOperandVariable
    static: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        operand = parser.parse_optional_unresolved_operand()
        self.dynamic.set(state, operand)
        if operand is None:
            self.static.set(state, IntegerAttr(parser.parse_integer(), i64))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        operand, number = self.dynamic.get(op), self.static.get(op)
        if operand is not None:
            printer.print_ssa_value(operand)
        else:
            value = number.value.data if isinstance(number, IntegerAttr) else 1
            printer.print_int(value)


class NumberLists(IRDLOperation, ABC):
    """An operation with lists of numbers `x`, whose known numbers are a property `static_x`."""

    @override
    def verify_(self) -> None:
        for name in self.get_irdl_definition().properties:
            numbers = self.properties.get(name)
            if not isinstance(numbers, DenseArrayBase) or not name.startswith("static_"):
                continue
            list_name = name.removeprefix("static_")
            values = cast("DenseArrayBase[IntegerType]", numbers).get_values()
            unknown = list(values).count(DYNAMIC_INDEX)
            given = len(cast("Sequence[SSAValue]", getattr(self, list_name)))
            if given != unknown:
                raise VerifyException(
                    f"{list_name} leaves {unknown} of its numbers to operands, but has {given}"
                )


@irdl_op_definition
class GetDescOp(IRDLOperation):
    """The operation that makes the descriptor of a value.

    ```
    %d = transform.xegpu.get_desc_op %v : (!transform.any_value) -> !transform.any_op
    ```
    """

    name = "transform.xegpu.get_desc_op"

    target = operand_def(VALUE_HANDLE)
    descHandle = result_def(OPERATION_HANDLE)  # noqa: N815

    assembly_format = "$target attr-dict `:` functional-type(operands, results)"


@irdl_op_definition
class SetDescLayoutOp(NumberLists):
    """Gives a descriptor a layout.

    ```
    %e = transform.xegpu.set_desc_layout %d sg_layout = [8, 4] sg_data = [32, 32]
      : (!transform.any_op) -> !transform.any_op
    ```
    """

    name = "transform.xegpu.set_desc_layout"

    target = operand_def(OPERATION_HANDLE)
    sg_layout = var_operand_def(PARAMETER_OR_HANDLE)
    sg_data = var_operand_def(PARAMETER_OR_HANDLE)
    inst_data = var_operand_def(PARAMETER_OR_HANDLE)
    static_sg_layout = opt_prop_def(_NUMBERS)
    static_sg_data = opt_prop_def(_NUMBERS)
    static_inst_data = opt_prop_def(_NUMBERS)
    slice_dims = opt_prop_def(_NUMBERS)
    transformed = result_def(OPERATION_HANDLE)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$target `sg_layout` `=` custom<DimensionList>($sg_layout, $static_sg_layout) "
        "`sg_data` `=` custom<DimensionList>($sg_data, $static_sg_data) "
        "(`inst_data` `=` custom<DimensionList>($inst_data, $static_inst_data)^)? "
        "(`slice_dims` `=` $slice_dims^)? attr-dict `:` "
        "custom<LayoutArguments>(type($target), type($sg_layout), type($sg_data), "
        "type($inst_data)) `->` type($transformed)"
    )
    custom_directives: ClassVar = (DimensionList, LayoutArguments)


@irdl_op_definition
class SetOpLayoutAttrOp(NumberLists):
    """Gives an operand or a result a layout.

    ```
    transform.xegpu.set_op_layout_attr %op result index = 1 sg_layout = [8, 4] sg_data = [32, 64]
      : !transform.any_op
    ```
    """

    name = "transform.xegpu.set_op_layout_attr"

    target = operand_def(OPERATION_HANDLE)
    index = opt_prop_def(_NUMBER, default_value=IntegerAttr(0, i64))
    sg_layout = var_operand_def(PARAMETER_OR_HANDLE)
    sg_data = var_operand_def(PARAMETER_OR_HANDLE)
    inst_data = var_operand_def(PARAMETER_OR_HANDLE)
    static_sg_layout = opt_prop_def(_NUMBERS)
    static_sg_data = opt_prop_def(_NUMBERS)
    static_inst_data = opt_prop_def(_NUMBERS)
    slice_dims = opt_prop_def(_NUMBERS)
    result = opt_prop_def(UnitAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$target (`result` $result^)? (`index` `=` $index^)? "
        "`sg_layout` `=` custom<DimensionList>($sg_layout, $static_sg_layout) "
        "`sg_data` `=` custom<DimensionList>($sg_data, $static_sg_data) "
        "(`inst_data` `=` custom<DimensionList>($inst_data, $static_inst_data)^)? "
        "(`slice_dims` `=` $slice_dims^)? attr-dict `:` "
        "custom<LayoutTypes>(type($target), type($sg_layout), type($sg_data), type($inst_data))"
    )
    custom_directives: ClassVar = (DimensionList, LayoutTypes)


@irdl_op_definition
class SetGPULaunchThreadsOp(NumberLists):
    """Sets the threads of a launch.

    ```
    transform.xegpu.set_gpu_launch_threads %launch threads = [8, 4, 1] : !transform.any_op
    ```
    """

    name = "transform.xegpu.set_gpu_launch_threads"

    target = operand_def(OPERATION_HANDLE)
    threads = var_operand_def(PARAMETER_OR_HANDLE)
    static_threads = opt_prop_def(_NUMBERS)

    assembly_format = (
        "$target `threads` `=` custom<DimensionList>($threads, $static_threads) attr-dict `:` "
        "type(operands)"
    )
    custom_directives: ClassVar = (DimensionList,)


@irdl_op_definition
class InsertPrefetchOp(IRDLOperation):
    """Inserts prefetches for a tile that a loop loads.

    ```
    %d = transform.xegpu.insert_prefetch %v nb_prefetch = 2
      : (!transform.any_value) -> !transform.any_op
    ```
    """

    name = "transform.xegpu.insert_prefetch"

    target = operand_def(VALUE_HANDLE)
    dynamic_nb_prefetch = opt_operand_def(PARAMETER_OR_HANDLE)
    static_nb_prefetch = opt_prop_def(_NUMBER)
    desc_op = result_def(OPERATION_HANDLE)

    assembly_format = (
        "$target `nb_prefetch` `=` "
        "custom<NumberOrParameter>($dynamic_nb_prefetch, $static_nb_prefetch) "
        "attr-dict `:` functional-type(operands, results)"
    )
    custom_directives: ClassVar = (NumberOrParameter,)


@irdl_op_definition
class ConvertLayoutOp(NumberLists):
    """Inserts a change of a value's layout.

    ```
    %c = transform.xegpu.convert_layout %v
      input_sg_layout = [8, 4] input_sg_data = [32, 32]
      target_sg_layout = [8, 4] target_sg_data = [8, 16]
      : (!transform.any_value) -> !transform.any_op
    ```
    """

    name = "transform.xegpu.convert_layout"

    target = operand_def(VALUE_HANDLE)
    input_sg_layout = var_operand_def(PARAMETER_OR_HANDLE)
    input_sg_data = var_operand_def(PARAMETER_OR_HANDLE)
    input_inst_data = var_operand_def(PARAMETER_OR_HANDLE)
    target_sg_layout = var_operand_def(PARAMETER_OR_HANDLE)
    target_sg_data = var_operand_def(PARAMETER_OR_HANDLE)
    target_inst_data = var_operand_def(PARAMETER_OR_HANDLE)
    static_input_sg_layout = opt_prop_def(_NUMBERS)
    static_input_sg_data = opt_prop_def(_NUMBERS)
    static_input_inst_data = opt_prop_def(_NUMBERS)
    static_target_sg_layout = opt_prop_def(_NUMBERS)
    static_target_sg_data = opt_prop_def(_NUMBERS)
    static_target_inst_data = opt_prop_def(_NUMBERS)
    newConvertOp = result_def(OPERATION_HANDLE)  # noqa: N815

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$target "
        "`input_sg_layout` `=` custom<DimensionList>($input_sg_layout, $static_input_sg_layout) "
        "`input_sg_data` `=` custom<DimensionList>($input_sg_data, $static_input_sg_data) "
        "(`input_inst_data` `=` custom<DimensionList>($input_inst_data, "
        "$static_input_inst_data)^)? "
        "`target_sg_layout` `=` custom<DimensionList>($target_sg_layout, "
        "$static_target_sg_layout) "
        "`target_sg_data` `=` custom<DimensionList>($target_sg_data, $static_target_sg_data) "
        "(`target_inst_data` `=` custom<DimensionList>($target_inst_data, "
        "$static_target_inst_data)^)? "
        "attr-dict `:` custom<ConversionArguments>(type($target), type($input_sg_layout), "
        "type($input_sg_data), type($input_inst_data), type($target_sg_layout), "
        "type($target_sg_data), type($target_inst_data)) `->` type($newConvertOp)"
    )
    custom_directives: ClassVar = (DimensionList, ConversionArguments)


OPERATIONS: list[type[Operation]] = [
    GetDescOp,
    SetDescLayoutOp,
    SetOpLayoutAttrOp,
    SetGPULaunchThreadsOp,
    InsertPrefetchOp,
    ConvertLayoutOp,
]
"""Every operation of this module."""
