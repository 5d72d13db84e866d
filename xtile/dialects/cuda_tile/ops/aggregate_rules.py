"""What reductions and scans must be.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td` and `CudaTile.cpp`, "Reduce and Scan Ops helper
functions".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, BFloat16Type, Float16Type, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.verification import VerifyExceptionAt

_HALF = (Float16Type, BFloat16Type)


def verify_operands(sources: Sequence[TileType], dim: int, results: int) -> None:
    """Checks the tiles that are combined.

    Args:
        sources: Their types.
        dim: The dimension along which.
        results: How many results there are.

    Raises:
        VerifyException: There are none, their shapes differ, they have no such dimension, or
            there are more or less results.
    """
    if not sources:
        raise VerifyException("expected one tile or more")
    for tile in sources[1:]:
        if tile.shape != sources[0].shape:
            raise VerifyException(f"expected tiles of one shape, but got {sources[0]} and {tile}")
    if not 0 <= dim < sources[0].rank:
        raise VerifyException(
            f"expected dim to be a dimension of {sources[0]}, counted from 0, but got {dim}"
        )
    if results != len(sources):
        raise VerifyException(f"expected {len(sources)} results, one for each tile, got {results}")


def verify_results(expected: Sequence[TileType], results: Sequence[Attribute]) -> None:
    """Checks the types of the results.

    Raises:
        VerifyException: One is another than expected.
    """
    for index, (right, type) in enumerate(zip(expected, results, strict=True)):
        if type != right:
            raise VerifyException(f"expected result {index} to be {right}, but got {type}")


def verify_identities(sources: Sequence[TileType], identities: ArrayAttr) -> None:
    """Checks that each tile has an identity of its element type.

    bf16 stands for f16 there, and f16 for bf16.

    Raises:
        VerifyException: One has not.
    """
    if len(identities) != len(sources):
        raise VerifyException(
            f"expected {len(sources)} identities, one for each tile, but got {len(identities)}"
        )
    for index, (tile, identity) in enumerate(zip(sources, identities, strict=True)):
        element = tile.element_type
        type = identity.type if isa(identity, FloatAttr | IntegerAttr) else None
        if isinstance(element, _HALF) and isinstance(type, _HALF):
            continue
        if type != element:
            raise VerifyException(f"expected identity {index} to be of {element}, got {identity}")


def verify_combination(operation: Operation, sources: Sequence[TileType]) -> None:
    """Checks the region that combines two elements of each tile.

    Raises:
        VerifyException: Its arguments or what it yields are others than the elements, or it holds
            an operation with effects.
    """
    block = operation.regions[0].blocks[0]
    _verify_arguments(block, sources)
    terminator = block.last_op
    if terminator is None or terminator.name != "cuda_tile.yield":
        raise VerifyException("expected the region to end with a yield")
    _verify_yield([operand.type for operand in terminator.operands], sources)
    for inner in block.ops:
        if inner is not terminator and not is_side_effect_free(inner):
            raise VerifyExceptionAt(
                f"'{inner.name}': only operations without effects may stand in the region of "
                f"'{operation.name}'",
                inner,
            )


def _verify_arguments(block: Block, sources: Sequence[TileType]) -> None:
    if len(block.args) != 2 * len(sources):
        raise VerifyException(
            f"expected {2 * len(sources)} arguments of the region, two for each tile, but got "
            f"{len(block.args)}"
        )
    for index, argument in enumerate(block.args):
        expected = TileType((), sources[index // 2].element_type)
        if argument.type != expected:
            raise VerifyException(
                f"expected argument {index} of the region to be {expected}, but got {argument.type}"
            )


def _verify_yield(types: Sequence[Attribute], sources: Sequence[TileType]) -> None:
    if len(types) != len(sources):
        raise VerifyException(
            f"expected the region to yield {len(sources)} values, one for each tile, but it "
            f"yields {len(types)}"
        )
    for index, (type, tile) in enumerate(zip(types, sources, strict=True)):
        element = type.element_type if isinstance(type, TileType) else type
        if element != tile.element_type:
            raise VerifyException(
                f"expected the region to yield {TileType((), tile.element_type)} for tile "
                f"{index}, but it yields {type}"
            )
