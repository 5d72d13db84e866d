"""Linear algebra of the work-group, and the regions that every work-item executes on its own.

What works on rows in the core form works on columns here: `C := A B` is `C^T := B^T A^T`.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region

from xtile.dialects.core import blas, subgroup
from xtile.dialects.tensorlang.ops import collective as ops
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_tensorlang.lowering import Lowering
from xtile.translate.core_to_tensorlang.views import memory_of, view_of


def _is_set(operation: Operation, name: str) -> bool:
    return operation.properties.get(name) is not None


def _axpby(operation: blas.AxpbyOp, r: Lowering) -> None:
    a, b = view_of(r, operation.a), view_of(r, operation.b)
    alpha, beta = r.values((operation.alpha, operation.beta))
    flags = {"atomic": operation.atomic is not None}
    transpose = _is_set(operation, "transpose_a")
    r.emit(ops.AxpbyOp(alpha, a, beta, b, transpose_a=transpose, **flags))


def _cumsum(operation: blas.CumsumOp, r: Lowering) -> None:
    a, b = view_of(r, operation.a), view_of(r, operation.b)
    alpha, beta = r.values((operation.alpha, operation.beta))
    dimension = cast("IntegerAttr[Any]", operation.dimension).value.data
    mode = memory_of(r, operation.a).rank - 1 - dimension
    r.emit(ops.CumsumOp(alpha, a, mode, beta, b, atomic=operation.atomic is not None))


def _sum(operation: blas.SumOp, r: Lowering) -> None:
    """Row i of A is column i of A^T."""
    a, b = view_of(r, operation.a), view_of(r, operation.b)
    alpha, beta = r.values((operation.alpha, operation.beta))
    is_matrix = memory_of(r, operation.a).rank == 2
    transpose = is_matrix and not _is_set(operation, "transpose_a")
    atomic = operation.atomic is not None
    r.emit(ops.SumOp(alpha, a, beta, b, transpose_a=transpose, atomic=atomic))


def _gemm(operation: blas.GemmOp, r: Lowering) -> None:
    a, b, c = (view_of(r, each) for each in (operation.a, operation.b, operation.c))
    alpha, beta = r.values((operation.alpha, operation.beta))
    transposes = {
        "transpose_a": _is_set(operation, "transpose_b"),
        "transpose_b": _is_set(operation, "transpose_a"),
    }
    atomic = operation.atomic is not None
    r.emit(ops.GemmOp(alpha, b, a, beta, c, atomic=atomic, **transposes))


def _gemv(operation: blas.GemvOp, r: Lowering) -> None:
    a, b, c = (view_of(r, each) for each in (operation.a, operation.b, operation.c))
    alpha, beta = r.values((operation.alpha, operation.beta))
    transpose = not _is_set(operation, "transpose_a")
    atomic = operation.atomic is not None
    r.emit(ops.GemvOp(alpha, a, b, beta, c, transpose_a=transpose, atomic=atomic))


def _ger(operation: blas.GerOp, r: Lowering) -> None:
    a, b, c = (view_of(r, each) for each in (operation.a, operation.b, operation.c))
    alpha, beta = r.values((operation.alpha, operation.beta))
    r.emit(ops.GerOp(alpha, b, a, beta, c, atomic=operation.atomic is not None))


def _hadamard(operation: blas.HadamardOp, r: Lowering) -> None:
    a, b, c = (view_of(r, each) for each in (operation.a, operation.b, operation.c))
    alpha, beta = r.values((operation.alpha, operation.beta))
    r.emit(ops.HadamardOp(alpha, a, b, beta, c, atomic=operation.atomic is not None))


def _parallel(operation: subgroup.ParallelOp, r: Lowering) -> None:
    body = Block()
    with r.in_spmd(body):
        r.translate_block(operation.body.block)
    r.emit(ops.ParallelOp(Region([body])))


RULES: dict[str, Rule] = {
    "core.axpby": _axpby,
    "core.cumsum": _cumsum,
    "core.gemm": _gemm,
    "core.gemv": _gemv,
    "core.ger": _ger,
    "core.hadamard": _hadamard,
    "core.parallel": _parallel,
    "core.sum": _sum,
}
"""The rule of each operation, by name."""
