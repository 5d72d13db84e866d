"""The text of attributes and types where MLIR's differs from xDSL's.

Source: LLVM 22, `mlir/lib/IR/AsmPrinter.cpp`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    CallSiteLoc,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    MemRefType,
    NameLoc,
    NoneAttr,
    UnknownLoc,
    UnrankedMemRefType,
    UnregisteredAttr,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from xtile.text.mlir_affine import map_text, set_text
from xtile.text.mlir_attributes import (
    DistinctAttr,
    FileLineColRange,
    SparseElementsAttr,
    is_held_once,
)
from xtile.text.mlir_numbers import Scalar, element_texts, mlir_bytes

if TYPE_CHECKING:
    from xtile.text.mlir_attribute_printer import AttributePrinter

_SIMPLE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._]*(?:<.*>)?", re.DOTALL)
"""The text of an unknown dialect's attribute that may stand after a dot."""

_LARGE = 100
"""More elements than these are printed as one hexadecimal string."""


def _print_array(printer: AttributePrinter, attribute: ArrayAttr) -> None:
    with printer.in_square_brackets():
        printer.print_list(attribute.data, printer.print_elided)


def _print_dense(printer: AttributePrinter, attribute: DenseIntOrFPElementsAttr) -> None:
    printer.print_string(f"dense<{elements_text(attribute, can_be_bytes=True)}> : ")
    printer.print_attribute(attribute.type)


def _print_sparse(printer: AttributePrinter, attribute: SparseElementsAttr) -> None:
    printer.print_string("sparse<")
    if len(attribute.indices):
        printer.print_string(f"{elements_text(attribute.indices, can_be_bytes=False)}, ")
        values = attribute.values
        if isinstance(values, DenseIntOrFPElementsAttr):
            printer.print_string(elements_text(values, can_be_bytes=True))
        else:
            printer.print_attribute(values.strings)
    printer.print_string("> : ")
    printer.print_attribute(attribute.type)


def _print_dense_array(printer: AttributePrinter, attribute: DenseArrayBase) -> None:
    element = cast(Scalar, attribute.elt_type)
    printer.print_string("array<")
    printer.print_attribute(element)
    if attribute.data.data:
        printer.print_string(": " + ", ".join(element_texts(element, attribute.data.data)))
    printer.print_string(">")


def _print_distinct(printer: AttributePrinter, attribute: DistinctAttr) -> None:
    number = printer.number_of_distinct(attribute)
    DistinctAttr(IntAttr(number), attribute.referenced).print_builtin(printer)


def _print_affine_map(printer: AttributePrinter, attribute: AffineMapAttr) -> None:
    printer.print_string(f"affine_map<{map_text(attribute.data)}>")


def _print_affine_set(printer: AttributePrinter, attribute: AffineSetAttr) -> None:
    printer.print_string(f"affine_set<{set_text(attribute.data)}>")


def print_unregistered(printer: AttributePrinter, attribute: UnregisteredAttr) -> None:
    """Prints an attribute or a type of an unknown dialect, after a dot where that is possible."""
    prefix = "!" if attribute.is_type.data else "#"
    dialect, _, name = attribute.attr_name.data.partition(".")
    body = attribute.value.data
    text = f"{name}{body}" if attribute.is_opaque.data else f"{name}<{body}>" if body else name
    if _SIMPLE_NAME.fullmatch(text) is not None:
        printer.print_string(f"{prefix}{dialect}.{text}")
    else:
        # An opaque text that does not begin with a name holds its own bracket.
        printer.print_string(f"{prefix}{dialect}<{text.removeprefix('<')}>")


def _print_memref(printer: AttributePrinter, memref: MemRefType) -> None:
    printer.print_string("memref<")
    if memref.shape.data:
        printer.print_dimension_list(memref.get_shape())
        printer.print_string("x")
    printer.print_attribute(memref.element_type)
    if not isinstance(memref.layout, NoneAttr) and not _is_identity(memref.layout):
        printer.print_string(", ")
        printer.print_elided(memref.layout)
    _print_memory_space(printer, memref.memory_space)


def _print_unranked_memref(printer: AttributePrinter, memref: UnrankedMemRefType) -> None:
    printer.print_string("memref<*x")
    printer.print_attribute(memref.element_type)
    _print_memory_space(printer, memref.memory_space)


