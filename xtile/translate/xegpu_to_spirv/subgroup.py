"""Exchanges between the work-items of a subgroup or a work-group.

Source: SPIR-V Specification, 3.52.21 "Group and Subgroup Instructions" and 3.52.24 "Non-Uniform
Instructions"; docs/semantics.md, 7, "Execution".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i8, i32
from xdsl.ir import Operation, SSAValue

from xtile.dialects.gpu.enumerations import BroadcastType
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.combining import combine, narrowed, widened
from xtile.translate.xegpu_to_spirv.gpu import SUBGROUP_SCOPE, WORKGROUP_SCOPE, lane
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import element_type, integer_width, is_vector

Exchange = Callable[[SSAValue], SSAValue]
"""Emits what becomes of one number."""


def _define_each(lowering: Lowering, value: SSAValue, result: SSAValue, exchange: Exchange) -> None:
    """Exchanges a number, or the elements of a vector one by one."""
    if not is_vector(value.type):
        lowering.define(result, exchange(lowering.value(value)))
        return
    from xtile.translate.xegpu_to_spirv.vectors.entries import define_entries, element, entries

    made = [exchange(element(lowering, entry)) for entry in entries(value, lowering)]
    define_entries(lowering, result, [(one, 0) for one in made])


def read_lane(lowering: Lowering, value: SSAValue, source: SSAValue) -> SSAValue:
    """A number of another work-item of the subgroup."""
    scope = lowering.integer(SUBGROUP_SCOPE, i32)
    if value.type == i1:
        byte = lowering.select(value, lowering.integer(1, i8), lowering.integer(0, i8))
        read = lowering.compute("GroupNonUniformShuffle", i8, scope, byte, source)
        return lowering.compute("INotEqual", i1, read, lowering.integer(0, i8))
    return lowering.compute("GroupNonUniformShuffle", value.type, scope, value, source)


# --- shuffles ---

_SOURCES = {"xor": "BitwiseXor", "up": "ISub", "down": "IAdd"}
"""How a shuffle computes the lane that it reads from; "idx" names it."""


def _shuffle(operation: Operation, lowering: Lowering) -> None:
    value, *rest = operation.operands
    offset, width = lowering.values(rest)
    result, valid = operation.results
    mode = str(cast(Any, operation.properties["mode"]).data)
    own = lane(lowering)
    source = offset
    if mode != "idx":
        source = lowering.shared_compute(_SOURCES[mode], i32, own, offset)
    is_valid = _is_valid(lowering, mode, source, offset, width)
    if is_valid is not None:
        # A work-item without a source keeps its value.
        source = lowering.select(is_valid, source, own)
    lowering.define(valid, lowering.true() if is_valid is None else is_valid)
    _define_each(lowering, value, result, lambda number: read_lane(lowering, number, source))


def _is_valid(
    lowering: Lowering, mode: str, source: SSAValue, offset: SSAValue, width: SSAValue
) -> SSAValue | None:
    """Whether there is a lane to read from; None if there surely is."""
    numbers = lowering.constants.numbers
    size = lowering.kernel.lanes
    is_whole = numbers.get(width) == size
    if is_whole and mode in ("xor", "idx") and 0 <= numbers.get(offset, -1) < size:
        return None
    in_range = lowering.compute("ULessThan", i1, source, width)
    if is_whole:
        return in_range
    own_in_range = lowering.compute("ULessThan", i1, lane(lowering), width)
    return lowering.compute("LogicalAnd", i1, in_range, own_in_range)


def _rotate(operation: Operation, lowering: Lowering) -> None:
    """Each of the first `width` lanes reads from the one `offset` behind it, around the end."""
    offset, width = (_number(operation, name) for name in ("offset", "width"))
    result, valid = operation.results
    own = lane(lowering)
    size = lowering.kernel.lanes
    if width > size:
        raise lowering.error(f"the width {width} is more than the {size} work-items of a subgroup")
    moved = lowering.compute("IAdd", i32, own, lowering.integer(offset % width, i32))
    source = lowering.compute("UMod", i32, moved, lowering.integer(width, i32))
    is_valid = lowering.true()
    if width != size:
        is_valid = lowering.compute("ULessThan", i1, own, lowering.integer(width, i32))
        source = lowering.select(is_valid, source, own)
    lowering.define(valid, is_valid)
    value = operation.operands[0]
    _define_each(lowering, value, result, lambda number: read_lane(lowering, number, source))


def _broadcast(operation: Operation, lowering: Lowering) -> None:
    value, *lanes = operation.operands
    (result,) = operation.results
    kind = cast(Any, operation.properties["broadcast_type"]).data
    if kind == BroadcastType.SPECIFIC_LANE:
        source = lowering.value(lanes[0])
        _define_each(lowering, value, result, lambda number: read_lane(lowering, number, source))
        return
    scope = lowering.integer(SUBGROUP_SCOPE, i32)
    name = "GroupNonUniformBroadcastFirst"
    _define_each(
        lowering, value, result, lambda number: lowering.compute(name, number.type, scope, number)
    )


def _number(operation: Operation, name: str) -> int:
    return cast("IntegerAttr[IntegerType]", operation.properties[name]).value.data


# --- reductions ---

_OF_INTEGERS = {
    "add": "IAdd",
    "mul": "IMul",
    "minui": "UMin",
    "minsi": "SMin",
    "maxui": "UMax",
    "maxsi": "SMax",
    "and": "BitwiseAnd",
    "or": "BitwiseOr",
    "xor": "BitwiseXor",
}

_OF_FLOATS = {"add": "FAdd", "mul": "FMul", "minnumf": "FMin", "maxnumf": "FMax"}
"""The reductions that SPIR-V has, by the names of `gpu`'s, without `GroupNonUniform`."""

