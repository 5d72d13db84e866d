"""Loads, stores and updates of scattered points: gathers and scatters in a line of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType
from xdsl.dialects.memref import AtomicRMWOp as UpstreamAtomicRMWOp
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir import Block as CodeBlock

from xtile.dialects.core.atomics import AtomicRMWOp as CoreAtomicRMWOp
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.shared_attributes import numbers_attribute
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.dialects.vector.positions import ExtractOp
from xtile.dialects.xegpu.operation import element_type, layouts_of
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, PrefetchOp, StoreScatterOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_core.descriptors import line_of
from xtile.translate.xegpu_to_core.functions import copy_without_layouts
from xtile.translate.xegpu_to_core.raising import Points, Raising
from xtile.translate.xegpu_to_core.vectors import elements_of, shape_of


@dataclass(frozen=True)
class _Access:
    """Elements of memory.

    Attributes:
        memory: The memory, with one dimension.
        indices: The index of each element, in the shape of what is moved.
        mask: Which elements are moved.
    """

    memory: SSAValue
    indices: SSAValue
    mask: SSAValue


def _access(
    raising: Raising, source: SSAValue, offsets: SSAValue | None, mask: SSAValue, value: SSAValue
) -> _Access:
    """The elements that an access of vectors moves.

    Raises:
        DiagnosticError: The value is the part of one lane.
    """
    points = _points(raising, source, offsets, value)
    allowed, shape = raising.value(mask), shape_of(value)
    count = shape_of(points.offsets)
    if shape == count:
        return _Access(points.memory, points.offsets, allowed)
    if shape[:-1] != count:
        if count != (1,):
            raise raising.error(
                "the value is the part of one lane, but the kernel is one of whole vectors; there "
                "must be an element, or a chunk of them, for each point"
            )
        count = ()
    chunk = shape[-1]
    first = _along_chunks(raising, points.offsets, count, shape)
    within = raising.repeated(raising.counted(chunk), shape)
    indices = raising.emit(arith.AddiOp(first, within)).result
    return _Access(points.memory, indices, _along_chunks(raising, allowed, count, shape))


def _points(
    raising: Raising, source: SSAValue, offsets: SSAValue | None, value: SSAValue
) -> Points:
    """The points of an access, by a descriptor or by a base and offsets."""
    if offsets is None:
        return cast("Points", raising.meaning(source))
    return Points(line_of(raising, source, element_type(value.type)), raising.value(offsets))


def _along_chunks(
    raising: Raising, value: SSAValue, count: tuple[int, ...], shape: tuple[int, ...]
) -> SSAValue:
    """A vector with something of each point, repeated for each element of the point's chunk."""
    return raising.repeated(raising.reshaped(value, (*count, 1)), shape)


def _load(operation: LoadGatherOp, raising: Raising) -> None:
    if not shape_of(operation.value):
        raising.define(operation.value, _load_one(operation, raising))
        return
    found = _access(raising, operation.source, operation.offsets, operation.mask, operation.value)
    type_ = cast("VectorType[Attribute]", operation.value.type)
    gather = GatherOp.build(
        operands=[
            found.memory,
            [raising.index(0)],
            found.indices,
            found.mask,
            raising.splat(0, type_.element_type, type_.get_shape()),
        ],
        result_types=[type_],
    )
    raising.define(operation.value, raising.emit(gather).result)


def _store(operation: StoreScatterOp, raising: Raising) -> None:
    if not shape_of(operation.value):
        _store_one(operation, raising)
        return
    found = _access(raising, operation.dest, operation.offsets, operation.mask, operation.value)
    scatter = ScatterOp.build(
        operands=[
            found.memory,
            [raising.index(0)],
            found.indices,
            found.mask,
            raising.value(operation.value),
        ],
        result_types=[[]],
    )
    raising.emit(scatter)


# --- one point ---


