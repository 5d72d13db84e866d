"""Elementary functions of floats.

Source: CUDA Tile IR specification, "Operations", "Floating Point"; NVIDIA/cuda-tile 13.3.0,
`Ops.td` and `CudaTile.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.assembly_numbers import FullRounding, SquareRootRounding
from xtile.dialects.cuda_tile.attributes import RoundingModeAttr
from xtile.dialects.cuda_tile.constraints import (
    BASE_FLOAT_TILE,
    EXPONENT_TILE,
    FUNCTION_MODES,
    SQUARE_ROOT_MODES,
    RoundingModeAmong,
    SameType,
)
from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.elementwise import UnaryFloatOperation, flag
from xtile.dialects.cuda_tile.ops.shape_rules import verify_same_shape
from xtile.dialects.cuda_tile.types import tile_type
from xtile.dialects.cuda_tile.versions import V13_2, V13_3, V13_4, Version
from xtile.dialects.definitions import op_definition


class _FullOperation(UnaryFloatOperation, ABC):
    """A function with a faster approximation for f32."""

    APPROXIMATE: ClassVar[tuple[RoundingMode, ...]] = (RoundingMode.APPROX,)

    rounding_mode = prop_def(
        RoundingModeAmong(FUNCTION_MODES), default_value=RoundingModeAttr(RoundingMode.FULL)
    )

    assembly_format = (
        "$source custom<FullRounding>($rounding_mode) attr-dict `:` "
        "custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType, FullRounding)

    def __init__(self, source: Operand, *, rounding_mode: RoundingMode = RoundingMode.FULL) -> None:
        super().__init__(source, properties={"rounding_mode": RoundingModeAttr(rounding_mode)})


class _FlushingOperation(UnaryFloatOperation, ABC):
    """A function that can flush subnormal numbers of f32 to zero."""

    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$source (`flush_to_zero` $flush_to_zero^)? attr-dict `:` "
        "custom<CudaTileType>(type($result))"
    )

    def __init__(self, source: Operand, *, flush_to_zero: bool = False) -> None:
        super().__init__(source, properties={"flush_to_zero": flag(flush_to_zero)})


@op_definition
class Atan2Op(CudaTileOperation):
    """The angle of which `x` is the opposite and `y` the adjacent: the arc tangent of `x / y`.

    ```
    %c = atan2 %a, %b : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.atan2"
    OPCODE: ClassVar[int] = 0x6E
    SINCE: ClassVar[Version] = V13_2

    T: ClassVar = SameType("T", BASE_FLOAT_TILE)

    x = operand_def(T)
    y = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$x `,` $y attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, x: Operand, y: Operand) -> None:
        super().__init__(operands=(x, y), result_types=(SSAValue.get(x).type,))


@op_definition
class CosOp(UnaryFloatOperation):
    """The cosine.

    ```
    %b = cos %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.cos"
    OPCODE: ClassVar[int] = 0x12


@op_definition
class CosHOp(UnaryFloatOperation):
    """The hyperbolic cosine.

    ```
    %b = cosh %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.cosh"
    OPCODE: ClassVar[int] = 0x13


@op_definition
class ExpOp(_FullOperation):
    """The exponential function.

    ```
    %b = exp %a rounding<approx> : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.exp"
    OPCODE: ClassVar[int] = 0x17
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"rounding_mode": V13_3})


@op_definition
class Exp2Op(_FlushingOperation):
    """Two to the power of the operand.

    ```
    %b = exp2 %a flush_to_zero : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.exp2"
    OPCODE: ClassVar[int] = 0x18


