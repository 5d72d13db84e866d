"""What is asked of tiles."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, FloatTF32Type, IntegerType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.cuda_tile.operation import Operand
from xtile.dialects.cuda_tile.types import TileType


def tile_type(value: Operand) -> TileType:
    """The type of a value that is a tile."""
    type = SSAValue.get(value).type
    assert isinstance(type, TileType)
    return type


def element_bits(element_type: Attribute) -> int:
    """How many bits a number of a type has in packed bytes; tf32 lies in 32."""
    if isinstance(element_type, FloatTF32Type):
        return 32
    assert isinstance(element_type, IntegerType | AnyFloat)
    return element_type.bitwidth
