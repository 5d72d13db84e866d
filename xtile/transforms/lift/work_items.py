"""Which work-item it is, and what the work-items of a subgroup tell each other."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.arith import BitcastOp
from xdsl.dialects.builtin import (
    AnyFloat,
    BoolAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i32,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.core.elements import GatherOp
from xtile.dialects.core.subgroup import SubgroupScanOp
from xtile.dialects.gpu.attributes import AllReduceOperationAttr, ShuffleModeAttr
from xtile.dialects.gpu.enumerations import Dimension, ShuffleMode
from xtile.dialects.gpu.indices import BlockIdOp, dimension_number
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.reductions import ScanOp
from xtile.rewrite.facts import assumed
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.transforms.lift.divergence import is_indexed
from xtile.transforms.lift.widening import Wide, Widening, axes_of, neutral
from xtile.transforms.lift.work_group import LANE, OF_LANE

# --- numbers of work-items ---


def lane_id(operation: Operation, widening: Widening) -> None:
    """The number along the axis of lanes."""
    widening.define(operation.results[0], widening.line(LANE))


def subgroup_id(operation: Operation, widening: Widening) -> None:
    """The number of the subgroup in the grid of subgroups."""
    widening.define(operation.results[0], _subgroup(widening))


def thread_id(operation: Operation, widening: Widening) -> None:
    """The number of the work-item along a dimension, of which x varies fastest."""
    widening.define(operation.results[0], _thread(widening, dimension_number(operation)))


def _thread(widening: Widening, dimension: int) -> Wide:
    block, lanes = widening.group.block, widening.group.lanes
    size, inner = block[dimension], math.prod(block[:dimension])
    if size == 1:
        return widening.number(0, IndexType())
    low, high = widening.group.digits
    below, columns = lanes * widening.group.columns, widening.line(low)
    if inner == 1 and size == below:
        first = widening.multiply(columns, lanes)
        return widening.as_wide(widening.add(first, widening.line(LANE)))
    if inner % below == 0:
        return _digit(widening, widening.line(high), inner // below, size)
    if lanes % (inner * size) == 0:
        return _digit(widening, widening.line(LANE), inner, size)
    number = widening.add(widening.multiply(_subgroup(widening), lanes), widening.line(LANE))
    return _digit(widening, widening.as_wide(number), inner, size)


def _subgroup(widening: Widening) -> Wide:
    low, high = widening.group.digits
    if high not in widening.sizes:
        return widening.line(low)
    first = widening.multiply(widening.line(high), widening.group.columns)
    return widening.as_wide(widening.add(first, widening.line(low)))


def digit_of_subgroup(operation: Operation, widening: Widening, axis: int) -> None:
    """Where in the grid of subgroups the subgroup is, along an axis."""
    number, type_ = widening.line(axis), operation.results[0].type
    if number.element != type_:
        number = widening.computed(IndexCastOp, number, type=type_)
    widening.define(operation.results[0], number)


def _digit(widening: Widening, number: Wide, unit: int, size: int) -> Wide:
    """A digit of a number in a mixed base; the highest needs no remainder."""
    count = math.prod(number.sizes.values())
    if unit > 1:
        number = widening.computed(arith.DivUIOp, number, widening.number(unit, IndexType()))
    if -(-count // unit) > size:
        number = widening.computed(arith.RemUIOp, number, widening.number(size, IndexType()))
    return number


def global_id(operation: Operation, widening: Widening) -> None:
    """The number of the work-item among those of all work-groups."""
    number = dimension_number(operation)
    block = widening.kernel.emit(BlockIdOp(list(Dimension)[number])).result
    first = widening.multiply(block, widening.group.block[number])
    whole = widening.add(first, _thread(widening, number))
    widening.define(operation.results[0], widening.as_wide(whole))


def _constant(operation: Operation, widening: Widening, number: int) -> None:
    widening.kernel.define(operation.results[0], widening.kernel.index(number))


def block_dim(operation: Operation, widening: Widening) -> None:
    """The number of work-items along a dimension is known."""
    _constant(operation, widening, widening.group.block[dimension_number(operation)])


def num_subgroups(operation: Operation, widening: Widening) -> None:
    """The number of subgroups is known."""
    _constant(operation, widening, widening.group.subgroups)


def subgroup_size(operation: Operation, widening: Widening) -> None:
    """The number of work-items of a subgroup is known."""
    _constant(operation, widening, widening.group.lanes)


def barrier(operation: Operation, widening: Widening) -> None:
    """All work-items are done with an operation before they begin the next one."""


# --- values of other lanes ---


def shuffle(operation: Operation, widening: Widening) -> None:
    """The value of another lane in the same subgroup; without one a lane keeps its own."""
    value, offset, width = (widening.wide(operand) for operand in operation.operands)
    result, valid = operation.results
    mode = operation.properties["mode"]
    assert isinstance(mode, ShuffleModeAttr)
    needs_validity = valid.first_use is not None
    if not needs_validity and (LANE not in value.axes or LANE not in widening.sizes):
        widening.define(result, value)
        return
    if not needs_validity and is_indexed(operation) and LANE not in (*offset.axes, *width.axes):
        widening.define(result, _of_lane(widening, value, offset))
        return
    lane = widening.computed(IndexCastOp, widening.line(LANE), type=i32)
    source = _source(widening, mode.data, lane, offset)
    inside = widening.both(
        widening.compared("sge", source, widening.number(0, i32)),
        widening.both(
            widening.compared("slt", source, width), widening.compared("slt", lane, width)
        ),
    )
    widening.define(valid, inside)
    if LANE not in value.axes:
        widening.define(result, widening.like(value, result))
        return
    widening.define(result, _gathered(widening, value, widening.select(inside, source, lane)))


def _source(widening: Widening, mode: ShuffleMode, lane: Wide, offset: Wide) -> Wide:
    if mode is ShuffleMode.IDX:
        return offset
    kinds = {
        ShuffleMode.XOR: arith.XOrIOp,
        ShuffleMode.UP: arith.SubiOp,
        ShuffleMode.DOWN: arith.AddiOp,
    }
    return widening.computed(kinds[mode], lane, offset)


def _gathered(widening: Widening, value: Wide, source: Wide) -> Wide:
    """The elements of lanes that differ."""
    whole, positions = widening.together((value, source))
    axes = whole.axes
    operation = GatherOp.build(
        operands=[whole.value, positions.value],
        result_types=[whole.value.type],
        properties={"axis": IntegerAttr(axes.index(LANE), i64)},
    )
    return Wide((widening.kernel.emit(operation).result,), axes)


def _of_lane(widening: Widening, value: Wide, number: Wide) -> Wide:
    """The element of one lane for each subgroup: the bits of all others are left out."""
    type_ = value.element
    bits = IntegerType(type_.bitwidth) if isinstance(type_, AnyFloat) else type_
    if bits != type_:
        value = widening.computed(BitcastOp, value, type=bits)
    lane = widening.computed(IndexCastOp, widening.line(LANE), type=i32)
    is_it = widening.compared("eq", lane, number)
    chosen = widening.select(is_it, value, widening.number(0, bits))
    result = widening.reduced(CombiningKindFlag.OR, chosen, OF_LANE)
    return result if bits == type_ else widening.computed(BitcastOp, result, type=type_)


def rotate(operation: Operation, widening: Widening) -> None:
    """The value of the lane that is some further on, around groups of lanes."""
    value = widening.wide(operation.operands[0])
    offset, width = (assumed(operation, name) or 0 for name in ("offset", "width"))
    lane = widening.computed(IndexCastOp, widening.line(LANE), type=i32)
    moved = widening.computed(arith.AddiOp, lane, widening.number(offset, i32))
    source = widening.computed(arith.RemUIOp, moved, widening.number(width, i32))
    inside = widening.compared("slt", lane, widening.number(width, i32))
    source = widening.select(inside, source, lane)
    result, valid = operation.results
    if LANE not in value.axes:
        value = widening.aligned(value, axes_of((value, lane)))
    widening.define(result, _gathered(widening, value, source))
    widening.define(valid, widening.like(inside, valid))


def broadcast(operation: Operation, widening: Widening) -> None:
    """The value of one lane."""
    value, *lane = (widening.wide(operand) for operand in operation.operands)
    if LANE not in value.axes:
        widening.define(operation.results[0], value)
        return
    if lane:
        chosen = widening.of_subgroup(lane[0])
    else:
        number = widening.computed(IndexCastOp, widening.line(LANE), type=i32)
        first = widening.active(number, CombiningKindFlag.MINSI)
        chosen = widening.reduced(CombiningKindFlag.MINSI, first, OF_LANE)
    widening.define(operation.results[0], _of_lane(widening, value, chosen))


# --- reductions and scans ---


def _kind(operation: Operation) -> str:
    attribute = operation.properties["op"]
    assert isinstance(attribute, AllReduceOperationAttr)
    return str(attribute.data)


def _over_lanes(widening: Widening, value: Wide, kind: CombiningKindFlag) -> Wide:
    """A value of each lane, which changes nothing where the lane takes no part."""
    axes = tuple(sorted({*value.axes, *(widening.sizes.keys() & OF_LANE)}))
    return widening.active(widening.aligned(value, axes), kind)


def reduce(operation: Operation, widening: Widening) -> None:
    """What the active lanes of a subgroup, or of clusters of its lanes, come to."""
    kind = CombiningKindFlag(_kind(operation))
    value = _over_lanes(widening, widening.wide(operation.operands[0]), kind)
    cluster = operation.get_attr_or_prop("cluster_size")
    if isinstance(cluster, IntegerAttr) and LANE in value.axes:
        stride = operation.get_attr_or_prop("cluster_stride")
        step = stride.value.data if isinstance(stride, IntegerAttr) else 1
        widening.define(
            operation.results[0], _of_clusters(widening, value, kind, cluster.value.data, step)
        )
        return
    widening.define(operation.results[0], widening.reduced(kind, value, OF_LANE))


def _of_clusters(
    widening: Widening, value: Wide, kind: CombiningKindFlag, size: int, stride: int
) -> Wide:
    """Every stride-th of size times stride lanes are a cluster."""
    kernel, at = widening.kernel, value.axes.index(LANE)
    before = list(value.sizes.values())
    outer, inner = before[:at], before[at + 1 :]
    count = widening.group.lanes // (size * stride)
    parts = kernel.reshape(value.value, [*outer, count, size, stride, *inner])
    # The dimension of a cluster's lanes takes the place of an axis that is reduced.
    axis = len(outer) + 1
    type_ = with_shape(parts.type, [*outer, count, stride, *inner])
    start = kernel.constant(neutral(kind, value_type(type_)), type_)
    combined = widening.combined(kind, parts, start, [axis])
    thin = kernel.reshape(combined, [*outer, count, 1, stride, *inner])
    spread = kernel.spread(thin, [*outer, count, size, stride, *inner])
    return Wide((kernel.reshape(spread, before),), value.axes)


def all_reduce(operation: Operation, widening: Widening) -> None:
    """What all active work-items come to."""
    if operation.get_attr_or_prop("op") is None:
        raise widening.kernel.error(
            "gpu.all_reduce with a region has no counterpart on tiles; name an operation"
        )
    kind = CombiningKindFlag(_kind(operation))
    value = widening.wide(operation.operands[0])
    value = widening.active(widening.aligned(value, sorted(widening.sizes)), kind)
    widening.define(operation.results[0], widening.reduced(kind, value, frozenset(value.axes)))


def scan(operation: SubgroupScanOp, widening: Widening) -> None:
    """What the active lanes up to each one come to, with or without its own value."""
    kernel = widening.kernel
    wide = widening.wide(operation.value)
    is_float = isinstance(wide.element, AnyFloat)
    kind = CombiningKindFlag(_SCANS[operation.kind.data.value][is_float])
    axes = tuple(sorted({*wide.axes, *(widening.sizes.keys() & OF_LANE)}))
    value = widening.aligned(wide, axes)
    identity = widening.number(_identity(kind, value), value.element)
    if widening.mask is not None:
        value = widening.select(widening.mask, value, identity)
    if LANE not in value.axes:
        # A subgroup of one work-item.
        widening.define(operation.result, value if operation.exclusive is None else identity)
        return
    axis = value.axes.index(LANE)
    shape = shape_of(value.value.type)
    rest = with_shape(value.value.type, [*shape[:axis], *shape[axis + 1 :]])
    if not shape_of(rest):
        # The rest of a line has no dimension, which vector.scan wants.
        line = kernel.reshape(value.value, [1, *shape])
        rest = with_shape(value.value.type, [1])
        result = kernel.reshape(_scanned(widening, kind, line, 1, rest), shape)
    else:
        result = _scanned(widening, kind, value.value, axis, rest)
    inclusive = Wide((result,), value.axes)
    if operation.exclusive is None:
        widening.define(operation.result, inclusive)
        return
    lane = widening.line(LANE)
    before = widening.computed(arith.SubiOp, lane, widening.number(1, IndexType()))
    is_first = widening.compared("eq", lane, widening.number(0, IndexType()))
    source = widening.select(is_first, lane, before)
    moved = _gathered(widening, inclusive, source)
    widening.define(operation.result, widening.select(is_first, identity, moved))


def _scanned(
    widening: Widening, kind: CombiningKindFlag, value: SSAValue, axis: int, rest: Attribute
) -> SSAValue:
    kernel = widening.kernel
    start = kernel.constant(neutral(kind, value_type(rest)), rest)
    made = ScanOp.build(
        operands=[value, start],
        result_types=[value.type, rest],
        properties={
            "kind": CombiningKindAttr(kind),
            "reduction_dim": IntegerAttr(axis, i64),
            "inclusive": BoolAttr.from_bool(True),
        },
    )
    return kernel.emit(made).dest


def _identity(kind: CombiningKindFlag, value: Wide) -> float:
    """What an exclusive scan begins with: the least or greatest number of the type, or 0."""
    of_floats = {"add": 0.0, "maxnumf": -math.inf, "minnumf": math.inf}
    known = of_floats.get(str(kind)) if isinstance(value.element, AnyFloat) else None
    return neutral(kind, value.element) if known is None else known


_SCANS: Mapping[str, tuple[str, str]] = {
    "add": ("add", "add"),
    "max": ("maxsi", "maxnumf"),
    "min": ("minsi", "minnumf"),
}
"""The kind of a scan, for integers and for floats."""
