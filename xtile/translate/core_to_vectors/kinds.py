"""What kinds of operations on matrices there are, for planning."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.affine_maps import dimensions_of
from xtile.dialects.core import MapOp
from xtile.dialects.effects import changes_memory, may_fail
from xtile.dialects.vector import ContractionOp, MultiDimReductionOp, ShapeCastOp

_ARITHMETIC = frozenset({"arith", "math"})


def has_effects(operation: Operation) -> bool:
    """Whether memory can change while an operation is executed."""
    return any(changes_memory(inner) for inner in operation.walk())


def is_elementwise(operation: Operation) -> bool:
    """Whether an operation computes each component from those in the same place."""
    is_arithmetic = operation.dialect_name() in _ARITHMETIC and bool(operation.operands)
    return is_arithmetic and isinstance(operation.results[0].type, VectorType)


def is_outer_product(operation: Operation) -> bool:
    """Whether an operation adds the product of a column and a row to a matrix."""
    if not isinstance(operation, ContractionOp):
        return False
    left = cast("VectorType[Attribute]", operation.operands[0].type)
    return left.get_shape()[-1] == 1


def is_view(operation: Operation) -> bool:
    """Whether an operation gives the same components another shape."""
    return isinstance(operation, ShapeCastOp)


def reads_memory(operation: Operation) -> bool:
    """Whether what an operation computes depends on when it does."""
    return operation.name == "vector.transfer_read"


def is_deferrable(operation: Operation) -> bool:
    """Whether a part of the result of an operation can be computed where it is needed."""
    if isinstance(operation, MapOp):
        return len(operation.mapped) == 1 and is_plain_map(operation)
    if reads_memory(operation):
        return is_plain_transfer(operation)
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
    """The matrices of which only those components are read that are being computed."""
    if isinstance(operation, ContractionOp):
        return {operation.operands[2]} - set(operation.operands[:2])
    if is_elementwise(operation) or isinstance(operation, MapOp) or is_view(operation):
        return set(operation.operands)
    return set()


# --- maps ---


def is_plain_map(operation: MapOp) -> bool:
    """Whether the body of a map is arithmetic that vectors can do, with choices at most."""
    return all(_is_plain(inner) for inner in operation.body.block.ops)


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


def is_plain_transfer(operation: Operation) -> bool:
    """Whether an access stays inside, and reaches a row of the matrix as neighbours in memory."""
    in_bounds = cast("ArrayAttr[BoolAttr]", operation.properties["in_bounds"])
    is_inside = all(bool(flag) for flag in in_bounds)
    return is_inside and has_rows_in_memory(operation)


def has_rows_in_memory(operation: Operation) -> bool:
    """Whether the components of a row are neighbours in memory."""
    return not is_transposed(operation) and has_unit_stride(memory_of(operation).type)


def memory_of(operation: Operation) -> SSAValue:
    """The memory of an access."""
    return next(x for x in operation.operands if isinstance(x.type, MemRefType))


def is_transposed(operation: Operation) -> bool:
    """Whether the rows of the matrix are columns of the memory."""
    map_ = operation.properties["permutation_map"]
    kept = [dimension for dimension in dimensions_of(map_) if dimension is not None]
    return kept != sorted(kept)


def has_unit_stride(type_: Attribute) -> bool:
    """Whether the elements along the last dimension of a memref are neighbours."""
    layout = cast("MemRefType[Attribute]", type_).layout
    if not isinstance(layout, StridedLayoutAttr):
        return True
    last = layout.strides.data[-1]
    return not isinstance(last, NoneAttr) and last.data == 1
