"""Attributes that kernels need again and again, made once.

xDSL verifies each attribute when it is made, which was a tenth of the time of a translation.
Attributes never change, so kernels can share them.
"""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import (
    I32,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Attribute

_KEPT = 1024
"""How many attributes of each kind are kept."""

INDEX = IndexType()
NONE = NoneAttr()

_TRUTH = {value: BoolAttr.from_bool(value) for value in (False, True)}
FALSE = _TRUTH[False]


@lru_cache(_KEPT)
def vector_of(shape: tuple[int, ...], element: Attribute) -> VectorType[Attribute]:
    """`vector<8x16xf32>`."""
    return VectorType(element, shape)


@lru_cache(_KEPT)
def string_attribute(text: str) -> StringAttr:
    """`"f32"`."""
    return StringAttr(text)


@lru_cache(_KEPT)
def integer_type(width: int) -> IntegerType:
    """`i32`."""
    return IntegerType(width)


@lru_cache(_KEPT)
def index_attribute(number: int) -> IntegerAttr[IndexType]:
    """`8 : index`."""
    return IntegerAttr(number, INDEX)


@lru_cache(_KEPT)
def i64_attribute(number: int) -> IntegerAttr[IntegerType]:
    """`8 : i64`."""
    return IntegerAttr(number, i64)


@lru_cache(_KEPT)
def numbers_attribute(numbers: tuple[int, ...]) -> DenseArrayBase:
    """`array<i64: 8, 16>`."""
    return DenseArrayBase.from_list(i64, numbers)


@lru_cache(_KEPT)
def i32_numbers_attribute(numbers: tuple[int, ...]) -> DenseArrayBase[I32]:
    """`array<i32: 8, 16>`."""
    return DenseArrayBase.from_list(i32, numbers)


@lru_cache(_KEPT)
def truth_attribute(values: tuple[bool, ...]) -> ArrayAttr[BoolAttr]:
    """`[true, false]`."""
    return ArrayAttr(_TRUTH[value] for value in values)
