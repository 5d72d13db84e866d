"""The dialect's types.

Source: CUDA Tile IR specification, "Type System"; NVIDIA/cuda-tile 13.3.0, `Types.td` and
`Types.cpp`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    ContainerType,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IntAttr,
    IntegerType,
    NoneAttr,
    ShapedType,
    Signedness,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.operation import Operand
from xtile.dialects.cuda_tile.type_text import parse_shaped, parse_type, print_shaped, print_type
from xtile.dialects.cuda_tile.versions import V13_1, V13_2, V13_3, Version
from xtile.dialects.cuda_tile.view_text import (
    parse_dimension_map,
    parse_padding,
    parse_sparse_dimension,
    parse_strides,
    parse_tensor_view,
    parse_tile_shape,
    parse_traversal_strides,
    print_dimension_map,
    print_padding,
    print_strides,
    print_tile_shape,
    print_traversal_strides,
)
from xtile.dialects.definitions import check_parameters

MAXIMUM_ELEMENTS = 1 << 24
"""How many elements a tile may have."""

INTEGER_WIDTHS = (1, 8, 16, 32, 64)
"""The widths in bits of the integers that are computed with; tiles of i4 are only extended."""

FLOATS_SINCE: dict[type[Attribute], Version] = {
    Float16Type: V13_1,
    BFloat16Type: V13_1,
    Float32Type: V13_1,
    FloatTF32Type: V13_1,
    Float64Type: V13_1,
    Float8E4M3FNType: V13_1,
    Float8E5M2Type: V13_1,
    Float8E8M0FNUType: V13_2,
    Float4E2M1FNType: V13_3,
}
"""The floating-point element types, and when each came in."""

INT4_SINCE = V13_3


def is_integer(type: Attribute, widths: Sequence[int] = INTEGER_WIDTHS) -> bool:
    """Whether a type is a signless integer of one of the widths in bits."""
    # A plain look at the class: this is asked of each type that is made.
    if not isinstance(type, IntegerType):
        return False
    integer = cast(IntegerType, type)
    return integer.signedness.data is Signedness.SIGNLESS and integer.width.data in widths


def is_float(type: Attribute) -> bool:
    """Whether a type is one of the floating-point element types."""
    return type.__class__ in FLOATS_SINCE


def is_number(type: Attribute) -> bool:
    """Whether a type is an element type of memory: an integer but i4, or a float."""
    return is_float(type) or is_integer(type)


def _sizes(values: Sequence[int]) -> ArrayAttr[IntAttr]:
    return _array(tuple(values))


@lru_cache(1024)
def _array(values: tuple[int, ...]) -> ArrayAttr[IntAttr]:
    return ArrayAttr(IntAttr(value) for value in values)


def _numbers(values: ArrayAttr[IntAttr]) -> tuple[int, ...]:
    # The list is made in one step, while a generator is asked for each number.
    return tuple([value.data for value in values.data])


def _list(values: Sequence[int]) -> str:
    return f"[{', '.join('?' if value == DYNAMIC_INDEX else str(value) for value in values)}]"


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """A pointer to a number in global memory: `ptr<f32>` (5.6.3)."""

    name = "cuda_tile.ptr"

    SINCE: ClassVar[Version] = V13_1

    pointee_type: Attribute

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            pointee = parse_type(parser)
        return check_parameters(parser, start, cls, (pointee,))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_type(printer, self.pointee_type)

    @override
    def verify(self) -> None:
        if not is_number(self.pointee_type):
            raise VerifyException(
                f"a ptr points to a number, not to {self.pointee_type}; expected i1, i8, i16, "
                "i32, i64, f16, bf16, f32, tf32, f64, f8E4M3FN, f8E5M2, f8E8M0FNU or f4E2M1FN"
            )


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[Attribute]):
    """Numbers or pointers in a rectangle of constant size: `tile<4x8xf32>` (5.6.6).

    Every size is a power of two. A scalar is a tile without dimensions: `tile<i32>`.
    """

    name = "cuda_tile.tile"

    SINCE: ClassVar[Version] = V13_1

    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    def __init__(self, shape: Sequence[int], element_type: Attribute) -> None:
        super().__init__(_sizes(shape), element_type)

    @override
    def get_shape(self) -> tuple[int, ...]:
        return _numbers(self.shape)

    @override
    def get_num_dims(self) -> int:
        return len(self.shape)

    @override
    def get_element_type(self) -> Attribute:
        return self.element_type

    @property
    def rank(self) -> int:
        """How many dimensions it has; 0 for a scalar."""
        return len(self.shape)

    @property
    def number_of_elements(self) -> int:
        """How many elements it has; 1 for a scalar."""
        return prod(self.get_shape())

    def with_element_type(self, element_type: Attribute) -> TileType:
        """A tile of the same shape with other elements."""
        return _tile(self.shape, element_type)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            sizes, element_type = parse_shaped(parser, allow_dynamic=False)
        return check_parameters(parser, start, cls, (_sizes(sizes), element_type))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_shaped(printer, self.get_shape(), self.element_type)

    @override
    def verify(self) -> None:
        element = self.element_type
        known = is_number(element) or is_integer(element, (4,)) or isinstance(element, PointerType)
        if not known:
            raise VerifyException(
                f"a tile holds numbers or pointers, not {element}; expected i1, i4, i8, i16, i32, "
                "i64, f16, bf16, f32, tf32, f64, f8E4M3FN, f8E5M2, f8E8M0FNU, f4E2M1FN or a ptr"
            )
        _verify_tile(self.get_shape(), element)


def _verify_tile(shape: Sequence[int], element_type: Attribute) -> None:
    """Checks the sizes of a tile.

    Raises:
        VerifyException: A size is no power of two, there are too many elements, or an odd number
            of elements of 4 bits.
    """
    if isinstance(element_type, Float4E2M1FNType) and prod(shape) % 2:
        raise VerifyException("a tile of f4E2M1FN has an even number of elements, two in a byte")
    for size in shape:
        if size <= 0:
            raise VerifyException(f"the sizes of a tile are positive, but got {_list(shape)}")
        if size & (size - 1):
            raise VerifyException(f"the sizes of a tile are powers of two, but got {_list(shape)}")
    if prod(shape) > MAXIMUM_ELEMENTS:
        raise VerifyException(
            f"a tile has at most {MAXIMUM_ELEMENTS} elements, but {_list(shape)} has {prod(shape)}"
        )


@irdl_attr_definition
class TensorViewType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[Attribute]):
    """A tensor in global memory: `tensor_view<?x64xf16, strides=[?,1]>` (5.6.5).

    Sizes and strides count elements; `?` is known at run time.
    """

    name = "cuda_tile.tensor_view"

    SINCE: ClassVar[Version] = V13_1

    element_type: Attribute
    shape: ArrayAttr[IntAttr]
    strides: ArrayAttr[IntAttr]

    def __init__(
        self, element_type: Attribute, shape: Sequence[int], strides: Sequence[int]
    ) -> None:
        super().__init__(element_type, _sizes(shape), _sizes(strides))

    @override
    def get_shape(self) -> tuple[int, ...]:
        return _numbers(self.shape)

    @override
    def get_num_dims(self) -> int:
        return len(self.shape)

    @override
    def get_element_type(self) -> Attribute:
        return self.element_type

    def get_strides(self) -> tuple[int, ...]:
        """The distance of neighbours along each dimension, in elements."""
        return _numbers(self.strides)

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            sizes, element_type = parse_shaped(parser, allow_dynamic=True)
            strides = parse_strides(parser, len(sizes))
        return check_parameters(parser, start, cls, (element_type, _sizes(sizes), _sizes(strides)))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_shaped(printer, self.get_shape(), self.element_type)
            if self.rank:
                print_strides(printer, self.get_strides())

    @override
    def verify(self) -> None:
        if not is_number(self.element_type):
            raise VerifyException(f"a tensor_view holds numbers, not {self.element_type}")
        shape, strides = self.get_shape(), self.get_strides()
        if len(shape) != len(strides):
            raise VerifyException(
                f"expected one stride for each of the {len(shape)} dimensions, got {len(strides)}"
            )
        if any(size <= 0 and size != DYNAMIC_INDEX for size in shape):
            raise VerifyException(f"sizes of a tensor_view are positive, but got {_list(shape)}")
        if any(stride <= 0 and stride != DYNAMIC_INDEX for stride in strides):
            raise VerifyException(
                f"strides of a tensor_view are positive, but got {_list(strides)}"
            )


@lru_cache(1024)
def _tile(shape: ArrayAttr[IntAttr], element_type: Attribute) -> TileType:
    return TileType.new((shape, element_type))


# As a dataclass, so that its parameters belong to those that types are compared by.
@dataclass(frozen=True, init=False)
class TileView(ABC):
    """A view that tiles are loaded from and stored to, at an index for each dimension (5.4.3)."""

    tile_shape: ArrayAttr[IntAttr]
    tensor_view: TensorViewType
    padding_value: IntAttr | NoneAttr

    def get_tile_shape(self) -> tuple[int, ...]:
        """The shape of each tile."""
        return _numbers(self.tile_shape)

    @property
    def padding(self) -> PaddingValue | None:
        """What a load gives outside of the tensor; None: anything."""
        value = self.padding_value
        return None if isinstance(value, NoneAttr) else list(PaddingValue)[value.data]

    @property
    def index_rank(self) -> int:
        """How many indices choose a tile."""
        return len(self.tile_shape)

    @property
    def tile_type(self) -> TileType:
        """The type of what is loaded and stored."""
        return _tile(self.tile_shape, self.tensor_view.element_type)

    @abstractmethod
    def get_dim_map(self) -> tuple[int, ...]:
        """For each dimension of the tile that of the tensor."""

    @abstractmethod
    def get_traversal_strides(self) -> tuple[int, ...]:
        """How many elements lie between the beginnings of neighbouring tiles, by tile dimension."""

    def _verify_view(self) -> None:
        tile, tensor = self.get_tile_shape(), self.tensor_view
        if not tile:
            raise VerifyException("the tiles of a view have at least one dimension")
        if len(tile) != tensor.rank:
            raise VerifyException(
                f"the tile has {len(tile)} dimensions; it must have {tensor.rank} as the "
                "tensor_view"
            )
        _verify_tile(tile, tensor.element_type)
        padding = self.padding
        if padding not in (None, PaddingValue.ZERO) and not is_float(tensor.element_type):
            raise VerifyException(
                f"the padding_value {padding.value} is for floats, but the elements are "
                f"{tensor.element_type}; expected zero"
            )


def padding_parameter(padding: PaddingValue | None) -> IntAttr | NoneAttr:
    """A padding value as the parameter of a view type."""
    return NoneAttr() if padding is None else IntAttr(list(PaddingValue).index(padding))


def _verify_dimension_map(dim_map: Sequence[int], rank: int) -> None:
    if sorted(dim_map) != list(range(rank)):
        raise VerifyException(
            f"dim_map names each of the {rank} dimensions of the tensor_view once, but got "
            f"{_list(dim_map)}"
        )


@irdl_attr_definition
class PartitionViewType(TileView, ParametrizedAttribute, TypeAttribute):
    """A tensor cut into a grid of tiles (5.6.2).

    `partition_view<tile=(64x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>`

    The tile at index I begins at element I T of the dimension that `dim_map` gives, where T is the
    tile's size.
    """

    name = "cuda_tile.partition_view"

    SINCE: ClassVar[Version] = V13_1

    dim_map: ArrayAttr[IntAttr]

    def __init__(
        self,
        tile_shape: Sequence[int],
        tensor_view: TensorViewType,
        dim_map: Sequence[int] | None = None,
        padding_value: PaddingValue | None = None,
    ) -> None:
        order = range(len(tile_shape)) if dim_map is None else dim_map
        super().__init__(
            _sizes(tile_shape), tensor_view, padding_parameter(padding_value), _sizes(order)
        )

    @override
    def get_dim_map(self) -> tuple[int, ...]:
        return _numbers(self.dim_map)

    @override
    def get_traversal_strides(self) -> tuple[int, ...]:
        return self.get_tile_shape()

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            tile = parse_tile_shape(parser)
            padding = padding_parameter(parse_padding(parser))
            tensor = parse_tensor_view(parser, TensorViewType)
            order = _sizes(parse_dimension_map(parser, len(tile)))
        return check_parameters(parser, start, cls, (_sizes(tile), tensor, padding, order))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_tile_shape(printer, self.get_tile_shape())
            print_padding(printer, self.padding)
            print_type(printer, self.tensor_view)
            print_dimension_map(printer, self.get_dim_map())

    @override
    def verify(self) -> None:
        self._verify_view()
        _verify_dimension_map(self.get_dim_map(), self.tensor_view.rank)


@irdl_attr_definition
class StridedViewType(TileView, ParametrizedAttribute, TypeAttribute):
    """A tensor with tiles at regular distances, with gaps or overlapping (5.6.4).

    `strided_view<tile=(2), traversal_strides=[3], tensor_view<16xf32, strides=[1]>>`

    The tile at index I begins at element I times the traversal stride.
    """

    name = "cuda_tile.strided_view"

    SINCE: ClassVar[Version] = V13_3

    traversal_strides: ArrayAttr[IntAttr]
    dim_map: ArrayAttr[IntAttr]

    def __init__(
        self,
        tile_shape: Sequence[int],
        traversal_strides: Sequence[int],
        tensor_view: TensorViewType,
        dim_map: Sequence[int] | None = None,
        padding_value: PaddingValue | None = None,
    ) -> None:
        order = range(len(tile_shape)) if dim_map is None else dim_map
        super().__init__(
            _sizes(tile_shape),
            tensor_view,
            padding_parameter(padding_value),
            _sizes(traversal_strides),
            _sizes(order),
        )

    @override
    def get_dim_map(self) -> tuple[int, ...]:
        return _numbers(self.dim_map)

    @override
    def get_traversal_strides(self) -> tuple[int, ...]:
        return _numbers(self.traversal_strides)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            tile = parse_tile_shape(parser)
            strides = _sizes(parse_traversal_strides(parser))
            padding = padding_parameter(parse_padding(parser))
            tensor = parse_tensor_view(parser, TensorViewType)
            order = _sizes(parse_dimension_map(parser, len(tile)))
        parameters = (_sizes(tile), tensor, padding, strides, order)
        return check_parameters(parser, start, cls, parameters)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_tile_shape(printer, self.get_tile_shape())
            print_traversal_strides(printer, self.get_traversal_strides())
            print_padding(printer, self.padding)
            print_type(printer, self.tensor_view)
            print_dimension_map(printer, self.get_dim_map())

    @override
    def verify(self) -> None:
        self._verify_view()
        _verify_dimension_map(self.get_dim_map(), self.tensor_view.rank)
        strides = self.get_traversal_strides()
        if len(strides) != self.index_rank:
            raise VerifyException(
                f"expected {self.index_rank} traversal_strides, one for each dimension of the "
                f"tile, got {len(strides)}"
            )
        if any(stride <= 0 for stride in strides):
            raise VerifyException(f"traversal_strides are positive, but got {_list(strides)}")


@irdl_attr_definition
class GatherScatterViewType(TileView, ParametrizedAttribute, TypeAttribute):
    """A tensor of which any rows along one dimension make a tile (5.6.1).

    `gather_scatter_view<tile=(4x4), tensor_view<8x8xf32, strides=[8,1]>, sparse_dim=0>`

    The index of the sparse dimension is a tile with an element for each row; the others are the
    first element along their dimension.
    """

    name = "cuda_tile.gather_scatter_view"

    SINCE: ClassVar[Version] = V13_3

    sparse_dim: IntAttr

    def __init__(
        self,
        tile_shape: Sequence[int],
        tensor_view: TensorViewType,
        sparse_dim: int,
        padding_value: PaddingValue | None = None,
    ) -> None:
        super().__init__(
            _sizes(tile_shape), tensor_view, padding_parameter(padding_value), IntAttr(sparse_dim)
        )

    @override
    def get_dim_map(self) -> tuple[int, ...]:
        return tuple(range(self.index_rank))

    @override
    def get_traversal_strides(self) -> tuple[int, ...]:
        return (1,) * self.index_rank

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            tile = parse_tile_shape(parser)
            padding = padding_parameter(parse_padding(parser))
            tensor = parse_tensor_view(parser, TensorViewType)
            sparse = IntAttr(parse_sparse_dimension(parser))
        return check_parameters(parser, start, cls, (_sizes(tile), tensor, padding, sparse))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_tile_shape(printer, self.get_tile_shape())
            print_padding(printer, self.padding)
            print_type(printer, self.tensor_view)
            printer.print_string(f", sparse_dim={self.sparse_dim.data}")

    @override
    def verify(self) -> None:
        self._verify_view()
        if not 0 <= self.sparse_dim.data < self.tensor_view.rank:
            raise VerifyException(
                f"sparse_dim is a dimension of the tensor_view, 0 to {self.tensor_view.rank - 1}, "
                f"but got {self.sparse_dim.data}"
            )


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """An order between operations on memory: `token` (5.6.7)."""

    name = "cuda_tile.token"

    SINCE: ClassVar[Version] = V13_1


TYPES: list[type[Attribute]] = [
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TokenType,
]
"""Every type of the dialect."""


def tile_type(value: Operand) -> TileType:
    """The type of a value that is a tile."""
    type = SSAValue.get(value).type
    assert isinstance(type, TileType)
    return type


def element_bits(element_type: Attribute) -> int:
    """How many bits a number of a type has in packed bytes; tf32 lies in 32."""
    if isinstance(element_type, FloatTF32Type):
        return 32
    assert isinstance(element_type, IntegerType | AnyFloat)
    return element_type.bitwidth
