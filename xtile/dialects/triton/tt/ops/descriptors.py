"""Descriptors of tensors in memory, and the accesses of blocks through them.

Source: Triton 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`; 3.4 for loads.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, IntegerType, TensorType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    SameVariadicOperandSize,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    parse_indices,
    parse_short_type,
    print_attributes,
    print_indices,
    print_short_type,
    print_types,
    print_values,
    split_properties,
)
from xtile.dialects.triton.operation import Operand, TritonOperation, element_of, shape_of
from xtile.dialects.triton.tt.constraints import DESCRIPTOR, OFFSETS, SCALAR_POINTER, TENSOR
from xtile.dialects.triton.tt.enumerations import (
    DescriptorReduceKind,
    PaddingOption,
    member,
    number,
)
from xtile.dialects.triton.tt.keywords import parse_member, print_member, verify_member
from xtile.dialects.triton.tt.ops.memory import (
    CachedOperation,
    parse_cache_clauses,
    print_cached,
)
from xtile.dialects.triton.tt.types import CachePolicyAttr, PointerType, TensorDescType


@op_definition
class MakeTensorDescOp(TritonOperation):
    """A descriptor of a tensor in memory; the last stride is 1.

    Elements beyond its edges are zero or, with `padding = 2 : i32`, NaN when they are loaded.

    ```
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%stride, %one]
      : !tt.ptr<f16>, !tt.tensordesc<64x32xf16>
    ```
    """

    name = "tt.make_tensor_descriptor"

    base = operand_def(SCALAR_POINTER)
    shape = var_operand_def(i32)
    strides = var_operand_def(i64)
    padding = opt_prop_def(IntegerAttr.constr(i32))
    result = result_def(DESCRIPTOR)

    traits = traits_def(Pure())
    irdl_options = (SameVariadicOperandSize(),)

    def __init__(
        self,
        base: Operand,
        shape: Sequence[Operand],
        strides: Sequence[Operand],
        result_type: Attribute,
        *,
        padding: PaddingOption = PaddingOption.ZERO,
    ) -> None:
        super().__init__(
            operands=[base, shape, strides],
            properties={"padding": number(padding)},
            result_types=[result_type],
        )

    @property
    def padding_option(self) -> PaddingOption:
        """What lies beyond the edges."""
        return member(PaddingOption, self.padding, PaddingOption.ZERO)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        base = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        shape = parse_indices(parser)
        parser.parse_punctuation(",")
        strides = parse_indices(parser)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        pointer = parse_short_type(parser, PointerType)
        parser.parse_punctuation(",")
        result = parse_short_type(parser, TensorDescType)
        return cls.build(
            operands=[
                parser.resolve_operand(base, pointer),
                [parser.resolve_operand(each, i32) for each in shape],
                [parser.resolve_operand(each, i64) for each in strides],
            ],
            properties=given,
            attributes=attributes,
            result_types=[result],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.base])
        printer.print_string(", ")
        print_indices(printer, self.shape)
        printer.print_string(", ")
        print_indices(printer, self.strides)
        print_attributes(printer, self, (), {"padding": number(PaddingOption.ZERO)})
        printer.print_string(" : ")
        print_short_type(printer, self.base.type)
        printer.print_string(", ")
        print_short_type(printer, self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(PaddingOption, "padding", self.padding)
        descriptor = self.result.type
        assert isinstance(descriptor, TensorDescType)
        assert isinstance(self.base.type, PointerType)
        rank = len(descriptor.get_shape())
        if len(self.shape) != rank:
            raise VerifyException(
                f"there are {len(self.shape)} sizes, but {descriptor} has {rank} dimensions"
            )
        if self.base.type.pointee != descriptor.block_type.element_type:
            raise VerifyException(
                f"base is {self.base.type}, but the descriptor is {descriptor}; they must have the "
                "same elements"
            )


def descriptor_of(value: SSAValue) -> TensorDescType:
    """The type of a descriptor."""
    assert isinstance(value.type, TensorDescType)
    return value.type


def _verify_block(name: str, type_: Attribute, descriptor: TensorDescType) -> None:
    """Checks that a tensor has a block's elements, and its sizes but for sizes of 1."""
    block = descriptor.block_type
    sizes = [size for size in shape_of(type_) if size != 1]
    if sizes != [size for size in block.get_shape() if size != 1] or _plain(type_) != _plain(block):
        raise VerifyException(f"{name} is {type_}; blocks of {descriptor} are {block}")


