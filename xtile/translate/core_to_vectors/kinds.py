"""What kinds of operations on tiles there are, for planning."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    Float16Type,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.core.reductions import ReduceOp
from xtile.dialects.core.subgroup import MapOp
from xtile.dialects.effects import changes_memory, may_fail, written_operands
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.contractions import MATMUL, iteration_maps
from xtile.transforms.distribute.effects import may_share_memory

_ARITHMETIC = frozenset({"arith", "math"})

_SHORT = frozenset(
    {
        "math.absf",
        "math.absi",
        "math.ceil",
        "math.copysign",
        "math.floor",
        "math.fma",
        "math.roundeven",
        "math.sqrt",
        "math.trunc",
    }
)
"""Functions that are an instruction or two."""


def is_long(operation: Operation) -> bool:
    """Whether an operation is many instructions, such as a power."""
    return operation.dialect_name() == "math" and operation.name not in _SHORT


def has_effects(operation: Operation) -> bool:
    """Whether memory can change while an operation is executed."""
    return any(changes_memory(inner) for inner in operation.walk())


def is_elementwise(operation: Operation) -> bool:
    """Whether an operation computes each component from those in the same position."""
    is_arithmetic = operation.dialect_name() in _ARITHMETIC or operation.name == "vector.fma"
    has_operands = is_arithmetic and bool(operation.operands)
    return has_operands and isinstance(operation.results[0].type, VectorType)


def is_outer_product(operation: Operation) -> bool:
    """Whether an operation adds the product of a column and a row to a tile."""
    if not isinstance(operation, ContractionOp) or iteration_maps(operation) != MATMUL:
        return False
    left = cast("VectorType[Attribute]", operation.operands[0].type)
    sums = cast("VectorType[Attribute]", operation.result.type).element_type
    return left.get_shape()[-1] == 1 and not isinstance(sums, Float16Type | BFloat16Type)


_SAME_POSITIONS = frozenset(
    {
        "core.assume",
        "core.integer_to_pointer",
        "core.pointer_cast",
        "core.pointer_to_integer",
        "vector.shape_cast",
    }
)
"""Operations that give the same components another shape or another type."""

_OTHER_POSITIONS = frozenset(
    {"vector.broadcast", "vector.extract", "vector.extract_strided_slice", "vector.transpose"}
)
"""Operations that give some components of a tile as another tile."""


def keeps_positions(operation: Operation) -> bool:
    """Whether an operation gives the same components another shape or another type."""
    return operation.name in _SAME_POSITIONS


def is_view(operation: Operation) -> bool:
    """Whether an operation gives components of a tile as another one, which are not copied."""
    return operation.name in _OTHER_POSITIONS or keeps_positions(operation)


def repeats(operation: Operation) -> bool:
    """Whether an operation may need each component of its operand more than once."""
    return operation.name == "vector.broadcast"


def is_reduction_of_rows(operation: Operation, tile: SSAValue) -> bool:
    """Whether an operation combines all components of each row of a tile."""
    if operation.operands[:1] != (tile,) or tile in operation.operands[1:]:
        return False
    last = len(cast("VectorType[Attribute]", tile.type).get_shape()) - 1
    if isinstance(operation, ReduceOp):
        return len(operation.sources) == 1 and operation.axis.value.data == last
    if isinstance(operation, MultiDimReductionOp):
        return operation.reduction_dims.get_values() == (last,)
    return isinstance(operation, vector.ReductionOp)


_WRITER_OF = {"vector.load": "vector.store", "vector.transfer_read": "vector.transfer_write"}
"""The operations that read tiles from memory, and those that write what they read."""


def reads_memory(operation: Operation) -> bool:
    """Whether what an operation computes depends on when it does."""
    return operation.name in _WRITER_OF


def overwrites(writer: Operation, reader: Operation) -> bool:
    """Whether writing a part of a tile may change what computes other parts of it.

    Args:
        writer: The operation that uses the tile.
        reader: The access of memory that the tile is computed from.
    """
    if not changes_memory(writer):
        return False
    written, source = written_operands(writer), memory_of(reader)
    is_apart = written and all(
        isinstance(memory.type, MemRefType) and not may_share_memory(memory, source)
        for memory in written
    )
    return not is_apart and not _is_in_place(reader, writer)


def _is_in_place(reader: Operation, writer: Operation) -> bool:
    """Whether each component is written where those are read that it is computed from."""
    _, *where = writer.operands
    if writer.name != _WRITER_OF[reader.name] or where != [*reader.operands][: len(where)]:
        return False
    if reader.properties.get("permutation_map") != writer.properties.get("permutation_map"):
        return False
    user = reader
    while user is not writer:
        user = next(use.operation for use in user.results[0].uses)
        if user is not writer and not is_elementwise(user):
            return False
    return True


def is_deferrable(operation: Operation) -> bool:
    """Whether a part of the result of an operation can be computed where it is needed."""
    if isinstance(operation, MapOp):
        return len(operation.mapped) == 1 and is_plain_body(operation.body.block)
    if reads_memory(operation):
        return has_rows(operation)
    return is_elementwise(operation) or is_outer_product(operation)


def is_stored(operation: Operation) -> bool:
    """Whether an operation makes the memory of its result, unless the result is deferred."""
    if isinstance(operation, MapOp):
        # Of several results, the first would be written before the others are computed.
        return len(operation.mapped) == 1
    return (
        is_deferrable(operation)
        or isinstance(operation, ContractionOp | MultiDimReductionOp)
        or reads_memory(operation)
    )


def aligned_operands(operation: Operation) -> set[SSAValue]:
    """The tiles of which only those components are read that are being computed."""
    if isinstance(operation, ContractionOp):
        return {operation.operands[2]} - set(operation.operands[:2])
    if is_elementwise(operation) or isinstance(operation, MapOp) or keeps_positions(operation):
        return set(operation.operands)
    return set()


# --- regions on numbers ---


def is_plain_body(block: Block) -> bool:
    """Whether a region is arithmetic that vectors can do, with choices at most."""
    return all(_is_plain(operation) for operation in block.ops)


def _is_plain(operation: Operation) -> bool:
    if operation.name == "scf.if":
        # Both sides are computed, so neither may fail.
        return bool(operation.results) and all(
            _is_plain(inner) and not may_fail(inner)
            for region in operation.regions
            for inner in region.block.ops
        )
    if operation.name in ("core.yield", "scf.yield"):
        return True
    types = (*operation.operand_types, *operation.result_types)
    has_vectors = any(isinstance(type_, VectorType) for type_ in types)
    return operation.dialect_name() in _ARITHMETIC and not has_vectors


# --- accesses of memory ---


def is_plain_access(operation: Operation) -> bool:
    """Whether an access stays inside, and reaches a row of the tile as neighbours in memory."""
    if not isinstance(operation, vector.TransferReadOp | vector.TransferWriteOp):
        return has_rows(operation)
    in_bounds = cast("ArrayAttr[BoolAttr]", operation.properties["in_bounds"])
    return all(bool(flag) for flag in in_bounds) and has_rows(operation)


def has_rows(operation: Operation) -> bool:
    """Whether an access without a mask reaches a row of the tile as neighbours in memory."""
    has_neighbours = has_unit_stride(memory_of(operation).type)
    if not isinstance(operation, vector.TransferReadOp | vector.TransferWriteOp):
        return has_neighbours
    along = dimensions_of(operation.permutation_map)
    is_last = bool(along) and along[-1] == len(operation.indices) - 1
    return is_last and has_neighbours and operation.mask is None


def memory_of(operation: Operation) -> SSAValue:
    """The memory of an access."""
    return next(x for x in operation.operands if isinstance(x.type, MemRefType))


def has_unit_stride(type_: Attribute) -> bool:
    """Whether the elements along the last dimension of a memref are neighbours."""
    layout = cast("MemRefType[Attribute]", type_).layout
    if not isinstance(layout, StridedLayoutAttr):
        return True
    last = layout.strides.data[-1]
    return not isinstance(last, NoneAttr) and last.data == 1
