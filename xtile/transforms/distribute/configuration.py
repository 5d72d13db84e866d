"""The work-group and subgroup sizes of a kernel: those it names, or those that fit the chip."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
)
from xdsl.ir import Attribute

from xtile.dialects.core.blas import BlasA2Operation, BlasA3Operation, GemmOp
from xtile.dialects.core.subgroup import ParallelOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import BlockDimOp, NumSubgroupsOp, SubgroupSizeOp
from xtile.dialects.walk import walk
from xtile.semantics.accumulation import accumulation_type
from xtile.targets.lanes import LaneTarget
from xtile.targets.products import unit_for
from xtile.targets.target import MatrixUnit

SUBGROUP_SIZE = "intel_reqd_sub_group_size"
"""The attribute of a kernel that fixes its subgroup size."""

_MOST_SUBGROUPS = 8
_DYNAMIC_SUBGROUPS = 4
"""For a matrix whose size is known only at run time."""

_ELEMENTS = 16
"""Elements of the result that are worth a work-item."""


@dataclass(frozen=True)
class Configuration:
    """How the work-items of a work-group are arranged.

    Attributes:
        block_size: Work-items along x, y and z.
        subgroup_size: Work-items of a subgroup.
    """

    block_size: tuple[int, int, int]
    subgroup_size: int

    @property
    def subgroups(self) -> int:
        """How many subgroups a work-group has."""
        return math.prod(self.block_size) // self.subgroup_size

    @property
    def is_one_work_item(self) -> bool:
        """Whether a work-group is one work-item."""
        return math.prod(self.block_size) == 1


def choose_configuration(function: FuncOp, target: LaneTarget) -> Configuration:
    """The sizes that a kernel names, completed by those that fit its operations.

    On a CPU a kernel in which nothing depends on the sizes gets work-groups of one work-item, even
    if it names others: they are a GPU's, and the driver's compiler takes many times as long for
    code that is as many times slower. So does one that names none and has products for the CPU's
    matrix unit, which only a work-item that is alone can use.

    Raises:
        ValueError: The chip has no such sizes.
    """
    block_size = None
    if function.known_block_size is not None:
        x, y, z = function.known_block_size.get_values()
        block_size = (x, y, z)
    if target.vector_unit is not None and block_size == (1, 1, 1):
        return Configuration((1, 1, 1), 1)
    is_free = block_size is None and SUBGROUP_SIZE not in function.attributes
    if is_free and _used(function, target, target.cooperative_matrices) is not None:
        return Configuration((1, 1, 1), 1)
    size = _subgroup_size(function, block_size, target)
    if block_size is None and target.vector_unit is not None:
        block_size = (size, 1, 1)
    if block_size is None:
        block_size = (size * _subgroups(function, size), 1, 1)
    items = math.prod(block_size)
    if items > target.chip.most_work_items:
        raise ValueError(
            f"a work-group has {items} work-items, but {target.name} allows "
            f"{target.chip.most_work_items}"
        )
    if items % size:
        raise ValueError(
            f"a work-group of {items} work-items is no multiple of the subgroup size {size}"
        )
    if target.vector_unit is not None and not _shows_work_items(function):
        return Configuration((1, 1, 1), 1)
    return Configuration(block_size, size)


def _shows_work_items(function: FuncOp) -> bool:
    """Whether a kernel has code of each work-item, or asks how many there are."""
    return any(
        isinstance(nested, ParallelOp | BlockDimOp | NumSubgroupsOp | SubgroupSizeOp)
        for nested in walk(function)
    )


def _subgroup_size(
    function: FuncOp, block_size: tuple[int, int, int] | None, target: LaneTarget
) -> int:
    given = function.attributes.get(SUBGROUP_SIZE)
    if isinstance(given, IntegerAttr):
        size = cast("IntegerAttr", given).value.data
        if size not in target.chip.subgroup_sizes:
            sizes = " or ".join(str(known) for known in target.chip.subgroup_sizes)
            raise ValueError(
                f"a subgroup has {size} work-items, but {target.name} has subgroups of {sizes}"
            )
        return size
    if block_size is None:
        return _size_for_products(function, target) or target.chip.subgroup_size
    others = (size for size in target.chip.subgroup_sizes if size != target.chip.subgroup_size)
    for size in (target.chip.subgroup_size, *others):
        if block_size[0] % size == 0:
            return size
    return target.chip.subgroup_size


def _size_for_products(function: FuncOp, target: LaneTarget) -> int | None:
    """The subgroup size of the matrix unit, if a kernel multiplies matrices of its types."""
    unit = _used(function, target, target.matrix_units)
    return None if unit is None else unit.lanes


def _used(function: FuncOp, target: LaneTarget, units: Sequence[MatrixUnit]) -> MatrixUnit | None:
    """The first of some units that multiplies matrices of the types that a kernel has."""
    for operation in walk(function):
        if isinstance(operation, GemmOp):
            factor, output = (
                cast("MemRefType[Attribute]", memory.type).element_type
                for memory in (operation.a, operation.c)
            )
            sums = accumulation_type(output)
            unit = unit_for(target, units, (factor, factor), sums)
            if not isinstance(unit, str):
                return unit
    return None


def _subgroups(function: FuncOp, subgroup_size: int) -> int:
    """As many subgroups as the largest result of a linear algebra operation is worth."""
    return max(_wanted_subgroups(function, subgroup_size), default=1)


def _wanted_subgroups(function: FuncOp, subgroup_size: int) -> Iterable[int]:
    """The number of subgroups, a power of two, that each linear algebra operation can use."""
    for operation in walk(function):
        if isinstance(operation, BlasA2Operation):
            output = operation.b
        elif isinstance(operation, BlasA3Operation):
            output = operation.c
        else:
            continue
        shape = cast("MemRefType[Attribute]", output.type).get_shape()
        if DYNAMIC_INDEX not in shape:
            wanted = math.prod(shape) // (_ELEMENTS * subgroup_size)
            yield 2 ** max(0, min(_MOST_SUBGROUPS, wanted).bit_length() - 1)
        elif isinstance(operation, GemmOp):
            yield _DYNAMIC_SUBGROUPS
