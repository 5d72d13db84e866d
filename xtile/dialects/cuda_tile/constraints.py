"""What operands and results may be.

Source: NVIDIA/cuda-tile 13.3.0, `Types.td`, the type constraints at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    i1,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, BaseAttr, EqAttrConstraint, VarConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.attributes import AssumePredicateAttr, RoundingModeAttr
from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TileView,
    TokenType,
    is_float,
    is_integer,
    is_number,
)

BASE_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float64Type)
"""The floats that are computed with."""


@dataclass(frozen=True)
class TileOf(AttrConstraint[Attribute]):
    """A tile of elements of some types.

    Attributes:
        words: What it is, for messages: `a tile of i1, i8, i16, i32 or i64`.
        holds: Whether an element type is one of them.
        is_scalar: Whether it must be a tile without dimensions.
    """

    words: str
    holds: Callable[[Attribute], bool]
    is_scalar: bool = False

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if isinstance(attr, TileType) and self.holds(attr.element_type):
            is_right = not self.is_scalar or not attr.rank
        else:
            is_right = False
        if not is_right:
            raise VerifyException(f"expected {self.words}, but got {attr}")

    @override
    def mapping_type_vars(self, type_var_mapping: object) -> TileOf:
        return self


@dataclass(frozen=True)
class OfClass(AttrConstraint[Attribute]):
    """An attribute of one of some classes, for messages called by its words."""

    words: str
    kind: type | tuple[type, ...]

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not isinstance(attr, self.kind):
            raise VerifyException(f"expected {self.words}, but got {attr}")

    @override
    def mapping_type_vars(self, type_var_mapping: object) -> OfClass:
        return self


class SameType(VarConstraint[Attribute]):
    """The one type of the operands and results that share its name."""

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        first = constraint_context.get_variable(self.name)
        if first is None:
            super().verify(attr, constraint_context)
        # Types that were read are mostly the same object, which is found out sooner.
        elif first is not attr and first != attr:
            raise VerifyException(f"expected {first}, as the operands before it have, got {attr}")


@dataclass(frozen=True)
class RoundingModeAmong(AttrConstraint[RoundingModeAttr]):
    """One of some rounding modes."""

    modes: tuple[RoundingMode, ...]

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not isinstance(attr, RoundingModeAttr) or attr.data not in self.modes:
            known = ", ".join(f"'{mode}'" for mode in self.modes)
            raise VerifyException(f"expected rounding mode to be one of {known}, but got {attr}")

    @override
    def get_bases(self) -> set[type[Attribute]]:
        return {RoundingModeAttr}

    @override
    def mapping_type_vars(self, type_var_mapping: object) -> RoundingModeAmong:
        return self


def is_base_float(type: Attribute) -> bool:
    """Whether a type is a float that is computed with: f16, bf16, f32 or f64."""
    return isinstance(type, BASE_FLOATS)


def is_pointer(type: Attribute) -> bool:
    """Whether a type is a pointer."""
    return isinstance(type, PointerType)


def _is_boolean(type: Attribute) -> bool:
    return is_integer(type, (1,))


def _is_i32(type: Attribute) -> bool:
    return is_integer(type, (32,))


def _is_exponent(type: Attribute) -> bool:
    return is_integer(type, (1, 8, 16, 32))


def _is_i64(type: Attribute) -> bool:
    return is_integer(type, (64,))


def _is_i8(type: Attribute) -> bool:
    return is_integer(type, (8,))


def _is_integer_or_i4(type: Attribute) -> bool:
    return is_integer(type) or is_integer(type, (4,))


def _is_number_or_i4(type: Attribute) -> bool:
    return is_number(type) or is_integer(type, (4,))


def _is_any(type: Attribute) -> bool:
    return True


TILE = TileOf("a tile", _is_any)
INTEGER_TILE = TileOf("a tile of i1, i8, i16, i32 or i64", is_integer)
BASE_FLOAT_TILE = TileOf("a tile of f16, bf16, f32 or f64", is_base_float)
FLOAT_TILE = TileOf("a tile of floats", is_float)
NUMBER_TILE = TileOf("a tile of numbers", is_number)
BYTE_TILE = TileOf("a tile of i8", _is_i8)
EXPONENT_TILE = TileOf("a tile of i1, i8, i16 or i32", _is_exponent)
I32_TILE = TileOf("a tile of i32", _is_i32)
I64_TILE = TileOf("a tile of i64", _is_i64)
CONVERTED_INTEGER_TILE = TileOf("a tile of i1, i4, i8, i16, i32 or i64", _is_integer_or_i4)
UNPACKED_TILE = TileOf("a tile of numbers or of i4", _is_number_or_i4)
POINTER_TILE = TileOf("a tile of pointers", is_pointer)
BOOLEAN_TILE = TileOf("a tile of i1", _is_boolean)
SCALAR_INTEGER = TileOf("a scalar tile of i1, i8, i16, i32 or i64", is_integer, is_scalar=True)
SCALAR_I32 = EqAttrConstraint(TileType((), i32))
SCALAR_BOOLEAN = EqAttrConstraint(TileType((), i1))
SCALAR_POINTER = TileOf("a scalar tile of a pointer", is_pointer, is_scalar=True)
TOKEN = EqAttrConstraint(TokenType())
TILE_VIEW = OfClass("a partition_view, a strided_view or a gather_scatter_view", TileView)
TENSOR_VIEW = OfClass("a tensor_view", TensorViewType)
PARTITION_VIEW = OfClass("a partition_view", PartitionViewType)
STRIDED_VIEW = OfClass("a strided_view", StridedViewType)
GATHER_SCATTER_VIEW = OfClass("a gather_scatter_view", GatherScatterViewType)
VALUE = OfClass("a tile, a view or a token", (TileType, TensorViewType, TileView, TokenType))
ASSUME_PREDICATE = OfClass("a div_by, a same_elements or a bounded", AssumePredicateAttr)
CONSTANT = BaseAttr[DenseIntOrFPElementsAttr](DenseIntOrFPElementsAttr)

IEEE_MODES = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)
"""The rounding modes of IEEE 754."""
SQUARE_ROOT_MODES = (*IEEE_MODES, RoundingMode.APPROX)
DIVISION_MODES = (*IEEE_MODES, RoundingMode.APPROX, RoundingMode.FULL)
FUNCTION_MODES = (RoundingMode.FULL, RoundingMode.APPROX)
"""The rounding modes of exp and tanh."""
INTEGER_DIVISION_MODES = (
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)
TO_INTEGER_MODES = (RoundingMode.NEAREST_INT_TO_ZERO,)