@op_definition
class LogOp(UnaryFloatOperation):
    """The natural logarithm.

    ```
    %b = log %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.log"
    OPCODE: ClassVar[int] = 0x3F


@op_definition
class Log2Op(UnaryFloatOperation):
    """The logarithm to base two.

    ```
    %b = log2 %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.log2"
    OPCODE: ClassVar[int] = 0x40


@op_definition
class PowOp(CudaTileOperation):
    """A power.

    ```
    %c = pow %a, %b : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.pow"
    OPCODE: ClassVar[int] = 0x54

    T: ClassVar = SameType("T", BASE_FLOAT_TILE)

    source = operand_def(T)
    exponent = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$source `,` $exponent attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: Operand, exponent: Operand) -> None:
        super().__init__(operands=(source, exponent), result_types=(SSAValue.get(source).type,))


@op_definition
class FPowIOp(CudaTileOperation):
    """A power whose exponent is a signed integer.

    ```
    %c = fpowi %a, %n : tile<4x8xf32>, tile<4x8xi32>
    ```

    Source: the writer of the Python package cuda-tile 1.7.0; text and types as NVIDIA's
    disassembler 13.5 has them.
    """

    name = "cuda_tile.fpowi"
    OPCODE: ClassVar[int] = 0x79
    SINCE: ClassVar[Version] = V13_4

    T: ClassVar = SameType("T", BASE_FLOAT_TILE)

    source = operand_def(T)
    exponent = operand_def(EXPONENT_TILE)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$source `,` $exponent attr-dict `:` custom<CudaTileType>(type($source)) `,` "
        "custom<CudaTileType>(type($exponent))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: Operand, exponent: Operand) -> None:
        super().__init__(operands=(source, exponent), result_types=(SSAValue.get(source).type,))

    @override
    def verify_(self) -> None:
        verify_same_shape("the exponents", tile_type(self.exponent), tile_type(self.source))


@op_definition
class RsqrtOp(_FlushingOperation):
    """The reciprocal of the square root.

    ```
    %b = rsqrt %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.rsqrt"
    OPCODE: ClassVar[int] = 0x5D


@op_definition
class SinOp(UnaryFloatOperation):
    """The sine.

    ```
    %b = sin %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.sin"
    OPCODE: ClassVar[int] = 0x62


@op_definition
class SinHOp(UnaryFloatOperation):
    """The hyperbolic sine.

    ```
    %b = sinh %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.sinh"
    OPCODE: ClassVar[int] = 0x63


@op_definition
class SqrtOp(UnaryFloatOperation):
    """The square root; `approx` is faster, and for f32 only.

    ```
    %b = sqrt %a rounding<approx> flush_to_zero : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.sqrt"
    OPCODE: ClassVar[int] = 0x64

    rounding_mode = prop_def(RoundingModeAmong(SQUARE_ROOT_MODES))
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$source custom<SquareRootRounding>($rounding_mode) (`flush_to_zero` $flush_to_zero^)? "
        "attr-dict `:` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType, SquareRootRounding)

    def __init__(
        self,
        source: Operand,
        *,
        rounding_mode: RoundingMode = RoundingMode.NEAREST_EVEN,
        flush_to_zero: bool = False,
    ) -> None:
        super().__init__(
            source,
            properties={
                "rounding_mode": RoundingModeAttr(rounding_mode),
                "flush_to_zero": flag(flush_to_zero),
            },
        )


@op_definition
class TanOp(UnaryFloatOperation):
    """The tangent.

    ```
    %b = tan %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.tan"
    OPCODE: ClassVar[int] = 0x69


@op_definition
class TanHOp(_FullOperation):
    """The hyperbolic tangent.

    ```
    %b = tanh %a rounding<approx> : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.tanh"
    OPCODE: ClassVar[int] = 0x6A
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"rounding_mode": V13_2})


OPERATIONS: list[type[Operation]] = [
    Atan2Op,
    CosHOp,
    CosOp,
    Exp2Op,
    ExpOp,
    FPowIOp,
    Log2Op,
    LogOp,
    PowOp,
    RsqrtOp,
    SinHOp,
    SinOp,
    SqrtOp,
    TanHOp,
    TanOp,
]
"""Every operation of this module."""
