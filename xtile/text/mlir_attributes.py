"""Builtin attributes of MLIR that xDSL does not have.

`mlir_literals.py` and `mlir_locations.py` read them, `mlir_attribute_printer.py` prints them.

Source: MLIR, "Builtin Dialect", "Attributes" and "Location Attributes".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    BytesAttr,
    CallSiteLoc,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    StringAttr,
    TupleType,
    UnitAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, BuiltinAttribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def

if TYPE_CHECKING:
    from xdsl.printer import Printer


@irdl_attr_definition
class FileLineColRange(ParametrizedAttribute, BuiltinAttribute):
    """A range of a file, `loc("a.py":3:4 to 5:6)`.

    Lines and columns count from 1 and 0 is unknown, as in the text.
    """

    name = "builtin.file_line_col_range"

    filename: StringAttr = param_def()
    line: IntAttr = param_def()
    column: IntAttr = param_def()
    end_line: IntAttr = param_def()
    end_column: IntAttr = param_def()

    @override
    def print_builtin(self, printer: Printer) -> None:
        with printer.in_location():
            printer.print_string_literal(self.filename.data)
            end_line = "" if self.end_line == self.line else f"{self.end_line.data}"
            printer.print_string(f":{self.line.data}:{self.column.data} to {end_line}")
            printer.print_string(f":{self.end_column.data}")


def dense_elements(type: Attribute, data: bytes) -> DenseIntOrFPElementsAttr:
    """Elements of any type that has a shape and elements, of other dialects too.

    Args:
        type: A tensor, a vector, or a dialect's type that is like one.
        data: The bytes of the elements, as xDSL's element types hold them.
    """
    # xDSL's own ways to make one refuse types of other dialects.
    attribute = DenseIntOrFPElementsAttr.__new__(DenseIntOrFPElementsAttr)
    object.__setattr__(attribute, "type", type)
    object.__setattr__(attribute, "data", BytesAttr(data))
    return attribute


_LARGE = 4096
"""Elements from which on equal ones are held once, as MLIR does. Below that, xDSL's own attributes
are equal to those that are read, whoever makes them."""


def is_held_once(attribute: DenseIntOrFPElementsAttr) -> bool:
    """Whether the bytes of an attribute, and its values, are those of one element for all."""
    return len(attribute) == 1


def equal_elements(type: Attribute, data: bytes) -> DenseIntOrFPElementsAttr:
    """Elements that all are equal.

    Args:
        type: As for `dense_elements`.
        data: The bytes of one element.
    """
    count = math.prod(cast("Any", type).get_shape())
    if count < _LARGE:
        return dense_elements(type, data * count)
    return dense_elements(type, data)


def splat_constant(type: Attribute, value: Any) -> DenseIntOrFPElementsAttr:
    """Elements of a builtin type that all are one number."""
    shaped: Any = type
    one = shaped.__class__(shaped.element_type, [1])
    return equal_elements(type, DenseIntOrFPElementsAttr.from_list(one, [value]).data.data)


# In MLIR a location is a range whose ends are equal, and a range may stand wherever a location
# may. xDSL lists its locations in a closed union, and checks the parts of composed locations
# against it.
FileLineColLoc.register(FileLineColRange)


@irdl_attr_definition
class DistinctAttr(ParametrizedAttribute, BuiltinAttribute):
    """An attribute that differs from every other one of equal contents, `distinct[0]<"x">`.

    The identifier tells it from others of the same text; printing numbers them anew.
    """

    name = "builtin.distinct"

    identifier: IntAttr = param_def()
    referenced: Attribute = param_def()

    @override
    def print_builtin(self, printer: Printer) -> None:
        printer.print_string(f"distinct[{self.identifier.data}]")
        with printer.in_angle_brackets():
            if not isinstance(self.referenced, UnitAttr):
                printer.print_attribute(self.referenced)


@irdl_attr_definition
class DenseStringElementsAttr(ParametrizedAttribute, BuiltinAttribute):
    """Elements that are strings, `dense<["a", "b"]> : tensor<2x!tf.string>`.

    One string stands for equal elements.
    """

    name = "builtin.dense_string"

    strings: ArrayAttr[StringAttr] = param_def()
    type: Attribute = param_def()

    @override
    def print_builtin(self, printer: Printer) -> None:
        printer.print_string("dense")
        with printer.in_angle_brackets():
            if len(self.strings) == 1:
                printer.print_attribute(self.strings.data[0])
            else:
                printer.print_attribute(self.strings)
        printer.print_string(" : ")
        printer.print_attribute(self.type)


@irdl_attr_definition
class SparseElementsAttr(ParametrizedAttribute, BuiltinAttribute):
    """Elements given by their places, `sparse<[[0, 1]], [7]> : tensor<2x2xi32>`.

    The indices are a tensor of one row for each value and one column for each dimension of `type`.
    """

    name = "builtin.sparse"

    indices: DenseIntOrFPElementsAttr = param_def()
    values: DenseIntOrFPElementsAttr | DenseStringElementsAttr = param_def()
    type: Attribute = param_def()

    @override
    def print_builtin(self, printer: Printer) -> None:
        printer.print_string("sparse")
        with printer.in_angle_brackets():
            if len(self.indices):
                printer.print_attribute(self.indices)
                printer.print_string(", ")
                printer.print_attribute(self.values)
        printer.print_string(" : ")
        printer.print_attribute(self.type)


ALIAS_NAMES: dict[type[Attribute], str] = {
    AffineMapAttr: "map",
    AffineSetAttr: "set",
    CallSiteLoc: "loc",
    DistinctAttr: "distinct",
    FileLineColLoc: "loc",
    FileLineColRange: "loc",
    FusedLoc: "loc",
    NameLoc: "loc",
    TupleType: "tuple",
    UnknownLoc: "loc",
}
"""What aliases of attributes and types are called, by class, without prefix and number.

A dialect adds its own when it is loaded:

    ALIAS_NAMES[BlockedEncodingAttr] = "blocked"

Source: LLVM 22, the `getAlias` methods of `mlir/lib/IR/BuiltinDialect.cpp` and
`mlir/include/mlir/IR/BuiltinAttributes.td`.
"""
