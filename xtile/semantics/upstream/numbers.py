"""How numbers of the builtin types are held in numpy.

Integers have no sign: they are held as signed numbers, those whose width numpy does not have in the
next larger type with their sign extended, i1 as bool. `index` has 64 bits, and so has a pointer:
its address in the launch's `AddressSpace`. Floating types with
fewer than 32 bits are computed in f32 and rounded; tf32 is held as f32.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    ComplexType,
    IndexType,
    IntegerType,
    MemRefType,
    TensorType,
    UnrankedMemRefType,
    VectorType,
)
from xdsl.ir import Attribute

from xtile.dialects.pointer_types import is_pointer
from xtile.semantics.values import Array, Value, choose, contiguous, f64_to_f32_by_odd, is_exact

INDEX_BITS = 64
"""The width of `index`."""


class Kind(Enum):
    """What numbers a type has."""

    INTEGER = "integer"
    FLOAT = "float"
    COMPLEX = "complex"


@dataclass(frozen=True)
class Number:
    """A type of numbers.

    Attributes:
        text: The type as MLIR writes it.
        kind: What numbers it has.
        bits: Its width; that of a part of a complex type.
        dtype: How numpy holds it.
    """

    text: str
    kind: Kind
    bits: int
    dtype: np.dtype[Any]

    @property
    def is_exact_width(self) -> bool:
        """Whether numpy's arithmetic wraps or rounds to the type as it should."""
        if self.kind is Kind.INTEGER:
            return self.bits == 8 * self.dtype.itemsize and self.bits > 1
        return self.bits >= 32

    def signed(self, value: Value) -> Value:
        """Integers as signed numbers of numpy's type."""
        return -value.astype(np.int8) if self.bits == 1 else value

    def unsigned(self, value: Value) -> Value:
        """Integers as unsigned numbers of numpy's type of the same size."""
        dtype = np.dtype(f"u{max(1, self.dtype.itemsize)}")
        bits = value.astype(dtype)
        return bits if self.is_exact_width else bits & dtype.type(2**self.bits - 1)

    def wrapped(self, value: Value) -> Value:
        """Integers of any of numpy's types, reduced to the width and held as this type's."""
        if self.bits == 1:
            return (value & 1).astype(np.bool_)
        value = value.astype(self.dtype)
        if self.is_exact_width:
            return value
        unused = self.dtype.type(8 * self.dtype.itemsize - self.bits)
        return (value << unused) >> unused

    def wide(self, value: Value) -> Value:
        """Floating numbers in the type in which they are computed: f64, or f32."""
        return value if self.is_exact_width else value.astype(np.float32)

    def rounded(self, value: Value) -> Value:
        """Floating numbers of type f32 or f64, rounded once to this type."""
        if self.text in _ROUNDED_BY_NUMPY or is_exact(value):
            return value.astype(self.dtype)
        # ml_dtypes would round f64 to f32 first.
        wide = f64_to_f32_by_odd(value) if value.dtype == np.float64 else value
        return _to_tf32(wide) if self.bits == _TF32_BITS else wide.astype(self.dtype)

    def next_after(self, value: Value, is_down: Value) -> Value:
        """The neighbours of floating numbers of this type: the lower ones, or the upper ones."""
        largest = self.number(np.inf)
        if not np.isinf(largest):
            largest = cast(Any, ml_dtypes.finfo(self.dtype)).max
        limit = choose(is_down, -largest, largest)
        neighbour = np.nextafter(value, limit)
        if self.bits != _TF32_BITS:
            return neighbour
        # The next f32 is in the direction of the next tf32, whose lower bits are 0.
        bits = np.asarray(neighbour).view(np.uint32)
        grows = np.abs(neighbour) > np.abs(value)
        away = (bits | _UNUSED_OF_TF32) + np.uint32(1)
        return np.where(grows, away, bits & ~_UNUSED_OF_TF32).view(np.float32)[()]

    def number(self, value: Any) -> Value:
        """A Python or numpy number, rounded once; integers wrap around."""
        match self.kind:
            case Kind.INTEGER:
                bits = np.uint64(int(value) % 2**64).astype(np.int64)
                return self.wrapped(bits)
            case Kind.FLOAT:
                return self.rounded(np.float64(value))
            case Kind.COMPLEX:
                return self.dtype.type(value)

    def numbers(self, values: Any) -> Value:
        """An array of Python numbers as an array of this type."""
        match self.kind:
            case Kind.INTEGER:
                wide = np.array([int(value) % 2**64 for value in values], np.uint64)
                return self.wrapped(wide.astype(np.int64))
            case Kind.FLOAT:
                return np.asanyarray(self.rounded(np.array(values, np.float64)))
            case Kind.COMPLEX:
                return np.array(values, self.dtype)

    @property
    def part(self) -> Number:
        """The type of a complex type's parts."""
        return FLOATS[f"f{self.bits}"]


_TF32_BITS = 19

_UNUSED_OF_TF32 = np.uint32(0x1FFF)
"""The bits of an f32 that tf32 does not have."""

_ROUNDED_BY_NUMPY = ("f16", "f32", "f64")
"""The types that numpy converts to from any other with one rounding."""


