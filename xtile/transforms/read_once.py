"""Has tileiras read small tiles of memory once.

tileiras (13.5, every architecture, from optimization level 1) reads a tile that has fewer elements
than the block has threads again where another distribution of it over the threads is needed, also
behind a write that a token orders after the read, and also where the read is an acquire. What it
then computes with is what was written. docs/nvidia.md has the smallest program.

It does not read again through a reduction, so one along a dimension of size 1, which changes no
element, holds each such tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from xdsl.dialects.builtin import (
    FloatTF32Type,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    f32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from xtile.dialects.cuda_tile.enumerations import MemoryOrderingSemantics, number_of
from xtile.dialects.cuda_tile.ops.bitwise import OrIOp
from xtile.dialects.cuda_tile.ops.control_flow import YieldOp
from xtile.dialects.cuda_tile.ops.conversions import BitcastOp, FToFOp
from xtile.dialects.cuda_tile.ops.core import ReshapeOp
from xtile.dialects.cuda_tile.ops.memory import JoinTokensOp, LoadPtrTkoOp
from xtile.dialects.cuda_tile.ops.reductions import ReduceOp
from xtile.dialects.cuda_tile.ops.view_access import LoadViewTkoOp
from xtile.dialects.cuda_tile.types import TileType, element_bits, tile_type
from xtile.dialects.walk import walk

MOST_THREADS = 1024
"""What a block has at most; how many it gets, tileiras decides."""

_Emit = Callable[[Operation], SSAValue]

_READS = (LoadPtrTkoOp, LoadViewTkoOp)
_Read = LoadPtrTkoOp | LoadViewTkoOp


def read_once(module: Operation) -> bool:
    """Holds the tiles of a module of CUDA Tile IR that would be read again.

    Args:
        module: What holds the kernels; it is changed.

    Returns:
        Whether there were any.
    """
    reads = [read for read in _reads(module) if _may_be_read_again(read)]
    for read in reads:
        _hold(read)
    return bool(reads)


def is_read_again(module: Operation) -> bool:
    """Whether a module of CUDA Tile IR has tiles that would be read again."""
    return any(_may_be_read_again(read) for read in _reads(module))


def _reads(module: Operation) -> Iterator[_Read]:
    return (operation for operation in walk(module) if isinstance(operation, _READS))


def _may_be_read_again(read: _Read) -> bool:
    value, token = read.results
    if not 1 < prod(tile_type(value).get_shape()) < MOST_THREADS or _is_held(value):
        return False
    if read.memory_ordering_semantics.value.data != number_of(MemoryOrderingSemantics.WEAK):
        return True
    next_access = _only_access_behind(token)
    if next_access is None:
        return bool(token.uses)
    return not _is_for(value, next_access)


def _only_access_behind(token: SSAValue) -> Operation | None:
    """The access that a token orders, if it is one and stands in the same block."""
    users = {use.operation for use in token.uses}
    if len(users) != 1:
        return None
    (user,) = users
    if user.parent is not token.owner.parent or user.regions:
        return None
    if isinstance(user, JoinTokensOp):
        return _only_access_behind(user.result)
    return user if user.results else None


def _is_for(value: SSAValue, access: Operation) -> bool:
    """Whether all that is computed with a value is for one access, and so computed before it."""
    for use in value.uses:
        user = use.operation
        if user is access:
            continue
        if user.parent is not access.parent or user.regions or not is_side_effect_free(user):
            return False
        if not all(_is_for(result, access) for result in user.results):
            return False
    return True


def _is_held(value: SSAValue) -> bool:
    """Whether a value has no use but what a reduction along a dimension of size 1 is made of."""
    while len(uses := list(value.uses)) == 1:
        user = uses[0].operation
        if isinstance(user, ReduceOp):
            return tile_type(value).get_shape()[user.dimension] == 1
        if len(user.results) != 1 or not is_side_effect_free(user):
            return False
        value = user.results[0]
    return False


def _hold(read: _Read) -> None:
    """Puts a reduction that changes nothing between a read and what is computed with it."""
    value = read.results[0]
    uses = list(value.uses)
    made: list[Operation] = []

    def emit(operation: Operation) -> SSAValue:
        operation.location = read.location
        made.append(operation)
        return operation.results[0]

    type_ = tile_type(value)
    carrier = _as_integers(value, emit)
    column = emit(ReshapeOp(carrier, (*type_.get_shape(), 1)))
    held = emit(_reduction(column, read.location))
    result = _as_elements(held, type_.element_type, emit)
    block = read.parent
    assert block is not None
    block.insert_ops_after(made, read)
    for use in uses:
        use.operation.operands[use.index] = result
    result.name_hint = value.name_hint


def _as_integers(value: SSAValue, emit: _Emit) -> SSAValue:
    """The elements of a tile in integers that a reduction takes, none of which is another one."""
    type_ = tile_type(value)
    element = type_.element_type
    if isinstance(element, IntegerType):
        return value
    if isinstance(element, FloatTF32Type):
        value = emit(FToFOp(value, type_.with_element_type(f32)))
    integer = IntegerType(element_bits(tile_type(value).element_type))
    return emit(BitcastOp(value, type_.with_element_type(integer)))


def _as_elements(value: SSAValue, element: Attribute, emit: _Emit) -> SSAValue:
    """Undoes `_as_integers`."""
    type_ = tile_type(value)
    result = type_.with_element_type(element)
    if isinstance(element, IntegerType):
        return value
    if isinstance(element, FloatTF32Type):
        return emit(FToFOp(emit(BitcastOp(value, type_.with_element_type(f32))), result))
    return emit(BitcastOp(value, result))


def _reduction(value: SSAValue, location: LocationAttr) -> ReduceOp:
    """Combines the elements along the last dimension bit by bit."""
    type_ = tile_type(value)
    element = IntegerType(element_bits(type_.element_type))
    scalar = TileType((), element)
    block = Block(arg_types=(scalar, scalar))
    combined = OrIOp(*block.args)
    end = YieldOp((combined.results[0],))
    combined.location = end.location = location
    block.add_ops((combined, end))
    identity = IntegerAttr(0, element)
    return ReduceOp((value,), type_.rank - 1, (identity,), Region(block))
