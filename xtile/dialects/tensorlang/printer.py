"""The printer of `.ir` text, in the current revision.

Source: tensor language reference of tinytc v0.4.0.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from typing import IO, cast

from xdsl.dialects.builtin import (
    BytesAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue

from xtile.dialects.tensorlang.operation import (
    ATTRIBUTE_NAMES,
    BLANK_LINE,
    COMMENTS,
    COMMENTS_BEHIND,
    TRAILING_COMMENT,
    TensorLangOperation,
    array_entries,
    integer_value,
)
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.syntax import directives_of
from xtile.dialects.tensorlang.types import BOOL, type_text
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import Source, source_of

_INDENT = "    "
_BARE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*|[0-9]+")
_INTERNAL_PREFIX = "tensorlang."
_STRING = re.compile(r'[^"\n]*')
_LARGEST_NUMBER_LENGTH = 18
"""Unnamed values are numbered above those in the text, but not above longer numbers than this."""


def print_module(module: ModuleOp, stream: IO[str]) -> None:
    """Prints every function of `module` as `.ir` text.

    Values keep the names that they had in the text they were read from; comments stand where
    they stood.

    Raises:
        DiagnosticError: The module holds an operation of another dialect, or a name or an attribute
            that the text has no location for.
    """
    source = source_of(module)
    names = source.names if source else {}
    for i, operation in enumerate(module.body.block.ops):
        if not isinstance(operation, FuncOp):
            raise _not_tensorlang(operation, source)
        if i:
            stream.write("\n")
        printer = Printer(names, source)
        printer.print_operation(operation)
        stream.write("".join(printer.pieces))


def _not_tensorlang(operation: Operation, source: Source | None) -> DiagnosticError:
    message = (
        f"'{operation.name}' has no tensor language text; "
        "translate the module to the tensorlang dialect first"
    )
    return _error(operation, source, message)


def _error(operation: Operation, source: Source | None, message: str) -> DiagnosticError:
    span = source.span_of(operation) if source else None
    return DiagnosticError([Diagnostic(Severity.ERROR, message, source, span)])


class _InexpressibleError(ValueError):
    """The tensor language has no text for something."""


class Printer:
    """Prints one function; implements `assembly.Output`."""

    def __init__(
        self, preferred_names: Mapping[SSAValue, str], source: Source | None = None
    ) -> None:
        self.pieces: list[str] = []
        self.write = self.pieces.append
        self._preferred_names = preferred_names
        self._source = source
        self._names: dict[SSAValue, str] = {}
        self._taken: set[str] = set()
        self._recently_taken: list[str] = []
        self._suffixes: dict[str, int] = {}
        self._next_number = 0
        self._depth = 0

    def print_operation(self, operation: Operation) -> None:
        """Prints one instruction, with its comments, on lines of its own."""
        if not isinstance(operation, TensorLangOperation):
            raise _not_tensorlang(operation, self._source)
        if isinstance(operation, FuncOp):
            self._next_number = self._first_free_number(operation)
        indent = _INDENT * self._depth
        self._print_comments(operation.attributes.get(COMMENTS), indent)
        self.write(indent)
        for i, result in enumerate(operation.results):
            self.write(", " if i else "")
            self.operand(result)
        self.write(" = " if operation.results else "")
        self.write(type(operation).mnemonic())
        try:
            for directive in directives_of(type(operation)):
                directive.write(self, operation)
        except _InexpressibleError as error:
            raise _error(operation, self._source, str(error)) from None
        except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            mnemonic = type(operation).mnemonic()
            message = f"{mnemonic} is not what its text needs; verify the module to see why"
            raise _error(operation, self._source, message) from error
        trailing = _comment_text(operation.attributes.get(TRAILING_COMMENT))
        if trailing is not None:
            self.write(f" ; {trailing}")
        self.write("\n")
        self._print_comments(operation.attributes.get(COMMENTS_BEHIND), indent)

    def _print_comments(self, comments: Attribute | None, indent: str) -> None:
        for comment in array_entries(comments) or ():
            text = _comment_text(comment)
            if text == BLANK_LINE:
                self.write("\n")
            elif text is not None:
                self.write(f"{indent}; {text}".rstrip() + "\n")

    def _first_free_number(self, function: FuncOp) -> int:
        """A number above those that values of the function had in their text."""
        if not self._preferred_names:
            return 0
        numbers = (self._preferred_names.get(value, "") for value in _values_of(function))
        known = (int(name) for name in numbers if name.isdecimal() and _is_short(name))
        return max(known, default=-1) + 1

    # assembly.Output

    def modifier(self, spelling: str) -> None:
        """Prints `.spelling`."""
        self.write(f".{spelling}")

    def operand(self, value: SSAValue) -> None:
        """Prints the name of a value, which it gets here if it has none yet."""
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = self._new_name(value)
            self._taken.add(name)
            self._recently_taken.append(name)
        self.write(f"%{name}")

    def _new_name(self, value: SSAValue) -> str:
        name = self._preferred_names.get(value) or value.name_hint
        if name is None or not _BARE_NAME.fullmatch(name):
            return self._number()
        if name not in self._taken:
            return name
        if name.isdecimal():
            return self._number()
        suffix = self._suffixes.get(name, 0)
        while f"{name}_{suffix}" in self._taken:
            suffix += 1
        self._suffixes[name] = suffix + 1
        return f"{name}_{suffix}"

    def _number(self) -> str:
        while str(self._next_number) in self._taken:
            self._next_number += 1
        self._next_number += 1
        return str(self._next_number - 1)

    def type(self, type: Attribute) -> None:
        """Prints a type."""
        self.write(type_text(type))

    def constant(self, value: Attribute) -> None:
        """Prints a constant."""
        self.write(constant_text(value))

    def dictionary(self, entries: Mapping[str, Attribute], lead: str) -> None:
        """Prints `lead` and the entries in braces; nothing where there are none."""
        if entries:
            self.write(lead + attribute_text(DictionaryAttr(entries)))

    def discardable(self, operation: Operation) -> Mapping[str, Attribute]:
        """The operation's named attributes, without those that hold comments."""
        return {
            name: value
            for name, value in operation.attributes.items()
            if not name.startswith(_INTERNAL_PREFIX)
        }

    def symbol(self, name: str) -> None:
        """Prints `@name`."""
        if not _BARE_NAME.fullmatch(name):
            raise _InexpressibleError(
                f"'{name}' cannot be the name of a function in the tensor language; "
                "write a letter, then letters, digits and underscores"
            )
        self.write(f"@{name}")

    def region(self, region: Region) -> None:
        """Prints a region; its names are free again behind it."""
        outer_count, outer_number = len(self._recently_taken), self._next_number
        self.write(" {\n")
        self._depth += 1
        for block in region.blocks:
            for operation in block.ops:
                self.print_operation(operation)
        self._depth -= 1
        self._next_number = outer_number
        arguments = (value for block in region.blocks for value in block.args)
        self._taken.difference_update(
            self._recently_taken[outer_count:], (self._names.get(value, "") for value in arguments)
        )
        del self._recently_taken[outer_count:]
        self.write(_INDENT * self._depth + "}")


