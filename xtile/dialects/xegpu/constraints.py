"""What an operand, a result or a property may be, as IRDL constraints with words for messages.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUTypes.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    VectorType,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, EqAttrConstraint
from xdsl.utils.hints import isa

from xtile.dialects.compilation import XeVMAddrSpace, XeVMAddrSpaceAttr
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.upstream import TypeWhere
from xtile.dialects.xegpu.attributes import (
    MEMORY_SPACE_NUMBERS,
    CachePolicyAttr,
    MemorySpace,
    MemorySpaceAttr,
)
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.types import MemDescType, NbarrierType, TensorDescType


def memory_space_number(source: Attribute) -> int:
    """The number of the memory that a descriptor's source is in.

    A memref gives it as an integer or as this dialect's memory space. Anything else is global
    memory, and so is an address.
    """
    if not isa(source, MemRefType):
        return MEMORY_SPACE_NUMBERS[MemorySpace.GLOBAL]
    space = source.memory_space
    if isinstance(space, IntegerAttr):
        return space.value.data
    if isinstance(space, MemorySpaceAttr):
        return MEMORY_SPACE_NUMBERS[space.data]
    return MEMORY_SPACE_NUMBERS[MemorySpace.GLOBAL]


def is_static_shared(type: Attribute) -> bool:
    """Whether it is a memref of static shape in shared local memory."""
    return isa(type, MemRefType) and type.has_static_shape() and _is_shared(type)


def _is_shared(memref: MemRefType) -> bool:
    space = memref.memory_space
    if isinstance(space, IntegerAttr):
        return space.value.data == MEMORY_SPACE_NUMBERS[MemorySpace.SLM]
    if isinstance(space, MemorySpaceAttr):
        return space.data is MemorySpace.SLM
    if isinstance(space, AddressSpaceAttr):
        return space.data is AddressSpace.WORKGROUP
    return space == XeVMAddrSpaceAttr(XeVMAddrSpace.SHARED)


_SIGNLESS_WIDTHS = (1, 4, 8, 16, 32, 64)
_SIGNED_WIDTHS = (1, 8, 16, 32, 64)
_FLOATS = (Float16Type, Float32Type, Float64Type, BFloat16Type, FloatTF32Type)


def is_scalar(type: Attribute) -> bool:
    """Whether it is a type that one element may have (`XeGPU_ScalarType`)."""
    if isa(type, IntegerType):
        is_signless = type.signedness.data is Signedness.SIGNLESS
        return type.width.data in (_SIGNLESS_WIDTHS if is_signless else _SIGNED_WIDTHS)
    return isinstance(type, _FLOATS)


def is_pointer(type: Attribute) -> bool:
    """Whether it is an address: ui64, ui32, i64 or i32 (`XeGPU_PointerType`)."""
    return (
        isa(type, IntegerType)
        and type.width.data in (32, 64)
        and type.signedness.data is not Signedness.SIGNED
    )


def _is_vector(
    type: Attribute, ranks: Collection[int], is_element: Callable[[Attribute], bool]
) -> bool:
    return (
        isa(type, VectorType)
        and type.get_num_dims() in ranks
        and not any(type.get_scalable_dims())
        and is_element(type.element_type)
    )


def _is_vector_of(type: Attribute, is_element: Callable[[Attribute], bool]) -> bool:
    """Whether it is a vector of any rank but 0."""
    return isa(type, VectorType) and _is_vector(type, range(1, type.get_num_dims() + 1), is_element)


def _is_i1(type: Attribute) -> bool:
    return type == IntegerType(1)


def _is_index(type: Attribute) -> bool:
    return isinstance(type, IndexType)


def _is_memref(type: Attribute, ranks: Collection[int] | None = None) -> bool:
    if not isa(type, MemRefType):
        return False
    rank = type.get_num_dims()
    is_right_rank = rank > 0 if ranks is None else rank in ranks
    return is_right_rank and is_scalar(type.element_type)


def _is_gather_source(type: Attribute) -> bool:
    return isinstance(type, TensorDescType) or _is_gather_base(type)


def _is_gather_base(type: Attribute) -> bool:
    return _is_memref(type, (1,)) or is_pointer(type)


SCALARS = "i1, i4, i8 to i64, bf16, f16, tf32, f32 or f64"

TENSOR_DESC = TypeWhere("a tensor_desc", lambda type: isinstance(type, TensorDescType))
MEM_DESC = TypeWhere("a mem_desc", lambda type: isinstance(type, MemDescType))
NBARRIER = TypeWhere("a named barrier", lambda type: isinstance(type, NbarrierType))
INDEX = EqAttrConstraint(IndexType())
I8 = TypeWhere("an i8", lambda type: type == IntegerType(8))
BASE_ADDRESS = TypeWhere(
    f"a memref of {SCALARS} with at least one dimension, or an address of type i64, ui64, i32 "
    "or ui32",
    lambda type: _is_memref(type) or is_pointer(type),
)
GATHER_BASE = TypeWhere(
    f"a memref of {SCALARS} with one dimension, or an address of type i64, ui64, i32 or ui32",
    _is_gather_base,
)
GATHER_SOURCE = TypeWhere(
    f"a tensor_desc, a memref of {SCALARS} with one dimension, or an address of type i64, ui64, "
    "i32 or ui32",
    _is_gather_source,
)
OFFSETS = TypeWhere("a vector of index", lambda type: _is_vector_of(type, _is_index))
OFFSETS_OR_INDEX = TypeWhere(
    "a vector of index or an index",
    lambda type: _is_index(type) or _is_vector_of(type, _is_index),
)
MASK = TypeWhere("a vector of i1", lambda type: _is_vector_of(type, _is_i1))
MASK_OR_I1 = TypeWhere(
    "a vector of i1 or an i1", lambda type: _is_i1(type) or _is_vector_of(type, _is_i1)
)
VALUE = TypeWhere(f"a vector of {SCALARS}", lambda type: _is_vector_of(type, is_scalar))
VALUE_OR_SCALAR = TypeWhere(
    f"a vector of {SCALARS}, or one such number",
    lambda type: is_scalar(type) or _is_vector_of(type, is_scalar),
)
SOURCE_VECTOR = TypeWhere(
    f"a vector of {SCALARS} with 1 to 6 dimensions",
    lambda type: (
        isa(type, VectorType)
        and type.get_num_dims() in range(1, 7)
        and is_scalar(type.element_type)
    ),
)
DPAS_OPERAND = TypeWhere(
    f"a vector of {SCALARS} with 1 to 3 dimensions",
    lambda type: _is_vector(type, (1, 2, 3), is_scalar),
)
DPAS_RESULT = TypeWhere(
    f"a vector of {SCALARS} with 1 or 2 dimensions",
    lambda type: _is_vector(type, (1, 2), is_scalar),
)
SLM_BUFFER = TypeWhere(
    f"a memref of {SCALARS} with a static shape of 1 or 2 dimensions in shared memory, such as "
    "memref<4096xi8, 3>",
    lambda type: _is_memref(type, (1, 2)) and is_static_shared(type),
)
INTEGERS = DenseArrayBase.constr(i64)
"""A list of integers, some of which may stand for operands."""

NUMBER = cast(
    "AttrConstraint[IntegerAttr]",
    TypeWhere(
        "an integer such as 8 : i64",
        lambda attribute: isa(attribute, IntegerAttr) and attribute.type == i64,
    ),
)
CACHE_HINT = TypeWhere(
    "a cache hint such as #xegpu.cache_hint<cached>",
    lambda attribute: isinstance(attribute, CachePolicyAttr),
)
LAYOUT = TypeWhere(
    "a layout or a slice of this dialect",
    lambda attribute: isinstance(attribute, DistributeLayoutAttr),
)
