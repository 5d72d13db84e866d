"""Kernels whose work-items hold the vectors of a subgroup in registers, as the text has them.

That is for what has no loop over a matrix in memory: gathers, transpositions, parts of vectors,
vectors of three dimensions. Every operation is emitted again on whole vectors, which SPIR-V cuts
into those it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, VectorType, i32
from xdsl.dialects.memref import AtomicRMWOp
from xdsl.dialects.vector import InsertOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core import PrefetchOp
from xtile.dialects.core.atomics import AtomicRMWOp as CoreAtomicRMWOp
from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, UNROLL_ATTRIBUTE
from xtile.dialects.core.levels import is_for_lanes
from xtile.dialects.gpu import indices
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.dialects.vector.positions import ExtractOp
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule, RuleTable, copy
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir_attributes import splat_constant
from xtile.text.source import Source, spelling_of
from xtile.translate.core_to_vectors import edges
from xtile.translate.core_to_vectors.lanes import repetitions


class Registers(Emitter):
    """Rebuilds a kernel so that a work-item does the work of a subgroup.

    Args:
        function: The kernel, of which the subgroups are known, or have one work-item.
        subgroup_size: The work-items of its subgroups.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self,
        function: FuncOp,
        subgroup_size: int,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(_RULES, "vectors of one work-item", source, diagnostics)
        known = function.known_block_size
        self.block_size = None if known is None else tuple(known.get_values())
        self.subgroup_size = subgroup_size

    @property
    def subgroups(self) -> Index:
        """The subgroups of a work-group, which are its work-items."""
        if self.block_size is not None:
            return -(-prod(self.block_size) // self.subgroup_size)
        sizes = [self.emit(indices.BlockDimOp(each)).result for each in Dimension]
        return self.multiply(self.multiply(sizes[0], sizes[1]), sizes[2])

    @property
    @override
    def loop_attributes(self) -> Mapping[str, Attribute]:
        """Loops over elements stay loops."""
        return {UNROLL_ATTRIBUTE: BoolAttr.from_bool(False)}

    def subgroup(self) -> Index:
        """The number of the subgroup whose work this work-item does."""
        if self.subgroup_size > 1:
            return 0 if self.subgroups == 1 else self.emit(indices.ThreadIdOp(Dimension.Y)).result
        x, y, z = (self.emit(indices.ThreadIdOp(each)).result for each in Dimension)
        width, height, _ = self.block_size or (
            self.emit(indices.BlockDimOp(each)).result for each in Dimension
        )
        row = self.add(self.multiply(z, height), y)
        return self.add(self.multiply(row, width), x)


def _function(operation: FuncOp, lowering: Registers) -> None:
    old = operation.body.block
    block = lowering.new_block(old, [argument.type for argument in old.args])
    with lowering.in_function(block):
        lowering.translate_block(old)
    function = FuncOp(operation.sym_name.data, operation.function_type, Region([block]))
    function.properties |= operation.properties
    function.attributes |= operation.attributes
    for name in (LEVEL_ATTRIBUTE, SUBGROUP_SIZE_ATTRIBUTE):
        function.attributes.pop(name, None)
    if lowering.subgroup_size > 1:
        sizes = [1, cast("int", lowering.subgroups), 1]
        function.known_block_size = DenseArrayBase.from_list(i32, sizes)
    lowering.emit(function)


# --- what a work-item asks for ---


def _number(number: int) -> Rule:
    def rule(operation: Operation, lowering: Registers) -> None:
        lowering.define(operation.results[0], lowering.index(number))

    return rule


def _subgroup_id(operation: indices.SubgroupIdOp, lowering: Registers) -> None:
    lowering.define(operation.result, lowering.as_value(lowering.subgroup()))


def _num_subgroups(operation: indices.NumSubgroupsOp, lowering: Registers) -> None:
    lowering.define(operation.result, lowering.as_value(lowering.subgroups))


def _subgroup_size(operation: indices.SubgroupSizeOp, lowering: Registers) -> None:
    lowering.define(operation.result, lowering.index(lowering.subgroup_size))


def _block_dim(operation: indices.BlockDimOp, lowering: Registers) -> None:
    """The size that the source has."""
    if lowering.block_size is None:
        copy(operation, lowering)
        return
    dimension = list(Dimension).index(operation.dimension.data)
    lowering.define(operation.result, lowering.index(lowering.block_size[dimension]))


def _barrier(operation: Operation, lowering: Registers) -> None:
    """The only work-item of a work-group does not wait for itself."""
    if lowering.block_size is None or lowering.subgroups != 1:
        lowering.emit(BarrierOp())


# --- atomic updates ---


def _update(operation: AtomicRMWOp, lowering: Registers) -> None:
    """Updates one element, as often as the lanes of the subgroup do."""
    times = repetitions(operation, lowering.subgroup_size) if lowering.subgroup_size > 1 else 1
    assert times is not None
    with lowering.loop(0, times, name="lane"):
        copy(operation, lowering)


def _update_all(operation: CoreAtomicRMWOp, lowering: Registers) -> None:
    """Updates the elements of a vector one after the other."""
    value, memory = lowering.value(operation.value), lowering.value(operation.memory)
    places = lowering.values(operation.indices)
    mask = None if operation.mask is None else lowering.value(operation.mask)
    type_ = cast("VectorType[Attribute]", value.type)
    zeros = lowering.emit(arith.ConstantOp(cast("Any", splat_constant(type_, 0)))).result
    old: SSAValue | None = zeros if operation.result.uses else None
    for position in product(*map(range, type_.get_shape())):
        found = _update_one(operation, lowering, value, memory, places, mask, position)
        if old is not None:
            old = lowering.emit(InsertOp(found, old, list(position))).results[0]
    if old is not None:
        lowering.define(operation.result, old)


def _update_one(
    operation: CoreAtomicRMWOp,
    lowering: Registers,
    value: SSAValue,
    memory: SSAValue,
    places: Sequence[SSAValue],
    mask: SSAValue | None,
    position: Sequence[int],
) -> SSAValue:
    """Updates an element, if the mask allows it, and returns what it was."""
    element = _element(lowering, value, position)
    index = [_element(lowering, place, position) for place in places]

    def update() -> SSAValue:
        return lowering.emit(
            AtomicRMWOp.build(
                operands=[element, memory, index],
                result_types=[element.type],
                properties={"kind": operation.kind},
            )
        ).result

    if mask is None:
        return update()
    return lowering.choose(
        _element(lowering, mask, position), update, lambda: lowering.constant(0, element.type)
    )


def _element(lowering: Registers, value: SSAValue, position: Sequence[int]) -> SSAValue:
    """An element of a vector, which may have sizes of 1 in the place of others; a number itself."""
    type_: Attribute = value.type
    if not isa(type_, VectorType):
        return value
    at = [0 if size == 1 else each for each, size in zip(position, type_.get_shape(), strict=True)]
    return lowering.emit(ExtractOp(value, at, type_.element_type)).result


def _nothing(operation: Operation, lowering: Registers) -> None:
    """CPUs prefetch on their own."""


def _copy(operation: Operation, lowering: Registers) -> None:
    """Emits an operation again.

    Raises:
        DiagnosticError: There is no such operation outside of the core form.
    """
    if not is_for_lanes(operation):
        raise lowering.error(f"{spelling_of(operation)} cannot be lowered to lanes")
    copy(operation, lowering)


_RULES = RuleTable(
    {
        **edges.RULES,
        AtomicRMWOp.name: _update,
        BarrierOp.name: _barrier,
        CoreAtomicRMWOp.name: _update_all,
        FuncOp.name: _function,
        PrefetchOp.name: _nothing,
        indices.BlockDimOp.name: _block_dim,
        indices.LaneIdOp.name: _number(0),
        indices.NumSubgroupsOp.name: _num_subgroups,
        indices.SubgroupIdOp.name: _subgroup_id,
        indices.SubgroupSizeOp.name: _subgroup_size,
    },
    otherwise=_copy,
    keeps_rounding=True,
)
"""What becomes of each operation."""
