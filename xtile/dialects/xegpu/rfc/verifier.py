"""The RFC's rules for operations that LLVM 22 has no form for.

Source: RFC, `load_nd` (`vnni_axis`, `transpose_bit_width`), `dpas`, `load_gather`, "sg_map".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, StringAttr, VectorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.xegpu.assembly import integers
from xtile.dialects.xegpu.operation import CachedOperation
from xtile.dialects.xegpu.rfc.names import (
    BOUNDARY_CHECK,
    MEMORY_SCOPE,
    MODE,
    RFC_ATTRIBUTES,
    TRANSPOSE,
    TRANSPOSE_BIT_WIDTH,
    VNNI_AXIS,
)
from xtile.dialects.xegpu.types import TensorDescType

VNNI_BITS = 32
"""The bits of a group that VNNI packs elements into."""

Shape = tuple[int, ...]
Vector: TypeAlias = VectorType[Attribute]


def is_only_rfc(operation: Operation) -> bool:
    """Whether LLVM 22 has no form for an operation, as its attributes say."""
    names = RFC_ATTRIBUTES.get(operation.name)
    return names is not None and not names.isdisjoint(operation.attributes)


def verify_rfc(operation: Operation) -> bool:
    """Checks an operation that only the RFC's form has.

    Returns:
        Whether it is one. The rules of LLVM 22 are for the others.

    Raises:
        VerifyException: It breaks a rule.
    """
    if not is_only_rfc(operation):
        return False
    _VERIFIERS[operation.name](operation)
    if isinstance(operation, CachedOperation):
        operation.verify_hints()
    return True


def vnni_factor(type: Attribute) -> int:
    """How many elements of a type VNNI packs into one group; 1 for large elements."""
    width = type.bitwidth if isinstance(type, IntegerType | AnyFloat) else VNNI_BITS
    return max(1, VNNI_BITS // width)


def is_product(lhs: Vector, rhs: Vector, result: Vector) -> bool:
    """Whether whole matrices, split for VNNI or not, can be multiplied to the result."""
    if {lhs.get_num_dims(), rhs.get_num_dims()} - {2, 3} or result.get_num_dims() != 2:
        return False
    a, b = _plain_lhs(lhs.get_shape()), _plain_rhs(rhs.get_shape())
    return a[1] == b[0] and (a[0], b[1]) == result.get_shape()


def _plain_lhs(shape: Shape) -> Shape:
    """The shape of the left matrix without the split of its columns."""
    return shape if len(shape) == 2 else (shape[0], shape[1] * shape[2])


def _plain_rhs(shape: Shape) -> Shape:
    """The shape of the right matrix without the split of its rows."""
    return shape if len(shape) == 2 else (shape[0] * shape[2], shape[1])


def _verify_load_nd(operation: Operation) -> None:
    """Checks the shape that a load delivers."""
    descriptor, value = operation.operands[0].type, operation.results[0].type
    assert isinstance(descriptor, TensorDescType)
    assert isa(value, Vector)
    if descriptor.is_scattered or descriptor.rank > 2:
        raise VerifyException(f"{descriptor} describes no block of 1 or 2 dimensions")
    if value.element_type != descriptor.element_type:
        raise VerifyException(
            f"the result has elements of type {value.element_type}, but the descriptor of type "
            f"{descriptor.element_type}; they must be the same"
        )
    expected = _loaded_shapes(operation, descriptor, value.get_shape())
    if value.get_shape() not in expected:
        shapes = " or ".join("x".join(map(str, shape)) for shape in expected)
        found = "x".join(map(str, value.get_shape()))
        raise VerifyException(f"the result has the shape {found}; this load delivers {shapes}")


def _loaded_shapes(operation: Operation, descriptor: TensorDescType, result: Shape) -> list[Shape]:
    """The shapes that the result of a load may have; `result` is the one that it has."""
    shape = descriptor.get_shape()
    factor = vnni_factor(descriptor.element_type)
    transpose = integers(operation.properties.get("transpose"))
    if operation.attributes.get(MODE) == StringAttr("simt"):
        shape = _fragment_shape(descriptor)
        # A group may be spread over work items, so that one owns only a part of it.
        factor = min(factor, result[-1])
    if TRANSPOSE_BIT_WIDTH in operation.attributes:
        _expect_groups(operation, descriptor, transpose)
        rows, columns = shape
        shapes = [
            (columns // factor, rows * factor),
            (columns // factor, rows, factor),
        ]
    elif VNNI_AXIS in operation.attributes:
        _expect_axis(operation, transpose, shape, factor)
        shapes = [(*shape[:-1], shape[-1] // factor, factor)]
    else:
        shape = tuple(shape[axis] for axis in transpose) if transpose else shape
        is_packed = "packed" in operation.properties
        shapes = [(shape[0] // factor, *shape[1:], factor) if is_packed else shape]
    if descriptor.array_length == 1:
        return shapes
    return [(descriptor.array_length, *shape) for shape in shapes]


def _fragment_shape(descriptor: TensorDescType) -> Shape:
    """The shape of what one work item owns of a block."""
    layout = descriptor.layout_or_none
    if layout is None or not layout.effective_lane_layout:
        raise VerifyException(
            f"{descriptor} has no sg_map; without one an operation is in mode = vc"
        )
    lanes = layout.effective_lane_layout
    return tuple(size // count for size, count in zip(descriptor.get_shape(), lanes, strict=True))


def _expect_groups(operation: Operation, descriptor: TensorDescType, transpose: Shape) -> None:
    """Checks a load that transposes groups of elements."""
    bits = operation.attributes[TRANSPOSE_BIT_WIDTH]
    if not isinstance(bits, IntegerAttr) or bits.value.data != VNNI_BITS:
        raise VerifyException(f"transpose_bit_width must be {VNNI_BITS}")
    if transpose != (1, 0) or descriptor.rank != 2:
        raise VerifyException(
            "transpose_bit_width needs a block of 2 dimensions and transpose = [1, 0]"
        )
    if {"packed"} & operation.properties.keys() or VNNI_AXIS in operation.attributes:
        raise VerifyException("transpose_bit_width excludes vnni_axis; it packs on its own")


def _expect_axis(operation: Operation, transpose: Shape, shape: Shape, factor: int) -> None:
    """Checks a load that splits the columns of a block."""
    axis = operation.attributes[VNNI_AXIS]
    if not isinstance(axis, IntegerAttr) or axis.value.data != 1:
        raise VerifyException("vnni_axis must be 1; axis 0 is 'packed'")
    if transpose or "packed" in operation.properties:
        raise VerifyException("vnni_axis excludes transpose and packed")
    if len(shape) != 2 or shape[1] % factor:
        raise VerifyException(
            f"vnni_axis splits the columns of a matrix into groups of {VNNI_BITS} bits, but the "
            f"shape {'x'.join(map(str, shape))} has no such columns"
        )


def _verify_store_nd(operation: Operation) -> None:
    """Checks the fragment that a work item stores."""
    value, descriptor = (operand.type for operand in operation.operands[:2])
    assert isinstance(descriptor, TensorDescType)
    assert isa(value, Vector)
    expected = _fragment_shape(descriptor)
    if value.get_shape() != expected or value.element_type != descriptor.element_type:
        fragment = VectorType(descriptor.element_type, expected)
        raise VerifyException(f"the value is {value}; a work item owns {fragment} of the block")


def _verify_dpas(operation: Operation) -> None:
    """Checks the operands of a matrix product."""
    types = [operand.type for operand in operation.operands]
    lhs, rhs, result = types[0], types[1], operation.results[0].type
    assert isa(lhs, Vector)
    assert isa(rhs, Vector)
    assert isa(result, Vector)
    if types[2:] and types[2] != result:
        raise VerifyException(
            f"the accumulator is {types[2]}, but the result {result}; they must be the same"
        )
    # The RFC gives no rule for how the shapes of fragments belong together.
    if operation.attributes[MODE] != StringAttr("simt") and not is_product(lhs, rhs, result):
        raise VerifyException(
            f"{lhs} times {rhs} is no {result}; the columns of the first must be the rows of the "
            "second, without the split for VNNI"
        )


def _verify_chunks(operation: Operation, descriptor: Attribute, value: Attribute) -> None:
    """Checks a load or store of transposed chunks, or of the fragments of work items."""
    assert isinstance(descriptor, TensorDescType)
    transpose = operation.attributes.get(TRANSPOSE)
    if transpose is not None and integers(transpose) != (1, 0):
        raise VerifyException("transpose must be array<i64: 1, 0>")
    if not descriptor.is_scattered or (transpose is not None and descriptor.rank != 2):
        raise VerifyException(f"{descriptor} has no chunks that could be transposed")
    is_simt = operation.attributes.get(MODE) == StringAttr("simt")
    shape = _fragment_shape(descriptor) if is_simt else descriptor.get_shape()
    expected = VectorType(descriptor.element_type, shape if transpose is None else shape[::-1])
    if value != expected:
        raise VerifyException(f"the value is {value}; it must be {expected}")
    mask = operation.operands[-1].type
    masks = [VectorType(IntegerType(1), points) for points in _masks(descriptor.get_shape())]
    if mask not in masks:
        raise VerifyException(f"the mask is {mask}; it must be {masks[0]} or {masks[1]}")


def _masks(shape: Shape) -> tuple[Shape, Shape]:
    """The shapes that a mask may have: one for each chunk, or for each element of the chunks."""
    return shape[:1], shape


def _verify_load(operation: Operation) -> None:
    _verify_chunks(operation, operation.operands[0].type, operation.results[0].type)


def _verify_store(operation: Operation) -> None:
    _verify_chunks(operation, operation.operands[1].type, operation.operands[0].type)


def _verify_descriptor(operation: Operation) -> None:
    """Checks what a descriptor is made with beside what its type says."""
    descriptor = operation.results[0].type
    assert isinstance(descriptor, TensorDescType)
    space = StringAttr(descriptor.memory_space.value)
    scope = operation.attributes.get(MEMORY_SCOPE, space)
    if scope != space:
        raise VerifyException(f"memory_scope is {scope}, but the result is in memory {space}")
    check = operation.attributes.get(BOUNDARY_CHECK, IntegerAttr.from_bool(False))
    if check != IntegerAttr.from_bool(False):
        raise VerifyException("boundary_check must be false; otherwise the result's type says it")


_VERIFIERS: dict[str, Callable[[Operation], None]] = {
    "xegpu.create_nd_tdesc": _verify_descriptor,
    "xegpu.create_tdesc": _verify_descriptor,
    "xegpu.dpas": _verify_dpas,
    "xegpu.load": _verify_load,
    "xegpu.load_nd": _verify_load_nd,
    "xegpu.store": _verify_store,
    "xegpu.store_nd": _verify_store_nd,
}
"""What checks an operation, by its name."""
