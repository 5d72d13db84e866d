"""Pointers to blocks of tensors in memory, which 3.7 was the last release to have.

Source: Triton 3.7, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, TensorType, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    SameVariadicOperandSize,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    parse_indices,
    parse_short_type,
    print_attributes,
    print_indices,
    print_short_type,
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
from xtile.dialects.triton.tt.constraints import SCALAR_POINTER
from xtile.dialects.triton.tt.types import PointerType
from xtile.dialects.triton.versions import V3_7, Release


@op_definition
class MakeTensorPtrOp(TritonOperation):
    """A pointer to the block of a tensor in memory that begins at some offsets.

    `order` names the dimensions, the fastest first.

    ```
    %p = tt.make_tensor_ptr %base, [%m, %n], [%stride, %one], [%i, %j] {order = array<i32: 1, 0>}
      : <tensor<64x32xf16>>
    ```
    """

    name = "tt.make_tensor_ptr"
    UNTIL: ClassVar[Release | None] = V3_7

    base = operand_def(SCALAR_POINTER)
    shape = var_operand_def(i64)
    strides = var_operand_def(i64)
    offsets = var_operand_def(i32)
    order = prop_def(DenseArrayBase.constr(i32))
    result = result_def(SCALAR_POINTER)

    traits = traits_def(Pure())
    irdl_options = (SameVariadicOperandSize(),)

    def __init__(
        self,
        base: Operand,
        shape: Sequence[Operand],
        strides: Sequence[Operand],
        offsets: Sequence[Operand],
        block_shape: Sequence[int],
        order: Sequence[int],
    ) -> None:
        pointer = SSAValue.get(base).type
        assert isinstance(pointer, PointerType)
        block = TensorType(pointer.pointee, block_shape)
        super().__init__(
            operands=[base, shape, strides, offsets],
            properties={"order": DenseArrayBase.from_list(i32, order)},
            result_types=[PointerType(block, pointer.address_space.data)],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        base = parser.parse_unresolved_operand()
        lists: list[list[SSAValue]] = []
        for type_ in (i64, i64, i32):
            parser.parse_punctuation(",")
            lists.append([parser.resolve_operand(each, type_) for each in parse_indices(parser)])
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        pointer = _parse_pointer(parser)
        base_type = PointerType(element_of(pointer.pointee), pointer.address_space.data)
        return cls.build(
            operands=[parser.resolve_operand(base, base_type), *lists],
            properties=given,
            attributes=attributes,
            result_types=[pointer],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.base])
        for values in (self.shape, self.strides, self.offsets):
            printer.print_string(", ")
            print_indices(printer, values)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_short_type(printer, self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        pointer, base = self.result.type, self.base.type
        assert isinstance(pointer, PointerType)
        assert isinstance(base, PointerType)
        block = pointer.pointee
        if not pointer.is_block or element_of(block) != base.pointee:
            raise VerifyException(
                f"the result is {pointer}; it must point to a tensor of {base.pointee}"
            )
        rank = len(shape_of(block))
        if len(self.shape) != rank:
            raise VerifyException(f"there are {len(self.shape)} sizes, but the block is {block}")
        order = [int(each) for each in self.order.get_values()]
        if sorted(order) != list(range(rank)):
            raise VerifyException(
                f"order is {order}; it must name each of the {rank} dimensions once"
            )


def _parse_pointer(parser: Parser) -> PointerType:
    """Reads `!tt.ptr<...>`, or `<...>` without its name."""
    type_ = parse_short_type(parser, PointerType)
    if not isinstance(type_, PointerType):
        parser.raise_error("expected a pointer such as !tt.ptr<tensor<64x32xf16>>")
    return type_


@op_definition
class AdvanceOp(TritonOperation):
    """A pointer to the block that begins so much further.

    ```
    %q = tt.advance %p, [%zero, %k] : <tensor<64x32xf16>>
    ```
    """

    name = "tt.advance"
    UNTIL: ClassVar[Release | None] = V3_7

    ptr = operand_def(SCALAR_POINTER)
    offsets = var_operand_def(i32)
    result = result_def(SCALAR_POINTER)

    traits = traits_def(Pure())

    def __init__(self, ptr: Operand, offsets: Sequence[Operand]) -> None:
        super().__init__(operands=[ptr, offsets], result_types=[SSAValue.get(ptr).type])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offsets = parse_indices(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pointer = _parse_pointer(parser)
        return cls.build(
            operands=[
                parser.resolve_operand(ptr, pointer),
                [parser.resolve_operand(each, i32) for each in offsets],
            ],
            attributes=attributes,
            result_types=[pointer],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.ptr])
        printer.print_string(", ")
        print_indices(printer, self.offsets)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_short_type(printer, self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_type("the result", self.result.type, self.ptr.type)
        pointer = self.ptr.type
        assert isinstance(pointer, PointerType)
        rank = len(shape_of(pointer.pointee))
        if not pointer.is_block or len(self.offsets) != rank:
            raise VerifyException(
                f"there are {len(self.offsets)} offsets, but ptr is {pointer}; it must point to a "
                "block with as many dimensions"
            )


OPERATIONS: list[type[Operation]] = [MakeTensorPtrOp, AdvanceOp]
"""Every operation of this module."""
