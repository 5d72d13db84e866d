"""Random collective instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, SSAValue

from tests.generators.tensorlang import choices
from tests.generators.tensorlang.builder import Builder, Level, Maker
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_attribute,
    integer_list_attribute,
)
from xtile.dialects.tensorlang.ops import collective as ops
from xtile.dialects.tensorlang.types import MemrefType


def _alloca_type(builder: Builder) -> MemrefType:
    order = builder.random.randint(0, choices.LARGEST_ORDER)
    shape = [builder.choice((1, 2, 3, 4, 8)) for _ in range(order)]
    return MemrefType.get(builder.choice(choices.NUMBERS), shape)


def _alloca(builder: Builder) -> None:
    builder.alloca(_alloca_type(builder))


def _lifetime_stop(builder: Builder) -> None:
    memref = builder.alloca(_alloca_type(builder))
    builder.append(ops.LifetimeStopOp, [memref])
    builder.forget(memref)


def _blas(
    builder: Builder,
    cls: type[TensorLangOperation],
    alpha: Attribute,
    inputs: Sequence[SSAValue],
    beta: Attribute,
    output: SSAValue,
    properties: Mapping[str, Attribute],
) -> None:
    """Appends a BLAS instruction with scalars of the types alpha and beta."""
    scale = builder.scalar(alpha, Level.WORK_GROUP)
    if builder.chance(0.4):
        properties = {**properties, "atomic": UnitAttr()}
        keep = builder.small_constant(beta, builder.choice((0, 1)))
    else:
        keep = builder.scalar(beta, Level.WORK_GROUP)
    builder.append(cls, [scale, *inputs, keep, output], properties)


def _transposed(
    shape: tuple[int, ...], properties: Mapping[str, Attribute], name: str
) -> list[int]:
    """The shape that op() makes of a memref with this shape, and the other way round."""
    return list(shape[::-1] if name in properties and len(shape) == 2 else shape)


def _axpby(builder: Builder) -> None:
    alpha, a_type, _, beta, b_type = choices.element_types(builder.random)
    alpha = choices.promotable_to(builder.random, a_type)
    transpose = builder.flag("transpose_a")
    shape = choices.shape(builder.random, builder.random.randint(0, 2))
    a = builder.memref(a_type, _transposed(shape, transpose, "transpose_a"))
    b = builder.memref(b_type, shape)
    _blas(builder, ops.AxpbyOp, alpha, [a], beta, b, transpose)


def _sum(builder: Builder) -> None:
    _, a_type, _, beta, b_type = choices.element_types(builder.random)
    alpha = choices.promotable_to(builder.random, a_type)
    transpose = builder.flag("transpose_a")
    shape = choices.shape(builder.random, builder.random.randint(1, 2))
    a = builder.memref(a_type, _transposed(shape, transpose, "transpose_a"))
    b = builder.memref(b_type, shape[:-1])
    _blas(builder, ops.SumOp, alpha, [a], beta, b, transpose)


def _cumsum(builder: Builder) -> None:
    _, a_type, _, beta, b_type = choices.element_types(builder.random)
    alpha = builder.scalar(choices.promotable_to(builder.random, a_type), Level.WORK_GROUP)
    order = builder.random.randint(1, choices.LARGEST_ORDER)
    shape = choices.shape(builder.random, order)
    a, b = builder.memref(a_type, shape), builder.memref(b_type, shape)
    mode = {"mode": integer_attribute(builder.random.randrange(order))}
    _blas(builder, ops.CumsumOp, alpha.type, [a], beta, b, mode)


def _gemm(builder: Builder) -> None:
    alpha, a_type, b_type, beta, c_type = choices.element_types(builder.random)
    properties = {**builder.flag("transpose_a"), **builder.flag("transpose_b")}
    rows, columns, inner = choices.shape(builder.random, 3)
    a = builder.memref(a_type, _transposed((rows, inner), properties, "transpose_a"))
    b = builder.memref(b_type, _transposed((inner, columns), properties, "transpose_b"))
    c = builder.memref(c_type, (rows, columns))
    _blas(builder, ops.GemmOp, alpha, [a, b], beta, c, properties)


def _gemv(builder: Builder) -> None:
    alpha, a_type, b_type, beta, c_type = choices.element_types(builder.random)
    transpose = builder.flag("transpose_a")
    rows, columns = choices.shape(builder.random, 2)
    a = builder.memref(a_type, _transposed((rows, columns), transpose, "transpose_a"))
    b, c = builder.memref(b_type, (columns,)), builder.memref(c_type, (rows,))
    _blas(builder, ops.GemvOp, alpha, [a, b], beta, c, transpose)


def _ger(builder: Builder) -> None:
    alpha, a_type, b_type, beta, c_type = choices.element_types(builder.random)
    rows, columns = choices.shape(builder.random, 2)
    a, b = builder.memref(a_type, (rows,)), builder.memref(b_type, (columns,))
    _blas(builder, ops.GerOp, alpha, [a, b], beta, builder.memref(c_type, (rows, columns)), {})


def _hadamard(builder: Builder) -> None:
    alpha, a_type, b_type, beta, c_type = choices.element_types(builder.random)
    shape = choices.shape(builder.random, builder.random.randint(1, 2))
    a, b, c = (builder.memref(type, shape) for type in (a_type, b_type, c_type))
    _blas(builder, ops.HadamardOp, alpha, [a, b], beta, c, {})


def _bounds(builder: Builder) -> tuple[list[SSAValue], list[SSAValue]]:
    """The lower and the upper bounds of a loop over several modes."""
    types = [builder.choice(choices.INTEGERS) for _ in range(builder.random.randint(1, 3))]
    lower = [builder.scalar(type, Level.WORK_GROUP) for type in types]
    return lower, [builder.scalar(type, Level.WORK_GROUP) for type in types]


def _foreach(builder: Builder) -> None:
    lower, upper = _bounds(builder)
    arguments = [(bound.type, Level.WORK_ITEM) for bound in lower]
    body = builder.region(arguments, spmd=True, level=Level.WORK_ITEM)
    builder.append(ops.ForeachOp, [lower, upper], regions=[body])


def _foreach_tile(builder: Builder) -> None:
    lower, upper = _bounds(builder)
    sizes = [builder.subgroup_multiple, *builder.random.choices((1, 3, 8, 32), k=len(lower) - 1)]
    arguments = [(bound.type, Level.SUBGROUP) for bound in lower * 2]
    body = builder.region(arguments, spmd=True, level=Level.SUBGROUP)
    properties = {"tile_shape": integer_list_attribute(sizes)}
    builder.append(ops.ForeachTileOp, [lower, upper], properties, regions=[body])


def _parallel(builder: Builder) -> None:
    builder.append(ops.ParallelOp, [], regions=[builder.region(spmd=True)])


COLLECTIVE: list[Maker] = [
    *(_alloca, _lifetime_stop),
    *(_axpby, _sum, _cumsum, _gemm, _gemv, _ger, _hadamard),
]
"""One for each collective instruction without a region."""

SPMD_REGIONS: list[Maker] = [_foreach, _foreach_tile, _parallel]
"""One for each collective instruction that opens an SPMD region."""