def _print_memory_space(printer: AttributePrinter, memory_space: Attribute) -> None:
    if not isinstance(memory_space, NoneAttr):
        printer.print_string(", ")
        printer.print_elided(memory_space)
    printer.print_string(">")


def _print_location(printer: AttributePrinter, location: LocationAttr) -> None:
    printer.print_string("loc(")
    print_location_contents(printer, location)
    printer.print_string(")")


def print_location_contents(printer: AttributePrinter, location: LocationAttr) -> None:
    """Prints what stands in the parentheses of `loc(...)`."""
    if type(location) not in PRINTERS:
        # A dialect's own location is an attribute between the parentheses.
        printer.print_attribute(location)
    elif isinstance(location, UnknownLoc):
        printer.print_string("unknown")
    elif isinstance(location, FileLineColLoc):
        _print_file_location(printer, location)
    elif isinstance(location, NameLoc):
        printer.print_string_literal(location.desc.data)
        if not isinstance(location.location, UnknownLoc | NoneAttr):
            _print_part(printer, "(", location.location)
            printer.print_string(")")
    elif isinstance(location, CallSiteLoc):
        _print_part(printer, "callsite(", location.callee)
        _print_part(printer, " at ", location.caller)
        printer.print_string(")")
    else:
        _print_fused_location(printer, location)


def _print_file_location(printer: AttributePrinter, location: FileLineColLoc) -> None:
    printer.print_string_literal(location.filename.data)
    printer.print_string(f":{location.line.data}:{location.column.data}")
    if isinstance(location, FileLineColRange):
        end_line = "" if location.end_line == location.line else location.end_line.data
        printer.print_string(f" to {end_line}:{location.end_column.data}")


def _print_fused_location(printer: AttributePrinter, location: FusedLoc) -> None:
    printer.print_string("fused")
    if not isinstance(location.metadata, NoneAttr):
        with printer.in_angle_brackets():
            printer.print_attribute(location.metadata)
    locations = cast(ArrayAttr[Attribute], location.locations)
    for index, part in enumerate(locations.data):
        _print_part(printer, ", " if index else "[", part)
    printer.print_string("]" if locations.data else "[]")


def _print_part(printer: AttributePrinter, before: str, location: Attribute) -> None:
    """Prints a location in another one, where `loc` is not written again."""
    printer.print_string(before)
    if printer.has_aliases:
        printer.print_attribute(location)
    else:
        print_location_contents(printer, cast(LocationAttr, location))


def elements_text(attribute: DenseIntOrFPElementsAttr, can_be_bytes: bool) -> str:
    """What stands between the angle brackets of `dense<...>`."""
    data = attribute.data.data
    element = attribute.get_element_type()
    shape = attribute.get_shape()
    count = math.prod(shape)
    if count == 0:
        return ""
    if is_held_once(attribute):
        return next(element_texts(element, data))
    size = len(data) // count
    if data == data[:size] * count:
        return next(element_texts(element, data[:size]))
    if can_be_bytes and count > _LARGE:
        return f'"0x{mlir_bytes(element, data).hex().upper()}"'
    parts = list(element_texts(element, data))
    for extent in reversed(shape):
        rows = range(0, len(parts), extent)
        parts = [f"[{', '.join(parts[row : row + extent])}]" for row in rows]
    return parts[0]


def _is_identity(layout: Attribute) -> bool:
    if not isinstance(layout, AffineMapAttr):
        return False
    affine_map = layout.data
    return affine_map == AffineMap.identity(affine_map.num_dims)


# Each function gets attributes of its class only.
PRINTERS: dict[type[Attribute], Callable[[AttributePrinter, Any], None]] = {
    AffineMapAttr: _print_affine_map,
    AffineSetAttr: _print_affine_set,
    ArrayAttr: _print_array,
    CallSiteLoc: _print_location,
    DenseArrayBase: _print_dense_array,
    DenseIntOrFPElementsAttr: _print_dense,
    DistinctAttr: _print_distinct,
    FileLineColLoc: _print_location,
    FileLineColRange: _print_location,
    FusedLoc: _print_location,
    MemRefType: _print_memref,
    NameLoc: _print_location,
    SparseElementsAttr: _print_sparse,
    UnknownLoc: _print_location,
    UnrankedMemRefType: _print_unranked_memref,
}
"""What prints the attributes whose text in xDSL differs from MLIR's."""
