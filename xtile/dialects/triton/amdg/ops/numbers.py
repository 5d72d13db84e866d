"""Numbers of few bits, scaled.

Source: Triton 3.4 to 3.9, `third_party/amd`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from abc import ABC
from enum import IntEnum
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    BFloat16Type,
    BoolAttr,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    IntegerAttr,
    bf16,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr, LinearEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import DotOperandEncodingAttr
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    element_of,
    encoding_of,
    shape_of,
    verify_same_form,
)
from xtile.dialects.triton.tt.constraints import FLOAT_TENSOR, TENSOR
from xtile.dialects.triton.tt.enumerations import ScaleDotElemType, keyword, number
from xtile.dialects.triton.tt.keywords import EnumKeyword, verify_member
from xtile.dialects.triton.ttg.constraints import I32_NUMBER, layout_of
from xtile.dialects.triton.ttg.ops.layouts import verify_unpacked
from xtile.dialects.triton.versions import V3_6, V3_7, V3_9, Release


@irdl_custom_directive
class ScaledElement(EnumKeyword):
    """`e2m1`, `e4m3`, ..."""

    ENUMERATION: ClassVar[type[IntEnum]] = ScaleDotElemType
    member: AttributeVariable


_STORED = {
    ScaleDotElemType.E4M3: (Float8E4M3FNType, i8),
    ScaleDotElemType.E5M2: (Float8E5M2Type, i8),
    ScaleDotElemType.E2M3: (i8,),
    ScaleDotElemType.E3M2: (i8,),
    ScaleDotElemType.E2M1: (i8,),
    ScaleDotElemType.BF16: (BFloat16Type,),
    ScaleDotElemType.FP16: (Float16Type,),
}
"""What tensors hold the elements of each type as."""


_UPCAST = (ScaleDotElemType.E2M1, ScaleDotElemType.E4M3, ScaleDotElemType.E5M2)
"""What `amdg.upcast_mxfp` takes."""


@op_definition
class UpcastMXFPOp(TritonOperation):
    """Numbers times scales, of which one stands for 32 numbers along K.

    `src` is an operand of a product; K is the last dimension of `scale` also where it is B.

    ```
    %y = amdg.upcast_mxfp %x, %scale fp_type = e2m1 {fastMath = false}
      : tensor<64x32xi8, #packed>, tensor<64x2xi8, #blocked> -> tensor<64x64xbf16, #unpacked>
    ```
    """

    name = "amdg.upcast_mxfp"
    UNTIL: ClassVar[Release | None] = V3_7

    src = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    fp_type = prop_def(I32_NUMBER)
    fastMath = prop_def(IntegerAttr.constr(i1))  # noqa: N815
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = (
        "$src `,` $scale `fp_type` `=` custom<ScaledElement>($fp_type) attr-dict "
        "`:` type($src) `,` type($scale) `->` type($result)"
    )
    custom_directives: ClassVar = (ScaledElement,)

    def __init__(
        self,
        src: Operand,
        scale: Operand,
        fp_type: ScaleDotElemType,
        result_type: Attribute,
        *,
        fast_math: bool = False,
    ) -> None:
        super().__init__(
            operands=[src, scale],
            properties={"fp_type": number(fp_type), "fastMath": BoolAttr.from_bool(fast_math)},
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(ScaleDotElemType, "fp_type", self.fp_type)
        kind = ScaleDotElemType(self.fp_type.value.data)
        element = element_of(self.src.type)
        if not any(_is(element, stored) for stored in _STORED[kind]):
            raise VerifyException(f"src is {self.src.type}, which does not hold {keyword(kind)}")
        if element_of(self.scale.type) != i8:
            raise VerifyException(f"scale is {self.scale.type}; scales are powers of two as i8")
        _verify_result(self.result.type)
        if len(shape_of(self.src.type)) != len(shape_of(self.scale.type)):
            raise VerifyException("src and scale must have the same number of dimensions")
        if len(shape_of(self.src.type)) < 2:
            raise VerifyException(f"src is {self.src.type}; operands have two dimensions or more")
        if kind not in _UPCAST:
            known = ", ".join(map(keyword, _UPCAST))
            raise VerifyException(f"fp_type is {keyword(kind)}; it is one of {known}")
        self._verify_scales(kind)
        if kind is ScaleDotElemType.E2M1:
            verify_unpacked("src", self.src.type, self.result.type, self.k_axis)
        elif shape_of(self.src.type) != shape_of(self.result.type):
            raise VerifyException(
                f"src is {self.src.type} and the result {self.result.type}; they must have the "
                "same shape"
            )

    @property
    def k_axis(self) -> int:
        """The dimension of `src` that is K of the product."""
        operand = encoding_of(self.src.type)
        is_right = isinstance(operand, DotOperandEncodingAttr) and operand.op_idx.data == 1
        return len(shape_of(self.src.type)) - (2 if is_right else 1)

    def _verify_scales(self, kind: ScaleDotElemType) -> None:
        operand, scale = encoding_of(self.src.type), encoding_of(self.scale.type)
        if operand is not None and not isinstance(operand, DotOperandEncodingAttr):
            raise VerifyException(f"src is {self.src.type}; its layout must be #ttg.dot_op")
        if scale is not None and not isinstance(scale, BlockedEncodingAttr | LinearEncodingAttr):
            raise VerifyException(
                f"scale is {self.scale.type}; its layout must be #ttg.blocked or #ttg.linear"
            )
        *expected, rows, columns = shape_of(self.src.type)
        others, numbers = (columns, rows) if self.k_axis == len(expected) else (rows, columns)
        numbers *= 2 if kind is ScaleDotElemType.E2M1 else 1
        expected += [others, numbers // 32]
        if list(shape_of(self.scale.type)) != expected:
            raise VerifyException(
                f"scale is {self.scale.type}; it must have the shape {expected}, one scale for 32 "
                "numbers along K, which is the last dimension"
            )


def _is(element: Attribute, stored: object) -> bool:
    return isinstance(element, stored) if isinstance(stored, type) else element == stored


def _verify_result(type_: Attribute) -> None:
    if not isinstance(element_of(type_), Float16Type | BFloat16Type):
        raise VerifyException(f"the result is {type_}; its elements are f16 or bf16")


def _verify_scale(type_: Attribute) -> None:
    if element_of(type_) not in (bf16, i8):
        raise VerifyException(f"scale is {type_}; scales are powers of two as bf16 or i8")


def _verify_scale_layout(scale: Attribute, numbers: Attribute, axis: int, each: int) -> None:
    """Checks that lanes hold the scales of the numbers that they hold, in the same order.

    Args:
        scale: The type of the scales.
        numbers: The type of the numbers.
        axis: Where one scale stands for several numbers.
        each: For how many.
    """
    given, held = layout_of(scale), layout_of(numbers)
    if given is None or held is None:
        return
    for name in held.input_names:
        expected = [
            [index // (each if i == axis else 1) for i, index in enumerate(image)]
            for image in held.images(name)
        ]
        images = [list(image) for image in given.images(name)]
        if name == "register":
            # Registers that hold the same may be there or not.
            expected, images = list(filter(any, expected)), list(filter(any, images))
        if images != expected:
            raise VerifyException(
                f"scale is {scale}; its {name} images must be {expected}, so that a lane has the "
                f"scales of the numbers that it has in {numbers}"
            )


@op_definition
class ScaledUpcastFp4Op(TritonOperation):
    """Floats of 4 bits, two in each byte along an axis, times scales.

    ```
    %y = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32}
      : tensor<64x32xi8, #packed>, tensor<64x64xbf16, #unpacked> -> tensor<64x64xbf16, #unpacked>
    ```
    """

    name = "amdg.scaled_upcast_fp4"
    SINCE: ClassVar[Release] = V3_6

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    axis = prop_def(I32_NUMBER)
    output = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)"
    )

    def __init__(self, input: Operand, scale: Operand, axis: int, result_type: Attribute) -> None:
        super().__init__(
            operands=[input, scale],
            properties={"axis": IntegerAttr(axis, i32)},
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        if element_of(self.input.type) != i8:
            raise VerifyException(f"input is {self.input.type}; packed floats are i8")
        _verify_scale(self.scale.type)
        _verify_result(self.output.type)
        verify_unpacked("input", self.input.type, self.output.type, self.axis.value.data)
        self._verify_scales()

    @override
    def lost_in(self, release: Release) -> str | None:
        if release < V3_9 and shape_of(self.scale.type) != shape_of(self.output.type):
            return f"{self.name} of Triton {release} has a scale for each number"
        return super().lost_in(release)

    def _verify_scales(self) -> None:
        """Checks that each scale stands for as many numbers in a row along the axis."""
        axis = self.axis.value.data
        scales, numbers = list(shape_of(self.scale.type)), list(shape_of(self.output.type))
        each = numbers[axis] // scales[axis] if len(scales) == len(numbers) else 0
        if [n * each if i == axis else n for i, n in enumerate(scales)] != numbers:
            raise VerifyException(
                f"scale is {self.scale.type} and the result {self.output.type}; they must have "
                f"the same shape, or scale fewer along axis {axis}"
            )
        made = layout_of(self.output.type)
        if (
            each > 1
            and made is not None
            and any(
                index // (each if i == axis else 1)
                for image in made.images("register")[:3]
                for i, index in enumerate(image)
            )
        ):
            raise VerifyException(
                f"scale is {self.scale.type}; the first 8 registers of the result must hold "
                "numbers of one scale, as the instruction has one for them"
            )
        _verify_scale_layout(self.scale.type, self.output.type, axis, each)


@op_definition
class ScaledUpcastFp8Op(TritonOperation):
    """Floats of 8 bits times scales.

    ```
    %y = amdg.scaled_upcast_fp8 %x scale %s
      : tensor<64x64xf8E4M3FN, #dot>, tensor<64x64xbf16, #dot> -> tensor<64x64xbf16, #dot>
    ```
    """

    name = "amdg.scaled_upcast_fp8"
    SINCE: ClassVar[Release] = V3_6

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)"
    )

    def __init__(self, input: Operand, scale: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[input, scale], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        if not isinstance(element_of(self.input.type), Float8E4M3FNType | Float8E5M2Type):
            raise VerifyException(f"input is {self.input.type}; expected f8E4M3FN or f8E5M2")
        _verify_scale(self.scale.type)
        _verify_result(self.output.type)
        verify_same_form(
            {
                "input": self.input.type,
                "scale": self.scale.type,
                "the result": self.output.type,
            }
        )


class ScaledDowncast(TritonOperation, ABC):
    """Numbers divided by scales, of which one stands for several in a row along an axis."""

    input = operand_def(FLOAT_TENSOR)
    scale = operand_def(TENSOR)
    axis = prop_def(I32_NUMBER)
    output = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)"
    )

    def __init__(self, input: Operand, scale: Operand, axis: int, result_type: Attribute) -> None:
        super().__init__(
            operands=[input, scale],
            properties={"axis": IntegerAttr(axis, i32)},
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        if element_of(self.scale.type) != i8:
            raise VerifyException(f"scale is {self.scale.type}; scales are powers of two as i8")
        axis = self.axis.value.data
        scales, numbers = list(shape_of(self.scale.type)), list(shape_of(self.input.type))
        each = 0
        if len(scales) == len(numbers) > axis:
            each = numbers[axis] // scales[axis]
        if each < 8 or [n * each if i == axis else n for i, n in enumerate(scales)] != numbers:
            raise VerifyException(
                f"scale is {self.scale.type} and input {self.input.type}; along axis {axis} one "
                "scale stands for 8 numbers or more, and the other sizes must be the same"
            )
        _verify_scale_layout(self.scale.type, self.input.type, axis, each)


@op_definition
class ScaledDowncastFp4Op(ScaledDowncast):
    """Numbers divided by scales as floats of 4 bits, two in each byte along an axis.

    ```
    %y = amdg.scaled_downcast_fp4 %x scale %s {axis = 1 : i32}
      : tensor<64x128xbf16, #blocked2>, tensor<64x4xi8, #scales> -> tensor<64x64xi8, #blocked>
    ```
    """

    name = "amdg.scaled_downcast_fp4"
    SINCE: ClassVar[Release] = V3_9

    @override
    def verify_(self) -> None:
        super().verify_()
        if element_of(self.output.type) != i8:
            raise VerifyException(f"the result is {self.output.type}; packed floats are i8")
        verify_unpacked("the result", self.output.type, self.input.type, self.axis.value.data)


@op_definition
class ScaledDowncastFp8Op(ScaledDowncast):
    """Numbers divided by scales as floats of 8 bits.

    ```
    %y = amdg.scaled_downcast_fp8 %x scale %s {axis = 1 : i32}
      : tensor<64x128xbf16, #blocked2>, tensor<64x4xi8, #scales>
      -> tensor<64x128xf8E4M3FN, #blocked2>
    ```
    """

    name = "amdg.scaled_downcast_fp8"
    SINCE: ClassVar[Release] = V3_9

    @override
    def verify_(self) -> None:
        super().verify_()
        if not isinstance(element_of(self.output.type), Float8E4M3FNType | Float8E5M2Type):
            raise VerifyException(f"the result is {self.output.type}; expected f8E4M3FN or f8E5M2")
        verify_same_form({"input": self.input.type, "the result": self.output.type})


OPERATIONS: list[type[Operation]] = [
    UpcastMXFPOp,
    ScaledUpcastFp4Op,
    ScaledUpcastFp8Op,
    ScaledDowncastFp4Op,
    ScaledDowncastFp8Op,
]
"""Every operation of this module."""