def _values_of(function: FuncOp) -> Iterable[SSAValue]:
    for operation in function.walk():
        yield from operation.results
        for region in operation.regions:
            for block in region.blocks:
                yield from block.args


def _is_short(number: str) -> bool:
    return len(number) <= _LARGEST_NUMBER_LENGTH


def _comment_text(comment: Attribute | None) -> str | None:
    """A comment on one line; xDSL reads one with characters beyond ASCII as bytes."""
    if isinstance(comment, StringAttr):
        text = comment.data
    elif isinstance(comment, BytesAttr):
        text = comment.data.decode("utf-8", "replace")
    else:
        return None
    return text if text == BLANK_LINE else text.replace("\n", " ")


def constant_text(value: Attribute) -> str:
    """A constant as the tensor language writes it; reading it gives the same double."""
    parts = array_entries(value)
    if parts is not None:
        return f"[{', '.join(map(constant_text, parts))}]"
    if isinstance(value, FloatAttr):
        return _float_text(value.value.data)
    number = integer_value(value)
    if cast("IntegerAttr[IntegerType]", value).type == BOOL:
        return "true" if number else "false"
    return str(number)


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    if 0.0 < abs(value) < sys.float_info.min:
        # The reference's compiler takes no subnormal number in decimal notation, which strtod
        # reports as out of range.
        return value.hex()
    text = repr(value)
    return text if "inf" in text or "." in text or "e" in text else f"{text}.0"


def attribute_text(attribute: Attribute) -> str:
    """An attribute as the tensor language writes it.

    Raises:
        ValueError: The tensor language cannot write it.
    """
    if isinstance(attribute, DictionaryAttr):
        entries = (
            f"{_attribute_name(name)}={attribute_text(value)}"
            for name, value in attribute.data.items()
        )
        return "{" + ", ".join(entries) + "}"
    array = array_entries(attribute)
    if array is not None:
        return "[" + ",".join(map(attribute_text, array)) + "]"
    if isinstance(attribute, StringAttr):
        return _quoted(attribute.data)
    if isinstance(attribute, IntegerAttr):
        return constant_text(cast("Attribute", attribute))
    if isinstance(attribute, UnitAttr):
        return "true"
    raise _InexpressibleError(f"the attribute {attribute} has no tensor language text")


def _attribute_name(name: str) -> str:
    return name if name in ATTRIBUTE_NAMES else _quoted(name)


def _quoted(text: str) -> str:
    if not _STRING.fullmatch(text):
        raise _InexpressibleError(
            f"a string with quotes or line ends has no tensor language text: {text!r}"
        )
    return f'"{text}"'
