"""How operations are defined, and how attributes are checked where they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, irdl_op_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.text.checked_definitions import CheckedDefinition

if TYPE_CHECKING:
    from xtile.text.assembly_formats import AssemblyFormat

OperationT = TypeVar("OperationT", bound=IRDLOperation)


def op_definition(cls: type[OperationT]) -> type[OperationT]:
    """Defines an operation as xDSL's `irdl_op_definition` does.

    `CheckedDefinition` verifies it. Its assembly format is read when the first one is parsed or
    printed, because a command needs few of the operations that it loads.
    """
    assembly_format = cls.assembly_format
    cls.assembly_format = None
    defined = irdl_op_definition(cls)
    CheckedDefinition.of(defined.get_irdl_definition())
    if assembly_format is None:
        return defined
    defined.assembly_format = assembly_format
    use_format(defined, assembly_format)
    return defined


def use_format(cls: type[IRDLOperation], assembly_format: str) -> None:
    """Lets a defined operation be parsed and printed in a format, which is read when it is used."""
    cls.get_irdl_definition().assembly_format = assembly_format
    setattr(cls, "parse", classmethod(_parse))  # noqa: B010
    setattr(cls, "print", _print)  # noqa: B010


@cache
def program_of(kind: type[IRDLOperation]) -> AssemblyFormat:
    """What parses and prints an operation that has an assembly format."""
    from xtile.text.assembly_formats import AssemblyFormat

    definition = kind.get_irdl_definition()
    # As in MLIR, properties that the format does not show stand in its dictionary.
    options = [*definition.options, ParsePropInAttrDict()]
    return AssemblyFormat.of(replace(definition, options=options))


def _parse(cls: type[OperationT], parser: Parser) -> OperationT:
    return program_of(cls).parse(parser, cls)


def _print(self: IRDLOperation, printer: Printer) -> None:
    program_of(type(self)).print(printer, self)


def check_parameters(
    parser: AttrParser,
    start: int,
    attribute: type[ParametrizedAttribute],
    parameters: Sequence[Attribute],
) -> Sequence[Attribute]:
    """Returns the parameters if the attribute's verifier accepts them.

    Raises:
        ParseError: It does not; the error is at the text from `start` on.
    """
    try:
        attribute.new(parameters)
    except VerifyException as error:
        parser.raise_error(str(error), start, max(start + 1, parser.pos))
    return parameters
