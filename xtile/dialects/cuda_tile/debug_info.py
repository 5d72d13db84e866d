"""Debug information: where the operations of a kernel come from.

```
#file = #cuda_tile.di_file<"kernels.py" in "/home/me">
#unit = #cuda_tile.di_compile_unit<file = #file>
#scope = #cuda_tile.di_subprogram<file = #file, line = 3, name = "add", linkageName = "add_f32",
                                  compileUnit = #unit, scopeLine = 4>
#position = #cuda_tile.di_loc<loc("/home/me/kernels.py":5:8) in #scope>
```

Source: NVIDIA/cuda-tile 13.3.0, `AttrDefs.td`, "DebugInfo".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.versions import V13_1, Version
from xtile.dialects.definitions import check_parameters
from xtile.text.mlir_attributes import ALIAS_NAMES


@irdl_attr_definition
class DIFileAttr(ParametrizedAttribute):
    """A source file: `#cuda_tile.di_file<"kernels.py" in "/home/me">`."""

    name = "cuda_tile.di_file"

    SINCE: ClassVar[Version] = V13_1

    file_name: StringAttr
    directory: StringAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            file_name = parser.parse_str_literal(" for the name of a file")
            parser.parse_keyword("in", " before the directory of a file")
            directory = parser.parse_str_literal(" for the directory of a file")
        return (StringAttr(file_name), StringAttr(directory))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.file_name.data)
            printer.print_string(" in ")
            printer.print_string_literal(self.directory.data)


@irdl_attr_definition
class DICompileUnitAttr(ParametrizedAttribute):
    """What was compiled at once: `#cuda_tile.di_compile_unit<file = #file>`."""

    name = "cuda_tile.di_compile_unit"

    SINCE: ClassVar[Version] = V13_1

    file: DIFileAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return _parse_members(parser, cls, {"file": _parse_attribute})

    @override
    def print_parameters(self, printer: Printer) -> None:
        _print_members(printer, {"file": self.file})


@irdl_attr_definition
class DISubprogramAttr(ParametrizedAttribute):
    """A function of the source; the line of its scope is 0 where it is not known."""

    name = "cuda_tile.di_subprogram"

    SINCE: ClassVar[Version] = V13_1

    file: DIFileAttr
    line: IntAttr
    function_name: StringAttr
    linkage_name: StringAttr
    compile_unit: DICompileUnitAttr
    scope_line: IntAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        members = {
            "file": _parse_attribute,
            "line": _parse_number,
            "name": _parse_text,
            "linkageName": _parse_text,
            "compileUnit": _parse_attribute,
            "scopeLine": _parse_number,
        }
        return _parse_members(parser, cls, members, optional="scopeLine")

    @override
    def print_parameters(self, printer: Printer) -> None:
        members = {
            "file": self.file,
            "line": self.line,
            "name": self.function_name,
            "linkageName": self.linkage_name,
            "compileUnit": self.compile_unit,
            "scopeLine": self.scope_line,
        }
        _print_members(printer, members, optional="scopeLine")


@irdl_attr_definition
class DILexicalBlockAttr(ParametrizedAttribute):
    """A block in a function of the source; its column is 0 where it is not known."""

    name = "cuda_tile.di_lexical_block"

    SINCE: ClassVar[Version] = V13_1

    scope: Attribute
    file: DIFileAttr
    line: IntAttr
    column: IntAttr

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        members = {
            "scope": _parse_scope,
            "file": _parse_attribute,
            "line": _parse_number,
            "column": _parse_number,
        }
        return _parse_members(parser, cls, members, optional="column")

    @override
    def print_parameters(self, printer: Printer) -> None:
        members = {
            "scope": self.scope,
            "file": self.file,
            "line": self.line,
            "column": self.column,
        }
        _print_members(printer, members, optional="column")


LocalScope: TypeAlias = DISubprogramAttr | DILexicalBlockAttr
"""What a position lies in."""


@irdl_attr_definition
class DILocAttr(ParametrizedAttribute):
    """A position in a function of the source, which is a location of MLIR.

    `#cuda_tile.di_loc<loc("/home/me/kernels.py":5:8) in #scope>`
    """

    name = "cuda_tile.di_loc"

    SINCE: ClassVar[Version] = V13_1

    source_location: FileLineColLoc
    scope: Attribute

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            location = parser.parse_optional_location() or parser.parse_attribute()
            parser.parse_keyword("in", " before the scope of a location")
            scope = _parse_scope(parser)
        return check_parameters(parser, start, cls, (location, scope))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.source_location)
            printer.print_string(" in ")
            printer.print_attribute(self.scope)

    def print_builtin(self, printer: Printer) -> None:
        """Prints it in full, because xDSL takes every location for one of MLIR's own."""
        printer.print_string(f"#{self.name}")
        self.print_parameters(printer)


# xDSL lists the locations in a closed union, and checks the parts of composed ones against it. A
# position with a scope counts as one of these, of which nothing asks for the parts.
CallSiteLoc.register(DILocAttr)

_Parse: TypeAlias = Callable[[AttrParser], Attribute]


def _parse_attribute(parser: AttrParser) -> Attribute:
    return parser.parse_attribute()


def _parse_scope(parser: AttrParser) -> Attribute:
    start = parser.pos
    scope = parser.parse_attribute()
    if not isinstance(scope, LocalScope):
        parser.raise_error(
            "expected a scope: a di_subprogram or a di_lexical_block", start, parser.pos
        )
    return scope


