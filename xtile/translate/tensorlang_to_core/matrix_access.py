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

from xtile.dialects.core import AtomicKind, PrefetchOp
from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.translate.rule import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.emit import constant, make, translated_type
from xtile.translate.tensorlang_to_core.memory import atomic_update, loading_update, update_kind
from xtile.translate.tensorlang_to_core.types import element_of

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
    type = translated_type(operation.result, r)
    memref, indices = r.value(operation.memref), r.values((operation.y, operation.x))
    operands = [memref, indices, constant(r, 0, element_of(type)), []]
    r.replace(operation, make("vector.transfer_read", operands, [type], _transfer(operation)))


def _store(operation: ops.CooperativeMatrixStoreOp, r: Rebuilder) -> None:
    matrix, memref = r.values((operation.matrix, operation.memref))
    operands = [matrix, memref, r.values((operation.y, operation.x)), []]
    r.emit(make("vector.transfer_write", operands, [[]], _transfer(operation)))


def _atomic_load(operation: ops.CooperativeMatrixAtomicLoadOp, r: Rebuilder) -> None:
    type = translated_type(operation.result, r)
    kind, neutral = loading_update(element_of(type))
    r.define(operation.result, _update(operation, kind, constant(r, neutral, type), r))


def _atomic_store(operation: ops.CooperativeMatrixAtomicStoreOp, r: Rebuilder) -> None:
    _update(operation, AtomicKind.ASSIGN, r.value(operation.matrix), r)


def _atomic_update(operation: ops.CooperativeMatrixAtomicUpdate, r: Rebuilder) -> None:
    value = r.value(operation.matrix)
    kind = update_kind(type(operation), element_of(value.type))
    r.define(operation.result, _update(operation, kind, value, r))


def _update(
    operation: ops.CooperativeMatrixAtomicLoadOp
    | ops.CooperativeMatrixAtomicStoreOp
    | ops.CooperativeMatrixAtomicUpdate,
    kind: AtomicKind,
    value: SSAValue,
    r: Rebuilder,
) -> SSAValue:
    indices = r.values((operation.y, operation.x))
    dimensions = (1, 0) if operation.transpose is not None else (0, 1)
    checked = [
        dimension
        for dimension, is_checked in zip(dimensions, _checked(operation), strict=True)
        if is_checked
    ]
    memref = r.value(operation.memref)
    update = atomic_update(kind, value, memref, indices, sorted(checked), operation.transpose)
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
