"""Local memory: what is allocated, and how it is read and written.

Source: Triton 3.9, `TritonGPUOps.td` and `lib/Dialect/TritonGPU/IR/Ops.cpp`.
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import mask_of
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    element_of,
    shape_of,
    verify_same_form,
    verify_type,
)
from xtile.dialects.triton.tt.constraints import BOOL, INTEGER_TENSOR, TENSOR
from xtile.dialects.triton.tt.enumerations import RMWOp, number
from xtile.dialects.triton.tt.keywords import RMW, verify_member
from xtile.dialects.triton.ttg.constraints import (
    I32_NUMBER,
    MEMDESC,
    TOKEN,
    memdesc_of,
    verify_mutable,
    verify_same_elements,
)
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.dialects.triton.versions import V3_7, V3_8, Release


@op_definition
class LocalAllocOp(TritonOperation):
    """Local memory for a tensor, or for several; with an operand it holds that tensor.

    ```
    %m = ttg.local_alloc %x : (tensor<8x8xf16, #blocked>) -> !ttg.memdesc<8x8xf16, #shared, #smem>
    ```
    """

    name = "ttg.local_alloc"

    src = opt_operand_def(TENSOR)
    alignment = opt_prop_def(I32_NUMBER)
    result = result_def(MEMDESC)

    assembly_format = "($src^)? attr-dict `:` functional-type(operands, results)"

    def __init__(
        self, result_type: MemDescType, src: Operand | None = None, alignment: int | None = None
    ) -> None:
        super().__init__(
            operands=[src],
            properties={"alignment": None if alignment is None else IntegerAttr(alignment, i32)},
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        memory = memdesc_of(self.result.type)
        if memory.alloc_shape != memory.get_shape():
            raise VerifyException(
                f"the result is {memory}, a part of what was allocated; it must be all of it"
            )
        if self.src is not None:
            verify_same_elements("src", self.src.type, memory)
        elif not memory.is_mutable:
            raise VerifyException(
                "memory that is not mutable holds a tensor from the beginning; give one, or say "
                f"mutable in {memory}"
            )


@op_definition
class LocalDeallocOp(TritonOperation):
    """Ends the use of local memory.

    ```
    ttg.local_dealloc %m : !ttg.memdesc<8x8xf16, #shared, #smem, mutable>
    ```
    """

    name = "ttg.local_dealloc"

    src = operand_def(MEMDESC)

    assembly_format = "$src attr-dict `:` type($src)"

    def __init__(self, src: Operand) -> None:
        super().__init__(operands=[src])


@op_definition
class LocalLoadOp(TritonOperation):
    """The tensor that local memory holds, after what the token stands for.

    ```
    %x = ttg.local_load %m token %t
      : !ttg.memdesc<8x8xf16, #shared, #smem, mutable> -> tensor<8x8xf16, #blocked>
    ```
    """

    name = "ttg.local_load"

    src = operand_def(MEMDESC)
    token = opt_operand_def(TOKEN)
    result = result_def(TENSOR)

    assembly_format = "$src (`token` $token^)? attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, result_type: Attribute, token: Operand | None = None) -> None:
        super().__init__(operands=[src, token], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_same_elements("the result", self.result.type, memdesc_of(self.src.type))


@op_definition
class LocalStoreOp(TritonOperation):
    """Writes a tensor to local memory.

    ```
    ttg.local_store %x, %m
      : tensor<8x8xf16, #blocked> -> !ttg.memdesc<8x8xf16, #shared, #smem, mutable>
    ```
    """

    name = "ttg.local_store"

    src = operand_def(TENSOR)
    dst = operand_def(MEMDESC)

    assembly_format = "$src `,` $dst attr-dict `:` type($src) `->` type($dst)"

    def __init__(self, src: Operand, dst: Operand) -> None:
        super().__init__(operands=[src, dst])

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_mutable(memdesc_of(self.dst.type))
        verify_same_elements("src", self.src.type, memdesc_of(self.dst.type))


@op_definition
class LocalGatherOp(TritonOperation):
    """Elements of local memory whose index along an axis is given.

    ```
    %x = ttg.local_gather %m[%i] {axis = 0 : i32}
      : !ttg.memdesc<8x8xf16, #shared, #smem, mutable>, tensor<8x8xi32, #blocked>
      -> tensor<8x8xf16, #blocked>
    ```
    """

    name = "ttg.local_gather"
    SINCE: ClassVar[Release] = V3_7

    src = operand_def(MEMDESC)
    indices = operand_def(INTEGER_TENSOR)
    axis = prop_def(I32_NUMBER)
    token = opt_operand_def(TOKEN)
    result = result_def(TENSOR)

    assembly_format = (
        "$src `[` $indices `]` (`token` $token^)? attr-dict `:` type($src) `,` type($indices) "
        "`->` type($result)"
    )

    def __init__(
        self,
        src: Operand,
        indices: Operand,
        axis: int,
        result_type: Attribute,
        token: Operand | None = None,
    ) -> None:
        super().__init__(
            operands=[src, indices, token],
            properties={"axis": IntegerAttr(axis, i32)},
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_same_form({"indices": self.indices.type, "the result": self.result.type})
        _verify_indexed("the result", self.result, self.src, self.axis.value.data)


@op_definition
class LocalScatterOp(TritonOperation):
    """Writes elements to local memory where their index along an axis is given.

    ```
    ttg.local_scatter %m[%i], %x {axis = 0 : i32}
      : !ttg.memdesc<8x8xf16, #shared, #smem, mutable>, tensor<8x8xi32, #blocked>,
        tensor<8x8xf16, #blocked>
    ```
    """

    name = "ttg.local_scatter"
    SINCE: ClassVar[Release] = V3_7

    dst = operand_def(MEMDESC)
    values = operand_def(TENSOR)
    indices = operand_def(INTEGER_TENSOR)
    axis = prop_def(I32_NUMBER)
    token = opt_operand_def(TOKEN)

    assembly_format = (
        "$dst `[` $indices `]` `,` $values (`token` $token^)? attr-dict `:` type($dst) `,` "
        "type($indices) `,` type($values)"
    )

    def __init__(
        self,
        dst: Operand,
        values: Operand,
        indices: Operand,
        axis: int,
        token: Operand | None = None,
    ) -> None:
        super().__init__(
            operands=[dst, values, indices, token], properties={"axis": IntegerAttr(axis, i32)}
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_same_form({"indices": self.indices.type, "values": self.values.type})
        _verify_indexed("values", self.values, self.dst, self.axis.value.data)


@op_definition
class LocalAtomicScatterRMWOp(TritonOperation):
    """Updates elements of local memory whose index along an axis is given.

    The result is what was there before; where the mask is false it is unspecified.

    ```
    %old = ttg.local_atomic_scatter_rmw add, %m[%i], %x, %mask {axis = 0 : i32}
      : (!ttg.memdesc<8xi32, #row, #smem, mutable>, tensor<8xi32, #line>, tensor<8xi32, #line>,
        tensor<8xi1, #line>) -> tensor<8xi32, #line>
    ```
    """

    name = "ttg.local_atomic_scatter_rmw"
    SINCE: ClassVar[Release] = V3_8

    atomic_rmw_op = prop_def(I32_NUMBER)
    dst = operand_def(MEMDESC)
    values = operand_def(TENSOR)
    indices = operand_def(INTEGER_TENSOR)
    mask = opt_operand_def(BOOL)
    axis = prop_def(I32_NUMBER)
    result = result_def(TENSOR)

    assembly_format = (
        "custom<RMW>($atomic_rmw_op) `,` $dst `[` $indices `]` `,` $values (`,` $mask^)? attr-dict "
        "`:` functional-type(operands, results)"
    )
    custom_directives: ClassVar = (RMW,)

    def __init__(
        self,
        update: RMWOp,
        dst: Operand,
        values: Operand,
        indices: Operand,
        axis: int,
        mask: Operand | None = None,
    ) -> None:
        super().__init__(
            operands=[dst, values, indices, mask],
            properties={"atomic_rmw_op": number(update), "axis": IntegerAttr(axis, i32)},
            result_types=[SSAValue.get(values).type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(RMWOp, "atomic_rmw_op", self.atomic_rmw_op)
        verify_mutable(memdesc_of(self.dst.type))
        verify_same_form({"indices": self.indices.type, "values": self.values.type})
        verify_type("the result", self.result.type, self.values.type)
        if self.mask is not None:
            verify_type("mask", self.mask.type, mask_of(self.values.type))
        _verify_indexed("values", self.values, self.dst, self.axis.value.data)


def _verify_indexed(name: str, tensor: SSAValue, memory: SSAValue, axis: int) -> None:
    """Checks elements that have an index along an axis against the memory that holds them."""
    view = memdesc_of(memory.type)
    if element_of(tensor.type) != view.element_type:
        raise VerifyException(
            f"{name} is {tensor.type}, but the memory is {view}; they must have the same elements"
        )
    rank = len(view.get_shape())
    if len(shape_of(tensor.type)) != rank:
        raise VerifyException(f"{name} is {tensor.type}; like the memory it has {rank} dimensions")
    if not 0 <= axis < rank:
        raise VerifyException(f"axis is {axis}; the memory has the axes 0 to {rank - 1}")


OPERATIONS: list[type[Operation]] = [
    LocalAllocOp,
    LocalDeallocOp,
    LocalLoadOp,
    LocalStoreOp,
    LocalGatherOp,
    LocalScatterOp,
    LocalAtomicScatterRMWOp,
]
"""Every operation of this module."""
