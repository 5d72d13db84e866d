"""Enumerations as keywords in declarative formats: `custom<RMW>($atomic_rmw_op)`."""

from __future__ import annotations

from abc import ABC
from enum import IntEnum
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.triton.tt import enumerations
from xtile.dialects.triton.tt.enumerations import keyword, keywords, number


def parse_member(parser: Parser, enumeration: type[IntEnum]) -> IntegerAttr:
    """Reads a member's keyword.

    Raises:
        ParseError: There is no such member; the message lists them.
    """
    members = keywords(enumeration)
    start = parser.pos
    word = parser.parse_optional_identifier()
    if word is None or word not in members:
        what = "a keyword" if word is None else f"'{word}'"
        expected = ", ".join(members)
        message = f"{what} was found where one of these is expected: {expected}"
        if word is None:
            parser.raise_error(f"expected one of {expected}")
        parser.raise_error(message, start, start + len(word))
    return number(members[word])


def print_member(printer: Printer, enumeration: type[IntEnum], attribute: Attribute | None) -> None:
    """Prints the keyword of the member that a property holds."""
    assert isinstance(attribute, IntegerAttr)
    printer.print_string(keyword(enumeration(attribute.value.data)))


def parse_order(parser: Parser) -> dict[str, Attribute]:
    """Reads what an atomic access orders, and for whom: `acq_rel, gpu, `."""
    sem = parse_member(parser, enumerations.MemSemantic)
    parser.parse_punctuation(",")
    scope = parse_member(parser, enumerations.MemSyncScope)
    parser.parse_punctuation(",")
    return {"sem": sem, "scope": scope}


def print_order(printer: Printer, sem: Attribute, scope: Attribute) -> None:
    """Prints what an atomic access orders, and for whom: ` acq_rel, gpu,`."""
    printer.print_string(" ")
    print_member(printer, enumerations.MemSemantic, sem)
    printer.print_string(", ")
    print_member(printer, enumerations.MemSyncScope, scope)
    printer.print_string(",")


class EnumKeyword(CustomDirective, ABC):
    """A property that is a keyword in the text."""

    ENUMERATION: ClassVar[type[IntEnum]]

    member: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.member.set(state, parse_member(parser, self.ENUMERATION))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        print_member(printer, self.ENUMERATION, self.member.get(op))
        state.last_was_punctuation = False
        state.should_emit_space = True

    @override
    def is_present(self, op: IRDLOperation) -> bool:
        return self.member.is_present(op)

    @override
    def is_anchorable(self) -> bool:
        return True


def verify_member(enumeration: type[IntEnum], name: str, attribute: Attribute | None) -> None:
    """Raises a VerifyException if a property holds no member of an enumeration."""
    if isinstance(attribute, IntegerAttr):
        if attribute.value.data in enumeration.__members__.values():
            return
    elif attribute is None:
        return
    members = ", ".join(f"{int(each)} ({keyword(each)})" for each in enumeration)
    raise VerifyException(f"{name} is {attribute}; it must be one of {members}")


@irdl_custom_directive
class RMW(EnumKeyword):
    """`fadd`, `xchg`, ..."""

    ENUMERATION: ClassVar[type[IntEnum]] = enumerations.RMWOp
    member: AttributeVariable


@irdl_custom_directive
class Semantic(EnumKeyword):
    """`acq_rel`, ..."""

    ENUMERATION: ClassVar[type[IntEnum]] = enumerations.MemSemantic
    member: AttributeVariable


@irdl_custom_directive
class Scope(EnumKeyword):
    """`gpu`, ..."""

    ENUMERATION: ClassVar[type[IntEnum]] = enumerations.MemSyncScope
    member: AttributeVariable


@irdl_custom_directive
class Axis(EnumKeyword):
    """`x`, `y` or `z`."""

    ENUMERATION: ClassVar[type[IntEnum]] = enumerations.ProgramIDDim
    member: AttributeVariable


@irdl_custom_directive
class Rounding(EnumKeyword):
    """`rtz` or `rtne`."""

    ENUMERATION: ClassVar[type[IntEnum]] = enumerations.RoundingMode
    member: AttributeVariable


@irdl_custom_directive
class Nan(EnumKeyword):
    """`none` or `all`."""

    ENUMERATION: ClassVar[type[IntEnum]] = enumerations.PropagateNan
    member: AttributeVariable
