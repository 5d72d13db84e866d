"""What the shapes of tiles must be where tiles are made and rearranged.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td` and `CudaTile.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float4E2M1FNType, IntegerType
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.cuda_tile.types import TileType


def verify_same_elements(source: TileType, result: TileType) -> None:
    """Checks that a result has elements of the operand's type.

    Raises:
        VerifyException: It has not.
    """
    if source.element_type != result.element_type:
        raise VerifyException(
            f"expected a result of {source.element_type}, as the operand is, but got {result}"
        )


def verify_same_rank(source: TileType, result: TileType) -> None:
    """Checks that a result has as many dimensions as the operand.

    Raises:
        VerifyException: It has not.
    """
    if source.rank != result.rank:
        raise VerifyException(
            f"expected a result of {source.rank} dimensions, as {source} has, but got {result}"
        )


def verify_same_shape(what: str, tile: TileType, result: TileType) -> None:
    """Checks that an operand has the shape of the result.

    Args:
        what: What the operand is called.
        tile: Its type.
        result: The type of the result.

    Raises:
        VerifyException: It has not.
    """
    if tile.shape != result.shape:
        expected = result.with_element_type(tile.element_type)
        raise VerifyException(
            f"expected {what} to have the shape of {result}, as {expected} has, but got {tile}"
        )


def verify_broadcast(source: TileType, result: TileType) -> None:
    """Checks that only dimensions of size 1 become larger.

    Raises:
        VerifyException: Others do, or the types differ in more.
    """
    verify_same_elements(source, result)
    verify_same_rank(source, result)
    sizes = zip(source.get_shape(), result.get_shape(), strict=True)
    for dimension, (before, after) in enumerate(sizes):
        if before not in (1, after):
            raise VerifyException(
                f"expected dimension {dimension} of the operand to be 1 or {after}, as that of "
                f"the result is, but it is {before}"
            )


def verify_concatenation(lhs: TileType, rhs: TileType, dim: int, result: TileType) -> None:
    """Checks that a result has the sizes of both operands together along a dimension.

    Raises:
        VerifyException: It has not, or other sizes differ.
    """
    for tile in (rhs, result):
        verify_same_elements(lhs, tile)
        verify_same_rank(lhs, tile)
    if not 0 <= dim < lhs.rank:
        raise VerifyException(f"expected dim to be from 0 to {lhs.rank - 1}, but got {dim}")
    left, right = lhs.get_shape(), rhs.get_shape()
    for dimension in range(lhs.rank):
        if dimension != dim and left[dimension] != right[dimension]:
            raise VerifyException(
                f"expected dimension {dimension} of rhs to be {left[dimension]}, as that of lhs "
                f"is, but it is {right[dimension]}"
            )
    expected = [*left]
    expected[dim] += right[dim]
    if list(result.get_shape()) != expected:
        raise VerifyException(f"expected the result to have the shape {expected}, but got {result}")


def verify_extraction(source: TileType, indices: int, result: TileType) -> None:
    """Checks that a tile is made of tiles of the result's shape, each with an index.

    Raises:
        VerifyException: It is not.
    """
    verify_same_elements(source, result)
    verify_same_rank(source, result)
    sizes = zip(source.get_shape(), result.get_shape(), strict=True)
    for dimension, (whole, part) in enumerate(sizes):
        if whole % part:
            raise VerifyException(
                f"expected dimension {dimension} of the result to divide {whole}, the size of the "
                f"operand's, but it is {part}"
            )
    if indices != source.rank:
        raise VerifyException(
            f"expected {source.rank} indices, one for each dimension, but got {indices}"
        )


def verify_iota(result: TileType) -> None:
    """Checks that the numbers from 0 on fit into the elements of a tile.

    Raises:
        VerifyException: They do not, or the tile has not one dimension.
    """
    element = result.element_type
    if result.rank != 1:
        raise VerifyException(f"expected a result of one dimension, but got {result}")
    if isa(element, IntegerType) and result.number_of_elements > 1 << element.width.data:
        raise VerifyException(
            f"expected at most {1 << element.width.data} elements, as many as {element} has "
            f"values, but got {result}"
        )


def verify_permutation(source: TileType, permutation: Sequence[int], result: TileType) -> None:
    """Checks that a result has the operand's dimensions in another order.

    Raises:
        VerifyException: It has not.
    """
    verify_same_elements(source, result)
    verify_same_rank(source, result)
    if source.rank < 2:
        raise VerifyException(f"expected an operand of 2 or more dimensions, but got {source}")
    if sorted(permutation) != list(range(source.rank)):
        raise VerifyException(
            f"expected the numbers from 0 to {source.rank - 1} in any order, but got "
            f"{list(permutation)}"
        )
    shape = source.get_shape()
    expected = [shape[dimension] for dimension in permutation]
    if list(result.get_shape()) != expected:
        raise VerifyException(f"expected the result to have the shape {expected}, but got {result}")


def verify_reshape(source: TileType, result: TileType) -> None:
    """Checks that a result has the operand's elements.

    Raises:
        VerifyException: It has others, or more, or less.
    """
    verify_same_elements(source, result)
    if source.number_of_elements != result.number_of_elements:
        raise VerifyException(
            f"expected a result of {source.number_of_elements} elements, as many as {source} has, "
            f"but {result} has {result.number_of_elements}"
        )


def verify_selection(condition: TileType, result: TileType) -> None:
    """Checks that there is a condition for each element.

    Raises:
        VerifyException: There is not, or the elements cannot be chosen one by one.
    """
    verify_same_shape("the condition", condition, result)
    if isinstance(result.element_type, Float4E2M1FNType):
        raise VerifyException("elements of f4E2M1FN cannot be selected, as two share a byte")
