"""Text of SPIR-V's assembler as binaries.

Source: SPIRV-Tools, docs/syntax.md and source/text.cpp.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Sequence

from xtile.dialects.spirv.assembly_tokens import (
    Token,
    UnclosedStringError,
    starts_instruction,
    tokens_of,
)
from xtile.dialects.spirv.binary import NON_SEMANTIC, NumberType
from xtile.dialects.spirv.grammar import (
    Entry,
    Operand,
    Section,
    Version,
    enumerants,
    extended_instructions,
    instructions,
)
from xtile.dialects.spirv.number_text import NumberError, number_bits
from xtile.dialects.spirv.words import (
    ID_KINDS,
    MAGIC,
    MAXIMUM_WORDS,
    PAIRS,
    ArgumentError,
    string_words,
)
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import Source, Span


class AssemblyIds:
    """Numbers names in the order in which they first appear.

    Args:
        preserved: Names that keep their number if they are one.
    """

    def __init__(self, preserved: Iterable[str]) -> None:
        self.bound = 1
        """One more than the largest id."""
        numbers = map(_number, preserved)
        self._preserved = {number for number in numbers if number is not None}
        self._ids: dict[str, int] = {}
        self._next = 1

    def of(self, name: str) -> int:
        """The number of a name."""
        found = self._ids.get(name)
        if found is None:
            number = _number(name)
            found = number if number in self._preserved else None
            found = self._ids[name] = found or self._new()
            self.bound = max(self.bound, found + 1)
        return found

    def _new(self) -> int:
        while self._next in self._preserved:
            self._next += 1
        self._next += 1
        return self._next - 1


def _number(name: str) -> int | None:
    """The number that a name is, if it can be an id."""
    if not name.isascii() or not name.isdigit() or name[0] == "0" or len(name) > 10:
        return None
    number = int(name)
    return number if number < (1 << 32) - 1 else None


_DEFAULT_VERSION: Version = (1, 4)
_VERSION_COMMENT = re.compile(r"^; Version: 1\.([0-6])$", re.MULTILINE)
_ID = re.compile(r"%[A-Za-z0-9_]++")
_IMMEDIATE = re.compile(r"!(0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10})")
_UNSIGNED = NumberType(32, False)
_SIGNED = NumberType(32, False, True)
_FLOAT = NumberType(32, True)


def assemble(
    text: str | Source,
    *,
    version: Version | None = None,
    preserve_numeric_ids: bool = False,
) -> bytes:
    """The binary of a text, in little-endian order, as `spirv-as` writes it.

    Ids are numbered in the order in which they first appear. The header names no generator.

    Args:
        text: The text, or its source with the name that messages call it by.
        version: The version of SPIR-V. None takes that of the comment `; Version: 1.4` which
            disassemblers write, and 1.4 if there is none.
        preserve_numeric_ids: Whether `%7` is the id 7.

    Raises:
        DiagnosticError: The text is wrong; the error is located.
    """
    source = text if isinstance(text, Source) else Source("<assembly>", text)
    assembler = _Assembler(source, preserve_numeric_ids)
    words = assembler.assemble()
    if version is None:
        comment = _VERSION_COMMENT.search(source.text)
        version = _DEFAULT_VERSION if comment is None else (1, int(comment.group(1)))
    header = [MAGIC, version[0] << 16 | version[1] << 8, 0, assembler.bound, 0]
    data = array("I", [*header, *words])
    if sys.byteorder == "big":
        data.byteswap()
    return data.tobytes()


class _Assembler:
    """Reads instruction after instruction; what a word means depends on those before."""

    def __init__(self, source: Source, preserve_numeric_ids: bool) -> None:
        self._source = source
        try:
            self._tokens = tokens_of(source)
        except UnclosedStringError as error:
            raise self._error(error.span, 'a literal string has no closing "') from None
        self._next = 0
        self._words: list[int] = []
        names = (token.text[1:] for token in self._tokens if token.text[0] == "%")
        self._ids = AssemblyIds(names if preserve_numeric_ids else ())
        self._number_types: dict[int, NumberType] = {}
        self._type_of: dict[int, int] = {}
        self._sets: dict[int, str] = {}
        # Of the instruction that is being read:
        self._name = ""
        self._out: list[int] = []
        self._is_raw = False

    @property
    def bound(self) -> int:
        """One more than the largest id."""
        return self._ids.bound

    def assemble(self) -> list[int]:
        while self._next < len(self._tokens):
            self._out = []
            first = self._tokens[self._next]
            if first.text[0] == "!":
                self._read_raw()
            else:
                self._read_instruction()
            self._words += self._out
        return self._words

    # --- instructions ---

    def _read_instruction(self) -> None:
        result, opcode = self._take_start()
        entry = instructions().get(opcode.text[2:])
        if entry is None:
            raise self._error(opcode.span, f"there is no instruction {opcode.text}")
        self._name = opcode.text
        if entry.has_result and result is None:
            raise self._error(opcode.span, f"{opcode.text} has a result: %name = {opcode.text}")
        if result is not None and not entry.has_result:
            raise self._error(result.span, f"{opcode.text} has no result")
        self._out.append(0)
        self._is_raw = False
        type = self._read_type(opcode) if entry.has_type else None
        result_id = None if result is None else self._id(result)
        if result_id is not None:
            self._out.append(result_id)
        first_operand = len(self._out)
        self._read_operands(entry.operands, opcode, type)
        if not self._is_at_end:
            token = self._tokens[self._next]
            raise self._error(token.span, f"{opcode.text} takes no further operand")
        if len(self._out) > MAXIMUM_WORDS:
            raise self._error(opcode.span, f"{opcode.text} has more than {MAXIMUM_WORDS} words")
        self._out[0] = len(self._out) << 16 | entry.number
        if result_id is not None:
            self._remember(entry, result_id, type, self._out[first_operand:], opcode)

    def _take_start(self) -> tuple[Token | None, Token]:
        """Takes `OpStore`, or `%a = OpLoad`."""
        first = self._tokens[self._next]
        if first.is_opcode:
            self._next += 1
            return None, first
        if first.text[0] != "%":
            message = f"expected an instruction, such as OpLoad, or its result, got {first.text}"
            raise self._error(first.span, message)
        following = self._tokens[self._next + 1 : self._next + 3]
        if not following or following[0].text != "=":
            position = following[0].span if following else first.span
            raise self._error(position, f"expected '=' after the result {first.text}")
        if len(following) < 2 or not following[1].is_opcode:
            raise self._error(following[-1].span, "expected an instruction, such as OpLoad")
        self._next += 3
        return first, following[1]

    def _read_type(self, opcode: Token) -> int | None:
        token = self._take(opcode, "IdResultType")
        self._add_checked(token, "IdRef")
        return None if self._is_raw else self._out[-1]

    def _remember(
        self, entry: Entry, result: int, type: int | None, operands: Sequence[int], opcode: Token
    ) -> None:
        """Keeps what later literals depend on."""
        if type is not None:
            self._type_of[result] = type
        elif entry.name == "TypeInt" and len(operands) == 2:
            self._number_types[result] = NumberType(operands[0], False, bool(operands[1]))
        elif entry.name == "TypeFloat" and operands:
            encoding = operands[1] if len(operands) > 1 else None
            self._number_types[result] = NumberType(operands[0], True, False, encoding)
        elif entry.name == "ExtInstImport" and not self._is_raw:
            self._sets[result] = self._tokens[self._next - 1].string

    def _read_raw(self) -> None:
        """Reads an instruction that begins with a word: `!131089 !6`."""
        self._is_raw = True
        while not self._is_at_end or not self._out:
            token = self._tokens[self._next]
            if token.text == "=":
                raise self._error(token.span, "a word cannot be the instruction after '='")
            self._next += 1
            self._add_raw(token)

    @property
    def _is_at_end(self) -> bool:
        """Whether no operand follows."""
        at_end = self._next >= len(self._tokens)
        return at_end or starts_instruction(self._tokens, self._next)

    # --- operands ---

    def _take(self, opcode: Token, kind: str) -> Token:
        if self._is_at_end:
            raise self._error(opcode.span, f"{opcode.text} ends where its {kind} is expected")
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _read_operands(self, operands: Sequence[Operand], opcode: Token, type: int | None) -> None:
        for operand in operands:
            if operand.quantifier == "*":
                while not self._is_at_end and not self._is_raw:
                    self._read_operand(operand.kind, opcode, type)
            elif operand.quantifier != "?" or not self._is_at_end:
                if self._is_raw:
                    break
                self._read_operand(operand.kind, opcode, type)
        while self._is_raw and not self._is_at_end:
            self._next += 1
            self._add_raw(self._tokens[self._next - 1])

    def _read_operand(self, kind: str, opcode: Token, type: int | None) -> None:
        if kind in PAIRS:
            self._read_operands(PAIRS[kind], opcode, type)
            return
        token = self._take(opcode, kind)
        section = enumerants(kind)
        if token.text[0] == "!":
            self._is_raw = True
            self._add_raw(token)
        elif section is not None:
            for entry in self._add_enumerants(token, kind, section):
                self._read_operands(entry.operands, opcode, type)
        elif kind == "LiteralContextDependentNumber":
            self._add_number(token, self._number_type(opcode, type))
        elif kind in ("LiteralExtInstInteger", "LiteralSpecConstantOpInteger"):
            self._read_named(token, kind, opcode, type)
        else:
            self._add_checked(token, kind)

    def _read_named(self, token: Token, kind: str, opcode: Token, type: int | None) -> None:
        """Reads the name of an extended instruction or of an operation, and its operands."""
        is_extended = kind == "LiteralExtInstInteger"
        name = self._sets.get(self._out[-1], "") if is_extended else ""
        section = extended_instructions(name) if is_extended else instructions()
        entry = None if section is None else section.get(token.text)
        if entry is not None:
            self._out.append(entry.number)
            self._read_operands(entry.operands, opcode, type)
        elif is_extended and (name.startswith(NON_SEMANTIC) or (name and section is None)):
            # The instruction is given by its number, and its operands are ids.
            self._add_number(token, _UNSIGNED)
        elif is_extended and not name:
            known = self._tokens[self._next - 2]
            raise self._error(known.span, f"{known.text} is no set of extended instructions")
        else:
            raise self._error(
                token.span, f"there is no instruction {token.text} in {name or 'the table'}"
            )

    def _number_type(self, opcode: Token, type: int | None) -> NumberType:
        """The type of the literals of `OpConstant` and `OpSwitch`."""
        if opcode.text == "OpSwitch":
            type = self._type_of.get(self._out[1])
        found = self._number_types.get(type or 0)
        if found is None or not 0 < found.width <= 64:
            message = f"the literals of {opcode.text} need a type of numbers with up to 64 bits"
            raise self._error(opcode.span, message)
        return found

    def _add_checked(self, token: Token, kind: str) -> None:
        """Adds an id or a literal whose kind does not depend on the context."""
        if token.text[0] == "!":
            self._is_raw = True
            self._add_raw(token)
        elif kind in ID_KINDS:
            self._out.append(self._id(token))
        elif kind == "LiteralString":
            self._add_string(token)
        else:
            self._add_number(token, _FLOAT if kind == "LiteralFloat" else _UNSIGNED)

    def _add_enumerants(self, token: Token, kind: str, section: Section) -> list[Entry]:
        names = token.text.split("|") if section.is_mask else [token.text]
        entries: dict[int, Entry] = {}
        for name in names:
            entry = section.get(name)
            if entry is None:
                raise self._error(token.span, f"expected the name of a {kind}, got {name}")
            entries[entry.number] = entry
        value = 0
        for number in entries:
            value |= number
        self._out.append(value)
        return [entries[number] for number in sorted(entries)]

    def _add_raw(self, token: Token) -> None:
        """Adds a word, or what follows one: a string, an id, or a number of 32 bits."""
        text = token.text
        if text[0] == "!":
            match = _IMMEDIATE.fullmatch(text)
            number = 1 << 32 if match is None else int(match.group(1), 0)
            if number >> 32:
                raise self._error(token.span, "expected a word after '!', such as !0x3c")
            self._out.append(number)
        elif text[0] == '"':
            self._add_string(token)
        elif text[0] == "%":
            self._out.append(self._id(token))
        else:
            is_float = "." in text
            self._add_number(
                token, _FLOAT if is_float else _SIGNED if text[0] == "-" else _UNSIGNED
            )

    def _add_string(self, token: Token) -> None:
        if not token.is_string:
            raise self._error(token.span, f'expected a text in quotes: "{token.text}"')
        try:
            self._out += string_words(token.string)
        except ArgumentError as error:
            raise self._error(token.span, str(error)) from None

    def _add_number(self, token: Token, type: NumberType) -> None:
        try:
            bits = number_bits(token.text, type)
        except NumberError as error:
            raise self._error(token.span, f"{error}, got {token.text}") from None
        self._out.append(bits & 0xFFFFFFFF)
        if type.width > 32:
            self._out.append(bits >> 32)

    # --- ids ---

    def _id(self, token: Token) -> int:
        if _ID.fullmatch(token.text) is None:
            raise self._error(token.span, f"expected an id, such as %name, got {token.text}")
        return self._ids.of(token.text[1:])

    def _error(self, span: Span, message: str) -> DiagnosticError:
        return DiagnosticError([Diagnostic(Severity.ERROR, message, self._source, span)])
