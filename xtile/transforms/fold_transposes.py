"""Reads tiles transposed that are only used so.

Accesses of memory can transpose for nothing, where a transposition in registers of several
subgroups goes through local memory.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, ModuleOp, VectorType
from xdsl.ir import Operation
from xdsl.ir.affine import AffineMap

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.vector.shapes import TransposeOp
from xtile.dialects.vector.transfers import TransferReadOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rebuilder, Rule, RuleTable, again, copy
from xtile.text.source import source_of


def fold_transposes(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels of tiles read what they transpose as they need it.

    Everything else stays as it is; without such a read it is the module itself.

    Args:
        module: The module; it is not changed.
    """
    folding = Emitter(
        RuleTable(_RULES, otherwise=copy, keeps_rounding=True), "vectors", source_of(module)
    )
    return with_kernels_replaced(module, _is_chosen, lambda kernel: rebuilt(kernel, folding))


def _is_chosen(kernel: FuncOp) -> bool:
    return level_of(kernel) is Level.TILE and any(
        isinstance(each, TransferReadOp) and _order(each) is not None for each in walk(kernel)
    )


def _order(read: Operation) -> tuple[int, ...] | None:
    """The permutation by which all uses of what is read transpose it; None if there is none."""
    if not isinstance(read, TransferReadOp) or read.mask is not None:
        return None
    users = [use.operation for use in read.result.uses]
    orders = {
        tuple(map(int, user.permutation.get_values()))
        for user in users
        if isinstance(user, TransposeOp)
    }
    is_only_use = all(isinstance(user, TransposeOp) for user in users)
    return orders.pop() if is_only_use and len(orders) == 1 else None


def _read(operation: TransferReadOp, rebuilder: Rebuilder) -> None:
    order = _order(operation)
    if order is None:
        copy(operation, rebuilder)
        return
    map_, vector = operation.permutation_map.data, operation.result.type
    assert isinstance(vector, VectorType)
    shape, flags = vector.get_shape(), operation.in_bounds.data
    results = tuple(map_.results[i] for i in order)
    made = again(
        operation,
        rebuilder.values(operation.operands),
        [VectorType(vector.element_type, [shape[i] for i in order])],
        properties={
            "permutation_map": AffineMapAttr(AffineMap(map_.num_dims, map_.num_symbols, results)),
            "in_bounds": ArrayAttr([flags[i] for i in order]),
        },
    )
    rebuilder.replace(operation, made)


def _transpose(operation: TransposeOp, rebuilder: Rebuilder) -> None:
    read = operation.vector.owner
    if isinstance(read, Operation) and _order(read) is not None:
        rebuilder.define(operation.result, rebuilder.value(operation.vector))
    else:
        copy(operation, rebuilder)


_RULES: dict[str, Rule] = {TransferReadOp.name: _read, TransposeOp.name: _transpose}
"""The rule of each operation, by name."""
