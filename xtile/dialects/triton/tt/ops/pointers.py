"""Pointers: arithmetic, and conversions from and to other types.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from abc import ABC

from typing_extensions import override
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import VarConstraint, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    element_of,
    verify_same_form,
    verify_type,
)
from xtile.dialects.triton.tt.constraints import I64_LIKE, INTEGER, POINTER, VALUE, is_pointer

_SAME_POINTER: VarConstraint[Attribute] = VarConstraint("T", POINTER)


class ConversionOperation(TritonOperation, ABC):
    """An operation of one operand whose result has another element type and the same shape."""

    traits = traits_def(Pure())

    def __init__(self, src: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[src], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_same_form({"src": self.operands[0].type, "the result": self.results[0].type})


@op_definition
class IntToPtrOp(ConversionOperation):
    """The pointer whose address is an integer.

    ```
    %p = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
    ```
    """

    name = "tt.int_to_ptr"

    src = operand_def(I64_LIKE)
    result = result_def(POINTER)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"


@op_definition
class PtrToIntOp(ConversionOperation):
    """The address of a pointer.

    ```
    %address = tt.ptr_to_int %p : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
    ```
    """

    name = "tt.ptr_to_int"

    src = operand_def(POINTER)
    result = result_def(I64_LIKE)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"


@op_definition
class BitcastOp(ConversionOperation):
    """The same bits as another type.

    ```
    %bits = tt.bitcast %x : tensor<8xf32> -> tensor<8xi32>
    ```
    """

    name = "tt.bitcast"

    src = operand_def(VALUE)
    result = result_def(VALUE)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    @override
    def verify_(self) -> None:
        super().verify_()
        source, result = element_of(self.src.type), element_of(self.result.type)
        if is_pointer(source) != is_pointer(result):
            raise VerifyException(
                f"{source} and {result} are not both pointers; tt.int_to_ptr and tt.ptr_to_int "
                "convert between integers and pointers"
            )
        widths = getattr(source, "bitwidth", 64), getattr(result, "bitwidth", 64)
        if widths[0] != widths[1]:
            raise VerifyException(
                f"{source} has {widths[0]} bits, but {result} has {widths[1]}; they must be as many"
            )


@op_definition
class AddPtrOp(TritonOperation):
    """A pointer so many elements further.

    ```
    %q = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    ```
    """

    name = "tt.addptr"

    ptr = operand_def(_SAME_POINTER)
    offset = operand_def(INTEGER)
    result = result_def(_SAME_POINTER)

    traits = traits_def(Pure())
    assembly_format = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)"

    def __init__(self, ptr: Operand, offset: Operand) -> None:
        super().__init__(operands=[ptr, offset], result_types=[SSAValue.get(ptr).type])

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_type("the result", self.result.type, self.ptr.type)
        verify_same_form({"ptr": self.ptr.type, "offset": self.offset.type})


OPERATIONS: list[type[Operation]] = [IntToPtrOp, PtrToIntOp, BitcastOp, AddPtrOp]
"""Every operation of this module."""