def _load_one(operation: LoadGatherOp, raising: Raising) -> SSAValue:
    """The number at one point; 0 where the mask leaves it out."""
    points = _points(raising, operation.source, operation.offsets, operation.value)
    type_ = operation.value.type
    return raising.choose(
        raising.value(operation.mask),
        lambda: raising.load(points.memory, [points.offsets]),
        lambda: raising.constant(0, type_),
    )


def _store_one(operation: StoreScatterOp, raising: Raising) -> None:
    points = _points(raising, operation.dest, operation.offsets, operation.value)
    value = raising.value(operation.value)
    block = CodeBlock()
    with raising.at_end_of(block):
        raising.store(value, points.memory, [points.offsets])
        raising.emit(scf.YieldOp())
    raising.emit(scf.IfOp(raising.value(operation.mask), [], Region(block)))


# --- updates ---


def _atomic_rmw(operation: AtomicRMWOp, raising: Raising) -> None:
    """An update of each element; the old elements are 0 where the mask leaves some out.

    Raises:
        DiagnosticError: It is not known how often a work-group does it.
    """
    if raising.is_of_tiles and not layouts_of(operation):
        raise raising.error(
            "nothing says whether the work-group does xegpu.atomic_rmw once or each of its "
            "subgroups does; give it a layout with sg_layout"
        )
    value = operation.value
    if shape_of(value) == (1,) and raising.subgroup_size > 1:
        _update_one(operation, raising)
        return
    found = _access(raising, operation.tensorDesc, None, operation.mask, value)
    update = CoreAtomicRMWOp.build(
        operands=[raising.value(value), found.memory, [found.indices], found.mask],
        result_types=[value.type],
        properties={"kind": operation.kind, **ordering_of(operation).properties},
    )
    raising.define(operation.result, raising.emit(update).result)


def _update_one(operation: AtomicRMWOp, raising: Raising) -> None:
    """An update of one point, which each work-item does."""
    points: Points = raising.meaning(operation.tensorDesc)
    value, mask, at = (
        _number_of(raising, each)
        for each in (raising.value(operation.value), raising.value(operation.mask), points.offsets)
    )

    def change() -> SSAValue:
        update = UpstreamAtomicRMWOp.build(
            operands=[value, points.memory, [at]],
            result_types=[value.type],
            properties={"kind": operation.kind},
            attributes=ordering_of(operation).attributes,
        )
        return raising.emit(update).results[0]

    old = raising.choose(mask, change, lambda: raising.constant(0, value.type))
    raising.define(operation.result, raising.repeated(old, (1,)))


def _number_of(raising: Raising, vector: SSAValue) -> SSAValue:
    """The only element of a vector, which is a work-item's own."""
    repeated = _repeated(vector)
    if repeated is not None:
        return repeated
    owner, element = vector.owner, elements_of(vector)
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, DenseIntOrFPElementsAttr):
        return raising.constant(cast("Any", owner.value).get_values()[0], element)
    properties = {"static_position": numbers_attribute((0,))}
    made = ExtractOp.build(operands=[vector, []], properties=properties, result_types=[element])
    return raising.emit(made).results[0]


def _repeated(vector: SSAValue) -> SSAValue | None:
    """The number that all elements of a vector are, if it was made of one."""
    owner = vector.owner
    return owner.source if isinstance(owner, BroadcastOp) and not shape_of(owner.source) else None


def _extract(operation: Operation, raising: Raising) -> None:
    """An element of a repeated number is that number, which may be a work-item's own."""
    number = _repeated(raising.value(operation.operands[0]))
    if number is None or isinstance(operation.results[0].type, VectorType):
        copy_without_layouts(operation, raising)
    else:
        raising.define(operation.results[0], number)


def _prefetch(operation: PrefetchOp, raising: Raising) -> None:
    """Points are not fetched ahead: they may lie outside of the memory."""


RULES: dict[str, Rule] = {
    AtomicRMWOp.name: _atomic_rmw,
    LoadGatherOp.name: _load,
    PrefetchOp.name: _prefetch,
    StoreScatterOp.name: _store,
    ExtractOp.name: _extract,
}
