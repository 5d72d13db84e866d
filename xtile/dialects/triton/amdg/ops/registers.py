"""Tensors in registers: parts, wholes and transpositions that move nothing between lanes.

Source: Triton 3.9, `third_party/amd`, `TritonAMDGPUOps.td` and `Dialect.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
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
from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import DotOperandEncodingAttr
from xtile.dialects.triton.encodings.shared import PhasedEncodingAttr
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    element_of,
    encoding_of,
    shape_of,
)
from xtile.dialects.triton.tt.constraints import TENSOR
from xtile.dialects.triton.ttg.constraints import MEMDESC, TOKEN, layout_of, memdesc_of
from xtile.dialects.triton.versions import V3_5, Release
from xtile.layouts.linear import LinearLayout


def _verify_held(
    source: LinearLayout,
    result: LinearLayout,
    index_in_source: Callable[[Sequence[int]], tuple[int, ...]],
) -> None:
    """Checks that a lane's registers of the result are among its registers of the source.

    Args:
        source: The layout of the source.
        result: The layout of the result.
        index_in_source: Where in the source an element of the result is.

    Raises:
        VerifyException: Something would move between lanes.
    """
    for name, called in (("lane", "lanes"), ("subgroup", "warps")):
        if source.images(name) != result.images(name):
            raise VerifyException(
                f"{called} hold other elements of the result than of the operand; both must have "
                f"the same {called} at the same elements of a tile"
            )
    held = {source.apply(register=register) for register in range(source.size("register"))}
    for register in range(result.size("register")):
        index = result.apply(register=register)
        if index_in_source(index) not in held:
            raise VerifyException(
                f"no register of the lane that gets element {list(index)} of the result holds it; "
                "convert the layout first"
            )


@op_definition
class ExtractSliceOp(TritonOperation):
    """A part of a tensor whose elements are in the same lanes.

    ```
    %y = amdg.extract_slice %x [0, 32]
      : tensor<128x128xf16, #blocked1> to tensor<128x32xf16, #blocked1>
    ```
    """

    name = "amdg.extract_slice"

    source = operand_def(TENSOR)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(self, source: Operand, offsets: Sequence[int], result_type: Attribute) -> None:
        super().__init__(
            operands=[source],
            properties={"static_offsets": DenseArrayBase.from_list(i64, offsets)},
            result_types=[result_type],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        offsets = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_keyword("to")
        made = cls(parser.resolve_operand(source, type_), offsets, parser.parse_type())
        made.attributes.update(attributes)
        return made

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.source])
        printer.print_string(" ")
        with printer.in_square_brackets():
            printer.print_list(self.static_offsets.get_values(), printer.print_int)
        print_attributes(printer, self, ["static_offsets"])
        print_types(printer, [self.source.type])
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        whole, part = shape_of(self.source.type), shape_of(self.result.type)
        offsets = tuple(int(offset) for offset in self.static_offsets.get_values())
        if not len(whole) == len(part) == len(offsets):
            raise VerifyException(
                f"source has {len(whole)} dimensions, the result {len(part)}, and there are "
                f"{len(offsets)} offsets; they must be as many"
            )
        _verify_elements("source", self.source.type, self.result.type)
        for dimension, (offset, size, of) in enumerate(zip(offsets, part, whole, strict=True)):
            if not 0 <= offset <= of - size or offset % size:
                raise VerifyException(
                    f"the offset in dimension {dimension} is {offset}; of {of} elements the result "
                    f"has {size}, so it is a multiple of {size} from 0 to {of - size}"
                )
        source, result = layout_of(self.source.type), layout_of(self.result.type)
        if source is not None and result is not None:
            _verify_held(
                source,
                result,
                lambda index: tuple(i + o for i, o in zip(index, offsets, strict=True)),
            )


def _verify_elements(name: str, operand: Attribute, result: Attribute) -> None:
    if element_of(operand) != element_of(result):
        raise VerifyException(
            f"{name} is {operand} and the result {result}; they must have the same elements"
        )


@op_definition
class ConcatOp(TritonOperation):
    """A tensor of tensors, which stand in it row by row, with each element in the lane it was in.

    ```
    %y = amdg.concat %a, %b
      : tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked> -> tensor<64x64xf32, #blocked>
    ```
    """

    name = "amdg.concat"

    sources = var_operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$sources attr-dict `:` type($sources) `->` type($result)"

    def __init__(self, sources: Sequence[Operand], result_type: Attribute) -> None:
        super().__init__(operands=[sources], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        types = {source.type for source in self.sources}
        if len(types) != 1:
            raise VerifyException(f"the sources have {len(types)} types; they must all have one")
        (part,) = types
        small, large = shape_of(part), shape_of(self.result.type)
        if len(small) != len(large) or any(b % a for a, b in zip(small, large, strict=False)):
            raise VerifyException(
                f"the sources are {part}, and the result {self.result.type}; each size of the "
                "result is a multiple of the sources'"
            )
        needed = prod(large) // prod(small)
        if needed != len(self.sources):
            raise VerifyException(
                f"there are {len(self.sources)} sources, but {needed} make up the result"
            )
        _verify_elements("a source", part, self.result.type)
        source, result = layout_of(part), layout_of(self.result.type)
        if source is not None and result is not None:
            _verify_held(
                source,
                result,
                lambda index: tuple(i % size for i, size in zip(index, small, strict=True)),
            )


@op_definition
class InThreadTransposeOp(TritonOperation):
    """The same tensor with the registers of each thread transposed.

    ```
    %y = amdg.in_thread_transpose %x
      : tensor<64x128xf16, #squares> -> tensor<64x128xf16, #linear>
    ```
    """

    name = "amdg.in_thread_transpose"

    src = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[src], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        source, result = self.src.type, self.result.type
        _verify_elements("src", source, result)
        shape = shape_of(source)
        if len(shape) != 2 or shape != shape_of(result):
            raise VerifyException(
                f"src is {source} and the result {result}; both have the same two dimensions"
            )
        encoding = encoding_of(source)
        if not isinstance(encoding, BlockedEncodingAttr):
            raise VerifyException(f"src is {source}; its layout must be #ttg.blocked")
        given = layout_of(result)
        if given is not None and given != transposed_in_thread(encoding, shape):
            expected = transposed_in_thread(encoding, shape).images("register")
            raise VerifyException(
                f"the result's registers hold {[list(x) for x in given.images('register')]}; "
                f"transposed in each thread they hold {[list(x) for x in expected]}, and lanes and "
                "warps hold what they held"
            )


def transposed_in_thread(encoding: BlockedEncodingAttr, shape: Sequence[int]) -> LinearLayout:
    """The layout of what `amdg.in_thread_transpose` makes of a tensor."""
    layout = encoding.layout(shape)
    sizes = [min(size, of) for size, of in zip(encoding.size_per_thread.data, shape, strict=True)]
    tile = [
        tuple(1 << bit if i == dimension else 0 for i in range(len(shape)))
        for dimension in reversed(encoding.order.data)
        for bit in range(sizes[dimension].bit_length() - 1)
    ]
    registers = list(layout.images("register"))
    held = prod(encoding.size_per_thread.data).bit_length() - 1
    empty = [(0,) * len(shape)] * (held - len(tile))
    images = {name: layout.images(name) for name in layout.input_names}
    images["register"] = (*tile, *empty, *registers[held:])
    return LinearLayout.of(images, dict(layout.outputs))


@op_definition
class LocalLoadPackedTransposedOp(TritonOperation):
    """A tensor of pairs of 4-bit numbers along M or N, as one of pairs along K.

    ```
    %x = amdg.local_load_packed_transposed %m token %t
      : !ttg.memdesc<16x64xi8, #shared1, #smem, mutable> -> tensor<32x32xi8, #packed>
    ```
    """

    name = "amdg.local_load_packed_transposed"
    SINCE: ClassVar[Release] = V3_5

    src = operand_def(MEMDESC)
    token = opt_operand_def(TOKEN)
    result = result_def(TENSOR)

    assembly_format = "$src (`token` $token^)? attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, result_type: Attribute, token: Operand | None = None) -> None:
        super().__init__(operands=[src, token], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        memory, shape = memdesc_of(self.src.type), shape_of(self.result.type)
        if memory.element_type != element_of(self.result.type):
            raise VerifyException("src and the result must have the same elements")
        encoding = encoding_of(self.result.type)
        if not isinstance(encoding, DotOperandEncodingAttr):
            raise VerifyException(
                f"the result is {self.result.type}; its layout must be #ttg.dot_op"
            )
        *batch, rows, columns = shape
        is_left = encoding.op_idx.data == 0
        packed = (rows // 2, columns * 2) if is_left else (rows * 2, columns // 2)
        if memory.get_shape() != (*batch, *packed):
            raise VerifyException(
                f"src is {memory} and the result {self.result.type}; for this operand src has the "
                f"shape {[*batch, *packed]}: one size is doubled and the other one halved"
            )
        order = list(range(len(batch), len(shape))) if is_left else [len(shape) - 1, len(batch)]
        if isinstance(memory.encoding, PhasedEncodingAttr):
            given = list(memory.encoding.order.data[:2])
            if given != order:
                raise VerifyException(
                    f"src is {memory}; for this operand its order begins with {order}, so that "
                    "pairs stand along M or N"
                )


OPERATIONS: list[type[Operation]] = [
    ExtractSliceOp,
    ConcatOp,
    InThreadTransposeOp,
    LocalLoadPackedTransposedOp,
]
"""Every operation of this module."""
