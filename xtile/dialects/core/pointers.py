"""Pointers: their type, arithmetic, and casts to and from integers.

Source: CUDA Tile IR specification, "Pointer Type", "offset", "int_to_ptr", "ptr_to_int",
"ptr_to_ptr"; triton-lang/triton, `TritonTypes.td` (`tt.ptr`), `TritonOps.td` (`tt.addptr`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    ComplexType,
    FloatTF32Type,
    IndexType,
    IntegerType,
    NoneAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import verify_type, with_element
from xtile.dialects.upstream import TypeWhere, is_float, value_type


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """The address of a number in memory, or of another pointer: `!core.ptr<f32>`.

    Attributes:
        pointee_type: What it points to.
        memory_space: The memory, as a memref names it; none is global memory.
    """

    name = "core.ptr"

    pointee_type: Attribute
    memory_space: Attribute

    @classmethod
    def to(cls, pointee: Attribute, memory_space: Attribute | None = None) -> PointerType:
        """The type of pointers to numbers of a type."""
        return cls(pointee, NoneAttr() if memory_space is None else memory_space)

    @override
    def verify(self) -> None:
        if not _has_an_address(self.pointee_type):
            raise VerifyException(
                f"there is no pointer to {self.pointee_type}; expected an i1, a number of 8, 16, "
                "32 or 64 bits, an index, a tf32, a complex number or a pointer"
            )

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            pointee = parser.parse_type()
            has_space = parser.parse_optional_punctuation(",") is not None
            return pointee, parser.parse_attribute() if has_space else NoneAttr()

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.pointee_type)
            if not isinstance(self.memory_space, NoneAttr):
                printer.print_string(", ")
                printer.print_attribute(self.memory_space)


_BITS = (8, 16, 32, 64)


def _has_an_address(type: Attribute) -> bool:
    """Whether an element of memory has bytes of its own."""
    if isinstance(type, PointerType | IndexType | FloatTF32Type):
        return True
    if isinstance(type, ComplexType):
        return _has_an_address(cast("ComplexType[Any]", type).element_type)
    if isa(type, IntegerType):
        return type.width.data in (1, *_BITS)
    return is_float(type) and cast(Any, type).bitwidth in _BITS


def pointer_of(type: Attribute) -> PointerType | None:
    """The type of a pointer or of the elements of a vector of pointers; None for other types."""
    element = value_type(type)
    return element if isinstance(element, PointerType) else None


POINTERS = TypeWhere("a pointer, or a vector of pointers", lambda type: bool(pointer_of(type)))

_OFFSETS = TypeWhere(
    "an integer or index, or a vector of some",
    lambda type: isinstance(value_type(type), IntegerType | IndexType),
)


@op_definition
class PointerAddOp(IRDLOperation):
    """Pointers to the elements that lie some elements behind those that others point to.

    ```
    %q = core.pointer_add %p, %n : vector<8x!core.ptr<f32>>, vector<8xi32>
    ```

    Offsets are signed numbers of elements. Addresses are computed in 64 bits and wrap around. A
    pointer may point anywhere; only what is accessed must be memory.
    """

    name = "core.pointer_add"

    T: ClassVar = VarConstraint("T", POINTERS)

    pointers = operand_def(T)
    offsets = operand_def(_OFFSETS)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$pointers `,` $offsets attr-dict `:` type($pointers) `,` type($offsets)"

    @override
    def verify_(self) -> None:
        offset = value_type(self.offsets.type)
        verify_type(self.offsets.type, with_element(self.pointers.type, offset), "the offset")


@op_definition
class PointerCastOp(IRDLOperation):
    """The same addresses as pointers to numbers of another type.

    ```
    %q = core.pointer_cast %p : !core.ptr<f32> -> !core.ptr<i32>
    ```
    """

    name = "core.pointer_cast"

    source = operand_def(POINTERS)
    result = result_def(POINTERS)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    @override
    def verify_(self) -> None:
        source, result = pointer_of(self.source.type), pointer_of(self.result.type)
        assert source is not None
        assert result is not None
        same_memory = PointerType(result.pointee_type, source.memory_space)
        verify_type(self.result.type, with_element(self.source.type, same_memory), "the result")


@op_definition
class PointerToIntegerOp(IRDLOperation):
    """The addresses in bytes; that of the null pointer is 0.

    ```
    %n = core.pointer_to_integer %p : !core.ptr<f32> -> i64
    ```
    """

    name = "core.pointer_to_integer"

    source = operand_def(POINTERS)
    result = result_def(Attribute)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    @override
    def verify_(self) -> None:
        verify_type(self.result.type, with_element(self.source.type, i64), "the result")


@op_definition
class IntegerToPointerOp(IRDLOperation):
    """Pointers to addresses in bytes.

    ```
    %p = core.integer_to_pointer %n : vector<8xi64> -> vector<8x!core.ptr<f32>>
    ```
    """

    name = "core.integer_to_pointer"

    source = operand_def(Attribute)
    result = result_def(POINTERS)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    @override
    def verify_(self) -> None:
        verify_type(self.source.type, with_element(self.result.type, i64), "the address")


_ON_POINTERS = frozenset(
    {
        "core.integer_to_pointer",
        "core.pointer_add",
        "core.pointer_cast",
        "core.pointer_to_integer",
        "core.view",
    }
)


def is_on_pointers(operation: Operation) -> bool:
    """Whether an operation is one on pointers or a view of what one points to.

    All levels have them.
    """
    return operation.name in _ON_POINTERS
