"""Collective instructions: linear algebra, and those that open an SPMD region.

The linear algebra works on the transposed matrices: `C := A B` becomes `C^T := B^T A^T`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.core import blas
from xtile.dialects.core import subgroup as core_subgroup
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import collective as ops
from xtile.dialects.tensorlang.types import INDEX
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.builtins import dimension_value, subgroup_value
from xtile.translate.tensorlang_to_core.casts import convert
from xtile.translate.tensorlang_to_core.control import translate_region
from xtile.translate.tensorlang_to_core.emit import constant, make
from xtile.translate.tensorlang_to_core.indices import Indices
from xtile.translate.tensorlang_to_core.types import type_of


def _flag(is_set: bool) -> UnitAttr | None:
    return UnitAttr() if is_set else None


def _update(
    operation: ops.BlasA2Operation | ops.BlasA3Operation,
    target: type[IRDLOperation],
    operands: Sequence[SSAValue],
    r: Rebuilder,
    **properties: IntegerAttr | UnitAttr | None,
) -> None:
    """Emits a linear algebra operation, whose operands are alpha, inputs, beta and output."""
    r.emit(
        target.build(
            operands=r.values(operands), properties={"atomic": operation.atomic, **properties}
        )
    )


def _rank(memref: SSAValue, r: Rebuilder) -> int:
    return type_of(r.value(memref)).get_num_dims()


def _axpby(operation: ops.AxpbyOp, r: Rebuilder) -> None:
    """B^T := alpha op(A)^T + beta B^T."""
    operands = (operation.alpha, operation.a, operation.beta, operation.b)
    transpose = operation.transpose_a if _rank(operation.a, r) == 2 else None
    _update(operation, blas.AxpbyOp, operands, r, transpose_a=transpose)


def _cumsum(operation: ops.CumsumOp, r: Rebuilder) -> None:
    """The modes are reversed."""
    operands = (operation.alpha, operation.a, operation.beta, operation.b)
    dimension = _rank(operation.a, r) - 1 - integer_value(operation.mode)
    _update(operation, blas.CumsumOp, operands, r, dimension=IntegerAttr(dimension, i64))


def _sum(operation: ops.SumOp, r: Rebuilder) -> None:
    """Row i of A is column i of A^T."""
    operands = (operation.alpha, operation.a, operation.beta, operation.b)
    is_transposed = operation.transpose_a is None and _rank(operation.a, r) == 2
    _update(operation, blas.SumOp, operands, r, transpose_a=_flag(is_transposed))


def _gemm(operation: ops.GemmOp, r: Rebuilder) -> None:
    """C^T := alpha op(B)^T op(A)^T + beta C^T."""
    operands = (operation.alpha, operation.b, operation.a, operation.beta, operation.c)
    flags = {"transpose_a": operation.transpose_b, "transpose_b": operation.transpose_a}
    _update(operation, blas.GemmOp, operands, r, **flags)


def _gemv(operation: ops.GemvOp, r: Rebuilder) -> None:
    """op(A) is the transpose of A^T where the source does not transpose A."""
    operands = (operation.alpha, operation.a, operation.b, operation.beta, operation.c)
    _update(operation, blas.GemvOp, operands, r, transpose_a=_flag(operation.transpose_a is None))


def _ger(operation: ops.GerOp, r: Rebuilder) -> None:
    """C^T := alpha b a^T + beta C^T."""
    operands = (operation.alpha, operation.b, operation.a, operation.beta, operation.c)
    _update(operation, blas.GerOp, operands, r)


def _hadamard(operation: ops.HadamardOp, r: Rebuilder) -> None:
    """C^T := alpha A^T ∘ B^T + beta C^T."""
    operands = (operation.alpha, operation.a, operation.b, operation.beta, operation.c)
    _update(operation, blas.HadamardOp, operands, r)


# SPMD regions


def _parallel(operation: ops.ParallelOp, r: Rebuilder) -> None:
    _by_every_work_item(r, lambda: r.translate_block(operation.body.block))


def _by_every_work_item(r: Rebuilder, emit_body: Callable[[], None]) -> None:
    body = Block()
    with r.at_end_of(body):
        emit_body()
    r.emit(core_subgroup.ParallelOp.build(regions=[Region([body])]))


def _foreach(operation: ops.ForeachOp, r: Rebuilder) -> None:
    """Trip t is done by work-item t modulo their number (docs/semantics.md 3.5)."""
    first, lengths = _ranges(operation, r)
    trips = _product(r, lengths)

    def body() -> None:
        _for_each_number(r, *_work_item(r), trips, trip)

    def trip(number: SSAValue) -> None:
        variables = operation.body.block.args
        positions = _split(r, number, lengths)
        for variable, start, position in zip(variables, first, positions, strict=True):
            _define_index(variable, Indices(r).add(start, position), r)
        translate_region(operation.body, r)

    _by_every_work_item(r, body)


def _foreach_tile(operation: ops.ForeachTileOp, r: Rebuilder) -> None:
    """Tile t is done by subgroup t modulo their number (docs/semantics.md 3.5)."""
    first, lengths = _ranges(operation, r)
    shape: Sequence[int] = operation.tile_shape.get_values()
    indices = Indices(r)
    pairs = zip(lengths, shape, strict=True)
    counts = [indices.divide_up(length, size) for length, size in pairs]
    tiles = _product(r, counts)

    def body() -> None:
        start, step = subgroup_value(r, "gpu.subgroup_id"), subgroup_value(r, "gpu.num_subgroups")
        _for_each_number(r, start, step, tiles, tile)

    def tile(number: SSAValue) -> None:
        variables = operation.body.block.args
        for mode, position in enumerate(_split(r, number, counts)):
            offset = indices.multiply(position, shape[mode])
            size = _tile_size(r, lengths[mode], offset, shape[mode])
            _define_index(variables[mode], indices.add(first[mode], offset), r)
            _define_index(variables[len(shape) + mode], size, r)
        translate_region(operation.body, r)

    _by_every_work_item(r, body)


def _tile_size(r: Rebuilder, length: Index, offset: Index, size: int) -> Index:
    if isinstance(length, int) and length % size == 0:
        return size
    indices = Indices(r)
    return indices.smaller(size, indices.subtract(length, offset))


def _define_index(variable: SSAValue, number: Index, r: Rebuilder) -> None:
    if isinstance(number, int):
        r.define(variable, constant(r, number, variable.type))
    else:
        r.define(variable, convert(r, number, variable.type))


def _ranges(
    operation: ops.ForeachOp | ops.ForeachTileOp, r: Rebuilder
) -> tuple[list[Index], list[Index]]:
    """The first index and the number of indices in each mode."""
    indices = Indices(r)
    first = [indices.number(bound) for bound in operation.from_]
    last = [indices.number(bound) for bound in operation.to]
    # An empty range ends before it begins; a difference could be too large for 64 bits.
    lengths = [
        indices.subtract(indices.larger(end, start), start)
        for start, end in zip(first, last, strict=True)
    ]
    return first, lengths


def _product(r: Rebuilder, factors: Sequence[Index]) -> Index:
    result: Index = 1
    for factor in factors:
        result = Indices(r).multiply(result, factor)
    return result


def _split(r: Rebuilder, number: SSAValue, counts: Sequence[Index]) -> list[Index]:
    """A number as an index for each mode, the first of which varies fastest."""
    indices = Indices(r)
    positions: list[Index] = []
    rest: Index = number
    for count in counts[:-1]:
        positions.append(indices.remainder(rest, count))
        rest = indices.divide(rest, count)
    return [*positions, rest]


def _work_item(r: Rebuilder) -> tuple[SSAValue, SSAValue]:
    """The number of the work-item in the work-group, and how many there are."""
    x, y, width, height = (
        dimension_value(r, name, dimension)
        for name in ("gpu.thread_id", "gpu.block_dim")
        for dimension in (Dimension.X, Dimension.Y)
    )
    indices = Indices(r)
    number = indices.add(indices.multiply(y, width), x)
    return indices.as_value(number), indices.as_value(indices.multiply(width, height))


def _for_each_number(
    r: Rebuilder,
    start: SSAValue,
    step: SSAValue,
    count: Index,
    emit_body: Callable[[SSAValue], None],
) -> None:
    """A loop over the numbers from `start` below `count`; `emit_body` ends it with a yield."""
    body = Block(arg_types=[INDEX])
    with r.at_end_of(body):
        emit_body(body.args[0])
    stop = Indices(r).as_value(count)
    r.emit(make("scf.for", [start, stop, step, []], [[]], regions=[Region([body])]))


RULES: Rules = {
    ops.AxpbyOp: _axpby,
    ops.CumsumOp: _cumsum,
    ops.SumOp: _sum,
    ops.GemmOp: _gemm,
    ops.GemvOp: _gemv,
    ops.GerOp: _ger,
    ops.HadamardOp: _hadamard,
    ops.ParallelOp: _parallel,
    ops.ForeachOp: _foreach,
    ops.ForeachTileOp: _foreach_tile,
}
