"""How a vector is spread over the subgroups of a work-group and the lanes of a subgroup.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUAttrs.td` (`DistributeLayoutAttr`, `LayoutAttr`,
`SliceAttr`) and `XeGPUDialect.cpp` (`isEvenlyDistributable`, `computeDistributedCoords`).
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import I32, I64, DenseArrayBase, NoneAttr, i32, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import check_parameters
from xtile.dialects.shared_attributes import NONE, i32_numbers_attribute
from xtile.dialects.xegpu.assembly import parse_struct, print_struct
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr, Shape

LAYOUT_FIELDS = ("sg_layout", "sg_data", "inst_data", "lane_layout", "lane_data", "order")
"""The parameters of a layout, in the order in which they are printed."""


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
        position = [0] * len(layout)
        for dimension in order:
            linear_id, position[dimension] = divmod(linear_id, layout[dimension])
        return tuple(position)

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
        parameters = [given.get(name, NONE) for name in LAYOUT_FIELDS]
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
        fields = {**self.fields, **dict.fromkeys(names, NONE)}
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


def _first_given(*arrays: Attribute) -> Attribute:
    return next((array for array in arrays if not isinstance(array, NoneAttr)), NONE)


def _numbers(array: Attribute) -> Shape:
    return array.get_values() if isinstance(array, DenseArrayBase) else ()


def _optional_array(numbers: Sequence[int] | None) -> DenseArrayBase[I32] | NoneAttr:
    return NONE if numbers is None else i32_numbers_attribute(tuple(numbers))


def _parse_array(parser: AttrParser) -> Attribute:
    numbers = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    return DenseArrayBase.from_list(i32, numbers)


def _print_array(printer: Printer, array: Attribute) -> None:
    with printer.in_square_brackets():
        printer.print_list(_numbers(array), printer.print_int)
