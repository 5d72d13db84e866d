"""What comparisons of integers and of floats share.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.types import TileType


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
