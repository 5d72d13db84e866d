"""Cooperative matrix instructions that access memory.

A matrix is the vector of its transpose, and a memref has its modes reversed: the component in row
i and column j stands at [x + i, y + j] of the source's memref, so element [j, i] of the vector
stands at [y + j, x + i] here. A transposed access exchanges the memref's indices.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.core.subgroup import PrefetchOp
from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.emit import constant, emit, make
from xtile.translate.tensorlang_to_core.memory import (
    atomic_update,
    loading_update,
    ordering_between_groups,
    update_kind,
)
from xtile.translate.tensorlang_to_core.types import core_type, element_of

_IDENTITY = AffineMapAttr(AffineMap.from_callable(lambda row, column: (row, column)))
_TRANSPOSE = AffineMapAttr(AffineMap.from_callable(lambda row, column: (column, row)))


def _checked(operation: ops.CooperativeMatrixAccess) -> tuple[bool, bool]:
    """Whether the dimensions of the vector are checked against the memref's shape."""
    return operation.cols_checked, operation.rows_checked


def _transfer(operation: ops.CooperativeMatrixAccess) -> dict[str, Attribute]:
    in_bounds = ArrayAttr(BoolAttr.from_bool(not checked) for checked in _checked(operation))
    is_transposed = operation.transpose is not None
    return {
        "permutation_map": _TRANSPOSE if is_transposed else _IDENTITY,
        "in_bounds": in_bounds,
    }


def _load(operation: ops.CooperativeMatrixLoadOp, r: Rebuilder) -> None:
    r.define(operation.result, load_from(operation, r.value(operation.memref), r))


def load_from(operation: ops.CooperativeMatrixLoadOp, memref: SSAValue, r: Rebuilder) -> SSAValue:
    """What a load reads from a translated memref."""
    type = core_type(operation.result.type)
    indices = r.values((operation.y, operation.x))
    operands = [memref, indices, constant(r, 0, element_of(type)), []]
    return emit(r, "vector.transfer_read", operands, type, _transfer(operation))


def _store(operation: ops.CooperativeMatrixStoreOp, r: Rebuilder) -> None:
    store_to(operation, r.value(operation.matrix), r.value(operation.memref), r)


def store_to(
    operation: ops.CooperativeMatrixStoreOp, matrix: SSAValue, memref: SSAValue, r: Rebuilder
) -> None:
    """Stores a translated matrix where an instruction says, to a translated memref."""
    operands = [matrix, memref, r.values((operation.y, operation.x)), []]
    r.emit(make("vector.transfer_write", operands, [[]], _transfer(operation)))


def _atomic_load(operation: ops.CooperativeMatrixAtomicLoadOp, r: Rebuilder) -> None:
    r.define(operation.result, update_of(operation, None, r.value(operation.memref), r))


def _atomic_store(operation: ops.CooperativeMatrixAtomicStoreOp, r: Rebuilder) -> None:
    update_of(operation, r.value(operation.matrix), r.value(operation.memref), r)


def _atomic_update(operation: ops.CooperativeMatrixAtomicUpdate, r: Rebuilder) -> None:
    matrix, memref = r.values((operation.matrix, operation.memref))
    r.define(operation.result, update_of(operation, matrix, memref, r))


Atomic = (
    ops.CooperativeMatrixAtomicLoadOp
    | ops.CooperativeMatrixAtomicStoreOp
    | ops.CooperativeMatrixAtomicUpdate
)
"""Atomic instructions on matrices in memory."""


def update_of(
    operation: Atomic, matrix: SSAValue | None, memref: SSAValue, r: Rebuilder
) -> SSAValue:
    """Does what an atomic instruction says to a translated memref; returns what was there.

    Args:
        operation: The instruction.
        matrix: The translated matrix; None for a load, which changes nothing.
        memref: The memref.
        r: Where to emit.
    """
    if isinstance(operation, ops.CooperativeMatrixAtomicLoadOp):
        result = core_type(operation.result.type)
        kind, neutral = loading_update(element_of(result))
        return _update(operation, kind, constant(r, neutral, result), memref, r)
    assert matrix is not None
    if isinstance(operation, ops.CooperativeMatrixAtomicStoreOp):
        return _update(operation, AtomicKind.ASSIGN, matrix, memref, r)
    kind = update_kind(type(operation), element_of(matrix.type))
    return _update(operation, kind, matrix, memref, r)


def _update(
    operation: Atomic, kind: AtomicKind, value: SSAValue, memref: SSAValue, r: Rebuilder
) -> SSAValue:
    indices = r.values((operation.y, operation.x))
    dimensions = (1, 0) if operation.transpose is not None else (0, 1)
    checked = [
        dimension
        for dimension, is_checked in zip(dimensions, _checked(operation), strict=True)
        if is_checked
    ]
    update = atomic_update(kind, value, memref, indices, sorted(checked), operation.transpose)
    update.attributes |= ordering_between_groups(operation).attributes
    return r.emit(update).result


def _prefetch(operation: ops.CooperativeMatrixPrefetchOp, r: Rebuilder) -> None:
    shape = [integer_value(operation.columns), integer_value(operation.rows)]
    r.emit(
        PrefetchOp.build(
            operands=[r.value(operation.memref), r.values((operation.y, operation.x))],
            properties={
                "block": DenseArrayBase.from_list(i64, shape),
                "level": IntegerAttr(integer_value(operation.level), i64),
            },
        )
    )


RULES: Rules = {
    ops.CooperativeMatrixLoadOp: _load,
    ops.CooperativeMatrixStoreOp: _store,
    ops.CooperativeMatrixAtomicLoadOp: _atomic_load,
    ops.CooperativeMatrixAtomicStoreOp: _atomic_store,
    ops.CooperativeMatrixAtomicAddOp: _atomic_update,
    ops.CooperativeMatrixAtomicMaxOp: _atomic_update,
    ops.CooperativeMatrixAtomicMinOp: _atomic_update,
    ops.CooperativeMatrixPrefetchOp: _prefetch,
}