def _to_tf32(value: Value) -> Value:
    """f32 to tf32: 10 bits of fraction, to nearest, ties to even."""
    bits = np.asanyarray(value, np.float32).view(np.uint32)
    is_odd = (bits >> np.uint32(13)) & np.uint32(1)
    near = (bits + np.uint32(0xFFF) + is_odd) & np.uint32(0xFFFFE000)
    keep = ~np.isfinite(value)
    return np.where(keep, bits, near).astype(np.uint32).view(np.float32)[()]


def without_unused_bits(value: Array) -> Array:
    """tf32 without the bits of f32 that it does not have, which memory may hold."""
    if is_exact(value):
        return value
    bits = contiguous(value).view(np.uint32)
    return (bits & ~_UNUSED_OF_TF32).view(np.float32).reshape(np.shape(value))


def _float(text: str, bits: int, dtype: Any) -> Number:
    return Number(text, Kind.FLOAT, bits, np.dtype(dtype))


FLOATS: dict[str, Number] = {
    number.text: number
    for number in (
        _float("f64", 64, np.float64),
        _float("f32", 32, np.float32),
        _float("tf32", _TF32_BITS, np.float32),
        _float("f16", 16, np.float16),
        _float("bf16", 16, ml_dtypes.bfloat16),
        _float("f8E5M2", 8, ml_dtypes.float8_e5m2),
        _float("f8E4M3", 8, ml_dtypes.float8_e4m3),
        _float("f8E4M3FN", 8, ml_dtypes.float8_e4m3fn),
        _float("f8E5M2FNUZ", 8, ml_dtypes.float8_e5m2fnuz),
        _float("f8E4M3FNUZ", 8, ml_dtypes.float8_e4m3fnuz),
        _float("f8E4M3B11FNUZ", 8, ml_dtypes.float8_e4m3b11fnuz),
        _float("f8E3M4", 8, ml_dtypes.float8_e3m4),
        _float("f8E8M0FNU", 8, ml_dtypes.float8_e8m0fnu),
        _float("f6E2M3FN", 6, ml_dtypes.float6_e2m3fn),
        _float("f6E3M2FN", 6, ml_dtypes.float6_e3m2fn),
        _float("f4E2M1FN", 4, ml_dtypes.float4_e2m1fn),
    )
}
"""The floating types, by their text."""

COMPLEX: dict[int, np.dtype[Any]] = {
    32: np.dtype(np.complex64),
    64: np.dtype(np.complex128),
}
"""How numpy holds complex numbers, by the width of a part."""

POINTER = Number("ptr", Kind.INTEGER, 64, np.dtype(np.int64))
"""How pointers are held."""

_LARGEST_INTEGER = 64


def number_of(type: Attribute) -> Number:
    """The type of a number, or of the elements of a vector, tensor or memref.

    Raises:
        ValueError: The type has no numbers, or ones that cannot be computed.
    """
    given = cast("Any", type)
    if isinstance(type, VectorType | TensorType | MemRefType | UnrankedMemRefType):
        return number_of(given.element_type)
    if isinstance(type, IndexType):
        return Number("index", Kind.INTEGER, INDEX_BITS, np.dtype(np.int64))
    if is_pointer(type):
        return POINTER
    text = str(given)
    if isinstance(type, IntegerType) and given.width.data <= _LARGEST_INTEGER:
        return _integer(text, given.width.data)
    if isinstance(type, ComplexType):
        part = number_of(given.element_type)
        if part.kind is Kind.FLOAT and part.bits in COMPLEX:
            return Number(text, Kind.COMPLEX, part.bits, COMPLEX[part.bits])
    if text not in FLOATS:
        raise ValueError(f"values of type {text} cannot be computed")
    return FLOATS[text]


def _integer(text: str, bits: int) -> Number:
    dtype = np.bool_ if bits == 1 else f"i{_bytes(bits)}"
    return Number(text, Kind.INTEGER, bits, np.dtype(dtype))


def _bytes(bits: int) -> int:
    return next(size for size in (1, 2, 4, 8) if 8 * size >= bits)


def shape_of(type: Attribute) -> tuple[int, ...]:
    """The shape of a vector or tensor type; () for a number.

    Raises:
        ValueError: The vector is scalable.
    """
    if isinstance(type, TensorType):
        return type.get_shape()
    if not isinstance(type, VectorType):
        return ()
    if type.get_num_scalable_dims():
        raise ValueError(f"the size of {type} is not known: scalable vectors cannot be computed")
    return type.get_shape()


def memref_type(type: Attribute) -> MemRefType[Attribute]:
    """A type as a memref type with a rank.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(type, MemRefType):
        raise ValueError(f"expected a memref with a rank, but got {type}")
    return cast("MemRefType[Attribute]", type)


def full_shape(type: Attribute) -> tuple[int, ...]:
    """The shape of the array that a value of a type is where all work-items share it.

    A vector has axes for rows and lanes before its own; a tensor, as Triton has them, has not.
    """
    shape = shape_of(type)
    return (1, 1, *shape) if isinstance(type, VectorType) else shape
