"""Types as the instructions that declare them."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntegerType,
    Signedness,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.dialects.spirv.arguments import Argument, ConstantId
from xtile.dialects.spirv.grammar import enumerants
from xtile.dialects.spirv.types import (
    ArrayType,
    CooperativeMatrixType,
    IdType,
    OtherType,
    PointerType,
    StructType,
    VoidType,
)
from xtile.dialects.spirv.words import ArgumentError

VECTOR_SIZES = (2, 3, 4, 8, 16)
"""How many components a vector may have.

Source: SPIR-V specification, section 2.16.1 (Universal Validation Rules).
"""

Declaration = tuple[str, tuple[Argument, ...]]
"""An instruction that declares a type, and its arguments; their ids of types are the types."""


def declaration_of(type: Attribute) -> Declaration:
    """The instruction that declares a type.

    Raises:
        ArgumentError: SPIR-V has no such type.
    """
    match type:
        case IntegerType():
            return _integer_declaration(type)
        case Float16Type() | Float32Type() | Float64Type():
            return "TypeFloat", (type.bitwidth,)
        case BFloat16Type():
            return "TypeFloat", (16, "BFloat16KHR")
        case VectorType():
            return _vector_declaration(type)
        case PointerType():
            return "TypePointer", (type.storage_class.data, type.pointee)
        case _:
            return _aggregate_declaration(type)


def _aggregate_declaration(type: Attribute) -> Declaration:
    match type:
        case VoidType():
            return "TypeVoid", ()
        case FunctionType():
            return "TypeFunction", (*(type.outputs.data or (VoidType(),)), *type.inputs.data)
        case ArrayType():
            return "TypeArray", (type.element_type, ConstantId(type.count.data))
        case StructType():
            return "TypeStruct", type.elements.data
        case CooperativeMatrixType():
            return _matrix_declaration(type)
        case OtherType():
            return type.instruction.data, type.arguments.data
        case _:
            raise ArgumentError(f"SPIR-V has no type {type}")


def _integer_declaration(type: IntegerType) -> Declaration:
    width, signedness = type.width.data, type.signedness.data
    if signedness is Signedness.UNSIGNED:
        raise ArgumentError(f"SPIR-V has no type {type}: use i{width}, or si{width}")
    if width == 1:
        return "TypeBool", ()
    return "TypeInt", (width, int(signedness is Signedness.SIGNED))


def _vector_declaration(type: VectorType[Attribute]) -> Declaration:
    shape = type.get_shape()
    if type.get_num_scalable_dims() or len(shape) != 1:
        raise ArgumentError(f"a vector of SPIR-V has one dimension of a fixed size: {type}")
    return "TypeVector", (type.element_type, shape[0])


def check_size(type: Attribute) -> None:
    """Checks the size of a vector.

    Raises:
        ArgumentError: The type is a vector of a size that vectors may not have.
    """
    if isa(type, VectorType) and type.get_shape()[0] not in VECTOR_SIZES:
        sizes = ", ".join(map(str, VECTOR_SIZES))
        raise ArgumentError(f"a vector of SPIR-V has {sizes} components: {type}")


def check_sizes(type: Attribute) -> None:
    """Checks the sizes of all vectors in a type.

    Raises:
        ArgumentError: One has a size that vectors may not have, or SPIR-V has no such type.
    """
    waiting = [] if isinstance(type, IdType) else [type]
    while waiting:
        part = waiting.pop()
        check_size(part)
        _, arguments = declaration_of(part)
        waiting += [argument for argument in arguments if isinstance(argument, Attribute)]


def _matrix_declaration(type: CooperativeMatrixType) -> Declaration:
    return "TypeCooperativeMatrixKHR", (
        type.component_type,
        ConstantId(_number("Scope", type.scope.data)),
        ConstantId(type.rows.data),
        ConstantId(type.columns.data),
        ConstantId(_number("CooperativeMatrixUse", type.use.data)),
    )


def _number(kind: str, name: str) -> int:
    section = enumerants(kind)
    entry = None if section is None else section.get(name)
    if entry is None:
        raise ArgumentError(f"{name} is no {kind}")
    return entry.number
