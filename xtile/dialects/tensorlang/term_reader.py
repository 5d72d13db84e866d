"""Reads what instructions of `.ir` text consist of: names, types, constants, attributes.

Source: tensor language reference, sections "Core rules", "Constants", "Attributes" and "Types".
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
)
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.tensorlang.assembly import Definition, NameTable
from xtile.dialects.tensorlang.attributes import AddressSpace, MatrixUse
from xtile.dialects.tensorlang.lexer import END, Lexer
from xtile.dialects.tensorlang.operation import (
    ATTRIBUTE_NAMES,
    array_entries,
    integer_attribute,
    integer_value,
)
from xtile.dialects.tensorlang.types import (
    BOOL,
    DYNAMIC,
    SCALAR_TYPES,
    CoopmatrixType,
    GroupType,
    MemrefType,
    PoisonType,
    VoidType,
)
from xtile.text.diagnostics import Diagnostic, Diagnostics, Severity, shorten
from xtile.text.source import Source, Span
from xtile.text.value_names import give_name

MAX_ATTRIBUTE_DEPTH = 100
"""Attributes may nest this deep, because printing and comparing them recurses."""

MAX_INTEGER_DIGITS = 40
"""Longer integers are out of range without being converted, which takes quadratic time."""

INTEGER_RANGE = range(-(2**63) + 1, 2**63)
"""Integer constants lie in -2^63+1, ..., 2^63-1 (reference: "Constants")."""

_TYPE_TEXT = re.compile(
    r"(?:bool|bf16|index|i(?:8|16|32|64)|f(?:16|32|64)|c32|c64)\b"
    r"|memref<[\w\s?]*+(?:,\s*+strided<[\d?,\s]*+>)?+\s*+(?:,\s*+(?:local|global)\s*+)?+>"
    r"|coopmatrix<[\w\s]*+,\s*+\w++\s*+>"
)
"""Whole types without preprocessor names; what matches is looked up by its text."""

_COMPOUND_TYPES = frozenset({"memref", "group", "coopmatrix"})

_SPACE = r"(?:\s++|;[^\n]*+)*+"
RESULTS = re.compile(r"%\w++\s*+(?:,\s*+%\w++\s*+)*+=(?!\s*+%)")
"""The names of an instruction's results, up to the equals sign."""

_DICTIONARY = re.compile(
    rf"""\{{ {_SPACE} (?: \}} | (?: [A-Za-z]\w*+ | "[^"\n]*+" ) {_SPACE} = )""", re.VERBOSE
)
"""The beginning of an attribute dictionary, which is not that of a region."""

_DAMAGED_TYPE = re.compile(r"(?:[^<>,){}\n]*+(?:<(?:[^<>\n]|<[^<>\n]*+>)*+>)?+)(?=\s*[,){])")
"""Something like a type, up to what may follow a parameter's type."""

_SCALAR_NAME = re.compile(
    r"(?:\s++|;[^\n]*+)*+(bool|bf16|index|i(?:8|16|32|64)|f(?:16|32|64)|c32|c64)"
)


