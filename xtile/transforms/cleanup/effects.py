"""Which operations may be shared, moved or removed."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

_DIVISIONS = frozenset(
    {
        "arith.ceildivsi",
        "arith.ceildivui",
        "arith.divsi",
        "arith.divui",
        "arith.floordivsi",
        "arith.remsi",
        "arith.remui",
    }
)
"""Operations that fail for some operands."""

_MOVABLE = frozenset(
    {
        "arith.addi",
        "arith.andi",
        "arith.cmpi",
        "arith.constant",
        "arith.extsi",
        "arith.extui",
        "arith.index_cast",
        "arith.maxsi",
        "arith.maxui",
        "arith.minsi",
        "arith.minui",
        "arith.muli",
        "arith.ori",
        "arith.select",
        "arith.shli",
        "arith.shrsi",
        "arith.shrui",
        "arith.subi",
        "arith.trunci",
        "arith.xori",
        "gpu.block_dim",
        "gpu.block_id",
        "gpu.grid_dim",
        "gpu.lane_id",
        "gpu.num_subgroups",
        "gpu.subgroup_id",
        "gpu.subgroup_size",
        "gpu.thread_id",
        "memref.dim",
        "memref.extract_aligned_pointer_as_index",
        "memref.extract_strided_metadata",
    }
)
"""Cheap operations that may run although the program would not have: they never fail."""

_PURE_DIALECTS = frozenset({"arith", "complex", "math"})
_PURE = frozenset(
    {
        "core.cooperative_matrix_fill",
        "core.cooperative_matrix_multiply_add",
        "core.fragment_extract",
        "core.fragment_insert",
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.get_global",
        "memref.reinterpret_cast",
        "memref.subview",
        "vector.bitcast",
        "vector.broadcast",
        "vector.contract",
        "vector.extract",
        "vector.extract_strided_slice",
        "vector.from_elements",
        "vector.insert",
        "vector.insert_strided_slice",
        "vector.multi_reduction",
        "vector.shape_cast",
        "vector.shuffle",
        "vector.step",
        "vector.transpose",
    }
)

_READS = frozenset(
    {"core.cooperative_matrix_load", "memref.load", "vector.load", "vector.transfer_read"}
)
"""Operations that only read memory: they may be removed, but neither shared nor moved."""


def is_pure(operation: Operation) -> bool:
    """Whether an operation has no effect but its results, which its operands determine."""
    if operation.regions:
        return False
    name = operation.name
    return operation.dialect_name() in _PURE_DIALECTS or name in _PURE or name in _MOVABLE


def is_movable(operation: Operation) -> bool:
    """Whether an operation may be computed earlier, and for nothing."""
    return operation.name in _MOVABLE


def is_removable(operation: Operation) -> bool:
    """Whether an operation without used results may go.

    A division stays unless its divisor is known, because dividing by zero is a mistake to report.
    """
    if operation.name in _DIVISIONS:
        from xtile.rewrite.folding import constant_number

        return constant_number(operation.operands[1]) not in (None, 0)
    if operation.name in _READS:
        return True
    return is_pure(operation) or (bool(operation.results) and is_side_effect_free(operation))
