"""The dialect's types.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUTypes.td` and `XeGPUDialect.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    ContainerType,
    IntAttr,
    IntegerType,
    NoneAttr,
    ShapedType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import check_parameters
from xtile.dialects.xegpu.attributes import (
    BlockTensorDescAttr,
    MemLayoutAttr,
    MemorySpace,
    ScatterTensorDescAttr,
)
from xtile.dialects.xegpu.layout import LayoutAttr

PACKED_BITS = 32
"""Gathers, scatters and packing loads handle smaller elements in packs of this size."""


@irdl_attr_definition
class TensorDescType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[Attribute]):
    """A descriptor of a block of memory, or of scattered points of it.

    ```
    !xegpu.tensor_desc<8x16xf16>
    !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8 : i64>>
    !xegpu.tensor_desc<32x64xf32, #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 16]>>
    ```
    """

    name = "xegpu.tensor_desc"

    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    encoding: BlockTensorDescAttr | ScatterTensorDescAttr
    layout: LayoutAttr | NoneAttr

    def __init__(
        self,
        shape: Sequence[int],
        element_type: Attribute,
        encoding: BlockTensorDescAttr | ScatterTensorDescAttr | None = None,
        layout: LayoutAttr | None = None,
    ) -> None:
        super().__init__(
            ArrayAttr(IntAttr(size) for size in shape),
            element_type,
            encoding or BlockTensorDescAttr(),
            layout or NoneAttr(),
        )

    @override
    def get_shape(self) -> tuple[int, ...]:
        return tuple(size.data for size in self.shape)

    @override
    def get_num_dims(self) -> int:
        return len(self.shape)

    @override
    def get_element_type(self) -> Attribute:
        return self.element_type

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def number_of_elements(self) -> int:
        """The elements of one block, or of all points together."""
        return prod(self.get_shape())

    @property
    def memory_space(self) -> MemorySpace:
        """Where the memory is."""
        return self.encoding.memory_space.data

    @property
    def is_scattered(self) -> bool:
        """Whether it describes scattered points instead of a block."""
        return isinstance(self.encoding, ScatterTensorDescAttr)

    @property
    def array_length(self) -> int:
        """How many consecutive blocks one load fetches; 1 for scattered points."""
        if isinstance(self.encoding, ScatterTensorDescAttr):
            return 1
        return self.encoding.array_length.value.data

    @property
    def chunk_size(self) -> int:
        """How many contiguous elements each point has; 1 for a block."""
        if isinstance(self.encoding, BlockTensorDescAttr):
            return 1
        return self.encoding.chunk_size.value.data

    @property
    def layout_or_none(self) -> LayoutAttr | None:
        """The layout, if there is one."""
        return None if isinstance(self.layout, NoneAttr) else self.layout

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        encoding: Attribute = BlockTensorDescAttr()
        layout: Attribute = NoneAttr()
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            while parser.parse_optional_punctuation(",") is not None:
                position = parser.pos
                attribute = parser.parse_attribute()
                if isinstance(attribute, LayoutAttr):
                    layout = attribute
                elif isinstance(attribute, BlockTensorDescAttr | ScatterTensorDescAttr):
                    encoding = attribute
                else:
                    message = (
                        f"cannot describe a tensor_desc with {attribute}; expected a "
                        "block_tdesc_attr, a scatter_tdesc_attr or a layout of this dialect"
                    )
                    parser.raise_error(message, position, parser.pos)
        sizes = ArrayAttr(IntAttr(size) for size in shape)
        return check_parameters(parser, start, cls, (sizes, element_type, encoding, layout))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_shape(printer, self.get_shape())
            printer.print_attribute(self.element_type)
            encoding = self.encoding
            if not isinstance(encoding, BlockTensorDescAttr) or not encoding.has_defaults_only:
                printer.print_string(", ")
                printer.print_attribute(encoding)
            if not isinstance(self.layout, NoneAttr):
                printer.print_string(", ")
                printer.print_attribute(self.layout)

    @override
    def verify(self) -> None:
        if self.rank == 0:
            raise VerifyException("a tensor_desc has at least one dimension, but this has none")
        bit_width(self.element_type)
        if isinstance(self.encoding, BlockTensorDescAttr):
            self._verify_block()
        else:
            self._verify_chunks()
        if not isinstance(self.layout, NoneAttr):
            self._verify_layout(self.layout)

    def _verify_block(self) -> None:
        if self.rank > 1 and self.memory_space is MemorySpace.SLM:
            raise VerifyException(
                f"a block in slm has 1 dimension, but this has {self.rank}; "
                "use a mem_desc for matrices in slm"
            )

    def _verify_chunks(self) -> None:
        if self.chunk_size == 1:
            return
        if self.rank == 1:
            raise VerifyException(
                f"chunk_size is {self.chunk_size}, but there is no dimension for the elements of "
                f"a chunk; expected a shape such as 16x{self.chunk_size}"
            )
        last = self.get_shape()[-1]
        if last != self.chunk_size:
            raise VerifyException(
                f"the last dimension is {last}; it must be the chunk_size {self.chunk_size}"
            )
        if last % self.elements_of_a_pack:
            raise VerifyException(f"the last dimension is {last}; {self._pack_rule}")

    def _verify_layout(self, layout: LayoutAttr) -> None:
        if layout.rank != self.rank:
            raise VerifyException(
                f"the layout has {layout.rank} dimensions; it must have {self.rank} as the shape"
            )
        last = layout.effective_lane_data[-1:]
        if self.chunk_size > 1 and last and last[0] % self.elements_of_a_pack:
            raise VerifyException(f"the last number of lane_data is {last[0]}; {self._pack_rule}")
        if not layout.is_distributable(self.get_shape()):
            raise VerifyException(
                f"{list(self.get_shape())} cannot be spread evenly with {layout}; each size must "
                "be a multiple of the layout, and each part a multiple of its data"
            )

    @property
    def elements_of_a_pack(self) -> int:
        """How many elements fill the bits that are moved or packed together; at least 1."""
        return max(1, PACKED_BITS // bit_width(self.element_type))

    @property
    def _pack_rule(self) -> str:
        """What the numbers along a chunk must be, in words."""
        return (
            f"it must be a multiple of {self.elements_of_a_pack}, as {self.element_type} moves in "
            f"packs of {PACKED_BITS} bits"
        )


@irdl_attr_definition
class MemDescType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[Attribute]):
    """A descriptor of a matrix in shared local memory.

    `!xegpu.mem_desc<128x128xf16, #xegpu.mem_layout<block = [8, 8], stride = [1, 128]>>`
    """

    name = "xegpu.mem_desc"

    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    mem_layout: MemLayoutAttr | NoneAttr

    def __init__(
        self,
        shape: Sequence[int],
        element_type: Attribute,
        mem_layout: MemLayoutAttr | None = None,
    ) -> None:
        super().__init__(
            ArrayAttr(IntAttr(size) for size in shape), element_type, mem_layout or NoneAttr()
        )

    @override
    def get_shape(self) -> tuple[int, ...]:
        return tuple(size.data for size in self.shape)

    @override
    def get_num_dims(self) -> int:
        return len(self.shape)

    @override
    def get_element_type(self) -> Attribute:
        return self.element_type

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """The distance of neighbours in each dimension, in elements (`getStrideAttr`).

        Without a stride it is the shape less its first size and 1, as upstream has it: that is the
        row-major order of a matrix.
        """
        given = None if isinstance(self.mem_layout, NoneAttr) else self.mem_layout.stride
        return (*self.get_shape()[1:], 1) if given is None else given

    @property
    def block_shape(self) -> tuple[int, ...]:
        """The shape of the contiguous blocks; the whole shape by default (`getBlockShape`)."""
        given = None if isinstance(self.mem_layout, NoneAttr) else self.mem_layout.block
        return given or self.get_shape()

    @property
    def blocked_strides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The strides inside of a block and those of the blocks, in elements (`getStrideShape`).

        Both have the order of the dimensions that the matrix has without blocks.

        Raises:
            ValueError: The blocks have not the matrix's dimensions, or none has the stride 1.
        """
        block, strides = self.block_shape, self.strides
        if len(block) != self.rank or 1 not in strides:
            raise ValueError(
                f"the blocks of {self} must have its dimensions, one of which has the stride 1"
            )
        order = sorted(range(self.rank), key=lambda dimension: strides[dimension])
        inner, outer = [0] * self.rank, [0] * self.rank
        inside, blocks = 1, prod(block)
        for position, dimension in enumerate(order):
            inner[dimension], outer[dimension] = inside, blocks
            inside *= block[dimension]
            if position + 1 < self.rank:
                size = strides[order[position + 1]] // strides[dimension]
                blocks *= size // block[dimension]
        return tuple(inner), tuple(outer)

    @property
    def is_column_major(self) -> bool:
        """Whether the first dimension of a matrix is the contiguous one (`isColMajor`)."""
        return self.rank == 2 and self.strides[0] == 1

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        layout: Attribute = NoneAttr()
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            if parser.parse_optional_punctuation(",") is not None:
                position = parser.pos
                layout = parser.parse_attribute()
                if not isinstance(layout, MemLayoutAttr):
                    message = f"expected a mem_layout, but got {layout}"
                    parser.raise_error(message, position, parser.pos)
        sizes = ArrayAttr(IntAttr(size) for size in shape)
        return check_parameters(parser, start, cls, (sizes, element_type, layout))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_shape(printer, self.get_shape())
            printer.print_attribute(self.element_type)
            if not isinstance(self.mem_layout, NoneAttr):
                printer.print_string(", ")
                printer.print_attribute(self.mem_layout)

    @override
    def verify(self) -> None:
        if self.rank == 0:
            raise VerifyException("a mem_desc has at least one dimension, but this has none")
        if not self.has_static_shape():
            raise VerifyException("a mem_desc has a static shape; expected a number instead of '?'")


@irdl_attr_definition
class NbarrierType(ParametrizedAttribute, TypeAttribute):
    """A named barrier: `!xegpu.nbarrier`."""

    name = "xegpu.nbarrier"


TYPES: list[type[Attribute]] = [TensorDescType, MemDescType, NbarrierType]
"""Every type of the dialect."""


def bit_width(element: Attribute) -> int:
    """The size of an integer or a float in bits.

    Raises:
        VerifyException: It is something else.
    """
    if not isa(element, IntegerType | AnyFloat):
        raise VerifyException(f"the element type is {element}; it must be an integer or a float")
    return element.bitwidth


def _print_shape(printer: Printer, shape: Sequence[int]) -> None:
    for size in shape:
        printer.print_string("?x" if size == DYNAMIC_INDEX else f"{size}x")
