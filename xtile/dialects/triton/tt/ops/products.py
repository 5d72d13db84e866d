"""Products of matrices.

Source: Triton 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    print_attributes,
    print_values,
    split_properties,
)
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    element_of,
    shape_of,
    verify_type,
)
from xtile.dialects.triton.tt.constraints import FLOAT_TENSOR, NUMBER_TENSOR, SCALED_TENSOR
from xtile.dialects.triton.tt.enumerations import (
    InputPrecision,
    ScaleDotElemType,
    member,
    number,
)
from xtile.dialects.triton.tt.keywords import (
    parse_member,
    print_member,
    verify_member,
)

_PACKED = ScaleDotElemType.E2M1
"""The elements of which one byte holds two."""


@op_definition
class DotOp(TritonOperation):
    """The product of two matrices, or of two batches of them, plus a third.

    `inputPrecision` says how a product of f32 is computed. `maxNumImpreciseAcc` is a hint for
    products of f8: how many may be summed with fewer bits.

    ```
    %d = tt.dot %a, %b, %c, inputPrecision = tf32
      : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
    ```
    """

    name = "tt.dot"

    a = operand_def(NUMBER_TENSOR)
    b = operand_def(NUMBER_TENSOR)
    c = operand_def(NUMBER_TENSOR)
    inputPrecision = opt_prop_def(IntegerAttr.constr(i32))  # noqa: N815
    maxNumImpreciseAcc = opt_prop_def(IntegerAttr.constr(i32))  # noqa: N815
    d = result_def(NUMBER_TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        a: Operand,
        b: Operand,
        c: Operand,
        *,
        input_precision: InputPrecision = InputPrecision.IEEE,
        max_num_imprecise_acc: int = 0,
    ) -> None:
        super().__init__(
            operands=[a, b, c],
            properties={
                "inputPrecision": number(input_precision),
                "maxNumImpreciseAcc": IntegerAttr(max_num_imprecise_acc, i32),
            },
            result_types=[SSAValue.get(c).type],
        )

    @property
    def precision(self) -> InputPrecision:
        """How a product of f32 is computed."""
        return member(InputPrecision, self.inputPrecision, InputPrecision.IEEE)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("inputPrecision")
            parser.parse_punctuation("=")
            properties["inputPrecision"] = parse_member(parser, InputPrecision)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        parser.parse_punctuation("*")
        types.append(parser.parse_type())
        parser.parse_punctuation("->")
        result = parser.parse_type()
        values = parser.resolve_operands(operands, [*types, result], parser.pos)
        return cls.build(
            operands=values,
            properties={**properties, **given},
            attributes=attributes,
            result_types=[result],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, self.operands)
        if self.precision is not InputPrecision.IEEE:
            printer.print_string(", inputPrecision = ")
            print_member(printer, InputPrecision, self.inputPrecision)
        defaults = {"maxNumImpreciseAcc": IntegerAttr(0, i32)}
        print_attributes(printer, self, ["inputPrecision"], defaults)
        printer.print_string(" : ")
        printer.print_attribute(self.a.type)
        printer.print_string(" * ")
        printer.print_attribute(self.b.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.d.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(InputPrecision, "inputPrecision", self.inputPrecision)
        verify_type("c", self.c.type, self.d.type)
        a, b = element_of(self.a.type), element_of(self.b.type)
        if getattr(a, "bitwidth", 0) != getattr(b, "bitwidth", 0):
            raise VerifyException(
                f"a has elements of type {a}, but b of type {b}; they must have as many bits"
            )
        verify_product(self.a.type, self.b.type, self.d.type)


def verify_product(
    a: Attribute, b: Attribute, d: Attribute, packed: tuple[int, int] = (1, 1)
) -> None:
    """Checks the shapes of a product.

    Args:
        a: The left operand.
        b: The right operand.
        d: The result.
        packed: How many elements along K one of each operand stands for.

    Raises:
        VerifyException: They do not fit.
    """
    left, right, result = shape_of(a), shape_of(b), shape_of(d)
    if len(left) not in (2, 3) or len({len(left), len(right), len(result)}) != 1:
        raise VerifyException(
            f"a product is of matrices or of batches of matrices, not of {a} and {b}"
        )
    depth = left[-1] * packed[0], right[-2] * packed[1]
    if depth[0] != depth[1]:
        raise VerifyException(
            f"a has {depth[0]} columns, but b has {depth[1]} rows; they must be the same"
        )
    if left[:-2] != right[:-2] or result != (*left[:-1], right[-1]):
        raise VerifyException(f"the result is {d}; the product of {a} and {b} has another shape")


@op_definition
class DotScaledOp(TritonOperation):
    """The product of two matrices whose blocks of 32 along K have a scale each, plus a third.

    Elements of fewer than 8 bits are in bytes, two of e2m1 in one, along K or with
    `lhs_k_pack = false` and `rhs_k_pack = false` along the other dimension.

    ```
    %d = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e4m3 rhs = e2m1 {fastMath = false}
      : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<32x128xi8>, tensor<128x2xi8>
      -> tensor<128x128xf32>
    ```
    """

    name = "tt.dot_scaled"

    a = operand_def(SCALED_TENSOR)
    b = operand_def(SCALED_TENSOR)
    c = operand_def(FLOAT_TENSOR)
    a_scale = opt_operand_def(SCALED_TENSOR)
    b_scale = opt_operand_def(SCALED_TENSOR)
    a_elem_type = prop_def(IntegerAttr.constr(i32))
    b_elem_type = prop_def(IntegerAttr.constr(i32))
    fastMath = prop_def(IntegerAttr)  # noqa: N815
    lhs_k_pack = opt_prop_def(IntegerAttr)
    rhs_k_pack = opt_prop_def(IntegerAttr)
    d = result_def(FLOAT_TENSOR)

    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        a: Operand,
        a_scale: Operand | None,
        b: Operand,
        b_scale: Operand | None,
        c: Operand,
        *,
        lhs: ScaleDotElemType,
        rhs: ScaleDotElemType,
        fast_math: bool = False,
        lhs_k_pack: bool = True,
        rhs_k_pack: bool = True,
    ) -> None:
        super().__init__(
            operands=[a, b, c, a_scale, b_scale],
            properties={
                "a_elem_type": number(lhs),
                "b_elem_type": number(rhs),
                "fastMath": BoolAttr.from_bool(fast_math),
                "lhs_k_pack": BoolAttr.from_bool(lhs_k_pack),
                "rhs_k_pack": BoolAttr.from_bool(rhs_k_pack),
            },
            result_types=[SSAValue.get(c).type],
        )

    @property
    def elements(self) -> tuple[ScaleDotElemType, ScaleDotElemType]:
        """What the elements of the two operands are."""
        default = ScaleDotElemType.E4M3
        return (
            member(ScaleDotElemType, self.a_elem_type, default),
            member(ScaleDotElemType, self.b_elem_type, default),
        )

    @property
    def packs_k(self) -> tuple[bool, bool]:
        """Whether a byte of two elements of the two operands holds neighbours along K."""
        packs = (self.lhs_k_pack, self.rhs_k_pack)
        return packs[0] is None or packs[0].value.data != 0, packs[1] is None or (
            packs[1].value.data != 0
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        a, a_scale = _parse_scaled(parser)
        parser.parse_punctuation(",")
        b, b_scale = _parse_scaled(parser)
        parser.parse_punctuation(",")
        c = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        for name, property_name in (("lhs", "a_elem_type"), ("rhs", "b_elem_type")):
            parser.parse_keyword(name)
            parser.parse_punctuation("=")
            properties[property_name] = parse_member(parser, ScaleDotElemType)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        a_types = _parse_scaled_types(parser, a_scale)
        parser.parse_punctuation("*")
        b_types = _parse_scaled_types(parser, b_scale)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        return cls.build(
            operands=[
                parser.resolve_operand(a, a_types[0]),
                parser.resolve_operand(b, b_types[0]),
                parser.resolve_operand(c, result),
                [parser.resolve_operand(each, a_types[1]) for each in a_scale],
                [parser.resolve_operand(each, b_types[1]) for each in b_scale],
            ],
            properties={**properties, **given},
            attributes=attributes,
            result_types=[result],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_scaled(printer, self.a, self.a_scale)
        printer.print_string(", ")
        _print_scaled(printer, self.b, self.b_scale)
        printer.print_string(", ")
        printer.print_ssa_value(self.c)
        printer.print_string(" lhs = ")
        print_member(printer, ScaleDotElemType, self.a_elem_type)
        printer.print_string(" rhs = ")
        print_member(printer, ScaleDotElemType, self.b_elem_type)
        yes = BoolAttr.from_bool(True)
        defaults = {"lhs_k_pack": yes, "rhs_k_pack": yes}
        print_attributes(printer, self, ["a_elem_type", "b_elem_type"], defaults)
        printer.print_string(" : ")
        _print_scaled_types(printer, self.a, self.a_scale)
        printer.print_string(" * ")
        _print_scaled_types(printer, self.b, self.b_scale)
        printer.print_string(" -> ")
        printer.print_attribute(self.d.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(ScaleDotElemType, "a_elem_type", self.a_elem_type)
        verify_member(ScaleDotElemType, "b_elem_type", self.b_elem_type)
        verify_type("c", self.c.type, self.d.type)
        shapes = self.unpacked_shapes()
        if len(shapes[0]) not in (2, 3) or len(shapes[0]) != len(shapes[1]):
            raise VerifyException("a scaled product is of matrices or of batches of matrices")
        if shapes[0][-1] != shapes[1][-2]:
            raise VerifyException(
                f"a has {shapes[0][-1]} columns, but b has {shapes[1][-2]} rows; they must be the "
                "same"
            )
        if shape_of(self.d.type) != (*shapes[0][:-1], shapes[1][-1]):
            raise VerifyException(
                f"the result is {self.d.type}; the product of {self.a.type} and {self.b.type} has "
                "another shape"
            )

    def unpacked_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of the operands in elements: of batches, rows and columns."""
        (left, right), (packs_left, packs_right) = self.elements, self.packs_k
        a, b = list(shape_of(self.a.type)), list(shape_of(self.b.type))
        if left is _PACKED:
            a[-1 if packs_left else -2] *= 2
        if right is _PACKED:
            b[-2 if packs_right else -1] *= 2
        return tuple(a), tuple(b)


def _parse_scaled(parser: Parser) -> tuple[UnresolvedOperand, list[UnresolvedOperand]]:
    """Reads `%a` or `%a scale %s`."""
    operand = parser.parse_unresolved_operand()
    if parser.parse_optional_keyword("scale") is None:
        return operand, []
    return operand, [parser.parse_unresolved_operand()]


def _parse_scaled_types(parser: Parser, scale: list[UnresolvedOperand]) -> list[Attribute]:
    types: list[Attribute] = [parser.parse_type()]
    if scale:
        parser.parse_punctuation(",")
        types.append(parser.parse_type())
    return types


def _print_scaled(printer: Printer, value: SSAValue, scale: SSAValue | None) -> None:
    printer.print_ssa_value(value)
    if scale is not None:
        printer.print_string(" scale ")
        printer.print_ssa_value(scale)


def _print_scaled_types(printer: Printer, value: SSAValue, scale: SSAValue | None) -> None:
    printer.print_attribute(value.type)
    if scale is not None:
        printer.print_string(", ")
        printer.print_attribute(scale.type)


OPERATIONS: list[type[Operation]] = [DotOp, DotScaledOp]
"""Every operation of this module."""
