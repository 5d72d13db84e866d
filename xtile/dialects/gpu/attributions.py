"""Signatures and memory attributions, which `gpu.func` and `gpu.launch` write alike.

```
workgroup(%tile : memref<16xf32, #gpu.address_space<workgroup>>) private(%sum : memref<1xf32>)
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType
from xdsl.ir import Attribute, BlockArgument
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace

Arguments = list[tuple[Parser.Argument, dict[str, Attribute]]]
"""Named arguments with their attributes."""


def parse_arguments(parser: Parser) -> Arguments:
    """Reads `(%a : type {attributes} loc(...), ...)`."""
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parse_argument(parser)
    )


def parse_attributions(parser: Parser, keyword: str) -> Arguments:
    """Reads `keyword(%a : type, ...)`, if it is there."""
    if parser.parse_optional_keyword(keyword) is None:
        return []
    return parse_arguments(parser)


def print_argument(
    printer: Printer,
    argument: BlockArgument,
    attributes: DictionaryAttr | None,
    separator: str = ": ",
) -> None:
    """Writes one argument with its type and attributes."""
    from xtile.text.mlir_printer import MlirPrinter

    printer.print_ssa_value(argument)
    printer.print_string(separator)
    printer.print_attribute(argument.type)
    if attributes is not None:
        printer.print_op_attributes(attributes.data)
    if isinstance(printer, MlirPrinter):
        printer.print_argument_location(argument)
    elif printer.print_debuginfo:
        printer.print_string(" ")
        printer.print_attribute(argument.location)


def print_attributions(
    printer: Printer,
    keyword: str,
    arguments: Sequence[BlockArgument],
    attributes: ArrayAttr[DictionaryAttr] | None = None,
) -> None:
    """Writes ` keyword(%a : type, ...)`, or nothing if there are no arguments."""
    if not arguments:
        return
    printer.print_string(f" {keyword}(")
    for index, argument in enumerate(arguments):
        if index:
            printer.print_string(", ")
        print_argument(printer, argument, dictionary_of(attributes, index), " : ")
    printer.print_string(")")


def attribute_array(arguments: Arguments) -> ArrayAttr[DictionaryAttr] | None:
    """Returns one dictionary for each argument; None if all are empty."""
    if not any(attributes for _, attributes in arguments):
        return None
    return ArrayAttr(DictionaryAttr(attributes) for _, attributes in arguments)


def dictionary_of(array: ArrayAttr[DictionaryAttr] | None, index: int) -> DictionaryAttr | None:
    """Returns the attributes of an argument or result; None if there are none."""
    if array is None or index >= len(array):
        return None
    dictionary = array.data[index]
    return dictionary if dictionary.data else None


def verify_attributions(arguments: Sequence[BlockArgument], space: AddressSpace) -> None:
    """Checks that every attribution is a memref of the address space or of a target's own.

    Raises:
        VerifyException: One is not.
    """
    for argument in arguments:
        type = argument.type
        if not isa(type, MemRefType):
            raise VerifyException(f"a {space.value} attribution must be a memref, got {type}")
        memory_space = type.memory_space
        if isinstance(memory_space, AddressSpaceAttr) and memory_space.data is not space:
            raise VerifyException(
                f"expected memory space {space.value} in a {space.value} attribution, "
                f"got {memory_space.data.value}"
            )


def _parse_argument(parser: Parser) -> tuple[Parser.Argument, dict[str, Attribute]]:
    argument = parser.parse_argument()
    attributes = parser.parse_optional_dictionary_attr_dict()
    location = parser.parse_optional_location()
    if location is not None:
        argument.location = location
    return argument, attributes