def _plain(type_: Attribute) -> Attribute:
    element = element_of(type_)
    return IntegerType(element.width.data) if isa(element, IntegerType) else element


def _verify_indices(indices: Sequence[SSAValue], descriptor: TensorDescType) -> None:
    rank = len(descriptor.get_shape())
    if len(indices) != rank:
        raise VerifyException(
            f"there are {len(indices)} indices, but {descriptor} has {rank} dimensions"
        )


@op_definition
class DescriptorLoadOp(CachedOperation):
    """The block of a descriptor's tensor that begins at some indices.

    ```
    %t = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
    ```
    """

    name = "tt.descriptor_load"

    desc = operand_def(DESCRIPTOR)
    indices = var_operand_def(i32)
    cachePolicy = opt_prop_def()  # noqa: N815
    result = result_def(TENSOR)

    def __init__(
        self,
        desc: Operand,
        indices: Sequence[Operand],
        result_type: Attribute | None = None,
        *,
        policy: CachePolicyAttr | None = None,
    ) -> None:
        block = descriptor_of(SSAValue.get(desc)).block_type
        super().__init__(
            operands=[desc, indices],
            properties={"cachePolicy": policy},
            result_types=[result_type or block],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        indices = parse_indices(parser)
        properties = parse_cache_clauses(parser)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_punctuation("->")
        result = parser.parse_type()
        return cls.build(
            operands=[
                parser.resolve_operand(desc, type_),
                [parser.resolve_operand(each, i32) for each in indices],
            ],
            properties={**properties, **given},
            attributes=attributes,
            result_types=[result],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.desc])
        print_indices(printer, self.indices)
        print_cached(printer, self)
        print_types(printer, [self.desc.type])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        descriptor = descriptor_of(self.desc)
        _verify_indices(self.indices, descriptor)
        _verify_block("the result", self.result.type, descriptor)


class _DescriptorStoringOperation(TritonOperation, ABC):
    """A store or an update of a block."""

    desc = operand_def(DESCRIPTOR)
    src = operand_def(TENSOR)
    indices = var_operand_def(i32)

    @classmethod
    def _parse_access(cls, parser: Parser, properties: dict[str, Attribute]) -> Self:
        desc = parser.parse_unresolved_operand()
        indices = parse_indices(parser)
        parser.parse_punctuation(",")
        src = parser.parse_unresolved_operand()
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_punctuation(",")
        source_type = parser.parse_type()
        return cls.build(
            operands=[
                parser.resolve_operand(desc, type_),
                parser.resolve_operand(src, source_type),
                [parser.resolve_operand(each, i32) for each in indices],
            ],
            properties={**properties, **given},
            attributes=attributes,
        )

    def _print_access(self, printer: Printer) -> None:
        print_values(printer, [self.desc])
        print_indices(printer, self.indices)
        printer.print_string(",")
        print_values(printer, [self.src])
        print_attributes(printer, self, ["kind"])
        print_types(printer, [self.desc.type, self.src.type])

    @override
    def verify_(self) -> None:
        super().verify_()
        descriptor = descriptor_of(self.desc)
        _verify_indices(self.indices, descriptor)
        _verify_block("src", self.src.type, descriptor)


@op_definition
class DescriptorStoreOp(_DescriptorStoringOperation):
    """Writes a block of a descriptor's tensor; what lies beyond its edges is not written.

    ```
    tt.descriptor_store %d[%i, %j], %t : !tt.tensordesc<64x32xf16>, tensor<64x32xf16>
    ```
    """

    name = "tt.descriptor_store"

    def __init__(self, desc: Operand, indices: Sequence[Operand], src: Operand) -> None:
        super().__init__(operands=[desc, src, indices])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        return cls._parse_access(parser, {})

    @override
    def print(self, printer: Printer) -> None:
        self._print_access(printer)


