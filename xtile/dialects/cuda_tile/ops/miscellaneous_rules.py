"""What can be assumed about a value.

Source: NVIDIA/cuda-tile 13.3.0, `Attributes.cpp`, `verifyWithAssumeOp`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SameElementsAttr
from xtile.dialects.cuda_tile.types import PointerType, TensorViewType, TileType

MAXIMUM_DIVISOR = 1 << 62


def verify_predicate(predicate: Attribute, type: Attribute) -> None:
    """Checks that something can be assumed about a value of a type.

    Raises:
        VerifyException: It cannot.
    """
    if isinstance(predicate, DivByAttr):
        _verify_divisor(predicate, type)
    elif isinstance(predicate, SameElementsAttr):
        _verify_groups(predicate, type)
    elif isinstance(predicate, BoundedAttr):
        _verify_bounds(predicate, type)


def _tile(name: str, type: Attribute, kinds: tuple[type[Attribute], ...]) -> TileType:
    if not isinstance(type, TileType) or not isinstance(type.element_type, kinds):
        words = "integers" if len(kinds) == 1 else "integers or pointers"
        raise VerifyException(f"{name} is said about a tile of {words}, not about {type}")
    return type


def _verify_divisor(predicate: DivByAttr, type: Attribute) -> None:
    divisor = predicate.divisor.data
    if divisor <= 0 or divisor & (divisor - 1):
        raise VerifyException(f"the divisor of div_by must be a power of two, but is {divisor}")
    if divisor > MAXIMUM_DIVISOR:
        raise VerifyException(
            f"the divisor of div_by must be at most {MAXIMUM_DIVISOR}, but is {divisor}"
        )
    group = predicate.group
    if isinstance(type, TensorViewType):
        if group is not None:
            raise VerifyException("'every' and 'along' of div_by are not for a tensor_view")
        return
    tile = _tile("div_by", type, (IntegerType, PointerType))
    if group is None:
        return
    every, along = group
    if not tile.rank:
        raise VerifyException("'every' and 'along' of div_by are not for a scalar")
    if not 0 <= along < tile.rank:
        raise VerifyException(f"'along' of div_by must be 0 to {tile.rank - 1}, but is {along}")
    size = tile.get_shape()[along]
    if not 0 <= every <= size:
        raise VerifyException(f"'every' of div_by must be 0 to {size}, but is {every}")


def _verify_groups(predicate: SameElementsAttr, type: Attribute) -> None:
    tile = _tile("same_elements", type, (IntegerType, PointerType))
    values = predicate.get_values()
    if len(values) != tile.rank:
        raise VerifyException(
            f"same_elements must have a number for each dimension of {tile}, but has {len(values)}"
        )
    for value, size in zip(values, tile.get_shape(), strict=True):
        if not 0 <= value <= size:
            raise VerifyException(f"a number in same_elements must be 0 to {size}, but is {value}")


def _verify_bounds(predicate: BoundedAttr, type: Attribute) -> None:
    element = _tile("bounded", type, (IntegerType,)).element_type
    assert isa(element, IntegerType)
    limit = 1 << (element.width.data - 1)
    lower, upper = predicate.lower_bound, predicate.upper_bound
    for bound in (lower, upper):
        if bound is not None and not -limit <= bound < limit:
            raise VerifyException(
                f"a bound of {element} must be {-limit} to {limit - 1}, but is {bound}"
            )
    if lower is not None and upper is not None and lower > upper:
        raise VerifyException(f"the lower bound {lower} is greater than the upper bound {upper}")
