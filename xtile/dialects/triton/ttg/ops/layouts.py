"""Tensors in other layouts, and packed floats of 4 bits.

Source: Triton 3.9, `TritonGPUOps.td` and `lib/Dialect/TritonGPU/IR/Ops.cpp`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    IntegerAttr,
    UnitAttr,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    element_of,
    encoding_of,
    shape_of,
)
from xtile.dialects.triton.tt.constraints import FLOAT_TENSOR, TENSOR
from xtile.dialects.triton.ttg.constraints import I32_NUMBER, layout_of
from xtile.layouts.linear import LinearLayout


@op_definition
class ConvertLayoutOp(TritonOperation):
    """The same tensor in another layout.

    ```
    %y = ttg.convert_layout %x : tensor<8x8xf32, #blocked> -> tensor<8x8xf32, #blocked1>
    ```
    """

    name = "ttg.convert_layout"

    src = operand_def(TENSOR)
    force_warp_shuffle = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[src], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        source, result = self.src.type, self.result.type
        if shape_of(source) != shape_of(result) or element_of(source) != element_of(result):
            raise VerifyException(
                f"src is {source} and the result {result}; only the layout may be another one"
            )


@op_definition
class Fp4ToFpOp(TritonOperation):
    """Floats of 4 bits, two in each byte along an axis, the lower four bits first, as larger ones.

    ```
    %y = ttg.fp4_to_fp %x {axis = 1 : i32}
      : tensor<64x32xi8, #blocked> -> tensor<64x64xbf16, #blocked2>
    ```
    """

    name = "ttg.fp4_to_fp"

    src = operand_def(TENSOR)
    axis = prop_def(I32_NUMBER)
    result = result_def(FLOAT_TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, axis: int, result_type: Attribute) -> None:
        super().__init__(
            operands=[src],
            properties={"axis": IntegerAttr(axis, i32)},
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        if element_of(self.src.type) != i8:
            raise VerifyException(f"src is {self.src.type}; packed floats are i8")
        if not isinstance(element_of(self.result.type), Float16Type | BFloat16Type):
            raise VerifyException(f"the result is {self.result.type}; its elements are f16 or bf16")
        verify_unpacked("src", self.src.type, self.result.type, self.axis.value.data)


def verify_unpacked(name: str, packed: Attribute, result: Attribute, axis: int) -> None:
    """Checks that a result has two elements along an axis for each of a packed tensor.

    Raises:
        VerifyException: It has others.
    """
    shape = list(shape_of(packed))
    if not 0 <= axis < len(shape):
        raise VerifyException(f"axis is {axis}; {name} has the axes 0 to {len(shape) - 1}")
    shape[axis] *= 2
    if list(shape_of(result)) != shape:
        raise VerifyException(
            f"{name} has two floats in each element along axis {axis}, so the result has the shape "
            f"{shape}, but it is {result}"
        )
    if (encoding_of(packed) is None) != (encoding_of(result) is None):
        raise VerifyException("both the operand and the result have a layout, or none has")
    held, made = layout_of(packed), layout_of(result)
    if held is None or made is None:
        return
    pair = LinearLayout.strided(2, 1, "register", f"dim{axis}")
    if made.divide_left(pair) != held:
        raise VerifyException(
            f"{name} is {packed} and the result {result}; the first bit of the registers of the "
            f"result must go along axis {axis}, and the others where those of {name} go"
        )


OPERATIONS: list[type[Operation]] = [ConvertLayoutOp, Fp4ToFpOp]
"""Every operation of this module."""
