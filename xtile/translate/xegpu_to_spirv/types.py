"""How types of the lane level are held in SPIR-V: in registers, in memory, and in vectors' pieces.

`index` is i64, and so is a pointer, by its address; bf16 is carried as the i16 with its bits, a
complex number as the vector of its two parts. In memory a truth value is a byte.

Source: SPIR-V Specification, 2.16.1 "Universal Validation Rules" (the lengths of vectors) and the
OpenCL SPIR-V Environment Specification, 2.7 "Validation Rules".
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any, cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    VectorType,
    f32,
    f64,
    i1,
    i8,
    i16,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects import spirv
from xtile.dialects.core.cooperative_matrix import CooperativeMatrixType, MatrixUse
from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.spirv import PointerType

LEGAL_LENGTHS = (16, 8, 4, 2)
"""The lengths of vectors in which longer ones are cut; 3 is legal too, but takes 4 in memory."""

_MOST_ELEMENTS = 1 << 16
"""Elements of one vector of a work-item; no device has registers for as many."""

_INTEGERS = {width: IntegerType(width) for width in (1, 8, 16, 32, 64)}
"""The integers of kernels, which have no sign, by their widths."""

_HELD_AS_THEY_ARE = frozenset[type]({Float16Type, Float32Type, Float64Type})


def is_vector(type_: Attribute) -> TypeIs[VectorType[Attribute]]:
    """Whether a type is a vector's. `isinstance` takes long for attributes."""
    return type(type_) is VectorType


def integer_width(type_: Attribute) -> int:
    """Bits of an integer type; 0 for other types."""
    return type_.width.data if type(type_) is IntegerType else 0


def register_type(type_: Attribute) -> Attribute:
    """The type that holds a number in a register.

    Raises:
        ValueError: Kernels have no such numbers; the message says so.
    """
    kind = type(type_)
    if kind in _HELD_AS_THEY_ARE:
        return type_
    if kind is IndexType or kind is CorePointerType:
        return i64
    if kind is IntegerType and integer_width(type_) in _INTEGERS:
        return _INTEGERS[integer_width(type_)]
    if kind is BFloat16Type:
        return i16
    if kind is FloatTF32Type:
        return f32
    if kind is ComplexType:
        part = cast("ComplexType[AnyFloat]", type_).element_type
        if part in (f32, f64):
            return VectorType(part, [2])
    if isinstance(type_, CooperativeMatrixType):
        return cooperative_matrix_type(type_)
    raise ValueError(f"kernels of OpenCL have no numbers of type {type_}")


_MATRIX_USES = {
    MatrixUse.MATRIX_A: "MatrixAKHR",
    MatrixUse.MATRIX_B: "MatrixBKHR",
    MatrixUse.ACCUMULATOR: "MatrixAccumulatorKHR",
}


@cache
def cooperative_matrix_type(type_: CooperativeMatrixType) -> spirv.CooperativeMatrixType:
    """The type of a matrix that a subgroup holds as a whole."""
    component = register_type(type_.component_type)
    use = _MATRIX_USES[MatrixUse(type_.use.data)]
    return spirv.CooperativeMatrixType(component, "Subgroup", *type_.shape, use)


def memory_type(type_: Attribute) -> Attribute:
    """The type that holds a number in memory.

    Raises:
        ValueError: Kernels have no such numbers.
    """
    return i8 if type_ == i1 else register_type(type_)


def element_type(type_: Attribute) -> Attribute:
    """The type of a number, or of the elements of a vector."""
    return type_.element_type if is_vector(type_) else type_


def bit_width(type_: Attribute) -> int:
    """Bits of a number in a register; those of both parts of a complex one."""
    if is_vector(type_):
        return bit_width(type_.element_type) * prod(type_.get_shape())
    if type(type_) is IntegerType:
        return type_.width.data
    return 64 if type(type_) is IndexType else cast(Any, type_).bitwidth


def size_in_bytes(type_: Attribute) -> int:
    """Bytes of a number in memory.

    Raises:
        ValueError: Kernels have no such numbers.
    """
    return bit_width(memory_type(type_)) // 8


def natural_alignment(type_: Attribute) -> int:
    """Bytes that the address of a number in memory is sure to be a multiple of.

    A complex number is aligned as its parts are.

    Raises:
        ValueError: Kernels have no such numbers.
    """
    return bit_width(element_type(memory_type(type_))) // 8


@cache
def legal_lengths(count: int) -> tuple[int, ...]:
    """The lengths of the pieces that a vector of a length is cut into; 1 is a scalar."""
    lengths: list[int] = []
    for length in (*LEGAL_LENGTHS, 1):
        times, count = divmod(count, length)
        lengths += [length] * times
    return tuple(lengths)


@cache
def of_length(element: Attribute, length: int) -> Attribute:
    """A piece's type: a vector, or a scalar where the length is 1."""
    return element if length == 1 else VectorType(element, [length])


def length_of(type_: Attribute) -> int:
    """The number of elements of a piece."""
    return type_.get_shape()[0] if is_vector(type_) else 1


def piece_lengths(type_: VectorType[Attribute]) -> tuple[int, ...]:
    """The lengths of a vector's pieces: those of each row, one after the other."""
    check_length(type_)
    *outer, innermost = type_.get_shape() or (1,)
    return legal_lengths(innermost) * prod(outer)


def check_length(type_: VectorType[Attribute]) -> None:
    """Checks that a work-item can hold a vector.

    Raises:
        ValueError: It is too long.
    """
    length = prod(type_.get_shape())
    if length > _MOST_ELEMENTS:
        raise ValueError(
            f"a work-item cannot hold a vector of {length} elements; it takes at most "
            f"{_MOST_ELEMENTS}"
        )


def piece_types(type_: Attribute) -> tuple[Attribute, ...]:
    """The types of the pieces of a number or a vector.

    Raises:
        ValueError: Kernels have no such numbers.
    """
    if not is_vector(type_):
        return (register_type(type_),)
    element = register_type(type_.element_type)
    return tuple(of_length(element, length) for length in piece_lengths(type_))


def memref_type(type_: Attribute) -> MemRefType[Attribute]:
    """A type that is known to be a memref's."""
    return cast("MemRefType[Attribute]", type_)


_STORAGE_CLASSES = {1: "CrossWorkgroup", 3: "Workgroup", 5: "Function"}
"""The storage class of each memory space that LLVM numbers."""

_STORAGE_CLASS_WORDS = {
    "crossworkgroup": "CrossWorkgroup",
    "global": "CrossWorkgroup",
    "workgroup": "Workgroup",
    "slm": "Workgroup",
    "private": "Function",
    "function": "Function",
}
"""Words in the names of memory spaces: `#gpu.address_space<workgroup>`, `#xegpu.memory_space<slm>`,
`#spirv.storage_class<Function>`; the first that is found counts."""


def storage_class_at(pointer: SSAValue) -> str:
    """The storage class of what a pointer points to, such as `CrossWorkgroup`."""
    return cast(PointerType, pointer.type).storage_class.data


def storage_class_of(space: Attribute | None, default: str = "CrossWorkgroup") -> str:
    """The storage class of a memory space.

    Args:
        space: What a memref's type names.
        default: The storage class if it names nothing.
    """
    if space is None or isinstance(space, NoneAttr):
        return default
    if isinstance(space, IntegerAttr):
        number = cast("IntegerAttr[IntegerType]", space).value.data
        return _STORAGE_CLASSES.get(number, default)
    text = str(space).lower()
    found = [name for word, name in _STORAGE_CLASS_WORDS.items() if word in text]
    return found[0] if found else default
