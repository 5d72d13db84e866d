"""What operations on floats share, whichever group they are in, and what comparisons do.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td` and `SharedVerifiers.h`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import Float32Type, UnitAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.attributes import RoundingModeAttr
from xtile.dialects.cuda_tile.constraints import BASE_FLOAT_TILE, SameType
from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.types import TileType

ONLY_F32 = (RoundingMode.APPROX, RoundingMode.FULL)
"""The rounding modes that only tiles of f32 have where they are not an operation's usual one."""


def flag(is_set: bool) -> UnitAttr | None:
    """The property of a flag."""
    return UnitAttr() if is_set else None


class FloatOperation(CudaTileOperation, ABC):
    """An operation on floats, of which some modifiers are for f32 only.

    These are `flush_to_zero`, and a rounding mode that is an approximation.
    """

    APPROXIMATE: ClassVar[tuple[RoundingMode, ...]] = ONLY_F32
    """The rounding modes that are for f32 only."""

    @override
    def verify_(self) -> None:
        rounding = self.properties.get("rounding_mode")
        if "flush_to_zero" in self.properties:
            self._verify_only_f32("'flush_to_zero'")
        if isinstance(rounding, RoundingModeAttr) and rounding.data in self.APPROXIMATE:
            self._verify_only_f32(f"rounding mode '{rounding.data}'")

    def _verify_only_f32(self, modifier: str) -> None:
        type = self.results[0].type
        if isinstance(type, TileType) and not isinstance(type.element_type, Float32Type):
            raise VerifyException(
                f"{modifier} is for tiles of f32 only, but these have {type.element_type}"
            )


class UnaryFloatOperation(FloatOperation, ABC):
    """An operation with one float, and a result of its type."""

    T: ClassVar = SameType("T", BASE_FLOAT_TILE)

    source = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(
        self, source: Operand, *, properties: Mapping[str, Attribute | None] | None = None
    ) -> None:
        super().__init__(
            operands=(source,), result_types=(SSAValue.get(source).type,), properties=properties
        )


class BinaryFloatOperation(FloatOperation, ABC):
    """An operation with two floats of one type, and a result of that type."""

    T: ClassVar = SameType("T", BASE_FLOAT_TILE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        *,
        properties: Mapping[str, Attribute | None] | None = None,
    ) -> None:
        super().__init__(
            operands=(lhs, rhs), result_types=(SSAValue.get(lhs).type,), properties=properties
        )


def boolean_type(type: Attribute) -> TileType:
    """The type of what a comparison of tiles of a type gives.

    Raises:
        ValueError: It is the type of no tile.
    """
    if not isinstance(type, TileType):
        raise ValueError(f"expected a tile, but got {type}")
    return type.with_element_type(i1)


def verify_comparison(operand: Attribute, result: Attribute) -> None:
    """Checks the type of a comparison's result.

    Raises:
        VerifyException: It has another shape than the operands, or other elements than i1.
    """
    expected = boolean_type(operand)
    if result != expected:
        raise VerifyException(f"expected the result to be {expected}, but got {result}")
