"""Random loops and conditions, and the builtin values."""

from __future__ import annotations

from functools import partial

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Region, SSAValue

from tests.generators.tensorlang.builder import Builder, Level, Maker
from tests.generators.tensorlang.choices import INTEGERS, SCALARS
from xtile.dialects.tensorlang.operation import TensorLangOperation, integer_attribute
from xtile.dialects.tensorlang.ops import builtins
from xtile.dialects.tensorlang.ops.control import ForOp, IfOp, YieldOp
from xtile.dialects.tensorlang.types import BOOL, I32, INDEX, CoopmatrixType


def _carried_types(builder: Builder, least: int, matrices: bool) -> list[Attribute]:
    """The types of the values that a loop carries or an if returns."""
    types: list[Attribute] = []
    for _ in range(builder.random.randint(least, 3)):
        if matrices and builder.chance(0.4):
            types.append(builder.any_matrix().type)
        else:
            types.append(builder.choice(SCALARS))
    return types


def _yield(builder: Builder, types: list[Attribute], level: Level) -> None:
    builder.append(YieldOp, [[builder.value_like(type, level) for type in types]])


def _level_of(type: Attribute, level: Level) -> Level:
    """Who agrees on a carried value: always the subgroup on a coopmatrix."""
    return min(level, Level.SUBGROUP) if isinstance(type, CoopmatrixType) else level


def _for(builder: Builder) -> None:
    type = builder.choice(INTEGERS)
    bounds = [builder.scalar(type, builder.needed_level) for _ in range(2)]
    step = [builder.small_constant(type, builder.choice((1, 2)))] if builder.chance(0.4) else []
    level = builder.level_of(*bounds)
    matrices = builder.may_use_matrices and level <= Level.SUBGROUP
    types = _carried_types(builder, 0, matrices)
    carried = max(level, builder.choice((Level.WORK_GROUP, builder.needed_level)))
    init = [builder.value_like(type, carried) for type in types]
    body = builder.region(
        [(type, level), *((type, _level_of(type, carried)) for type in types)],
        level=level,
        end=partial(_yield, builder, types, carried) if types else None,
    )
    operation = builder.append(
        ForOp, [[bounds[0]], [bounds[1]], step, init], _unroll(builder), types, [body]
    )
    _see_results(builder, operation, carried)
    builder.decorate(operation)


def _see_results(builder: Builder, operation: TensorLangOperation, level: Level) -> None:
    for value in operation.results:
        builder.see(value, _level_of(value.type, level))


def _unroll(builder: Builder) -> dict[str, Attribute]:
    options: list[dict[str, Attribute]] = [
        {},
        {},
        {"unroll": BoolAttr.from_bool(True)},
        {"unroll": BoolAttr.from_bool(False)},
        {"unroll": integer_attribute(4)},
    ]
    return builder.choice(options)


def _if(builder: Builder) -> None:
    condition = builder.scalar(BOOL, builder.needed_level)
    level = builder.level_of(condition)
    matrices = builder.may_use_matrices and level <= Level.SUBGROUP
    types = _carried_types(builder, 1, matrices) if builder.chance(0.6) else []
    agreed = max(level, builder.choice((Level.WORK_GROUP, builder.needed_level)))
    end = partial(_yield, builder, types, agreed) if types else None
    then = builder.region(level=level, end=end)
    otherwise = Region()
    if types or builder.chance(0.5):
        otherwise = builder.region(level=level, end=end)
    operation = builder.append(IfOp, [condition], None, types, [then, otherwise])
    _see_results(builder, operation, agreed)


CONTROL: list[Maker] = [_for, _if]
"""One for each control flow instruction."""


def _component_builtin(
    cls: type[TensorLangOperation], type: Attribute, level: Level, builder: Builder
) -> SSAValue:
    return builder.compute(cls, [], type, builder.modifiers("component"), level)


def _builtin(cls: type[TensorLangOperation], level: Level, builder: Builder) -> SSAValue:
    return builder.compute(cls, [], I32, None, level)


MIXED_BUILTINS: list[Maker] = [
    partial(_component_builtin, builtins.GroupIdOp, INDEX, Level.WORK_GROUP),
    partial(_component_builtin, builtins.NumGroupsOp, INDEX, Level.WORK_GROUP),
    partial(_component_builtin, builtins.NumSubgroupsOp, I32, Level.WORK_GROUP),
    partial(_builtin, builtins.SubgroupSizeOp, Level.WORK_GROUP),
]
"""One for each builtin value of a mixed region."""

SPMD_BUILTINS: list[Maker] = [
    partial(_component_builtin, builtins.SubgroupIdOp, I32, Level.SUBGROUP),
    partial(_builtin, builtins.SubgroupLinearIdOp, Level.SUBGROUP),
    partial(_builtin, builtins.SubgroupLocalIdOp, Level.WORK_ITEM),
]
"""One for each builtin value of an SPMD region."""