def _parse_number(parser: AttrParser) -> Attribute:
    return IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))


def _parse_text(parser: AttrParser) -> Attribute:
    return StringAttr(parser.parse_str_literal())


def _parse_members(
    parser: AttrParser,
    attribute: type[ParametrizedAttribute],
    members: Mapping[str, _Parse],
    optional: str | None = None,
) -> Sequence[Attribute]:
    """Reads `<name = value, ...>` with the names in any order.

    Args:
        parser: Stands before the bracket.
        attribute: What is read.
        members: How to read each value, by name.
        optional: The name that may be missing; it is 0 then.

    Raises:
        ParseError: A name is unknown, missing or there twice.
    """
    start = parser.pos
    values: dict[str, Attribute] = {}

    def parse_member() -> None:
        position = parser.pos
        name = parser.parse_identifier()
        if name not in members or name in values:
            problem = "is there twice" if name in values else f"is none of {', '.join(members)}"
            parser.raise_error(f"'{name}' {problem}", position, position + len(name))
        parser.parse_punctuation("=")
        values[name] = members[name](parser)

    parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_member)
    if optional is not None:
        values.setdefault(optional, IntAttr(0))
    missing = [name for name in members if name not in values]
    if missing:
        parser.raise_error(f"'{missing[0]}' is missing", start, parser.pos)
    return check_parameters(parser, start, attribute, [values[name] for name in members])


def _print_members(
    printer: Printer, members: Mapping[str, Attribute], optional: str | None = None
) -> None:
    """Prints `<name = value, ...>`; what may be missing is left out where it is 0."""
    shown = [
        (name, value) for name, value in members.items() if name != optional or value != IntAttr(0)
    ]
    with printer.in_angle_brackets():
        printer.print_list(shown, lambda item: _print_member(printer, *item))


def _print_member(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_string(f"{name} = ")
    if isinstance(value, StringAttr):
        printer.print_string_literal(value.data)
    elif isinstance(value, IntAttr):
        printer.print_string(str(cast("IntAttr", value).data))
    else:
        printer.print_attribute(value)


ATTRIBUTES: list[type[Attribute]] = [
    DICompileUnitAttr,
    DIFileAttr,
    DILexicalBlockAttr,
    DILocAttr,
    DISubprogramAttr,
]
"""Every attribute of this module."""

ALIAS_NAMES.update(
    {
        DICompileUnitAttr: "di_compile_unit",
        DIFileAttr: "di_file",
        DILexicalBlockAttr: "di_lexical_block",
        DILocAttr: "loc",
        DISubprogramAttr: "di_subprogram",
    }
)


# --- which scopes locations may have ---


def find_position(location: Attribute) -> DILocAttr | None:
    """The position with a scope that a location has in it; of a call that of its caller."""
    if isinstance(location, DILocAttr):
        return location
    # Nearly all locations are these, and the questions below take long.
    if type(location) is FileLineColLoc:
        return None
    parts: Sequence[Attribute] = ()
    # A position counts as a call for `isinstance` (`debug_info.py`), so it comes first above.
    if isinstance(location, CallSiteLoc):
        parts = (location.caller,)
    elif isinstance(location, NameLoc):
        parts = (location.location,)
    elif isinstance(location, FusedLoc):
        parts = cast("ArrayAttr[Attribute]", location.locations).data
    return next(filter(None, map(find_position, parts)), None)


def subprogram_of(location: Attribute) -> DISubprogramAttr | None:
    """The function of the source that a location is in."""
    position = find_position(location)
    if position is None:
        return None
    scope = position.scope
    while isinstance(scope, DILexicalBlockAttr):
        scope = scope.scope
    return scope if isinstance(scope, DISubprogramAttr) else None


def verify_function(function: Operation, name: str) -> None:
    """Checks the locations of a function and of all in it.

    Raises:
        VerifyException: The scope of the function is no subprogram of its name, its location is a
            call, or something in it is of another subprogram.
    """
    location: Attribute = function.location
    position = find_position(location)
    if isinstance(location, CallSiteLoc) and not isinstance(location, DILocAttr):
        raise VerifyException("the location of a function must not be a call")
    if position is not None:
        if not isinstance(position.scope, DISubprogramAttr):
            raise VerifyException(
                f"the scope of a function must be a di_subprogram, but is {position.scope}"
            )
        linkage_name = position.scope.linkage_name.data
        if linkage_name != name:
            raise VerifyException(
                f'the scope\'s linkageName must be "{name}" as the function is called, but is '
                f'"{linkage_name}"'
            )
    _verify_operations(function)


def _verify_operations(function: Operation) -> None:
    expected = subprogram_of(function.location)
    for operation in function.walk():
        found = subprogram_of(operation.location)
        if found is None or found == expected:
            continue
        if expected is None:
            raise VerifyException(
                f"'{operation.name}' in it has the scope {found}, but the function has none"
            )
        raise VerifyException(
            f"'{operation.name}' in it has the scope {found}; it must be the function's {expected}"
        )


def verify_variable(operation: Operation) -> None:
    """Checks that what stands beside functions has no scope.

    Raises:
        VerifyException: It has.
    """
    if find_position(operation.location) is not None:
        raise VerifyException(f"'{operation.name}' must not have a scope in its location")
