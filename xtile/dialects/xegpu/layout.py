"""How a vector is spread over the subgroups of a work-group and the lanes of a subgroup.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUAttrs.td` (`DistributeLayoutAttr`, `LayoutAttr`,
`SliceAttr`) and `XeGPUDialect.cpp` (`isEvenlyDistributable`, `computeDistributedCoords`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from typing_extensions import override
from xdsl.dialects.builtin import I32, I64, DenseArrayBase, NoneAttr, i32, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.xegpu.assembly import check_parameters, parse_struct, print_struct

Shape = tuple[int, ...]
"""One number for each dimension."""

LAYOUT_FIELDS = ("sg_layout", "sg_data", "inst_data", "lane_layout", "lane_data", "order")
"""The parameters of a layout, in the order in which they are printed."""


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
        """The place of a subgroup or a lane along each dimension (`delinearizeId`).

        Raises:
            ValueError: The layout's order does not name each dimension once.
        """

    @property
    def is_for_subgroup(self) -> bool:
        """Whether it spreads over the lanes of a subgroup (`isForSubgroup`)."""
        return not self.is_for_workgroup

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
        place = self.delinearize_id(linear_id)
        local = [index * extent for index, extent in zip(place, block, strict=True)]
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


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute, DistributeLayoutAttr):
    """How a vector is spread.

    `#xegpu.layout<sg_layout = [2, 4], sg_data = [16, 16], inst_data = [8, 16],
    lane_layout = [1, 16], lane_data = [1, 1], order = [1, 0]>`
    """

    name = "xegpu.layout"

    sg_layout: DenseArrayBase[I32] | NoneAttr
    sg_data: DenseArrayBase[I32] | NoneAttr
    inst_data: DenseArrayBase[I32] | NoneAttr
    lane_layout: DenseArrayBase[I32] | NoneAttr
    lane_data: DenseArrayBase[I32] | NoneAttr
    order: DenseArrayBase[I32] | NoneAttr
    """The dimensions in which subgroups and lanes are numbered, fastest first."""

    def __init__(
        self,
        sg_layout: Sequence[int] | None = None,
        sg_data: Sequence[int] | None = None,
        inst_data: Sequence[int] | None = None,
        lane_layout: Sequence[int] | None = None,
        lane_data: Sequence[int] | None = None,
        order: Sequence[int] | None = None,
    ) -> None:
        given = (sg_layout, sg_data, inst_data, lane_layout, lane_data, order)
        super().__init__(*(_optional_array(numbers) for numbers in given))

    @property
    @override
    def rank(self) -> int:
        return len(_numbers(_first_given(self.sg_layout, self.inst_data, self.lane_layout)))

    @property
    @override
    def is_for_workgroup(self) -> bool:
        return not isinstance(self.sg_layout, NoneAttr)

    @property
    @override
    def effective_sg_layout(self) -> Shape:
        return _numbers(self.sg_layout)

    @property
    @override
    def effective_sg_data(self) -> Shape:
        return _numbers(self.sg_data)

    @property
    @override
    def effective_inst_data(self) -> Shape:
        return _numbers(self.inst_data)

    @property
    @override
    def effective_lane_layout(self) -> Shape:
        return _numbers(self.lane_layout)

    @property
    @override
    def effective_lane_data(self) -> Shape:
        return _numbers(self.lane_data)

    @property
    def effective_order(self) -> Shape:
        """The dimensions, fastest first; the last one is fastest where no order is given."""
        return _numbers(self.order) or tuple(reversed(range(len(self.unit_layout))))

    @property
    def fields(self) -> dict[str, Attribute]:
        """The parameters by name; `NoneAttr` for one that is not given."""
        values = (
            self.sg_layout,
            self.sg_data,
            self.inst_data,
            self.lane_layout,
            self.lane_data,
            self.order,
        )
        return dict(zip(LAYOUT_FIELDS, values, strict=True))

    @override
    def delinearize_id(self, linear_id: int) -> Shape:
        layout, order = self.unit_layout, self.effective_order
        if sorted(order) != list(range(len(layout))):
            raise ValueError(f"order {list(order)} does not name each dimension once")
        place = [0] * len(layout)
        for dimension in order:
            linear_id, place[dimension] = divmod(linear_id, layout[dimension])
        return tuple(place)

    def drop_sg_layout_and_data(self) -> LayoutAttr | None:
        """The layout in a subgroup; None if nothing is left (`dropSgLayoutAndData`)."""
        return self._without("sg_layout", "sg_data")

    def drop_inst_data(self) -> LayoutAttr | None:
        """The layout of one instruction; None if nothing is left (`dropInstData`)."""
        return self._without("inst_data")

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        given = parse_struct(parser, dict.fromkeys(LAYOUT_FIELDS, _parse_array))
        parameters = [given.get(name, NoneAttr()) for name in LAYOUT_FIELDS]
        return check_parameters(parser, start, cls, parameters)

    @override
    def print_parameters(self, printer: Printer) -> None:
        given = {
            name: value for name, value in self.fields.items() if not isinstance(value, NoneAttr)
        }
        print_struct(printer, given, lambda value: _print_array(printer, value))

    @override
    def verify(self) -> None:
        given = {
            name: len(_numbers(value))
            for name, value in self.fields.items()
            if not isinstance(value, NoneAttr)
        }
        if not given.keys() & {"sg_layout", "inst_data", "lane_layout"}:
            raise VerifyException("expected at least one of sg_layout, inst_data or lane_layout")
        for data, layout in (("sg_data", "sg_layout"), ("lane_data", "lane_layout")):
            if data in given and layout not in given:
                raise VerifyException(f"{data} is given without {layout}; it needs one")
        if "order" in given and not given.keys() & {"sg_layout", "lane_layout"}:
            raise VerifyException("order is given without sg_layout or lane_layout; it needs one")
        if len(set(given.values())) > 1:
            ranks = ", ".join(f"{name} has {rank}" for name, rank in given.items())
            raise VerifyException(f"every parameter must have the same rank, but {ranks}")

    def _without(self, *names: str) -> LayoutAttr | None:
        fields = {**self.fields, **dict.fromkeys(names, NoneAttr())}
        if all(isinstance(fields[n], NoneAttr) for n in ("sg_layout", "inst_data", "lane_layout")):
            return None
        return LayoutAttr.new(tuple(fields.values()))


@irdl_attr_definition
class SliceAttr(ParametrizedAttribute, DistributeLayoutAttr):
    """A layout without some of its dimensions, along which everyone holds the same data.

    `#xegpu.slice<#xegpu.layout<sg_layout = [8, 4], sg_data = [32, 32]>, dims = [0]>`
    """

    name = "xegpu.slice"

    parent: Attribute
    dims: DenseArrayBase[I64]
    """The dimensions of the parent that are left out."""

    def __init__(self, parent: LayoutAttr | SliceAttr, dims: Sequence[int]) -> None:
        super().__init__(parent, DenseArrayBase.from_list(i64, dims))

    @property
    def layout(self) -> LayoutAttr:
        """The layout under all slices."""
        return self._flat[0]

    @property
    def sliced_dimensions(self) -> Shape:
        """The dimensions of `layout` that all slices together leave out, in ascending order."""
        return self._flat[1]

    def flatten(self) -> SliceAttr:
        """One slice that does what nested ones do (`flatten`)."""
        return SliceAttr(*self._flat)

    @property
    @override
    def rank(self) -> int:
        layout, sliced = self._flat
        return layout.rank - len(sliced)

    @property
    @override
    def is_for_workgroup(self) -> bool:
        return self.layout.is_for_workgroup

    @property
    @override
    def effective_sg_layout(self) -> Shape:
        return self._sliced(self.layout.effective_sg_layout)

    @property
    @override
    def effective_sg_data(self) -> Shape:
        return self._sliced(self.layout.effective_sg_data)

    @property
    @override
    def effective_inst_data(self) -> Shape:
        return self._sliced(self.layout.effective_inst_data)

    @property
    @override
    def effective_lane_layout(self) -> Shape:
        return self._sliced(self.layout.effective_lane_layout)

    @property
    @override
    def effective_lane_data(self) -> Shape:
        return self._sliced(self.layout.effective_lane_data)

    @override
    def delinearize_id(self, linear_id: int) -> Shape:
        return self._sliced(self.layout.delinearize_id(linear_id))

    def drop_sg_layout_and_data(self) -> SliceAttr | None:
        """The layout in a subgroup; None if nothing is left (`dropSgLayoutAndData`)."""
        layout, dims = self._flat
        rest = layout.drop_sg_layout_and_data()
        return None if rest is None else SliceAttr(rest, dims)

    def drop_inst_data(self) -> SliceAttr | None:
        """The layout of one instruction; None if nothing is left (`dropInstData`)."""
        layout, dims = self._flat
        rest = layout.drop_inst_data()
        return None if rest is None else SliceAttr(rest, dims)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            parent = parser.parse_attribute()
            parser.parse_punctuation(",")
            parser.parse_keyword("dims")
            parser.parse_punctuation("=")
            dims = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
            )
        return check_parameters(parser, start, cls, (parent, DenseArrayBase.from_list(i64, dims)))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.parent)
            printer.print_string(", dims = ")
            _print_array(printer, self.dims)

    @override
    def verify(self) -> None:
        if not isinstance(self.parent, DistributeLayoutAttr):
            raise VerifyException(f"cannot slice {self.parent}; expected a layout or a slice")
        rank = self.parent.rank
        dims = self.dims.get_values()
        for dim in dims:
            if not 0 <= dim < rank:
                raise VerifyException(
                    f"cannot leave out dimension {dim} of a layout; it has {rank}, counted from 0"
                )
        if len(set(dims)) < len(dims):
            raise VerifyException(f"dims is {list(dims)}; each dimension may be left out once")

    @property
    def _flat(self) -> tuple[LayoutAttr, Shape]:
        """The layout under all slices and the dimensions of it that are left out."""
        left_out = [self.dims.get_values()]
        parent = self.parent
        while isinstance(parent, SliceAttr):
            left_out.append(parent.dims.get_values())
            parent = parent.parent
        assert isinstance(parent, LayoutAttr)
        remaining = list(range(parent.rank))
        for dims in reversed(left_out):
            remaining = [dim for i, dim in enumerate(remaining) if i not in dims]
        return parent, tuple(dim for dim in range(parent.rank) if dim not in remaining)

    def _sliced(self, shape: Shape) -> Shape:
        sliced = self.sliced_dimensions
        return tuple(size for dim, size in enumerate(shape) if dim not in sliced)


ATTRIBUTES: list[type[Attribute]] = [LayoutAttr, SliceAttr]
"""Every attribute of this module."""


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


def _first_given(*arrays: Attribute) -> Attribute:
    return next((array for array in arrays if not isinstance(array, NoneAttr)), NoneAttr())


def _numbers(array: Attribute) -> Shape:
    return array.get_values() if isinstance(array, DenseArrayBase) else ()


def _optional_array(numbers: Sequence[int] | None) -> DenseArrayBase[I32] | NoneAttr:
    return NoneAttr() if numbers is None else DenseArrayBase.from_list(i32, numbers)


def _parse_array(parser: AttrParser) -> Attribute:
    numbers = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    return DenseArrayBase.from_list(i32, numbers)


def _print_array(printer: Printer, array: Attribute) -> None:
    with printer.in_square_brackets():
        printer.print_list(_numbers(array), printer.print_int)
