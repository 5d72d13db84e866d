"""Conversions between types of elements.

Source: CUDA Tile IR specification, "Operations", "Conversions"; NVIDIA/cuda-tile 13.3.0, `Ops.td`
and `CudaTile.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import FixedBitwidthType, Float8E8M0FNUType, FloatTF32Type, UnitAttr
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

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.assembly_numbers import (
    ConversionRounding,
    IntegerRounding,
    NearestRounding,
    SignednessOf,
)
from xtile.dialects.cuda_tile.attributes import (
    IntegerOverflowAttr,
    RoundingModeAttr,
    SignednessAttr,
)
from xtile.dialects.cuda_tile.constraints import (
    CONVERTED_INTEGER_TILE,
    FLOAT_TILE,
    I64_TILE,
    INTEGER_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    TO_INTEGER_MODES,
    RoundingModeAmong,
)
from xtile.dialects.cuda_tile.enumerations import IntegerOverflow, RoundingMode, Signedness
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.conversion_rounding import conversion_modes
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.cuda_tile.versions import V13_1, V13_4, Version
from xtile.dialects.definitions import op_definition


class _ConversionOperation(CudaTileOperation, ABC):
    """A conversion of each element of a tile."""

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        operand, result = self._tiles()
        if operand.shape != result.shape:
            expected = operand.with_element_type(result.element_type)
            raise VerifyException(
                f"expected the result to have the shape of the operand, as {expected} has, "
                f"but got {result}"
            )

    def _tiles(self) -> tuple[TileType, TileType]:
        return cast("TileType", self.operands[0].type), cast("TileType", self.results[0].type)

    def _widths(self) -> tuple[int, int]:
        operand, result = self._tiles()
        return _width(operand.element_type), _width(result.element_type)


class _ReinterpretingOperation(_ConversionOperation, ABC):
    """A conversion from `source` to `result`."""

    assembly_format = (
        "$source attr-dict `:` "
        "custom<CudaTileType>(type($source)) `->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: Operand, result_type: Attribute) -> None:
        super().__init__(operands=(source,), result_types=(result_type,))


def _width(element_type: Attribute) -> int:
    """How many bits a number has; those of tf32 that are used."""
    if isinstance(element_type, FloatTF32Type):
        return 19
    return cast("FixedBitwidthType", element_type).bitwidth


def _verify_nearest(rounding: RoundingModeAttr) -> None:
    """Checks the rounding mode of a conversion to a float.

    Raises:
        VerifyException: It is not `nearest_even`.
    """
    if rounding.data is not RoundingMode.NEAREST_EVEN:
        raise VerifyException(f"expected rounding mode 'nearest_even', but got '{rounding.data}'")


@op_definition
class BitcastOp(_ReinterpretingOperation):
    """The same bits as another type.

    ```
    %b = bitcast %a : tile<4x8xf32> -> tile<4x8xi32>
    ```
    """

    name = "cuda_tile.bitcast"
    OPCODE: ClassVar[int] = 0x09

    source = operand_def(NUMBER_TILE)
    result = result_def(NUMBER_TILE)

    @override
    def verify_(self) -> None:
        super().verify_()
        source, result = self._widths()
        if source != result:
            raise VerifyException(
                f"the elements must be of equal width, but those of the operand have {source} "
                f"bits and those of the result {result}"
            )


@op_definition
class ExtIOp(_ConversionOperation):
    """Wider integers.

    ```
    %b = exti %a signed : tile<4x8xi16> -> tile<4x8xi32>
    ```
    """

    name = "cuda_tile.exti"
    OPCODE: ClassVar[int] = 0x25

    from_ = operand_def(CONVERTED_INTEGER_TILE)
    signedness = prop_def(SignednessAttr)
    to = result_def(CONVERTED_INTEGER_TILE)

    assembly_format = (
        "$from_ custom<SignednessOf>($signedness) attr-dict `:` "
        "custom<CudaTileType>(type($from_)) `->` custom<CudaTileType>(type($to))"
    )
    custom_directives: ClassVar = (CudaTileType, SignednessOf)

    def __init__(self, from_: Operand, to_type: Attribute, *, signedness: Signedness) -> None:
        super().__init__(
            operands=(from_,),
            result_types=(to_type,),
            properties={"signedness": SignednessAttr(signedness)},
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        before, after = self._widths()
        if after <= before:
            raise VerifyException(f"expected wider integers than i{before}, but got i{after}")


@op_definition
class FToFOp(_ConversionOperation):
    """Another type of floats; to f8E8M0FNU rounded to zero or upwards.

    Since 13.4 other conversions may be rounded in other directions, too.

    ```
    %b = ftof %a : tile<4x8xf32> -> tile<4x8xf16>
    ```
    """

    name = "cuda_tile.ftof"
    OPCODE: ClassVar[int] = 0x2A

    from_ = operand_def(FLOAT_TILE)
    rounding_mode = prop_def(
        RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.NEAREST_EVEN)
    )
    to = result_def(FLOAT_TILE)

    assembly_format = (
        "$from_ custom<ConversionRounding>($rounding_mode) attr-dict `:` "
        "custom<CudaTileType>(type($from_)) `->` custom<CudaTileType>(type($to))"
    )
    custom_directives: ClassVar = (CudaTileType, ConversionRounding)

    def __init__(
        self,
        from_: Operand,
        to_type: Attribute,
        *,
        rounding_mode: RoundingMode = RoundingMode.NEAREST_EVEN,
    ) -> None:
        super().__init__(
            operands=(from_,),
            result_types=(to_type,),
            properties={"rounding_mode": RoundingModeAttr(rounding_mode)},
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        before, after = self._tiles()
        if before == after:
            raise VerifyException(f"expected another type than {before}, from which it converts")
        modes = conversion_modes(before.element_type, after.element_type)
        if self.rounding_mode.data not in modes:
            known = " or ".join(f"'{mode}'" for mode in modes)
            raise VerifyException(
                f"expected rounding mode {known} from {before.element_type} to "
                f"{after.element_type}, but got '{self.rounding_mode.data}'"
            )

    @override
    def newer_uses(self) -> Iterator[tuple[str, Version]]:
        before, after = (tile.element_type for tile in self._tiles())
        mode = self.rounding_mode.data
        since = conversion_modes(before, after).get(mode, V13_1)
        yield f"rounding mode '{mode}' from {before} to {after}", since


@op_definition
class FToIOp(_ConversionOperation):
    """Integers, rounded to zero.

    ```
    %b = ftoi %a signed : tile<4x8xf32> -> tile<4x8xi32>
    ```
    """

    name = "cuda_tile.ftoi"
    OPCODE: ClassVar[int] = 0x2B
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"saturating": V13_4})

    from_ = operand_def(FLOAT_TILE)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAmong(TO_INTEGER_MODES))
    saturating = opt_prop_def(UnitAttr)
    to = result_def(INTEGER_TILE)

    assembly_format = (
        "$from_ custom<SignednessOf>($signedness) custom<IntegerRounding>($rounding_mode) "
        "(`saturating` $saturating^)? "
        "attr-dict `:` custom<CudaTileType>(type($from_)) `->` custom<CudaTileType>(type($to))"
    )
    custom_directives: ClassVar = (CudaTileType, IntegerRounding, SignednessOf)

    def __init__(
        self,
        from_: Operand,
        to_type: Attribute,
        *,
        signedness: Signedness,
        rounding_mode: RoundingMode = RoundingMode.NEAREST_INT_TO_ZERO,
        saturating: bool = False,
    ) -> None:
        super().__init__(
            operands=(from_,),
            result_types=(to_type,),
            properties={
                "signedness": SignednessAttr(signedness),
                "rounding_mode": RoundingModeAttr(rounding_mode),
                "saturating": UnitAttr() if saturating else None,
            },
        )


@op_definition
class IntToPtrOp(_ReinterpretingOperation):
    """Addresses as pointers.

    ```
    %b = int_to_ptr %a : tile<4xi64> -> tile<4xptr<f32>>
    ```
    """

    name = "cuda_tile.int_to_ptr"
    OPCODE: ClassVar[int] = 0x33

    source = operand_def(I64_TILE)
    result = result_def(POINTER_TILE)


@op_definition
class IToFOp(_ConversionOperation):
    """Floats, rounded to the nearest.

    ```
    %b = itof %a unsigned : tile<4x8xi32> -> tile<4x8xf32>
    ```
    """

    name = "cuda_tile.itof"
    OPCODE: ClassVar[int] = 0x3B

    from_ = operand_def(INTEGER_TILE)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    to = result_def(FLOAT_TILE)

    assembly_format = (
        "$from_ custom<SignednessOf>($signedness) custom<NearestRounding>($rounding_mode) "
        "attr-dict `:` custom<CudaTileType>(type($from_)) `->` custom<CudaTileType>(type($to))"
    )
    custom_directives: ClassVar = (CudaTileType, NearestRounding, SignednessOf)

    def __init__(
        self,
        from_: Operand,
        to_type: Attribute,
        *,
        signedness: Signedness,
        rounding_mode: RoundingMode = RoundingMode.NEAREST_EVEN,
    ) -> None:
        super().__init__(
            operands=(from_,),
            result_types=(to_type,),
            properties={
                "signedness": SignednessAttr(signedness),
                "rounding_mode": RoundingModeAttr(rounding_mode),
            },
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        if isinstance(self._tiles()[1].element_type, Float8E8M0FNUType):
            raise VerifyException(
                "integers are not converted to f8E8M0FNU; convert to another float first, and "
                "that with ftof"
            )
        _verify_nearest(self.rounding_mode)


@op_definition
class PtrToIntOp(_ReinterpretingOperation):
    """Pointers as addresses.

    ```
    %b = ptr_to_int %a : tile<4xptr<f32>> -> tile<4xi64>
    ```
    """

    name = "cuda_tile.ptr_to_int"
    OPCODE: ClassVar[int] = 0x56

    source = operand_def(POINTER_TILE)
    result = result_def(I64_TILE)


@op_definition
class PtrToPtrOp(_ReinterpretingOperation):
    """Pointers to another type.

    ```
    %b = ptr_to_ptr %a : tile<4xptr<f32>> -> tile<4xptr<i32>>
    ```
    """

    name = "cuda_tile.ptr_to_ptr"
    OPCODE: ClassVar[int] = 0x57

    source = operand_def(POINTER_TILE)
    result = result_def(POINTER_TILE)


@op_definition
class TruncIOp(_ConversionOperation):
    """Narrower integers.

    ```
    %b = trunci %a : tile<4x8xi32> -> tile<4x8xi16>
    ```
    """

    name = "cuda_tile.trunci"
    OPCODE: ClassVar[int] = 0x6B

    from_ = operand_def(CONVERTED_INTEGER_TILE)
    overflow = prop_def(
        IntegerOverflowAttr, default_value=IntegerOverflowAttr(IntegerOverflow.NONE)
    )
    to = result_def(CONVERTED_INTEGER_TILE)

    assembly_format = (
        "$from_ (`overflow` `` $overflow^)? attr-dict `:` "
        "custom<CudaTileType>(type($from_)) `->` custom<CudaTileType>(type($to))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(
        self,
        from_: Operand,
        to_type: Attribute,
        *,
        overflow: IntegerOverflow = IntegerOverflow.NONE,
    ) -> None:
        super().__init__(
            operands=(from_,),
            result_types=(to_type,),
            properties={"overflow": IntegerOverflowAttr(overflow)},
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        before, after = self._widths()
        if after >= before:
            raise VerifyException(f"expected narrower integers than i{before}, but got i{after}")


OPERATIONS: list[type[Operation]] = [
    BitcastOp,
    ExtIOp,
    FToFOp,
    FToIOp,
    IToFOp,
    IntToPtrOp,
    PtrToIntOp,
    PtrToPtrOp,
    TruncIOp,
]
"""Every operation of this module."""