@op_definition
class DescriptorReduceOp(_DescriptorStoringOperation):
    """Updates a block of a descriptor's tensor, each element atomically.

    ```
    tt.descriptor_reduce add, %d[%i, %j], %t : !tt.tensordesc<64x32xf16>, tensor<64x32xf16>
    ```
    """

    name = "tt.descriptor_reduce"

    kind = prop_def(IntegerAttr.constr(i32))

    def __init__(
        self, kind: DescriptorReduceKind, desc: Operand, indices: Sequence[Operand], src: Operand
    ) -> None:
        super().__init__(operands=[desc, src, indices], properties={"kind": number(kind)})

    @property
    def reduction(self) -> DescriptorReduceKind:
        """How memory and elements are combined."""
        return DescriptorReduceKind(self.kind.value.data)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        kind = parse_member(parser, DescriptorReduceKind)
        parser.parse_punctuation(",")
        return cls._parse_access(parser, {"kind": kind})

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_member(printer, DescriptorReduceKind, self.kind)
        printer.print_string(",")
        self._print_access(printer)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(DescriptorReduceKind, "kind", self.kind)


def _verify_rows(
    operation: TritonOperation, desc: SSAValue, rows: SSAValue, block: SSAValue
) -> None:
    """Checks a gather or a scatter of rows."""
    descriptor = descriptor_of(desc)
    shape, tensor = descriptor.get_shape(), shape_of(block.type)
    if len(shape) != 2 or shape[0] != 1:
        raise VerifyException(f"{operation.name} needs blocks of one row, not {descriptor}")
    if len(shape_of(rows.type)) != 1:
        raise VerifyException(f"x_offsets has one dimension, but is {rows.type}")
    if tensor != (shape_of(rows.type)[0], shape[1]) or _plain(block.type) != _plain(
        descriptor.block_type
    ):
        raise VerifyException(
            f"the block is {block.type}; it must have a row of {descriptor} for each of {rows.type}"
        )


@op_definition
class DescriptorGatherOp(TritonOperation):
    """Rows of a descriptor's tensor, from a column on.

    ```
    %t = tt.descriptor_gather %d[%rows, %column]
      : (!tt.tensordesc<1x32xf16>, tensor<64xi32>, i32) -> tensor<64x32xf16>
    ```
    """

    name = "tt.descriptor_gather"

    desc = operand_def(DESCRIPTOR)
    x_offsets = operand_def(OFFSETS)
    y_offset = operand_def(i32)
    result = result_def(TENSOR)

    assembly_format = (
        "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, desc: Operand, x_offsets: Operand, y_offset: Operand) -> None:
        block = descriptor_of(SSAValue.get(desc)).block_type
        rows = shape_of(SSAValue.get(x_offsets).type)[0]
        result = TensorType(block.element_type, [rows, block.get_shape()[1]])
        super().__init__(operands=[desc, x_offsets, y_offset], result_types=[result])

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_rows(self, self.desc, self.x_offsets, self.result)


@op_definition
class DescriptorScatterOp(TritonOperation):
    """Writes rows of a descriptor's tensor, from a column on.

    ```
    tt.descriptor_scatter %d[%rows, %column], %t
      : !tt.tensordesc<1x32xf16>, tensor<64xi32>, i32, tensor<64x32xf16>
    ```
    """

    name = "tt.descriptor_scatter"

    desc = operand_def(DESCRIPTOR)
    x_offsets = operand_def(OFFSETS)
    y_offset = operand_def(i32)
    src = operand_def(TENSOR)

    assembly_format = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)"

    def __init__(self, desc: Operand, x_offsets: Operand, y_offset: Operand, src: Operand) -> None:
        super().__init__(operands=[desc, x_offsets, y_offset, src])

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_rows(self, self.desc, self.x_offsets, self.src)


OPERATIONS: list[type[Operation]] = [
    MakeTensorDescOp,
    DescriptorLoadOp,
    DescriptorStoreOp,
    DescriptorReduceOp,
    DescriptorGatherOp,
    DescriptorScatterOp,
]
"""Every operation of this module."""
