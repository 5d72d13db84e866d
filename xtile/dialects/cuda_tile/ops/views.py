"""Views: tensors in memory, and how they are cut into tiles.

Source: CUDA Tile IR specification, "Operations", "Views"; NVIDIA/cuda-tile 13.3.0, `Ops.td`
and `CudaTile.cpp`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.constraints import (
    GATHER_SCATTER_VIEW,
    PARTITION_VIEW,
    SCALAR_INTEGER,
    SCALAR_POINTER,
    STRIDED_VIEW,
    TENSOR_VIEW,
    TILE_VIEW,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.tensor_view_text import parse_tensor_view, print_tensor_view
from xtile.dialects.cuda_tile.type_text import parse_type, print_type
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TileView,
    tile_type,
)
from xtile.dialects.cuda_tile.versions import V13_3, Version
from xtile.dialects.definitions import op_definition


def verify_tensor_view(
    base: SSAValue,
    dynamic_shape: Sequence[SSAValue],
    dynamic_strides: Sequence[SSAValue],
    type: Attribute,
) -> None:
    """Checks the operands of `make_tensor_view`.

    Raises:
        VerifyException: They do not fit to the type.
    """
    assert isinstance(type, TensorViewType)
    pointer = tile_type(base).element_type
    assert isinstance(pointer, PointerType)
    if pointer.pointee_type != type.element_type:
        raise VerifyException(
            f"the pointer must point to {type.element_type} as the tensor_view holds, but is "
            f"{base.type}"
        )
    counts = {
        "sizes": (type.get_shape().count(DYNAMIC_INDEX), len(dynamic_shape)),
        "strides": (type.get_strides().count(DYNAMIC_INDEX), len(dynamic_strides)),
    }
    for name, (expected, found) in counts.items():
        if expected != found:
            raise VerifyException(
                f"expected {expected} {name}, one for each ? in the tensor_view, got {found}"
            )
    values = (*dynamic_shape, *dynamic_strides)
    for value in values:
        if value.type != values[0].type:
            raise VerifyException(
                f"sizes and strides must be of one type, but are {values[0].type} and {value.type}"
            )


def verify_view_of(tensor: SSAValue, view: Attribute) -> None:
    """Checks that a view is of a tensor view.

    Raises:
        VerifyException: It is of another.
    """
    assert isinstance(view, TileView)
    if view.tensor_view != tensor.type:
        raise VerifyException(
            f"the view must be of the operand's type {tensor.type}, but is of {view.tensor_view}"
        )


def verify_sizes(count: int, view: Attribute) -> None:
    """Checks that there is a result for each dimension.

    Raises:
        VerifyException: There is not.
    """
    if isinstance(view, TileView):
        rank = view.index_rank
    else:
        assert isinstance(view, TensorViewType)
        rank = view.rank
    if count != rank:
        raise VerifyException(f"expected {rank} results, one for each dimension, got {count}")


@op_definition
class MakeTensorViewOp(CudaTileOperation):
    """A tensor at a pointer; sizes and strides that the type does not know are operands.

    ```
    %view = make_tensor_view %p, shape = [%m, 64], strides = [%s, 1]
      : tile<i64> -> tensor_view<?x64xf32, strides=[?,1]>
    ```
    """

    name = "cuda_tile.make_tensor_view"
    OPCODE: ClassVar[int] = 0x43

    base = operand_def(SCALAR_POINTER)
    dynamic_shape = var_operand_def(SCALAR_INTEGER)
    dynamic_strides = var_operand_def(SCALAR_INTEGER)
    result = result_def(TENSOR_VIEW)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoMemoryEffect())

    def __init__(
        self,
        base: Operand,
        result_type: TensorViewType,
        dynamic_shape: Sequence[Operand] = (),
        dynamic_strides: Sequence[Operand] = (),
    ) -> None:
        super().__init__(
            operands=(base, dynamic_shape, dynamic_strides), result_types=(result_type,)
        )

    @override
    def verify_(self) -> None:
        verify_tensor_view(self.base, self.dynamic_shape, self.dynamic_strides, self.result.type)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> MakeTensorViewOp:
        base, shape, strides, attributes, result = parse_tensor_view(parser)
        return cls.build(
            operands=(base, shape, strides), attributes=attributes, result_types=(result,)
        )

    @override
    def print(self, printer: Printer) -> None:
        print_tensor_view(
            printer,
            self.base,
            self.dynamic_shape,
            self.dynamic_strides,
            self.attributes,
            self.result.type,
        )


class _MakeViewOperation(CudaTileOperation, ABC):
    """A view of a tensor view, whose type says all about it."""

    EXPECTED: ClassVar[type[TileView]]

    tensor_view = operand_def(TENSOR_VIEW)

    traits = traits_def(Pure())

    def __init__(self, tensor_view: Operand, result_type: Attribute) -> None:
        super().__init__(operands=(tensor_view,), result_types=(result_type,))

    @override
    def verify_(self) -> None:
        verify_view_of(self.tensor_view, self.results[0].type)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        tensor = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        result = parse_type(parser)
        if not isinstance(result, TileView) or not isinstance(result, cls.EXPECTED):
            expected = cls.name.removeprefix("cuda_tile.make_")
            parser.raise_error(f"expected a {expected}, but got {result}", start, parser.pos)
        return cls.build(
            operands=(parser.resolve_operand(tensor, result.tensor_view),),
            attributes=attributes,
            result_types=(result,),
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tensor_view)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_type(printer, self.results[0].type)


@op_definition
class MakePartitionViewOp(_MakeViewOperation):
    """A tensor cut into a grid of tiles.

    ```
    %tiles = make_partition_view %view
      : partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>>
    ```
    """

    name = "cuda_tile.make_partition_view"
    OPCODE: ClassVar[int] = 0x42
    EXPECTED: ClassVar[type[TileView]] = PartitionViewType

    result = result_def(PARTITION_VIEW)


@op_definition
class MakeStridedViewOp(_MakeViewOperation):
    """A tensor with tiles at regular distances.

    ```
    %tiles = make_strided_view %view : strided_view<tile=(8x8), traversal_strides=[4,8],
      tensor_view<?x64xf32, strides=[?,1]>>
    ```
    """

    name = "cuda_tile.make_strided_view"
    OPCODE: ClassVar[int] = 0x74
    SINCE: ClassVar[Version] = V13_3
    EXPECTED: ClassVar[type[TileView]] = StridedViewType

    result = result_def(STRIDED_VIEW)


@op_definition
class MakeGatherScatterViewOp(_MakeViewOperation):
    """A tensor of which any rows make a tile.

    ```
    %tiles = make_gather_scatter_view %view
      : gather_scatter_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
    ```
    """

    name = "cuda_tile.make_gather_scatter_view"
    OPCODE: ClassVar[int] = 0x73
    SINCE: ClassVar[Version] = V13_3
    EXPECTED: ClassVar[type[TileView]] = GatherScatterViewType

    result = result_def(GATHER_SCATTER_VIEW)


_SIZE = TileType((), i64)


class _ShapeOperation(CudaTileOperation, ABC):
    """The sizes of a view, one result for each dimension."""

    result = var_result_def(SCALAR_INTEGER)

    traits = traits_def(NoMemoryEffect())

    @override
    def verify_(self) -> None:
        verify_sizes(len(self.results), self.operands[0].type)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        view = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parse_type(parser)
        rank = cls.rank_of(type)
        if rank is None:
            parser.raise_error(f"{cls.name} has no operand of type {type}", start, parser.pos)
        parser.parse_punctuation("->")
        result = parse_type(parser)
        return cls.build(
            operands=(parser.resolve_operand(view, type),), result_types=([result] * rank,)
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(" : ")
        print_type(printer, self.operands[0].type)
        printer.print_string(" -> ")
        print_type(printer, self.results[0].type)

    @classmethod
    @abstractmethod
    def rank_of(cls, type: Attribute) -> int | None:
        """How many sizes a view has; None if it is none for this operation."""


@op_definition
class GetIndexSpaceShapeOp(_ShapeOperation):
    """How many tiles a view has along each dimension.

    ```
    %m, %n = get_index_space_shape %tiles
      : partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>> -> tile<i64>
    ```
    """

    name = "cuda_tile.get_index_space_shape"
    OPCODE: ClassVar[int] = 0x2D

    src = operand_def(TILE_VIEW)

    def __init__(self, src: Operand, result_type: Attribute = _SIZE) -> None:
        results = [result_type] * (self.rank_of(SSAValue.get(src).type) or 0)
        super().__init__(operands=(src,), result_types=(results,))

    @classmethod
    @override
    def rank_of(cls, type: Attribute) -> int | None:
        return type.index_rank if isinstance(type, TileView) else None


@op_definition
class GetTensorShapeOp(_ShapeOperation):
    """The size of a tensor along each dimension.

    ```
    %m, %n = get_tensor_shape %view : tensor_view<?x64xf32, strides=[?,1]> -> tile<i64>
    ```
    """

    name = "cuda_tile.get_tensor_shape"
    OPCODE: ClassVar[int] = 0x2F

    src = operand_def(TENSOR_VIEW)

    def __init__(self, src: Operand, result_type: Attribute = _SIZE) -> None:
        results = [result_type] * (self.rank_of(SSAValue.get(src).type) or 0)
        super().__init__(operands=(src,), result_types=(results,))

    @classmethod
    @override
    def rank_of(cls, type: Attribute) -> int | None:
        return type.rank if isinstance(type, TensorViewType) else None


OPERATIONS: list[type[Operation]] = [
    GetIndexSpaceShapeOp,
    GetTensorShapeOp,
    MakeGatherScatterViewOp,
    MakePartitionViewOp,
    MakeStridedViewOp,
    MakeTensorViewOp,
]
"""Every operation of this module."""
