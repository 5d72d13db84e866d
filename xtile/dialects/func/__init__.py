"""The `func` dialect, with what xDSL's lacks: function values and attributes of declarations.

Source: MLIR (LLVM 22), `Dialect/Func/IR/FuncOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    FunctionType,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.text.extensions import Extension, Table, completed

_Input = tuple[Parser.Argument | None, Attribute, dict[str, Attribute]]
"""An argument, its type and its attributes; declarations have no names."""


def _parse_func(parser: Parser) -> func.FuncOp:
    """`func.func`: a function of the host, or without a body the declaration of one.

    ```
    func.func private @scale(memref<4xf32> {llvm.noalias}, f32) -> i32
    ```
    """
    visibility = parser.parse_optional_visibility_keyword()
    name = parser.parse_symbol_name().data
    position = parser.pos
    inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_input(parser))
    named = [argument for argument, _, _ in inputs if argument is not None]
    if len(named) not in (0, len(inputs)):
        parser.raise_error(
            "Expected all arguments to be named or all arguments to be unnamed.",
            position,
            parser.pos,
        )
    outputs = parse_outputs(parser)
    attributes = parser.parse_optional_attr_dict_with_keyword(
        ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")
    )
    # Without arguments, the first block may have a label of its own.
    body = parser.parse_optional_region(named or None)
    function = func.FuncOp(
        name,
        ([type for _, type, _ in inputs], [type for type, _ in outputs]),
        Region() if body is None else body,
        visibility,
        arg_attrs=_dictionaries([attributes for _, _, attributes in inputs]),
        res_attrs=_dictionaries([attributes for _, attributes in outputs]),
    )
    if attributes is not None:
        function.attributes |= attributes.data
    return function


def _verify_func(operation: func.FuncOp) -> None:
    if not operation.body.blocks:
        return
    expected = operation.function_type.inputs.data
    if expected != tuple(operation.body.blocks[0].arg_types):
        raise VerifyException(
            "Expected entry block arguments to have the same types as the function input types"
        )


def _parse_input(parser: Parser) -> _Input:
    argument = parser.parse_optional_argument()
    type = parser.parse_type() if argument is None else argument.type
    attributes = parser.parse_optional_dictionary_attr_dict()
    location = parser.parse_optional_location()
    if argument is not None and location is not None:
        argument.location = location
    return argument, type, attributes


def parse_outputs(parser: Parser) -> list[tuple[Attribute, dict[str, Attribute]]]:
    """Reads `-> type` or `-> (type {attributes}, ...)`, if it is there."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    outputs = parser.parse_optional_comma_separated_list(
        parser.Delimiter.PAREN,
        lambda: (parser.parse_type(), parser.parse_optional_dictionary_attr_dict()),
    )
    return [(parser.parse_type(), {})] if outputs is None else list(outputs)


def _dictionaries(
    attributes: Sequence[dict[str, Attribute]],
) -> ArrayAttr[DictionaryAttr] | None:
    if not any(attributes):
        return None
    return ArrayAttr(DictionaryAttr(dictionary) for dictionary in attributes)


class _FunctionExists(SymbolUserOpInterface):
    """The function exists and has the type of the result."""

    @override
    def verify(self, op: Operation) -> None:
        assert isinstance(op, ConstantOp)
        function = SymbolTable.lookup_symbol(op, op.value)
        if not isinstance(function, func.FuncOp):
            raise VerifyException(f"'{op.value}' does not reference a function")
        if function.function_type != op.result.type:
            raise VerifyException(
                f"the type of '{op.value}' is {function.function_type}, got {op.result.type}"
            )


@op_definition
class ConstantOp(IRDLOperation):
    """A function as a value.

    ```
    %f = func.constant @scale : (f32) -> f32
    ```
    """

    name = "func.constant"

    value = prop_def(FlatSymbolRefAttr)
    result = result_def(FunctionType)

    traits = traits_def(Pure(), _FunctionExists())

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        name = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        return ConstantOp(
            properties={"value": SymbolRefAttr(name)},
            attributes={**attributes},
            result_types=[parser.parse_type()],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@op_definition
class CallIndirectOp(IRDLOperation):
    """Calls a function that is a value.

    ```
    %r = func.call_indirect %f(%x) : (f32) -> f32
    ```
    """

    name = "func.call_indirect"

    callee = operand_def(FunctionType)
    callee_operands = var_operand_def()
    res = var_result_def()

    @classmethod
    @override
    def parse(cls, parser: Parser) -> CallIndirectOp:
        callee = parser.parse_unresolved_operand()
        position = parser.pos
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        values: Sequence[SSAValue] = parser.resolve_operands(operands, type.inputs.data, position)
        return CallIndirectOp(
            operands=[parser.resolve_operand(callee, type), values],
            attributes={**attributes},
            result_types=[type.outputs.data],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.callee)
        with printer.in_parens():
            printer.print_list(self.callee_operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.callee.type)

    @override
    def verify_(self) -> None:
        found = FunctionType.from_lists(self.callee_operands.types, self.res.types)
        if self.callee.type != found:
            raise VerifyException(f"expected a call of {self.callee.type}, got {found}")


OPERATIONS: Table = {
    func.FuncOp: Extension(parse=_parse_func, verify=_verify_func),
}
"""What LLVM says of xDSL's operations."""

Func = Dialect(
    "func",
    completed(list(func.Func.operations), OPERATIONS, [CallIndirectOp, ConstantOp]),
    [*func.Func.attributes],
)
