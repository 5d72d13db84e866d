"""Reads MLIR's aliases, `#map = affine_map<...>` and `!t = tensor<4xf32>`.

An alias may be used before its definition, as MLIR's dumps do for locations. Where one is used
inside an attribute or a type of an unknown dialect, whose text is kept as it is, the text of the
definition takes its place, so that it stands for itself.

Source: MLIR Language Reference, "Attribute Value Aliases" and "Type Aliases".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol, cast, overload

from typing_extensions import override
from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.text.mlir_locations import LocationParser

# A definition begins a line: nothing else that MLIR's grammar allows looks like this there.
_DEFINITION = re.compile(r"^[ \t]*([#!][A-Za-z$._-][\w$.-]*)[ \t]*=(?!=)", re.MULTILINE)
# A string, which may look like anything, or a name that is an alias if neither a dot nor an angle
# bracket makes it the name of a dialect.
_USE = re.compile(r'"(?:[^"\\]|\\.)*"|([#!][A-Za-z$_-][\w$-]*)(?![\w$.<-])')

_NAME = re.compile(r"\s*[A-Za-z_]")


@dataclass(slots=True)
class _Definition:
    """Where an alias is defined; the value once it is read."""

    name: Span[str]
    end: Position
    value: Attribute | None


class AliasParser(LocationParser):
    """The parser of locations with aliases that are used before they are defined."""

    _aliases: dict[str, _Definition]
    _later_definitions: dict[str, Position] | None

    @override
    def _parse_alias_def(self) -> None:
        name = self._parse_optional_token_in(
            (MLIRTokenKind.EXCLAMATION_IDENT, MLIRTokenKind.HASH_IDENT)
        )
        if name is None:
            self.raise_error("expected the name of an alias")
        known = self._aliases.get(name.text)
        if known is not None and known.name.start == name.span.start:
            # It was read when it was used for the first time.
            self._resume_from(known.end)
            return
        if known is not None:
            message = f"alias '{name.text}' is defined twice; use another name"
            raise MultipleSpansParseError(
                name.span, message, "", [(known.name, "it is defined here first")]
            )
        if "." in name.text:
            message = "the name of an alias has no dot, which belongs to the names of dialects"
            self.raise_error(message, name.span)
        definition = self._aliases[name.text] = _Definition(name.span, name.span.end, None)
        self.parse_punctuation("=", " after the name of an alias")
        is_type = name.kind is MLIRTokenKind.EXCLAMATION_IDENT
        definition.value = self.parse_type() if is_type else self.parse_attribute()
        definition.end = self.previous_end

    @overload
    def _parse_extended_type_or_attribute(
        self, attr_or_dialect_name: str, is_type: Literal[False]
    ) -> Attribute: ...

    @overload
    def _parse_extended_type_or_attribute(
        self, attr_or_dialect_name: str, is_type: Literal[True]
    ) -> TypeAttribute: ...

    @override
    def _parse_extended_type_or_attribute(
        self, attr_or_dialect_name: str, is_type: bool
    ) -> Attribute:
        has_body = self._current_token.kind is MLIRTokenKind.LESS
        if "." not in attr_or_dialect_name and has_body and not self._is_name_ahead():
            return self._parse_opaque(attr_or_dialect_name, is_type)
        if "." in attr_or_dialect_name or has_body:
            # The overloads of xDSL's method tell the kind by a literal.
            read = cast("_Reader", super()._parse_extended_type_or_attribute)
            return read(attr_or_dialect_name, is_type)
        name = ("!" if is_type else "#") + attr_or_dialect_name
        value = self._value_of_alias(name)
        if value is None:
            end = self.previous_end
            message = f"alias '{name}' is not defined; add a line '{name} = ...'"
            self.raise_error(message, end - len(name), end)
        return value

    @override
    def _parse_dialect_type_or_attribute_body(
        self,
        attr_name: str,
        is_type: bool,
        is_opaque: bool,
        starting_opaque_pos: Position | None,
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        start = self.previous_end - len(attr_name) - 1
        try:
            attribute = super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        except ParseError:
            raise
        # Constructors of attributes raise anything for parameters that they did not expect.
        except (VerifyException, ValueError, TypeError, AssertionError) as error:
            definition = (self.ctx.get_optional_type if is_type else self.ctx.get_optional_attr)(
                attr_name
            )
            message = _reason(error, attr_name, definition)
            self.raise_error(message, start, self.previous_end)
        if isinstance(attribute, UnregisteredAttr):
            return self._without_aliases(attribute)
        return attribute

    def _is_name_ahead(self) -> bool:
        """Whether a name stands after the bracket that is the current token."""
        position = self._current_token.span.end
        return _NAME.match(self._lexer.input.content, position) is not None

    def _parse_opaque(self, dialect: str, is_type: bool) -> Attribute:
        """Reads `<...>` of an unknown dialect whose text is no name with parameters."""
        start = self.previous_end - len(dialect) - 1
        body = self._parse_dialect_symbol_body()
        if not self.ctx.allow_unregistered:
            message = f"dialect '{dialect}' has no {'type' if is_type else 'attribute'} like this"
            self.raise_error(message, start, self.previous_end)
        kind = _opaque_class(dialect, is_type)
        return self._without_aliases(kind(dialect, is_type, True, f"<{body}"))

    def _without_aliases(self, attribute: UnregisteredAttr) -> UnregisteredAttr:
        """Puts the definitions of aliases into the text of an attribute of an unknown dialect."""
        text = attribute.value.data
        if "#" not in text and "!" not in text:
            return attribute

        def definition_of(use: re.Match[str]) -> str:
            value = None if use.group(1) is None else self._value_of_alias(use.group(1))
            return use.group() if value is None else _printed(value)

        expanded = _USE.sub(definition_of, text)
        if expanded == text:
            return attribute
        is_type, is_opaque = attribute.is_type, attribute.is_opaque
        return type(attribute)(attribute.attr_name, is_type, is_opaque, expanded)

    def _value_of_alias(self, name: str) -> Attribute | None:
        """Returns what an alias stands for, or None if it is not defined in the whole text."""
        if name not in self._aliases and not self._read_later_definition(name):
            return None
        definition = self._aliases[name]
        if definition.value is None:
            self.raise_error(f"alias '{name}' is defined by itself", definition.name)
        return definition.value

    def _read_later_definition(self, name: str) -> bool:
        """Reads the definition of an alias further on, and returns to where it was."""
        if self._later_definitions is None:
            self._later_definitions = {}
            for match in _DEFINITION.finditer(self._lexer.input.content):
                self._later_definitions.setdefault(match.group(1), match.start(1))
        start = self._later_definitions.get(name)
        if start is None:
            return False
        lexer = self._lexer
        token, position, previous_end = (
            self._parser_state.current_token,
            lexer.pos,
            lexer.previous_end,
        )
        self._resume_from(start)
        self._parse_alias_def()
        lexer.pos, lexer.previous_end = position, previous_end
        self._parser_state.current_token = token
        return True


class _Reader(Protocol):
    """The common form of the overloads of xDSL's method that reads attributes and types."""

    def __call__(self, name: str, is_type: bool) -> Attribute: ...


@cache
def _opaque_class(dialect: str, is_type: bool) -> type[UnregisteredAttr]:
    return UnregisteredAttr.with_name_and_type(dialect, is_type)


def _printed(attribute: Attribute) -> str:
    from xtile.text.mlir_attribute_printer import attribute_text

    return attribute_text(attribute)


def _reason(error: Exception, name: str, definition: type[Attribute] | None) -> str:
    """Returns what is wrong with the parameters of an attribute."""
    text = " ".join(str(error).split())
    is_count = isinstance(error, ValueError) and text.startswith("zip()")
    if is_count and definition is not None and issubclass(definition, ParametrizedAttribute):
        count = len(definition.get_irdl_definition().parameters)
        expected = {0: "no parameters", 1: "1 parameter"}.get(count, f"{count} parameters")
        return f"'{name}' has the wrong number of parameters; it takes {expected}"
    return f"'{name}': {text}" if text else f"'{name}' cannot have these parameters"
