"""What the texts of `linalg` operations have in common.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR/LinalgOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from typing_extensions import override
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, TensorType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from xtile.dialects.linalg.payloads import payload
from xtile.dialects.linalg.structure import element_type, is_unsigned, verify

MAPS = "indexing_maps"
MEMOIZED = "linalg.memoized_indexing_maps"
SEGMENTS = "operandSegmentSizes"


def parse_group(parser: Parser, keyword: str) -> list[SSAValue]:
    """Reads `ins(%a, %b : type, type)`, if it is there."""
    position = parser.pos
    if parser.parse_optional_characters(keyword) is None:
        return []
    with parser.in_parens():
        if parser.parse_optional_punctuation(":") is not None:
            return []
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return list(parser.resolve_operands(operands, types, position))


def print_group(printer: Printer, keyword: str, values: Sequence[SSAValue]) -> None:
    """Writes ` ins(%a, %b : type, type)`; nothing for no values."""
    if not values:
        return
    printer.print_string(f" {keyword}(")
    printer.print_list(values, printer.print_ssa_value)
    printer.print_string(" : ")
    printer.print_list([value.type for value in values], printer.print_attribute)
    printer.print_string(")")


def parse_results(parser: Parser) -> list[Attribute]:
    """Reads `-> type` or `-> (type, ...)`, if it is there."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else list(types)


def print_results(printer: Printer, types: Sequence[Attribute]) -> None:
    """Writes ` -> type` or ` -> (type, ...)`; nothing if there are none."""
    if len(types) == 1:
        printer.print_string(" -> ")
        printer.print_attribute(types[0])
    elif types:
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)


def tensors(values: Sequence[SSAValue]) -> list[Attribute]:
    """The types of those values that are tensors, which are the types of the results."""
    return [value.type for value in values if isa(value.type, TensorType)]


def shown(operation: Operation, hidden: Sequence[str]) -> Mapping[str, Attribute]:
    """The properties and attributes that a dictionary shows, by name."""
    given = {**operation.properties, **operation.attributes}
    return {name: given[name] for name in sorted(given) if name not in hidden}


class NamedText(IRDLOperation):
    """The text and the verifier of operations that are known by their names.

    ```
    linalg.matmul indexing_maps = [#a, #b, #c] {cast = #linalg.type_fn<cast_unsigned>}
        ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
    ```
    """

    IS_MEMOIZED: ClassVar[bool] = False

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        maps = None
        if parser.parse_optional_keyword(MAPS) is not None:
            parser.parse_punctuation("=")
            maps = parser.parse_attribute()
        given = dict(parser.parse_optional_attr_dict())
        inputs, outputs = parse_group(parser, "ins"), parse_group(parser, "outs")
        given |= parser.parse_optional_attr_dict()
        results = parse_results(parser)
        known = cls.get_irdl_definition().properties
        properties = {name: given.pop(name) for name in list(given) if name in known}
        if maps is not None:
            properties[MAPS] = maps
        operation = cls.build(
            operands=[inputs, outputs],
            result_types=[results],
            properties=properties,
            attributes=given,
            regions=[Region()],
        )
        types = [element_type(value) for value in operation.operands]
        body = payload(cls.name, types, is_unsigned(operation))
        if body is None:
            names = ", ".join(str(type_) for type_ in types)
            parser.raise_error(f"{cls.name} does not take elements of types {names}")
        operation.regions[0].add_block(body)
        if cls.IS_MEMOIZED:
            operation.attributes[MEMOIZED] = cast("Any", operation).get_indexing_maps()
        return operation

    @override
    def print(self, printer: Printer) -> None:
        maps = self.properties.get(MAPS)
        if maps is not None and maps != self._default_maps():
            printer.print_string(f" {MAPS} = ")
            printer.print_attribute(maps)
        attributes = shown(self, (MAPS, MEMOIZED, SEGMENTS))
        if attributes:
            printer.print_op_attributes(dict(attributes))
        given = cast("Any", self)
        print_group(printer, "ins", given.inputs)
        print_group(printer, "outs", given.outputs)
        print_results(printer, self.result_types)

    @classmethod
    def _default_maps(cls) -> Attribute | None:
        definition = cls.get_irdl_definition().properties.get(MAPS)
        return None if definition is None else definition.default_value

    @override
    def verify_(self) -> None:
        verify(self)


def map_attributes(*maps: Any) -> ArrayAttr[AffineMapAttr]:
    """Affine maps as the attribute that holds those of an operation."""
    return ArrayAttr(AffineMapAttr(map_) for map_ in maps)
