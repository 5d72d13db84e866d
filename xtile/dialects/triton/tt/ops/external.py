"""Functions and instructions that are not Triton's, and what programs print and check.

Source: Triton 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    print_attributes,
    print_values,
    split_properties,
)
from xtile.dialects.triton.operation import Operand, TritonOperation, verify_same_form
from xtile.dialects.triton.tt.constraints import BOOL, VALUE


@op_definition
class ExternElementwiseOp(TritonOperation):
    """A function of a library of the device, element by element.

    ```
    %y = tt.extern_elementwise %x
      {libname = "", libpath = "", pure = true, symbol = "__ocml_tanh_f32"}
      : (tensor<8xf32>) -> tensor<8xf32>
    ```
    """

    name = "tt.extern_elementwise"

    srcs = var_operand_def(VALUE)
    libname = prop_def(StringAttr)
    libpath = prop_def(StringAttr)
    symbol = prop_def(StringAttr)
    pure = prop_def(IntegerAttr)
    result = result_def(VALUE)

    assembly_format = "operands attr-dict `:` functional-type(operands, $result)"

    def __init__(
        self,
        srcs: Sequence[Operand],
        symbol: str,
        result_type: Attribute,
        *,
        libname: str = "",
        libpath: str = "",
        pure: bool = True,
    ) -> None:
        super().__init__(
            operands=[srcs],
            properties={
                "libname": StringAttr(libname),
                "libpath": StringAttr(libpath),
                "symbol": StringAttr(symbol),
                "pure": BoolAttr.from_bool(pure),
            },
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        values = {f"operand {i}": value.type for i, value in enumerate(self.srcs)}
        verify_same_form({"the result": self.result.type, **values})


@op_definition
class ElementwiseInlineAsmOp(TritonOperation):
    """Assembly of the device, given so many elements at a time.

    ```
    %y = tt.elementwise_inline_asm "shl.b32 $0, $0, 3;" {constraints = "=r,r", packed_element = 4
      : i32, pure = true} %x : tensor<512xi8> -> tensor<512xi8>
    ```
    """

    name = "tt.elementwise_inline_asm"

    asm_string = prop_def(StringAttr)
    constraints = prop_def(StringAttr)
    pure = prop_def(IntegerAttr)
    packed_element = prop_def(IntegerAttr.constr(i32))
    args = var_operand_def()
    result = var_result_def(VALUE)

    def __init__(
        self,
        asm_string: str,
        constraints: str,
        args: Sequence[Operand],
        result_types: Sequence[Attribute],
        *,
        pure: bool = True,
        packed_element: int = 1,
    ) -> None:
        super().__init__(
            operands=[args],
            properties={
                "asm_string": StringAttr(asm_string),
                "constraints": StringAttr(constraints),
                "pure": BoolAttr.from_bool(pure),
                "packed_element": IntegerAttr(packed_element, i32),
            },
            result_types=[result_types],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        asm = StringAttr(parser.parse_str_literal())
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        types: list[Attribute] = []
        if operands:
            parser.parse_punctuation(":")
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        values = parser.resolve_operands(operands or [], types, parser.pos)
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.build(
            operands=[values],
            properties={"asm_string": asm, **given},
            attributes=attributes,
            result_types=[results],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.asm_string)
        print_attributes(printer, self, ["asm_string"])
        if self.args:
            print_values(printer, self.args)
            printer.print_string(" : ")
            printer.print_list(self.args.types, printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_list(self.result.types, printer.print_attribute)

    @override
    def verify_(self) -> None:
        super().verify_()
        if not self.result:
            raise VerifyException("elementwise assembly has at least one result")
        if self.packed_element.value.data < 1:
            raise VerifyException("packed_element must be at least 1")


@op_definition
class PrintOp(TritonOperation):
    """Prints values of every program.

    ```
    tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<8xi32>
    ```
    """

    name = "tt.print"

    prop_prefix = prop_def(StringAttr, prop_name="prefix")
    hex = prop_def(IntegerAttr)
    isSigned = prop_def(DenseArrayBase.constr(i32))  # noqa: N815
    args = var_operand_def(VALUE)

    assembly_format = "$prefix attr-dict (`:` $args^ `:` type($args))?"

    def __init__(
        self,
        prefix: str,
        args: Sequence[Operand],
        *,
        hex: bool = False,
        is_signed: Sequence[bool] = (),
    ) -> None:
        signs = [int(sign) for sign in is_signed] or [1] * len(args)
        super().__init__(
            operands=[args],
            properties={
                "prefix": StringAttr(prefix),
                "hex": BoolAttr.from_bool(hex),
                "isSigned": DenseArrayBase.from_list(i32, signs),
            },
        )


@op_definition
class AssertOp(TritonOperation):
    """Ends the launch with a message where a condition is false.

    ```
    tt.assert %ok, "x must be positive" : tensor<8xi1>
    ```
    """

    name = "tt.assert"

    condition = operand_def(BOOL)
    message = prop_def(StringAttr)

    assembly_format = "$condition `,` $message attr-dict `:` type($condition)"

    def __init__(self, condition: Operand, message: str) -> None:
        super().__init__(operands=[condition], properties={"message": StringAttr(message)})


OPERATIONS: list[type[Operation]] = [
    ExternElementwiseOp,
    ElementwiseInlineAsmOp,
    PrintOp,
    AssertOp,
]
"""Every operation of this module."""