_OF_WORK_GROUPS = frozenset({"IAdd", "FAdd", "UMin", "SMin", "FMin", "UMax", "SMax", "FMax"})
"""The reductions that SPIR-V has of work-groups, too."""


def _subgroup_reduce(operation: Operation, lowering: Lowering) -> None:
    kind = str(cast(Any, operation.properties["op"]).data)
    (value,), (result,) = operation.operands, operation.results
    size = lowering.kernel.lanes
    stride = _number(operation, "cluster_stride")
    cluster = size
    if "cluster_size" in operation.properties:
        cluster = _number(operation, "cluster_size")
    if size % (cluster * stride):
        raise lowering.error(
            f"clusters of {cluster} work-items with stride {stride} do not divide a subgroup of "
            f"{size} work-items"
        )

    def exchange(number: SSAValue) -> SSAValue:
        type_ = element_type(value.type)
        wide = widened(lowering, number, type_)
        if cluster == size and not _is_truth(wide) and _name(kind, wide) is not None:
            total = _reduce(lowering, _name(kind, wide) or "", wide)
        else:
            total = _by_shuffles(lowering, kind, wide, cluster, stride)
        return narrowed(lowering, total, type_)

    _define_each(lowering, value, result, exchange)


def _is_truth(value: SSAValue) -> bool:
    return value.type == i1


def _name(kind: str, value: SSAValue) -> str | None:
    """The instruction of a reduction, without its prefix; None if there is none."""
    table = _OF_INTEGERS if integer_width(value.type) else _OF_FLOATS
    return table.get(kind)


def _reduce(lowering: Lowering, name: str, value: SSAValue) -> SSAValue:
    scope = lowering.integer(SUBGROUP_SCOPE, i32)
    return lowering.compute(f"GroupNonUniform{name}", value.type, scope, "Reduce", value)


def _by_shuffles(
    lowering: Lowering, kind: str, value: SSAValue, cluster: int, stride: int
) -> SSAValue:
    """Combines with the lane at each distance that is a power of two."""
    total = value
    distance = stride
    while distance < cluster * stride:
        number = lowering.integer(distance, i32)
        source = lowering.shared_compute("BitwiseXor", i32, lane(lowering), number)
        total = combine(lowering, kind, total, read_lane(lowering, total, source))
        distance *= 2
    return total


def _all_reduce(operation: Operation, lowering: Lowering) -> None:
    """Combines the numbers of the work-group, by the instruction that there is."""
    attribute = operation.properties.get("op")
    if attribute is None:
        raise lowering.error(
            "gpu.all_reduce with a region cannot be translated to SPIR-V; name the operation"
        )
    kind = str(cast(Any, attribute).data)
    (value,), (result,) = operation.operands, operation.results
    type_ = value.type
    wide = widened(lowering, lowering.value(value), type_)
    name = _name(kind, wide)
    if name not in _OF_WORK_GROUPS or _is_truth(wide):
        raise lowering.error(
            f"gpu.all_reduce {kind} of {type_} cannot be translated to SPIR-V: work-groups have "
            "sums, minima and maxima only"
        )
    scope = lowering.integer(WORKGROUP_SCOPE, i32)
    total = lowering.compute(f"Group{name}", wide.type, scope, "Reduce", wide)
    lowering.define(result, narrowed(lowering, total, type_))


RULES: dict[str, Rule] = {
    "gpu.all_reduce": _all_reduce,
    "gpu.rotate": _rotate,
    "gpu.shuffle": _shuffle,
    "gpu.subgroup_broadcast": _broadcast,
    "gpu.subgroup_reduce": _subgroup_reduce,
}
"""The rule of each operation, by name."""
