"""Random cooperative matrix and subgroup instructions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import Attribute, SSAValue

from tests.generators.tensorlang import choices
from tests.generators.tensorlang.builder import Builder, Level, Maker
from tests.generators.tensorlang.choices import NUMBERS, REALS
from xtile.dialects.tensorlang.attributes import MatrixUse, ReduceMode, ReduceModeAttr
from xtile.dialects.tensorlang.operation import TensorLangOperation, integer_attribute
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.dialects.tensorlang.ops import subgroup
from xtile.dialects.tensorlang.ops.control import YieldOp
from xtile.dialects.tensorlang.types import I32, CoopmatrixType, is_cast_allowed

Operation = type[TensorLangOperation]

_ACCESS = ("transpose", "checked")
_ATOMIC_ACCESS = (*_ACCESS, "scope", "semantics")


def _matrix_type(value: SSAValue) -> CoopmatrixType:
    assert isinstance(value.type, CoopmatrixType)
    return value.type


def _new_type(builder: Builder, components: Sequence[Attribute] = NUMBERS) -> CoopmatrixType:
    rows = builder.choice((1, 8, builder.subgroup_multiple))
    return choices.matrix_type(builder.random, builder.choice(components), rows)


def _memory(builder: Builder, type: CoopmatrixType) -> SSAValue:
    """A matrix memref with elements of the component type."""
    return builder.memref(type.component_type, choices.shape(builder.random, 2))


def _load(cls: Operation, modifiers: Sequence[str], builder: Builder) -> None:
    type = _new_type(builder)
    operands = [_memory(builder, type), *builder.position()]
    builder.compute(cls, operands, type, builder.modifiers(*modifiers), Level.SUBGROUP)


def _store(cls: Operation, modifiers: Sequence[str], builder: Builder) -> None:
    matrix = builder.any_matrix()
    memref = _memory(builder, _matrix_type(matrix))
    operands = [matrix, memref, *builder.position()]
    builder.append(cls, operands, builder.modifiers(*modifiers))


def _update(cls: Operation, components: Sequence[Attribute], builder: Builder) -> None:
    matrix = builder.any_matrix(components)
    type = _matrix_type(matrix)
    operands = [matrix, _memory(builder, type), *builder.position()]
    modifiers = builder.modifiers(*_ATOMIC_ACCESS)
    builder.compute(cls, operands, type, modifiers, Level.SUBGROUP)


def _apply(builder: Builder) -> None:
    matrix = builder.any_matrix()
    type = _matrix_type(matrix)

    def end() -> None:
        builder.append(YieldOp, [[builder.scalar(type.component_type)]])

    arguments = [(t, Level.WORK_ITEM) for t in (I32, I32, type.component_type)]
    body = builder.region(arguments, level=Level.WORK_ITEM, end=end)
    operation = builder.append(ops.CooperativeMatrixApplyOp, [matrix], None, [type], [body])
    builder.see(operation.results[0], Level.SUBGROUP)


def _construct(builder: Builder) -> None:
    type = _new_type(builder)
    number = builder.scalar(type.component_type, Level.SUBGROUP)
    builder.compute(ops.CooperativeMatrixConstructOp, [number], type)


def _index(builder: Builder, type: CoopmatrixType) -> dict[str, Attribute]:
    """An index into the work-item's vector, whatever the subgroup size is."""
    length = max(1, type.rows * type.columns // 32)
    return {"index": integer_attribute(builder.random.randrange(length))}


def _extract(builder: Builder) -> None:
    matrix = builder.any_matrix(rows=builder.subgroup_multiple)
    type = _matrix_type(matrix)
    properties = _index(builder, type)
    builder.compute(
        ops.CooperativeMatrixExtractOp, [matrix], type.component_type, properties, Level.WORK_ITEM
    )


def _insert(builder: Builder) -> None:
    matrix = builder.any_matrix(rows=builder.subgroup_multiple)
    type = _matrix_type(matrix)
    operands = [builder.scalar(type.component_type), matrix]
    properties = _index(builder, type)
    builder.compute(ops.CooperativeMatrixInsertOp, operands, type, properties, Level.SUBGROUP)


def _mul_add(builder: Builder) -> None:
    _, a_type, b_type, _, c_type = choices.element_types(builder.random)
    d_type = builder.choice([t for t in NUMBERS if is_cast_allowed(c_type, t)])
    rows, columns, inner = builder.subgroup_multiple, *builder.random.choices((1, 4, 8, 16), k=2)
    a = builder.matrix(CoopmatrixType.get(a_type, rows, inner, MatrixUse.A))
    b = builder.matrix(CoopmatrixType.get(b_type, inner, columns, MatrixUse.B))
    c = builder.matrix(CoopmatrixType.get(c_type, rows, columns, MatrixUse.ACC))
    result = CoopmatrixType.get(d_type, rows, columns, MatrixUse.ACC)
    builder.compute(ops.CooperativeMatrixMulAddOp, [a, b, c], result)


def _prefetch(builder: Builder) -> None:
    memref = builder.memref(builder.choice(NUMBERS), choices.shape(builder.random, 2))
    values = {"level": (0, 1, 3), "rows": (1, 16, 33), "columns": (1, 8, 100)}
    properties: dict[str, Attribute] = {
        name: integer_attribute(builder.choice(options)) for name, options in values.items()
    }
    operands = [memref, *builder.position()]
    builder.append(ops.CooperativeMatrixPrefetchOp, operands, properties)


def _reduce(cls: Operation, components: Sequence[Attribute], builder: Builder) -> None:
    matrix = builder.any_matrix(components, rows=builder.subgroup_multiple)
    type = _matrix_type(matrix)
    mode = builder.choice(list(ReduceMode))
    shape = (type.rows, 1) if mode == ReduceMode.ROW else (1, type.columns)
    result = CoopmatrixType.get(type.component_type, *shape, type.use)
    builder.compute(cls, [matrix], result, {"reduce_mode": ReduceModeAttr(mode)})


def _scale(builder: Builder) -> None:
    matrix = builder.any_matrix()
    type = _matrix_type(matrix)
    scalar = builder.scalar(type.component_type, Level.SUBGROUP)
    builder.compute(ops.CooperativeMatrixScaleOp, [scalar, matrix], type)


def _broadcast(builder: Builder) -> None:
    type = builder.choice(NUMBERS)
    operands = [builder.scalar(type), builder.scalar(I32, Level.SUBGROUP)]
    builder.compute(subgroup.SubgroupBroadcastOp, operands, type, level=Level.SUBGROUP)


def _subgroup(cls: Operation, types: Sequence[Attribute], level: Level, builder: Builder) -> None:
    type = builder.choice(types)
    builder.compute(cls, [builder.scalar(type)], type, level=level)


_SUBGROUP_OPERATIONS: dict[Operation, tuple[Sequence[Attribute], Level]] = {
    subgroup.SubgroupExclusiveScanAddOp: (NUMBERS, Level.WORK_ITEM),
    subgroup.SubgroupExclusiveScanMaxOp: (REALS, Level.WORK_ITEM),
    subgroup.SubgroupExclusiveScanMinOp: (REALS, Level.WORK_ITEM),
    subgroup.SubgroupInclusiveScanAddOp: (NUMBERS, Level.WORK_ITEM),
    subgroup.SubgroupInclusiveScanMaxOp: (REALS, Level.WORK_ITEM),
    subgroup.SubgroupInclusiveScanMinOp: (REALS, Level.WORK_ITEM),
    subgroup.SubgroupReduceAddOp: (NUMBERS, Level.SUBGROUP),
    subgroup.SubgroupReduceMaxOp: (REALS, Level.SUBGROUP),
    subgroup.SubgroupReduceMinOp: (REALS, Level.SUBGROUP),
}

SUBGROUP: list[Maker] = [
    partial(_load, ops.CooperativeMatrixLoadOp, _ACCESS),
    partial(_load, ops.CooperativeMatrixAtomicLoadOp, _ATOMIC_ACCESS),
    partial(_store, ops.CooperativeMatrixStoreOp, _ACCESS),
    partial(_store, ops.CooperativeMatrixAtomicStoreOp, _ATOMIC_ACCESS),
    partial(_update, ops.CooperativeMatrixAtomicAddOp, NUMBERS),
    partial(_update, ops.CooperativeMatrixAtomicMaxOp, REALS),
    partial(_update, ops.CooperativeMatrixAtomicMinOp, REALS),
    partial(_reduce, ops.CooperativeMatrixReduceAddOp, NUMBERS),
    partial(_reduce, ops.CooperativeMatrixReduceMaxOp, REALS),
    partial(_reduce, ops.CooperativeMatrixReduceMinOp, REALS),
    *(_construct, _extract, _insert, _mul_add, _prefetch, _scale, _broadcast),
    *(partial(_subgroup, cls, *rule) for cls, rule in _SUBGROUP_OPERATIONS.items()),
]
"""One for each instruction that the subgroup executes together and that has no region."""

SUBGROUP_REGIONS: list[Maker] = [_apply]
"""One for each such instruction with a region."""
