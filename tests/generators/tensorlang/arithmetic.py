"""Random arithmetic, comparisons, math, casts and constants."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import Attribute

from tests.generators.tensorlang import choices
from tests.generators.tensorlang.builder import Builder, Maker
from tests.generators.tensorlang.choices import COMPLEX, FLOATS, INTEGERS, NUMBERS, REALS
from xtile.dialects.tensorlang.attributes import MatrixUse
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.dialects.tensorlang.types import (
    BOOL,
    CoopmatrixType,
    component_type,
    is_cast_allowed,
    real_part_type,
)

Operation = type[TensorLangOperation]

_BINARY: dict[Operation, Sequence[Attribute]] = {
    ops.AddOp: NUMBERS,
    ops.SubOp: NUMBERS,
    ops.MulOp: NUMBERS,
    ops.DivOp: NUMBERS,
    ops.RemOp: REALS,
    ops.MaxOp: REALS,
    ops.MinOp: REALS,
    ops.ShlOp: INTEGERS,
    ops.ShrOp: INTEGERS,
    ops.AndOp: (BOOL, *INTEGERS),
    ops.OrOp: (BOOL, *INTEGERS),
    ops.XorOp: (BOOL, *INTEGERS),
}

_UNARY: dict[Operation, Sequence[Attribute]] = {
    ops.AbsOp: NUMBERS,
    ops.NegOp: NUMBERS,
    ops.NotOp: (BOOL, *INTEGERS),
    ops.ConjOp: COMPLEX,
    ops.ImOp: COMPLEX,
    ops.ReOp: COMPLEX,
}

_COMPARISONS: dict[Operation, Sequence[Attribute]] = {
    ops.EqualOp: NUMBERS,
    ops.NotEqualOp: NUMBERS,
    ops.GreaterThanOp: REALS,
    ops.GreaterThanEqualOp: REALS,
    ops.LessThanOp: REALS,
    ops.LessThanEqualOp: REALS,
}

_MATH: dict[Operation, Sequence[Attribute]] = {
    ops.CosOp: FLOATS,
    ops.SinOp: FLOATS,
    ops.ExpOp: FLOATS + COMPLEX,
    ops.Exp2Op: FLOATS + COMPLEX,
    ops.LogOp: FLOATS,
    ops.Log2Op: FLOATS,
    ops.NativeCosOp: FLOATS,
    ops.NativeSinOp: FLOATS,
    ops.NativeExpOp: FLOATS + COMPLEX,
    ops.NativeExp2Op: FLOATS + COMPLEX,
    ops.NativeLogOp: FLOATS,
    ops.NativeLog2Op: FLOATS,
}

_DIVISIONS = (ops.DivOp, ops.RemOp)
_TO_REAL_PART = (ops.AbsOp, ops.ImOp, ops.ReOp)


def _operand_type(builder: Builder, allowed: Sequence[Attribute]) -> Attribute:
    """One of the allowed types, or a coopmatrix of one where that may be used."""
    type = builder.choice(allowed)
    if type == BOOL or not builder.may_use_matrices or builder.chance(0.6):
        return type
    return builder.any_matrix([type]).type


def _binary(cls: Operation, allowed: Sequence[Attribute], builder: Builder) -> None:
    type = _operand_type(builder, allowed)
    a = builder.value_like(type)
    b = builder.divisor(type) if cls in _DIVISIONS else builder.value_like(type)
    builder.compute(cls, [a, b], type)


def _unary(cls: Operation, allowed: Sequence[Attribute], builder: Builder) -> None:
    type = _operand_type(builder, allowed)
    result = _real_part(type) if cls in _TO_REAL_PART else type
    builder.compute(cls, [builder.value_like(type)], result)


def _real_part(type: Attribute) -> Attribute:
    if isinstance(type, CoopmatrixType):
        return CoopmatrixType.get(real_part_type(type.component_type), *type.shape, type.use)
    return real_part_type(type)


def _comparison(cls: Operation, allowed: Sequence[Attribute], builder: Builder) -> None:
    type = builder.choice(allowed)
    builder.compute(cls, [builder.scalar(type), builder.scalar(type)], BOOL)


def _math(cls: Operation, allowed: Sequence[Attribute], builder: Builder) -> None:
    type = builder.choice(allowed)
    builder.compute(cls, [builder.scalar(type)], type)


def _cast(builder: Builder) -> None:
    source = _operand_type(builder, NUMBERS)
    target = builder.choice([t for t in NUMBERS if is_cast_allowed(component_type(source), t)])
    if isinstance(source, CoopmatrixType):
        uses = list(MatrixUse) if source.use == MatrixUse.ACC else [source.use]
        target = CoopmatrixType.get(target, *source.shape, builder.choice(uses))
    builder.compute(ops.CastOp, [builder.value_like(source)], target)


def _constant(builder: Builder) -> None:
    type = builder.choice(choices.SCALARS)
    if builder.may_use_matrices and builder.chance(0.2):
        rows = builder.choice((1, 8, builder.subgroup_multiple))
        type = choices.matrix_type(builder.random, builder.choice(NUMBERS), rows)
    builder.constant(type)


ARITHMETIC: list[Maker] = [
    *(partial(_binary, cls, allowed) for cls, allowed in _BINARY.items()),
    *(partial(_unary, cls, allowed) for cls, allowed in _UNARY.items()),
    *(partial(_comparison, cls, allowed) for cls, allowed in _COMPARISONS.items()),
    *(partial(_math, cls, allowed) for cls, allowed in _MATH.items()),
    *(_cast, _constant, _constant),
]
"""One for each instruction of the family, and another for constants."""
