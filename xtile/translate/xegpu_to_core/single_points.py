"""Accesses of single points by work-items: those of `memref`, where the mask allows them."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, StoreScatterOp
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import RuleTable, copy
from xtile.text.source import source_of
from xtile.translate.xegpu_to_core import points
from xtile.translate.xegpu_to_core.raising import Raising
from xtile.translate.xegpu_to_core.vectors import shape_of


def with_single_points_as_accesses(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels have no `xegpu.load` and `xegpu.store` of one number.

    ```
    %x = xegpu.load %p[%i], %mask : i64, index, i1 -> f32
    ```

    becomes a `memref.load` of the memory at the address, in an `scf.if` of the mask.
    """
    raising = Raising(RULES, source_of(module), None)
    return with_kernels_replaced(module, _has_some, lambda kernel: rebuilt(kernel, raising))


def _has_some(function: FuncOp) -> bool:
    return any(map(_is_single, walk(function)))


def _is_single(operation: Operation) -> bool:
    if not isinstance(operation, LoadGatherOp | StoreScatterOp):
        return False
    return operation.offsets is not None and not shape_of(operation.value)


def _access(operation: Operation, raising: Raising) -> None:
    rule = points.RULES[operation.name] if _is_single(operation) else copy
    rule(operation, raising)


RULES = RuleTable(
    dict.fromkeys((LoadGatherOp.name, StoreScatterOp.name), _access), copy, keeps_rounding=True
)
"""What becomes of each operation."""
