"""How vectors are spread over subgroups or lanes, as far as it does not matter what says so.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUAttrs.td` (`DistributeLayoutAttr`) and
`XeGPUDialect.cpp` (`isEvenlyDistributable`, `genCoordinates`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from xdsl.ir import Attribute

Shape = tuple[int, ...]
"""One number for each dimension."""


class DistributeLayoutAttr(Attribute, ABC):
    """What `LayoutAttr` and `SliceAttr` have in common.

    A layout with `sg_layout` spreads over the subgroups of a work-group, any other over the lanes
    of a subgroup. Every shape is empty where the layout does not give it. Code of one lane has no
    layouts at all.
    """

    @property
    @abstractmethod
    def rank(self) -> int:
        """How many dimensions the vectors have."""

    @property
    @abstractmethod
    def is_for_workgroup(self) -> bool:
        """Whether it spreads over the subgroups of a work-group (`isForWorkgroup`)."""

    @property
    @abstractmethod
    def effective_sg_layout(self) -> Shape:
        """How many subgroups there are along each dimension."""

    @property
    @abstractmethod
    def effective_sg_data(self) -> Shape:
        """The shape of a subgroup's block."""

    @property
    @abstractmethod
    def effective_inst_data(self) -> Shape:
        """The shape of what one instruction processes."""

    @property
    @abstractmethod
    def effective_lane_layout(self) -> Shape:
        """How many lanes there are along each dimension."""

    @property
    @abstractmethod
    def effective_lane_data(self) -> Shape:
        """The shape of a lane's block."""

    @abstractmethod
    def delinearize_id(self, linear_id: int) -> Shape:
        """The position of a subgroup or a lane along each dimension (`delinearizeId`).

        Raises:
            ValueError: The layout's order does not name each dimension once.
        """

    @property
    def number_of_subgroups(self) -> int:
        """How many subgroups hold different data; 0 if the layout is not for a work-group."""
        return prod(self.effective_sg_layout) if self.is_for_workgroup else 0

    @property
    def unit_layout(self) -> Shape:
        """How many subgroups, or else lanes, there are along each dimension."""
        return self.effective_sg_layout if self.is_for_workgroup else self.effective_lane_layout

    def block_shape(self, shape: Sequence[int]) -> Shape:
        """The shape of one block of a subgroup, or of a lane, of a vector of this shape.

        Raises:
            ValueError: The layout does not give it, and the shape is no multiple of the layout.
        """
        data = self.effective_sg_data if self.is_for_workgroup else self.effective_lane_data
        if data:
            return data
        ratio = shape_ratio(shape, self.unit_layout)
        if not self.unit_layout or ratio is None:
            raise ValueError(f"{list(shape)} is no multiple of {list(self.unit_layout)}")
        return ratio

    def distributed_coordinates(self, linear_id: int, shape: Sequence[int]) -> list[Shape]:
        """Where each block of a subgroup, or of a lane, starts (`computeDistributedCoords`).

        Blocks are dealt in turn: where the vector is larger than one block for everyone, each gets
        several; where it is smaller, several share one.

        Args:
            linear_id: The number of the subgroup in its work-group, or of the lane in its subgroup.
            shape: The vector's shape in the work-group, or in the subgroup.

        Raises:
            ValueError: The shape cannot be spread like this.
        """
        block = self.block_shape(shape)
        layout = self.unit_layout
        if not len(shape) == len(block) == len(layout):
            raise ValueError(f"{list(shape)} has not the rank of the layout {self}")
        unit = [
            min(size, count * extent)
            for size, count, extent in zip(shape, layout, block, strict=True)
        ]
        position = self.delinearize_id(linear_id)
        local = [index * extent for index, extent in zip(position, block, strict=True)]
        starts = product(*(range(0, size, step) for size, step in zip(shape, unit, strict=True)))
        return [
            tuple((a + b) % size for a, b, size in zip(start, local, shape, strict=True))
            for start in starts
        ]

    def element_coordinates(self, linear_id: int, shape: Sequence[int]) -> Iterator[Shape]:
        """Yields where each element of a subgroup, or of a lane, stands, block after block.

        Raises:
            ValueError: The shape cannot be spread like this.
        """
        inside = list(product(*(range(extent) for extent in self.block_shape(shape))))
        for start in self.distributed_coordinates(linear_id, shape):
            for offset in inside:
                yield tuple(a + b for a, b in zip(start, offset, strict=True))

    def is_distributable(self, shape: Sequence[int]) -> bool:
        """Whether a vector of this shape spreads evenly (`isEvenlyDistributable`)."""
        subgroup = _distribute(
            shape, self.effective_sg_layout, self.effective_sg_data, is_shared=True
        )
        if subgroup is None:
            return False
        instruction = _distribute(subgroup, (), self.effective_inst_data, is_shared=False)
        if instruction is None:
            return False
        lane = _distribute(
            instruction, self.effective_lane_layout, self.effective_lane_data, is_shared=False
        )
        return lane is not None


def shape_ratio(shape: Sequence[int], divisor: Sequence[int]) -> Shape | None:
    """How often one shape fits into another along each dimension; None if it does not evenly."""
    if len(shape) != len(divisor):
        return None
    if any(
        size <= 0 or part <= 0 or size % part for size, part in zip(shape, divisor, strict=True)
    ):
        return None
    return tuple(size // part for size, part in zip(shape, divisor, strict=True))


def _distribute(
    shape: Sequence[int], layout: Shape, data: Shape, *, is_shared: bool
) -> Sequence[int] | None:
    """The shape of what one of the units gets; None if a vector does not spread evenly.

    Args:
        shape: The vector's shape.
        layout: How many units there are; empty if there is no such level.
        data: The shape of a unit's block; empty if it follows from the other two.
        is_shared: Whether several units may share a block where there are more than needed.
    """
    if layout:
        ratio = shape_ratio(shape, layout)
        if ratio is not None:
            shape = ratio
        elif not is_shared or shape_ratio(layout, shape) is None:
            return None
    if not data:
        return shape
    fits = shape_ratio(shape, data) is not None
    if not fits and not (is_shared and shape_ratio(data, shape) is not None):
        return None
    return data
