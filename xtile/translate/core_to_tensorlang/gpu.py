"""Where a work-item stands in the launch, barriers, and what work-items of a subgroup exchange.

A work-group of the tensor language has two dimensions, the first of which is a multiple of the
subgroup's size. Others are one line of work-items here, whose numbers are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import ScanKind
from xtile.dialects.effects import differs_between_lanes, is_pure
from xtile.dialects.gpu.attributes import AllReduceOperationAttr, DimensionAttr, ShuffleModeAttr
from xtile.dialects.gpu.enumerations import AllReduceOperation, Dimension, ShuffleMode
from xtile.dialects.tensorlang.attributes import AddressSpace, Component
from xtile.dialects.tensorlang.ops import arithmetic, builtins, collective, control, subgroup
from xtile.dialects.tensorlang.ops import memory as memory_ops
from xtile.dialects.tensorlang.types import BOOL, I32, INDEX, MemrefType
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_tensorlang.arithmetic import compare
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values, refuse_because

_COMPONENTS = {Dimension.X: Component.X, Dimension.Y: Component.Y, Dimension.Z: Component.Z}
_DIMENSIONS = (Dimension.X, Dimension.Y, Dimension.Z)


def fits(block: tuple[int, int, int], subgroup_size: int | None) -> bool:
    """Whether a work-group is one of the tensor language as it is."""
    return block[2] == 1 and (subgroup_size is None or block[0] % subgroup_size == 0)


def _builtin(r: Lowering, operation: Operation) -> SSAValue:
    return r.cast(r.number(operation), INDEX)


def lane_of(r: Lowering) -> SSAValue:
    """The number of the work-item in its subgroup."""
    return _builtin(r, builtins.SubgroupLocalIdOp())


def _size_of_subgroup(r: Lowering) -> Index:
    return r.subgroup_size or _builtin(r, builtins.SubgroupSizeOp())


def linear_work_item(r: Lowering) -> SSAValue:
    """The number of the work-item in its work-group."""
    first = r.multiply(_builtin(r, builtins.SubgroupLinearIdOp()), _size_of_subgroup(r))
    return r.as_value(r.add(first, lane_of(r)))


def once(r: Lowering, emit: Callable[[], SSAValue | None]) -> SSAValue | None:
    """What is emitted, done by the first work-item where all work-items would do it.

    All of them know the result, which goes through local memory.
    """
    if not r.is_collective:
        return emit()
    inside = Block()
    with r.in_spmd(inside):
        subgroup_id = r.number(builtins.SubgroupLinearIdOp())
        lane = r.number(builtins.SubgroupLocalIdOp())
        either = r.number(arithmetic.OrOp(subgroup_id, lane))
        is_first = r.number(arithmetic.EqualOp(either, r.constant(0, I32)))
        then = Block()
        with r.at_end_of(then):
            result = emit()
        memory: SSAValue | None = None
        if result is not None:
            with r.at_end_of(r.open_blocks[-2]):
                type_ = MemrefType.get(result.type, address_space=AddressSpace.LOCAL)
                memory = r.number(collective.AllocaOp(type_))
            with r.at_end_of(then):
                r.emit(memory_ops.StoreOp(result, memory))
        r.emit(control.IfOp(is_first, [], Region([then])))
    r.emit(collective.ParallelOp(Region([inside])))
    return None if memory is None else r.number(memory_ops.LoadOp(memory))


def _thread(r: Lowering, dimension: Dimension) -> Index:
    block = r.block_size
    if block is None or (fits(block, r.subgroup_size) and not r.surplus):
        if dimension is Dimension.X:
            subgroup_x = _builtin(r, builtins.SubgroupIdOp(Component.X))
            return r.add(r.multiply(subgroup_x, _size_of_subgroup(r)), lane_of(r))
        return 0 if dimension is Dimension.Z else _builtin(r, builtins.SubgroupIdOp(Component.Y))
    number = _DIMENSIONS.index(dimension)
    rest = r.divide(linear_work_item(r), math.prod(block[:number]))
    return rest if number == 2 else r.remainder(rest, block[number])


def _block_dim(r: Lowering, dimension: Dimension) -> Index:
    if r.block_size is not None:
        return r.block_size[_DIMENSIONS.index(dimension)]
    if dimension is Dimension.X:
        count = _builtin(r, builtins.NumSubgroupsOp(Component.X))
        return r.multiply(count, _size_of_subgroup(r))
    return 1 if dimension is Dimension.Z else _builtin(r, builtins.NumSubgroupsOp(Component.Y))


def _group(r: Lowering, dimension: Dimension) -> SSAValue:
    return r.number(builtins.GroupIdOp(_COMPONENTS[dimension]))


def _dimension(operation: Operation) -> Dimension:
    return cast("DimensionAttr", operation.properties["dimension"]).data


def _thread_id(operation: Operation, r: Lowering) -> None:
    r.define(operation.results[0], r.as_value(_thread(r, _dimension(operation))))


def _block_dimension(operation: Operation, r: Lowering) -> None:
    r.define(operation.results[0], r.as_value(_block_dim(r, _dimension(operation))))


def _block_id(operation: Operation, r: Lowering) -> None:
    r.define(operation.results[0], _group(r, _dimension(operation)))


def _grid_dim(operation: Operation, r: Lowering) -> None:
    component = _COMPONENTS[_dimension(operation)]
    r.define(operation.results[0], r.number(builtins.NumGroupsOp(component)))


def _global_id(operation: Operation, r: Lowering) -> None:
    dimension = _dimension(operation)
    first = r.multiply(_group(r, dimension), _block_dim(r, dimension))
    r.define(operation.results[0], r.as_value(r.add(first, _thread(r, dimension))))


def _lane_id(operation: Operation, r: Lowering) -> None:
    r.define(operation.results[0], lane_of(r))


def _subgroup_id(operation: Operation, r: Lowering) -> None:
    r.define(operation.results[0], _builtin(r, builtins.SubgroupLinearIdOp()))


def _subgroup_size(operation: Operation, r: Lowering) -> None:
    r.define(operation.results[0], _builtin(r, builtins.SubgroupSizeOp()))


def _num_subgroups(operation: Operation, r: Lowering) -> None:
    counts = [_builtin(r, builtins.NumSubgroupsOp(each)) for each in (Component.X, Component.Y)]
    r.define(operation.results[0], r.as_value(r.multiply(*counts)))


def _barrier(operation: Operation, r: Lowering) -> None:
    r.emit(memory_ops.BarrierOp(global_fence=True, local_fence=True))


# --- exchanges ---


def is_uniform(value: SSAValue, depth: int = 16) -> bool:
    """Whether a value of the source is certainly the same in all work-items of a subgroup."""
    owner = value.owner
    if not isinstance(owner, Operation):
        around = owner.parent_op()
        if around is None or depth == 0:
            return False
        if around.name == "gpu.func":
            return True
        return (
            around.name == "scf.for"
            and all(is_uniform(each, depth - 1) for each in around.operands[:3])
            and owner.args[0] is value
        )
    if owner.name == "gpu.subgroup_reduce":
        return True
    if depth == 0 or owner.regions or differs_between_lanes(owner):
        return False
    return is_pure(owner) and all(is_uniform(each, depth - 1) for each in owner.operands)


def _each_lane(r: Lowering, emit: Any, init: Values) -> Values:
    """What a loop over the work-items of a subgroup carries; `emit` gets the number of one."""

    def body(index: SSAValue, carried: Values) -> Values:
        return emit(r.cast(index, I32), carried)

    return r.for_(0, _size_of_subgroup(r), 1, init, body, BoolAttr.from_bool(False))


def take(r: Lowering, value: SSAValue, lane: SSAValue) -> SSAValue:
    """What a work-item has, for one that may be another in each: all of them, one by one."""

    def turn(number: SSAValue, carried: Values) -> Values:
        given = r.number(subgroup.SubgroupBroadcastOp(value, number))
        is_it = r.number(arithmetic.EqualOp(number, lane))
        return [r.choose(is_it, lambda: given, lambda: carried[0])]

    return _each_lane(r, turn, [value])[0]


def _shuffle(operation: Operation, r: Lowering) -> None:
    value, index, width = r.values(operation.operands)
    mode = cast("ShuffleModeAttr", operation.properties["mode"]).data
    if value.type == BOOL:
        raise r.error("work-items of the tensor language exchange numbers, not truth values")
    old_index, old_width = operation.operands[1:]
    segment = constant_of(old_width)
    is_whole = segment is not None and segment == r.subgroup_size
    is_whole = is_whole or getattr(old_width.owner, "name", "") in _OF_SUBGROUP
    if mode is ShuffleMode.IDX and is_whole and is_uniform(old_index):
        result = r.number(subgroup.SubgroupBroadcastOp(value, index))
        r.define(operation.results[0], result)
        r.define(operation.results[1], r.constant(True, BOOL))
        return
    lane = r.cast(lane_of(r), I32)
    first = r.pure(arithmetic.SubOp, lane, r.pure(arithmetic.RemOp, lane, width))
    own = r.pure(arithmetic.SubOp, lane, first)
    source = {
        ShuffleMode.IDX: lambda: r.pure(arithmetic.RemOp, index, width),
        ShuffleMode.XOR: lambda: r.pure(arithmetic.XorOp, own, index),
        ShuffleMode.UP: lambda: r.pure(arithmetic.SubOp, own, index),
        ShuffleMode.DOWN: lambda: r.pure(arithmetic.AddOp, own, index),
    }[mode]()
    zero = r.constant(0, I32)
    is_inside = r.pure(
        arithmetic.AndOp, compare(r, "sge", source, zero), compare(r, "slt", source, width)
    )
    at = r.pure(arithmetic.AddOp, first, r.select(is_inside, source, own))
    r.define(operation.results[0], take(r, value, at))
    r.define(operation.results[1], is_inside)


_OF_SUBGROUP = ("gpu.subgroup_size", "arith.index_cast")

_REDUCTIONS: Mapping[AllReduceOperation, type[subgroup.SubgroupOperation]] = {
    AllReduceOperation.ADD: subgroup.SubgroupReduceAddOp,
    AllReduceOperation.MAXNUMF: subgroup.SubgroupReduceMaxOp,
    AllReduceOperation.MAXSI: subgroup.SubgroupReduceMaxOp,
    AllReduceOperation.MINNUMF: subgroup.SubgroupReduceMinOp,
    AllReduceOperation.MINSI: subgroup.SubgroupReduceMinOp,
}
"""The instruction of each reduction that has one."""

_COMBINATIONS: Mapping[AllReduceOperation, type[arithmetic.BinaryArithmeticOperation]] = {
    AllReduceOperation.AND: arithmetic.AndOp,
    AllReduceOperation.OR: arithmetic.OrOp,
    AllReduceOperation.XOR: arithmetic.XorOp,
    AllReduceOperation.MUL: arithmetic.MulOp,
}
"""What combines two numbers of a reduction without an instruction."""


def _subgroup_reduce(operation: Operation, r: Lowering) -> None:
    (value,) = r.values(operation.operands)
    kind = cast("AllReduceOperationAttr", operation.properties["op"]).data
    size = operation.properties.get("cluster_size")
    if size is not None and cast("IntegerAttr[Any]", size).value.data != r.subgroup_size:
        raise r.error("the tensor language reduces whole subgroups; leave out cluster_size")
    if kind in _REDUCTIONS:
        r.define(operation.results[0], r.number(_REDUCTIONS[kind](value)))
        return
    if kind not in _COMBINATIONS:
        raise r.error(f"the tensor language has no reduction {kind.value} of a subgroup")
    combine = _COMBINATIONS[kind]

    def turn(number: SSAValue, carried: Values) -> Values:
        return [r.number(combine(carried[0], r.number(_broadcast(value, number))))]

    first = r.number(_broadcast(value, r.constant(0, I32)))
    rest = r.for_(1, _size_of_subgroup(r), 1, [first], lambda i, c: turn(r.cast(i, I32), c))
    r.define(operation.results[0], rest[0])


_broadcast = subgroup.SubgroupBroadcastOp


def _subgroup_broadcast(operation: Operation, r: Lowering) -> None:
    value = r.value(operation.operands[0])
    lane = r.value(operation.operands[1]) if operation.operands[1:] else r.constant(0, I32)
    r.define(operation.results[0], r.number(_broadcast(value, lane)))


_SCANS: Mapping[tuple[ScanKind, bool], type[subgroup.SubgroupOperation]] = {
    (ScanKind.ADD, False): subgroup.SubgroupInclusiveScanAddOp,
    (ScanKind.MAX, False): subgroup.SubgroupInclusiveScanMaxOp,
    (ScanKind.MIN, False): subgroup.SubgroupInclusiveScanMinOp,
    (ScanKind.ADD, True): subgroup.SubgroupExclusiveScanAddOp,
    (ScanKind.MAX, True): subgroup.SubgroupExclusiveScanMaxOp,
    (ScanKind.MIN, True): subgroup.SubgroupExclusiveScanMinOp,
}


def _subgroup_scan(operation: Operation, r: Lowering) -> None:
    kind = cast(Any, operation.properties["kind"]).data
    scan = _SCANS[kind, operation.properties.get("exclusive") is not None]
    r.define(operation.results[0], r.number(scan(r.value(operation.operands[0]))))


RULES: dict[str, Rule] = {
    "core.subgroup_scan": _subgroup_scan,
    "gpu.all_reduce": refuse_because("the tensor language reduces subgroups only"),
    "gpu.barrier": _barrier,
    "gpu.block_dim": _block_dimension,
    "gpu.block_id": _block_id,
    "gpu.global_id": _global_id,
    "gpu.grid_dim": _grid_dim,
    "gpu.lane_id": _lane_id,
    "gpu.num_subgroups": _num_subgroups,
    "gpu.printf": refuse_because("the tensor language does not print"),
    "gpu.shuffle": _shuffle,
    "gpu.subgroup_broadcast": _subgroup_broadcast,
    "gpu.subgroup_id": _subgroup_id,
    "gpu.subgroup_reduce": _subgroup_reduce,
    "gpu.subgroup_size": _subgroup_size,
    "gpu.thread_id": _thread_id,
}
"""The rule of each operation, by name."""
