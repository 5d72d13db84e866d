"""Makes what instructions compute visible in memory, so that two runs can be compared.

The small kernels of `tests/translate/tensorlang_to_core/cases` compute values that nobody uses.
Here every value is stored to a parameter of its own, and matrices that are constants are read from
memory, so that no translation can leave them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tests.generators.tensorlang.choices import plain_constant
from xtile.dialects.tensorlang.ops.arithmetic import AddOp, CastOp, ConstantOp, MulOp
from xtile.dialects.tensorlang.ops.builtins import (
    SubgroupLinearIdOp,
    SubgroupLocalIdOp,
    SubgroupSizeOp,
)
from xtile.dialects.tensorlang.ops.collective import (
    AllocaOp,
    ForeachOp,
    ForeachTileOp,
    ParallelOp,
)
from xtile.dialects.tensorlang.ops.control import IfOp
from xtile.dialects.tensorlang.ops.cooperative_matrix import (
    CooperativeMatrixApplyOp,
    CooperativeMatrixLoadOp,
    CooperativeMatrixStoreOp,
)
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import LoadOp, StoreOp
from xtile.dialects.tensorlang.types import (
    BOOL,
    I8,
    I32,
    INDEX,
    CoopmatrixType,
    MemrefType,
    is_number,
)

SUBGROUP_SIZE = 16
WORK_GROUP_SIZE = (32, 2)
"""The sizes of functions that name none, so that what they become has the same."""

_MOST_WORK_ITEMS = 64
_MOST_SUBGROUPS = 4


def make_visible(function: FuncOp) -> None:
    """Stores the result of every instruction of a function to a new parameter."""
    if function.subgroup_size is None:
        function.properties["subgroup_size"] = IntegerAttr(SUBGROUP_SIZE, i64)
    if function.work_group_size is None:
        sizes = [IntegerAttr(size, i64) for size in WORK_GROUP_SIZE]
        function.properties["work_group_size"] = ArrayAttr(sizes)
    visible = _Visible(function.body.block)
    visible.show_block(function.body.block)


class _Visible:
    """Adds to a function; in SPMD regions, each work-item and subgroup has its own location."""

    def __init__(self, body: Block) -> None:
        self._body = body
        self._work_item: SSAValue | None = None
        self._subgroup: SSAValue | None = None

    def show_block(self, block: Block) -> None:
        """Makes all results in a block visible, and those in the regions of its operations."""
        for operation in list(block.ops):
            if isinstance(operation, ConstantOp) and isinstance(
                operation.result.type, CoopmatrixType
            ):
                operation = self._read_instead(operation)
            self._insert_behind(operation, self._stores(operation))
            if isinstance(operation, CooperativeMatrixApplyOp):
                continue
            for region in operation.regions:
                if region.blocks.first is not None:
                    self._show_region(operation, region.blocks.first)

    def _show_region(self, operation: Operation, block: Block) -> None:
        if not isinstance(operation, ParallelOp | ForeachOp | ForeachTileOp):
            self.show_block(block)
            return
        made = _ids()
        self._subgroup, self._work_item = made[-2].results[0], made[-1].results[0]
        self.show_block(block)
        self._subgroup = self._work_item = None
        first = block.first_op
        if first is None:
            block.add_ops(made)
        else:
            block.insert_ops_before(made, first)

    def _parameter(self, type_: MemrefType) -> SSAValue:
        return self._body.insert_arg(type_, len(self._body.args))

    def _insert_behind(self, operation: Operation, new: Sequence[Operation]) -> None:
        block = operation.parent
        assert block is not None
        if new:
            block.insert_ops_after(list(new), operation)

    def _read_instead(self, constant: ConstantOp) -> Operation:
        """A constant matrix becomes one that is read from a parameter."""
        type_ = constant.result.type
        assert isinstance(type_, CoopmatrixType)
        memory = self._parameter(MemrefType.get(type_.component_type, type_.shape))
        zero = _constant(0)
        load = CooperativeMatrixLoadOp.build(
            operands=[memory, zero.result, zero.result], result_types=[type_]
        )
        block = constant.parent
        assert block is not None
        block.insert_ops_before([zero, load], constant)
        constant.result.replace_all_uses_with(load.result)
        constant.detach()
        constant.erase()
        return load

    def _stores(self, operation: Operation) -> list[Operation]:
        return [new for result in operation.results for new in self._store(result)]

    def _store(self, value: SSAValue) -> Iterator[Operation]:
        type_ = value.type
        if isinstance(type_, CoopmatrixType):
            yield from self._store_matrix(value, type_)
        elif isinstance(type_, MemrefType):
            zero = _constant(0)
            indices = [zero.result] * type_.order
            yield zero
            if isinstance(value.owner, AllocaOp):
                # New memory holds nothing that devices agree on.
                number = plain_constant(type_.element_type, 1)
                one = ConstantOp.build(
                    properties={"value": number}, result_types=[type_.element_type]
                )
                yield from (one, StoreOp.build(operands=[one.result, value, indices]))
            load = LoadOp.build(operands=[value, indices], result_types=[type_.element_type])
            yield load
            yield from self._store_number(load.result)
        elif type_ == BOOL:
            yield from self._store_bool(value)
        elif is_number(type_):
            yield from self._store_number(value)

    def _location(self) -> tuple[list[Operation], SSAValue]:
        if self._work_item is not None:
            return [], self._work_item
        zero = _constant(0)
        return [zero], zero.result

    def _store_number(self, value: SSAValue) -> Iterator[Operation]:
        memory = self._parameter(MemrefType.get(value.type, [_MOST_WORK_ITEMS]))
        made, location = self._location()
        yield from made
        yield StoreOp.build(operands=[value, memory, [location]])

    def _store_bool(self, value: SSAValue) -> Iterator[Operation]:
        memory = self._parameter(MemrefType.get(I8, [_MOST_WORK_ITEMS]))
        made, location = self._location()
        yield from made
        zero, one = _constant(0, I8), _constant(1, I8)
        yield zero
        yield StoreOp.build(operands=[zero.result, memory, [location]])
        store = StoreOp.build(operands=[one.result, memory, [location]])
        then = Region([Block([one, store])])
        yield IfOp.build(operands=[value], result_types=[[]], regions=[then, Region()])

    def _store_matrix(self, value: SSAValue, type_: CoopmatrixType) -> Iterator[Operation]:
        shape = (type_.rows, type_.columns * _MOST_SUBGROUPS)
        memory = self._parameter(MemrefType.get(type_.component_type, shape))
        zero, columns = _constant(0), _constant(type_.columns)
        assert self._subgroup is not None
        start = MulOp.build(operands=[self._subgroup, columns.result], result_types=[INDEX])
        yield from (zero, columns, start)
        yield CooperativeMatrixStoreOp.build(operands=[value, memory, zero.result, start.result])


def _constant(number: int, type_: Attribute = INDEX) -> ConstantOp:
    return ConstantOp.build(properties={"value": IntegerAttr(number, i64)}, result_types=[type_])


def _ids() -> list[Operation]:
    """Computes the numbers of the subgroup and of the work-item in the work-group, at the end."""
    subgroup = SubgroupLinearIdOp.build(result_types=[I32])
    lane = SubgroupLocalIdOp.build(result_types=[I32])
    size = SubgroupSizeOp.build(result_types=[I32])
    first = MulOp.build(operands=[subgroup.result, size.result], result_types=[I32])
    number = AddOp.build(operands=[first.result, lane.result], result_types=[I32])
    subgroup_index = CastOp.build(operands=[subgroup.result], result_types=[INDEX])
    work_item = CastOp.build(operands=[number.result], result_types=[INDEX])
    return [subgroup, lane, size, first, number, subgroup_index, work_item]