class TextError(Exception):
    """A mistake in the text at `span`."""

    def __init__(self, span: Span, message: str, notes: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.span = span
        self.message = message
        self.notes = tuple(notes)


class ReadError(TextError):
    """A mistake that costs the instruction it stands in."""


class ReportedError(ReadError):
    """A consequence of a mistake that has been reported."""


class FatalSyntaxError(TextError):
    """A mistake after which nothing that follows can be understood."""


class TermReader(ABC):
    """Reads terms from the current token on and leaves the lexer behind them."""

    def __init__(self, source: Source, diagnostics: Diagnostics, revision: str) -> None:
        self.source = source
        self.revision = revision
        self.diagnostics = diagnostics
        self.lexer = Lexer(source.text)
        self.names: NameTable[SSAValue] = NameTable()
        self._assumed: set[Definition] = set()
        self.definitions: NameTable[Attribute] = NameTable()
        self.operand_spans: list[Span] = []
        self._types: dict[str, Attribute] = {}
        self._pending_comments: list[str] = []

    # What only older revisions of the language have

    @cached_property
    def has_older_constructs(self) -> bool:
        """Whether the text has constructs that the current revision has not."""
        return self.find_older_constructs()

    @abstractmethod
    def find_older_constructs(self) -> bool:
        """Looks through the whole text for such constructs."""

    @abstractmethod
    def read_dropped_type(self) -> Attribute:
        """Reads a type that the current revision does not have."""

    @abstractmethod
    def read_integer_part(self) -> FloatAttr:
        """Reads an integer where a complex constant of the current revision has a floating one."""

    @abstractmethod
    def missing_group_size(self, span: Span) -> int:
        """The size of a group that is written without one."""

    # Errors

    def span(self) -> Span:
        """The current token's location."""
        return Span(self.lexer.start, self.lexer.end)

    def report(self, error: TextError) -> None:
        """Adds a caught error to the diagnostics."""
        if not isinstance(error, ReportedError):
            self.diagnostics.error(self.source, error.span, error.message, notes=error.notes)

    def warn(self, span: Span, message: str) -> None:
        """Adds a warning to the diagnostics."""
        self.diagnostics.warning(self.source, span, message)

    def unexpected(self, wanted: str) -> ReadError:
        """The error that the current token is not what was wanted."""
        lexer = self.lexer
        found = "the end of the text" if lexer.kind == END else f"'{shorten(lexer.value, 40)}'"
        return ReadError(self.span(), f"expected {wanted}, but found {found}")

    def note(self, span: Span, message: str) -> Diagnostic:
        """A note on another location of the text."""
        return Diagnostic(Severity.NOTE, message, self.source, span)

    # Tokens

    def punctuation(self, text: str) -> None:
        """Reads the given punctuation or keyword."""
        if self.lexer.value != text:
            raise self.unexpected(f"'{text}'")
        self.lexer.advance()

    def optional_punctuation(self, text: str) -> bool:
        """Reads the given punctuation or keyword, if it is there."""
        if self.lexer.value != text:
            return False
        self.lexer.advance()
        return True

    def next_is(self, text: str) -> bool:
        """Whether the given punctuation comes next."""
        return self.lexer.value == text

    def modifier(self, spellings: Mapping[str, Attribute | None]) -> str | None:
        """Reads one of the given modifiers, if it is there."""
        if self.lexer.kind != "modifier" or self.lexer.value[1:] not in spellings:
            return None
        spelling = self.lexer.value[1:]
        self.lexer.advance()
        return spelling

    def missing_modifier(self, spellings: Sequence[str]) -> ReadError:
        """The error that one of the given modifiers must stand here."""
        return self.unexpected(" or ".join(f"'.{spelling}'" for spelling in spellings))

    def symbol(self) -> str:
        """Reads `@name`."""
        if self.lexer.kind != "global":
            raise self.unexpected("a global identifier '@name'")
        name = self.lexer.value[1:]
        self.lexer.advance()
        return name

    # Values

    def operand(self) -> SSAValue:
        """Reads a local identifier that is used; an undefined one becomes poison."""
        lexer = self.lexer
        if self._is_at_results():
            raise ReadError(self.span(), "an operand is missing in front of this instruction")
        if lexer.kind != "local":
            raise self.unexpected("a local identifier '%name'")
        name, span = lexer.value[1:], self.span()
        self.operand_spans.append(span)
        lexer.advance()
        value = self.names.get(name)
        if value is None:
            self.diagnostics.error(
                self.source,
                span,
                f"%{shorten(name, 40)} is not defined here; define it before its use, "
                "in this region or one around it",
            )
            definition = Definition(name, span.start, span.end)
            self._assumed.add(definition)
            value = self.define_poison(definition)
        return value

    def _is_at_results(self) -> bool:
        """Whether the next line's instruction comes where an operand is missing."""
        text, lexer = self.source.text, self.lexer
        return (
            "\n" in text[lexer.previous_end : lexer.start]
            and RESULTS.match(text, lexer.start) is not None
        )

    def index_operands(self, close: str) -> list[SSAValue]:
        """Reads comma-separated values up to the punctuation `close`."""
        values: list[SSAValue] = []
        if self.lexer.value != close:
            values.append(self._index_operand())
            while self.optional_punctuation(","):
                values.append(self._index_operand())
        return values

    def _index_operand(self) -> SSAValue:
        if self.lexer.kind in ("integer", "definition") and self.next_is_integer():
            return self.index_immediate()
        return self.operand()

    def index_immediate(self) -> SSAValue:
        """Reads an integer where an index value has to stand."""
        raise self.unexpected("a local identifier '%name'")

    def next_is_integer(self) -> bool:
        """Whether an integer constant, or the name of one, comes next."""
        if self.lexer.kind == "definition":
            value = self.definitions.get(self.lexer.value[1:])
            return _is_integer(value)
        return self.lexer.kind == "integer"

    def definition(self) -> Definition:
        """Reads a local identifier that is introduced."""
        lexer = self.lexer
        if lexer.kind != "local":
            raise self.unexpected("a local identifier '%name'")
        definition = Definition(lexer.value[1:], lexer.start, lexer.end)
        lexer.advance()
        return definition

    def define(self, definition: Definition, value: SSAValue) -> None:
        """Gives a value its name; a name that is taken is an error."""
        span = Span(definition.start, definition.end)
        previous = self.names.define(definition, value)
        if previous in self._assumed:
            self.names.redefine(definition, value)
        elif previous is not None:
            note = self.note(Span(previous.start, previous.end), "it is first defined here")
            message = f"%{shorten(definition.name, 40)} is already defined; choose another name"
            self.diagnostics.error(self.source, span, message, notes=[note])
        self.give_name(value, definition.name)

    def give_name(self, value: SSAValue, name: str) -> None:
        """Names a value as it shall be printed, without making the name visible."""
        if SSAValue.is_valid_name(name):
            give_name(value, name)
        else:
            self.source.names[value] = name

    def define_poison(self, definition: Definition) -> SSAValue:
        """Defines a name whose value could not be read."""
        value = Block(arg_types=[PoisonType()]).args[0]
        self.names.define(definition, value)
        return value

    # Constants

    def integer(self, what: str = "integer") -> int:
        """Reads an integer constant, or the name of one."""
        if self.lexer.kind == "definition":
            span, value = self.span(), self.defined_value()
            if _is_integer(value):
                return integer_value(value)
            raise ReadError(span, f"expected an integer for the {what}")
        if self.lexer.kind != "integer":
            raise self.unexpected(f"an integer for the {what}")
        value = self._integer_value()
        self.lexer.advance()
        return value

    def _integer_value(self) -> int:
        text = self.lexer.value
        value = int(text) if len(text) <= MAX_INTEGER_DIGITS else INTEGER_RANGE.stop
        if value not in INTEGER_RANGE:
            raise ReadError(
                self.span(),
                f"integer {shorten(text, 40)} is out of range; it must lie in -2^63+1, ..., 2^63-1",
            )
        return value

    def index_or_operand(self, what: str) -> int | SSAValue:
        """Reads a non-negative integer constant or a value."""
        if self.lexer.kind == "local":
            return self.operand()
        span = self.span()
        value = self.integer(what.partition(" ")[2])
        if value < 0:
            raise ReadError(span, f"{what} must not be negative, but it is {value}")
        return value

    def constant(self) -> Attribute:
        """Reads a boolean, integer, floating or complex constant, or the name of one."""
        if self.lexer.kind == "definition":
            span, value = self.span(), self.defined_value()
            if isinstance(value, IntegerAttr | FloatAttr) or is_complex_constant(value):
                return cast("Attribute", value)
            raise ReadError(span, "expected a constant, but the name stands for something else")
        if self.optional_punctuation("["):
            real = self._part()
            self.punctuation(",")
            imaginary = self._part()
            self.punctuation("]")
            return ArrayAttr([real, imaginary])
        return self.plain_constant()

    def plain_constant(self) -> Attribute:
        """Reads a boolean, integer or floating constant."""
        lexer = self.lexer
        if lexer.kind == "integer":
            attribute: Attribute = integer_attribute(self._integer_value())
        elif lexer.kind == "float":
            return self._floating()
        elif lexer.value in ("true", "false"):
            attribute = BoolAttr.from_bool(lexer.value == "true")
        else:
            raise self.unexpected("a constant")
        lexer.advance()
        return attribute

    def _part(self) -> FloatAttr:
        """Reads the real or the imaginary part of a complex constant."""
        if self.lexer.kind == "integer" and self.has_older_constructs:
            return self.read_integer_part()
        return self._floating()

    def _floating(self) -> FloatAttr:
        if self.lexer.kind != "float":
            raise self.unexpected("a floating constant, e.g. 1.0")
        text = self.lexer.value
        try:
            value = float.fromhex(text) if "x" in text else float(text)
        except (OverflowError, ValueError):
            value = float("inf")
        if value in (float("inf"), float("-inf")) and "inf" not in text:
            raise ReadError(
                self.span(),
                f"{shorten(text, 40)} is out of the range of double precision numbers; "
                "write inf if that is meant",
            )
        self.lexer.advance()
        return FloatAttr(value, f64)

    # Attributes

    def dictionary(self) -> dict[str, Attribute]:
        """Reads an attribute dictionary, or the name of one, if it is there."""
        if self.lexer.kind == "definition":
            span, value = self.span(), self.defined_value()
            if not isinstance(value, DictionaryAttr):
                raise ReadError(span, "expected an attribute dictionary")
            return dict(value.data)
        if self.lexer.value != "{":
            return {}
        return dict(self.dictionary_attribute(0).data)

    def parameter_dictionary(self) -> dict[str, Attribute]:
        """Reads a parameter's attributes; a brace that begins a region is left alone."""
        if self.lexer.value == "{" and not _DICTIONARY.match(self.source.text, self.lexer.start):
            return {}
        return self.dictionary()

    def dictionary_attribute(self, depth: int) -> DictionaryAttr:
        """Reads `{name=attribute, ...}`."""
        self._check_depth(depth)
        self.punctuation("{")
        entries: dict[str, Attribute] = {}
        if not self.optional_punctuation("}"):
            self._named_attribute(entries, depth)
            while self.optional_punctuation(","):
                self._named_attribute(entries, depth)
            self.punctuation("}")
        return DictionaryAttr(entries)

    def _named_attribute(self, entries: dict[str, Attribute], depth: int) -> None:
        lexer = self.lexer
        if lexer.kind not in ("word", "string"):
            raise self.unexpected("an attribute name")
        name, span, is_quoted = lexer.value.strip('"'), self.span(), lexer.kind == "string"
        if name in entries:
            raise ReadError(span, f"attribute {shorten(name, 40)} is given twice")
        lexer.advance()
        self.punctuation("=")
        attribute = self.attribute(depth + 1)
        if is_quoted or name in ATTRIBUTE_NAMES:
            entries[name] = attribute
        else:
            # What follows is not damaged, so a mistyped name costs no more than its attribute.
            self.report(ReadError(span, _unknown_attribute(name)))

    def attribute(self, depth: int = 0) -> Attribute:
        """Reads an array, boolean, dictionary, integer or string attribute, or a name of one."""
        lexer = self.lexer
        if lexer.value == "{":
            return self.dictionary_attribute(depth)
        if lexer.value == "[":
            return self.array_attribute(depth)
        if lexer.kind == "string":
            attribute: Attribute = StringAttr(lexer.value[1:-1])
        elif lexer.kind == "integer":
            attribute = integer_attribute(self._integer_value())
        elif lexer.value in ("true", "false"):
            attribute = BoolAttr.from_bool(lexer.value == "true")
        elif lexer.kind == "definition":
            return self._defined_attribute()
        else:
            raise self.unexpected("an attribute")
        lexer.advance()
        return attribute

    def _defined_attribute(self) -> Attribute:
        span, value = self.span(), self.defined_value()
        is_complex = is_complex_constant(value)
        if is_complex or not isinstance(
            value, ArrayAttr | DictionaryAttr | StringAttr | IntegerAttr
        ):
            raise ReadError(span, "expected an attribute, but the name stands for something else")
        return cast("Attribute", value)

    def array_attribute(self, depth: int) -> ArrayAttr[Attribute]:
        """Reads `[attribute, ...]`."""
        self._check_depth(depth)
        self.punctuation("[")
        entries: list[Attribute] = []
        if not self.optional_punctuation("]"):
            entries.append(self.attribute(depth + 1))
            while self.optional_punctuation(","):
                entries.append(self.attribute(depth + 1))
            self.punctuation("]")
        return ArrayAttr(entries)

    def _check_depth(self, depth: int) -> None:
        if depth > MAX_ATTRIBUTE_DEPTH:
            raise FatalSyntaxError(
                self.span(), f"attributes are nested more than {MAX_ATTRIBUTE_DEPTH} deep"
            )

    def defined_value(self) -> Attribute:
        """Reads `$name` and returns what it stands for."""
        name, span = self.lexer.value[1:], self.span()
        self.lexer.advance()
        value = self.definitions.get(name)
        if isinstance(value, PoisonType):
            raise ReportedError(span, f"${shorten(name, 40)} could not be read")
        if value is None:
            definition = Definition(name, span.start, span.end)
            self._assumed.add(definition)
            self.definitions.define(definition, PoisonType())
            raise ReadError(span, f"${shorten(name, 40)} is not defined; define it before its use")
        return value

    def define_constant(self, definition: Definition, value: Attribute) -> None:
        """Gives `$name` its value; a name that is taken is an error."""
        previous = self.definitions.define(definition, value)
        if previous in self._assumed:
            self.definitions.redefine(definition, value)
        elif previous is not None:
            raise ReadError(
                Span(definition.start, definition.end),
                f"${shorten(definition.name, 40)} is already defined; choose another name",
                [self.note(Span(previous.start, previous.end), "it is first defined here")],
            )

    # Types

    def type(self) -> Attribute:
        """Reads a type, or the name of one."""
        match = _TYPE_TEXT.match(self.source.text, self.lexer.start)
        if match is None:
            return self._new_type()
        text = match[0]
        known = self._types.get(text)
        if known is None:
            known = self._types[text] = self._new_type()
        else:
            self.lexer.move_to(match.end())
            self.lexer.previous_end = match.end()
        return known

    def parameter_type(self) -> Attribute:
        """Reads the type of a parameter; reports a wrong one and goes to what follows it."""
        start = self.lexer.start
        try:
            return self.type()
        except ReadError as error:
            end = self._end_of_type(start)
            if end is None:
                raise
            self.report(error)
            self.lexer.move_to(end)
            return PoisonType()

    def _end_of_type(self, start: int) -> int | None:
        """Where the type at `start` ends that could not be read, on the same line."""
        match = _DAMAGED_TYPE.match(self.source.text, start)
        return None if match is None else match.end()

    def _new_type(self) -> Attribute:
        lexer, start = self.lexer, self.lexer.start
        if lexer.kind == "definition":
            span, value = self.span(), self.defined_value()
            if not isinstance(value, TYPE_CLASSES) and value not in SCALAR_TYPES.values():
                raise ReadError(span, "expected a type, but the name stands for something else")
            return value
        reader = {
            "memref": self._memref_type,
            "group": self._group_type,
            "coopmatrix": self._coopmatrix_type,
        }.get(lexer.value)
        if reader is None:
            return self._scalar_or_void_type()
        lexer.advance()
        self.punctuation("<")
        try:
            type = reader()
        except VerifyException as error:
            raise ReadError(Span(start, lexer.end), str(error)) from None
        self.punctuation(">")
        return type

    def _scalar_or_void_type(self) -> Attribute:
        name = self.lexer.value
        type = VoidType() if name == "void" else SCALAR_TYPES.get(name)
        if type is None:
            return self.read_dropped_type()
        self.lexer.advance()
        return type

    def _element_type(self) -> Attribute:
        """Reads a type that a shape follows: `f32` in `f32x4`."""
        lexer = self.lexer
        match = _SCALAR_NAME.match(self.source.text, lexer.start)
        if match is None:
            # Looking into it would recurse as deep as the text nests.
            if lexer.value in _COMPOUND_TYPES:
                raise self.unexpected("a number type")
            return self.type()
        lexer.move_to(match.end())
        return SCALAR_TYPES[match[1]]

    def _shape(self) -> list[int]:
        shape: list[int] = []
        while self.optional_punctuation("x"):
            shape.append(self._dimension())
        return shape

    def _dimension(self) -> int:
        if self.optional_punctuation("?"):
            return DYNAMIC
        span = self.span()
        value = self.integer("size")
        if value < 0:
            raise ReadError(span, f"size {value} is negative; write a size or '?'")
        return value

    def _memref_type(self) -> Attribute:
        element_type, shape = self._element_type(), self._shape()
        strides: list[int] | None = None
        space = AddressSpace.GLOBAL
        if self.lexer.value == ",":
            self.lexer.advance()
            if self.optional_punctuation("strided"):
                strides = self._strides()
                if self.optional_punctuation(","):
                    space = self._address_space()
            else:
                space = self._address_space()
        return MemrefType.get(element_type, shape, strides, space)

    def _strides(self) -> list[int]:
        self.punctuation("<")
        strides: list[int] = []
        if not self.optional_punctuation(">"):
            strides.append(self._dimension())
            while self.optional_punctuation(","):
                strides.append(self._dimension())
            self.punctuation(">")
        return strides

    def _address_space(self) -> AddressSpace:
        if self.lexer.value not in ("global", "local"):
            raise self.unexpected("'strided<...>', 'global' or 'local'")
        space = AddressSpace(self.lexer.value)
        self.lexer.advance()
        return space

    def _group_type(self) -> Attribute:
        span = self.span()
        if self.lexer.value in _COMPOUND_TYPES - {"memref"}:
            raise self.unexpected("a memref type")
        entry = self.type()
        if not self.optional_punctuation("x"):
            # The older revisions write no size, which leaves it to the launch.
            size = self.missing_group_size(span)
        else:
            size = self._dimension()
        offset = 0
        if self.optional_punctuation(","):
            self.punctuation("offset")
            self.punctuation(":")
            offset = self._dimension()
        return GroupType.get(entry, size, offset)

    def _coopmatrix_type(self) -> Attribute:
        component = self._element_type()
        shape = self._shape()
        if len(shape) != 2:
            raise self.unexpected("'x' and a size: a coopmatrix has rows and columns")
        self.punctuation(",")
        uses = {use.value: use for use in MatrixUse}
        if self.lexer.value not in uses:
            raise self.unexpected("'matrix_a', 'matrix_b' or 'matrix_acc'")
        use = uses[self.lexer.value]
        self.lexer.advance()
        return CoopmatrixType.get(component, shape[0], shape[1], use)


def is_complex_constant(value: Attribute) -> bool:
    """Whether `value` is a pair of floating constants."""
    parts = array_entries(value) or ()
    return len(parts) == 2 and all(isinstance(part, FloatAttr) for part in parts)


TYPE_CLASSES = (MemrefType, GroupType, CoopmatrixType, VoidType)


def _unknown_attribute(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(shorten(name, 40), ATTRIBUTE_NAMES, 1)
    hint = f"did you mean '{close[0]}'?" if close else "write a name of your own in quotes"
    return f"unknown attribute '{shorten(name, 40)}'; {hint}"


def _is_integer(value: Attribute | None) -> bool:
    return isinstance(value, IntegerAttr) and cast("IntegerAttr[I64]", value).type != BOOL
