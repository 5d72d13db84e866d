"""Views of local memory, which share it.

Source: Triton 3.4 to 3.9, `TritonGPUOps.td` and `lib/Dialect/TritonGPU/IR/Ops.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from math import prod
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
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
from xtile.dialects.triton.assembly import print_attributes, print_types, print_values
from xtile.dialects.triton.encodings.shared import (
    NVMMASharedEncodingAttr,
    PhasedEncodingAttr,
    SharedLinearEncodingAttr,
)
from xtile.dialects.triton.operation import Operand, TritonOperation
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.tt.constraints import I32
from xtile.dialects.triton.ttg.constraints import I32_NUMBERS, MEMDESC, memdesc_of
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.dialects.triton.versions import V3_4, V3_5, Release
from xtile.layouts.linear import LinearLayout


class ViewOperation(TritonOperation, ABC):
    """Other elements, or other indices, of memory that an operand describes."""

    src = operand_def(MEMDESC)
    result = result_def(MEMDESC)

    traits = traits_def(Pure())

    @property
    def source_type(self) -> MemDescType:
        """The type of the memory."""
        return memdesc_of(self.src.type)

    @property
    def result_type(self) -> MemDescType:
        """The type of the view."""
        return memdesc_of(self.result.type)

    def verify_elements(self) -> None:
        """Checks that both have the same elements."""
        if self.source_type.element_type != self.result_type.element_type:
            raise VerifyException(
                f"src is {self.src.type} and the result {self.result.type}; they must have the "
                "same elements"
            )

    def verify_layout(self, view: Callable[[LinearLayout], LinearLayout]) -> None:
        """Checks that the result has each element where the source has it.

        Args:
            view: Makes the layout of the result from that of the source.

        Raises:
            VerifyException: It has not; layouts that are not known are not compared.
        """
        source, result = _layout_of(self.source_type), _layout_of(self.result_type)
        if source is not None and result is not None and view(source) != result:
            raise VerifyException(
                f"src is {self.src.type} and the result {self.result.type}; the layout of the "
                "result must have the elements where src has them"
            )


def _layout_of(memory: MemDescType) -> LinearLayout | None:
    """Which element of a tensor stands where; None where that is not known."""
    encoding = memory.encoding
    if not isinstance(encoding, PhasedEncodingAttr | SharedLinearEncodingAttr):
        return None
    if len(memory.layout_shape) != len(memory.get_shape()) or encoding.block_bases:
        return None
    return encoding.layout(memory.get_shape()).restrict("offset")


def _transposed(layout: LinearLayout, order: Sequence[int]) -> LinearLayout:
    """The layout with its dimensions in another order."""
    names = [f"dim{dimension}" for dimension in order]
    new = {name: f"dim{index}" for index, name in enumerate(names)}
    return layout.transpose(*names).renamed(outputs=new)


@op_definition
class MemDescIndexOp(ViewOperation):
    """One of several tensors that memory holds.

    ```
    %m1 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x8x8xf16, #shared, #smem, mutable>
      -> !ttg.memdesc<8x8xf16, #shared, #smem, mutable>
    ```
    """

    name = "ttg.memdesc_index"
    SINCE: ClassVar[Release] = V3_5

    src = operand_def(MEMDESC)
    index = operand_def(I32)
    result = result_def(MEMDESC)

    def __init__(self, src: Operand, index: Operand, result_type: MemDescType) -> None:
        super().__init__(operands=[src, index], result_types=[result_type])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        src = parser.parse_unresolved_operand()
        is_bracketed = parser.parse_optional_punctuation("[") is not None
        if not is_bracketed:
            parser.parse_punctuation(",", ", or '[', before the index")
        index = parser.parse_unresolved_operand()
        if is_bracketed:
            parser.parse_punctuation("]")
        attributes = parser.parse_optional_attr_dict()
        source, result = _parse_types(parser)
        return cls.create(
            operands=[parser.resolve_operand(src, source), parser.resolve_operand(index, i32)],
            result_types=[result],
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.src])
        opening, closing = ("[", "]") if release_of(printer) >= V3_5 else (", ", "")
        printer.print_string(opening)
        printer.print_ssa_value(self.index)
        printer.print_string(closing)
        print_attributes(printer, self)
        _print_types(printer, self)

    @override
    def verify_(self) -> None:
        super().verify_()
        self.verify_elements()
        source, result = self.source_type, self.result_type
        if source.encoding != result.encoding:
            raise VerifyException("src and the result must have the same layout")
        if source.get_shape()[1:] != result.get_shape():
            raise VerifyException(
                f"src is {source}, so the result has the shape {list(source.get_shape()[1:])}, but "
                f"it is {result}"
            )


@op_definition
class MemDescSubsliceOp(ViewOperation):
    """A box of memory, whose first element is known.

    ```
    %m1 = ttg.memdesc_subslice %m[0, 8] : !ttg.memdesc<8x16xf16, #shared, #smem, mutable>
      -> !ttg.memdesc<8x8xf16, #shared, #smem, mutable, 8x16>
    ```
    """

    name = "ttg.memdesc_subslice"
    SINCE: ClassVar[Release] = V3_5

    src = operand_def(MEMDESC)
    offsets = prop_def(I32_NUMBERS)
    result = result_def(MEMDESC)

    def __init__(self, src: Operand, offsets: Sequence[int], result_type: MemDescType) -> None:
        super().__init__(
            operands=[src],
            properties={"offsets": DenseArrayBase.from_list(i32, offsets)},
            result_types=[result_type],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        src = parser.parse_unresolved_operand()
        offsets = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        attributes = parser.parse_optional_attr_dict()
        source, result = _parse_types(parser)
        return cls.create(
            operands=[parser.resolve_operand(src, source)],
            properties={"offsets": DenseArrayBase.from_list(i32, offsets)},
            result_types=[result],
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.src])
        with printer.in_square_brackets():
            printer.print_list(self.offsets.get_values(), printer.print_int)
        print_attributes(printer, self, ["offsets"])
        _print_types(printer, self)

    @override
    def verify_(self) -> None:
        super().verify_()
        self.verify_elements()
        source, result = self.source_type, self.result_type
        offsets = [int(offset) for offset in self.offsets.get_values()]
        if len({len(source.get_shape()), len(result.get_shape()), len(offsets)}) > 1:
            raise VerifyException(
                f"src is {source}, the result {result} and there are {len(offsets)} offsets; all "
                "must have the same number of dimensions"
            )
        if source.encoding != result.encoding or source.alloc_shape != result.alloc_shape:
            raise VerifyException(
                f"src is {source} and the result {result}; they must have the same layout of the "
                "same allocation"
            )
        for dimension, (offset, size, of) in enumerate(
            zip(offsets, result.get_shape(), source.get_shape(), strict=True)
        ):
            if not 0 <= offset <= of - size or (size < of and offset % size):
                raise VerifyException(
                    f"the offset in dimension {dimension} is {offset}; of {of} elements the result "
                    f"has {size}, so it is a multiple of {size} up to {of - size}"
                )


@op_definition
class MemDescSubviewOp(ViewOperation):
    """A part of memory, as Triton 3.4 has it.

    `xtile.dialects.triton.adapt` makes `ttg.memdesc_index` and `ttg.memdesc_subslice` of it.

    ```
    %zero = arith.constant 0 : i32
    %m1 = ttg.memdesc_subview %m[%i, %zero, %zero]
      : !ttg.memdesc<2x8x8xf16, #shared, #smem, mutable>
      -> !ttg.memdesc<8x8xf16, #shared, #smem, mutable, 2x8x8>
    ```
    """

    name = "ttg.memdesc_subview"
    UNTIL: ClassVar[Release | None] = V3_4

    src = operand_def(MEMDESC)
    offsets = var_operand_def(i32)
    result = result_def(MEMDESC)

    assembly_format = "$src `` `[` $offsets `]` attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, offsets: Sequence[Operand], result_type: MemDescType) -> None:
        super().__init__(operands=[src, offsets], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        self.verify_elements()
        rank = len(self.source_type.get_shape())
        if len(self.offsets) != rank:
            raise VerifyException(
                f"there are {len(self.offsets)} offsets; src has {rank} dimensions"
            )
        if rank - len(self.result_type.get_shape()) not in (0, 1):
            raise VerifyException(
                f"src is {self.src.type} and the result {self.result.type}; it has as many "
                "dimensions or one less"
            )


@op_definition
class MemDescTransOp(ViewOperation):
    """Memory with its dimensions in another order.

    ```
    %m1 = ttg.memdesc_trans %m {order = array<i32: 1, 0>}
      : !ttg.memdesc<8x16xf16, #shared, #smem> -> !ttg.memdesc<16x8xf16, #shared1, #smem>
    ```
    """

    name = "ttg.memdesc_trans"

    src = operand_def(MEMDESC)
    order = prop_def(I32_NUMBERS)
    result = result_def(MEMDESC)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, order: Sequence[int], result_type: MemDescType) -> None:
        super().__init__(
            operands=[src],
            properties={"order": DenseArrayBase.from_list(i32, order)},
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        self.verify_elements()
        source = self.source_type.get_shape()
        order = [int(dimension) for dimension in self.order.get_values()]
        if sorted(order) != list(range(len(source))):
            raise VerifyException(
                f"order is {order}; it must name each of the dimensions 0 to {len(source) - 1} once"
            )
        expected = tuple(source[dimension] for dimension in order)
        if self.result_type.get_shape() != expected:
            raise VerifyException(
                f"the result is {self.result.type}; in this order its shape is {list(expected)}"
            )
        self.verify_layout(lambda layout: _transposed(layout, order))


@op_definition
class MemDescReshapeOp(ViewOperation):
    """Memory with the same elements in another shape.

    ```
    %m1 = ttg.memdesc_reshape %m
      : !ttg.memdesc<8x16xf16, #shared, #smem> -> !ttg.memdesc<16x8xf16, #shared, #smem>
    ```
    """

    name = "ttg.memdesc_reshape"

    src = operand_def(MEMDESC)
    result = result_def(MEMDESC)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, result_type: MemDescType) -> None:
        super().__init__(operands=[src], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        self.verify_elements()
        counts = prod(self.source_type.get_shape()), prod(self.result_type.get_shape())
        if counts[0] != counts[1]:
            raise VerifyException(
                f"src has {counts[0]} elements and the result {counts[1]}; they must be as many"
            )
        shape = self.result_type.get_shape()
        self.verify_layout(
            lambda layout: layout.reshape({f"dim{i}": n for i, n in enumerate(shape)})
        )

    @override
    def lost_in(self, release: Release) -> str | None:
        if release == V3_5 and not isinstance(self.source_type.encoding, NVMMASharedEncodingAttr):
            return "Triton 3.5 reshapes only memory with #ttg.nvmma_shared"
        return super().lost_in(release)


@op_definition
class MemDescReinterpretOp(ViewOperation):
    """The same bytes as other elements, in another shape and layout.

    ```
    %m1 = ttg.memdesc_reinterpret %m : !ttg.memdesc<8x16xf16, #shared, #smem, mutable>
      -> !ttg.memdesc<4x16xf32, #shared, #smem, mutable>
    ```
    """

    name = "ttg.memdesc_reinterpret"

    src = operand_def(MEMDESC)
    result = result_def(MEMDESC)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, result_type: MemDescType) -> None:
        super().__init__(operands=[src], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        source, result = self.source_type, self.result_type
        if source.memory_space != result.memory_space or source.is_mutable != result.is_mutable:
            raise VerifyException(
                f"src is {source} and the result {result}; they must be of the same memory, and "
                "both mutable or none"
            )


OPERATIONS: list[type[Operation]] = [
    MemDescIndexOp,
    MemDescSubsliceOp,
    MemDescSubviewOp,
    MemDescTransOp,
    MemDescReshapeOp,
    MemDescReinterpretOp,
]
"""Every operation of this module."""


def _parse_types(parser: Parser) -> tuple[Attribute, Attribute]:
    """Reads ` : type -> type`."""
    parser.parse_punctuation(":")
    source = parser.parse_type()
    parser.parse_punctuation("->")
    return source, parser.parse_type()


def _print_types(printer: Printer, operation: ViewOperation) -> None:
    """Prints ` : type -> type`."""
    print_types(printer, [operation.src.type])
    printer.print_string(" -> ")
    printer.print_attribute(operation.result.type)
