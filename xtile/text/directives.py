"""Directives of MLIR's declarative assembly format that xDSL does not have.

xDSL 0.74 has `attr-dict`, `type`, `qualified`, `functional-type`, `custom`, regions, successors and
optional groups, and MLIR's `custom<DynamicIndexList>` in `xdsl.dialects.utils`. An operation names
a directive of this module, or a class of its own derived from one, in `custom_directives`:

    @irdl_custom_directive
    class CacheHints(PropDict):
        l1_hint: AttributeVariable
        l2_hint: AttributeVariable

    class PrefetchOp(IRDLOperation):
        assembly_format = "$address custom<CacheHints>($l1_hint, $l2_hint) attr-dict"
        custom_directives = (CacheHints,)

Operations with hand-written `parse` and `print` methods use the two functions at the end.

Source: MLIR, "Operation Definition Specification (ODS)", "Declarative Assembly Format".
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection, Iterable, Mapping
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    FormatDirective,
    OptionalUnitAttrVariable,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


class PropDict(CustomDirective, ABC):
    """`prop-dict`: the properties that the format does not show elsewhere, as `<{a = 1 : i32}>`.

    A derived class has one field of type `AttributeVariable` for each of these properties, named as
    the property. Properties that are absent or have their default value are not printed.
    """

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        variables = self._variables()
        for name, value in parse_prop_dict(parser, variables).items():
            variables[name].set(state, value)

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        properties = {
            name: value
            for name, variable in self._variables().items()
            if variable.is_present(op) and (value := variable.get(op)) is not None
        }
        if not properties:
            return
        print_prop_dict(printer, properties)
        state.last_was_punctuation = False
        state.should_emit_space = True

    @override
    def is_present(self, op: IRDLOperation) -> bool:
        return any(variable.is_present(op) for variable in self._variables().values())

    @override
    def is_anchorable(self) -> bool:
        return True

    @override
    def is_optional_like(self) -> bool:
        return True

    def _variables(self) -> dict[str, AttributeVariable]:
        return {name: getattr(self, name) for name in self.parameters}


class Oilist(CustomDirective, ABC):
    """`oilist`: optional clauses in any order, each a keyword with a variable.

    A derived class has one field for each clause, named as its keyword and of type
    `AttributeVariable` or `VariadicOperandVariable`. A unit attribute is its keyword alone. Clauses
    are printed in the order of the fields.
    """

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        for name in self.parameters:
            variable = self._variable(name)
            if isinstance(variable, VariadicOperandVariable):
                variable.set_empty(state)
        seen: set[str] = set()
        start = parser.pos
        while (keyword := parser.parse_optional_keyword_in(list(self.parameters))) is not None:
            if keyword in seen:
                message = f"clause '{keyword}' is given twice; it may be given once"
                parser.raise_error(message, start, start + len(keyword))
            seen.add(keyword)
            self._variable(keyword).parse(parser, state)
            start = parser.pos

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for name in self.parameters:
            variable = self._variable(name)
            if variable.is_present(op):
                state.print_whitespace(printer)
                printer.print_string(name)
                if not isinstance(variable, OptionalUnitAttrVariable):
                    variable.print(printer, state, op)

    @override
    def is_present(self, op: IRDLOperation) -> bool:
        return any(self._variable(name).is_present(op) for name in self.parameters)

    @override
    def is_anchorable(self) -> bool:
        return True

    @override
    def is_optional_like(self) -> bool:
        return True

    def _variable(self, name: str) -> FormatDirective:
        return cast(FormatDirective, getattr(self, name))


def parse_prop_dict(parser: Parser, known: Collection[str]) -> dict[str, Attribute]:
    """Reads `<{name = value, flag}>` if it is there.

    Args:
        parser: Stands where the dictionary may begin.
        known: The properties that may stand in it.

    Returns:
        The properties; none if there is no dictionary. A name without a value is a unit attribute.

    Raises:
        ParseError: The dictionary is malformed, or a name in it is repeated or not in `known`.
    """
    if parser.parse_optional_punctuation("<") is None:
        return {}
    properties: dict[str, Attribute] = {}

    def parse_entry() -> None:
        start = parser.pos
        name = parser.parse_identifier_or_str_literal()
        if name not in known:
            names = ", ".join(f"'{other}'" for other in sorted(known))
            message = f"there is no property '{name}' here; expected one of {names}"
            parser.raise_error(message, start, start + len(name))
        if name in properties:
            message = f"property '{name}' is given twice; it may be given once"
            parser.raise_error(message, start, start + len(name))
        has_value = parser.parse_optional_punctuation("=") is not None
        properties[name] = parser.parse_attribute() if has_value else UnitAttr()

    parser.parse_comma_separated_list(Parser.Delimiter.BRACES, parse_entry)
    parser.parse_punctuation(">", " after the properties")
    return properties


def print_prop_dict(
    printer: Printer, properties: Mapping[str, Attribute], leave_out: Iterable[str] = ()
) -> None:
    """Prints ` <{name = value, flag}>` in the order of the names; nothing if nothing is left.

    Args:
        printer: Where to print.
        properties: The properties.
        leave_out: Names that are not printed.
    """
    hidden = set(leave_out)
    shown = {name: properties[name] for name in sorted(properties) if name not in hidden}
    if shown:
        printer.print_string(" <")
        printer.print_attr_dict(shown)
        printer.print_string(">")
