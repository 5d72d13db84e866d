"""Splits a binary into instructions and those into operands, by the table.

Whatever is damaged is an error at its byte.

Source: SPIR-V specification, section 2.3 (Physical Layout of a SPIR-V Module and Instruction).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from xtile.dialects.spirv.grammar import (
    VERSIONS,
    Entry,
    Operand,
    Version,
    enumerants,
    extended_instructions,
    instructions,
)
from xtile.dialects.spirv.words import ID_KINDS, MAGIC, PAIRS, WORD_BITS, known_enumerants
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import Source

NON_SEMANTIC = "NonSemantic."
"""What the names of sets begin with that may get further instructions, all of them with ids."""

HEADER_WORDS = 5


class NumberType(NamedTuple):
    """A type of literal numbers."""

    width: int
    is_float: bool
    is_signed: bool = False
    encoding: int | None = None
    """The `FPEncoding` of a float that is not IEEE's."""


class Number(NamedTuple):
    """A literal number of a type that the context decides."""

    bits: int
    type: NumberType


_FLOAT = NumberType(32, True)


class Extended(NamedTuple):
    """An instruction of an extended set."""

    set: str
    entry: Entry


RawValue: TypeAlias = int | str | Number | Entry | Extended


class RawOperand(NamedTuple):
    """An operand: an id, a literal, the value of an enumerant, or the entry of an instruction."""

    kind: str
    value: RawValue


@dataclass(slots=True)
class RawInstruction:
    """An instruction of a binary.

    Attributes:
        offset: Where it starts, in bytes.
        entry: Its entry in the table.
        type: The id of its result's type, or None.
        result: Its result's id, or None.
        operands: The operands after these; a mask's parameters follow it.
    """

    offset: int
    entry: Entry
    type: int | None
    result: int | None
    operands: list[RawOperand]

    @property
    def name(self) -> str:
        """Its name without `Op`."""
        return self.entry.name

    def id_at(self, index: int) -> int:
        """The id that the operand at an index is."""
        value = self.operands[index].value
        assert isinstance(value, int)
        return value

    def text_at(self, index: int) -> str:
        """The text that the operand at an index is."""
        value = self.operands[index].value
        assert isinstance(value, str)
        return value

    def number_at(self, index: int) -> int:
        """The number that the operand at an index is."""
        return self.id_at(index)


@dataclass(slots=True)
class Binary:
    """A binary's header and instructions."""

    source: Source
    version: Version
    generator: int
    bound: int
    schema: int
    instructions: list[RawInstruction] = field(default_factory=list[RawInstruction])

    def error(self, offset: int, message: str) -> DiagnosticError:
        """An error at a byte."""
        return error_at_byte(self.source, offset, message)


def error_at_byte(source: Source, offset: int, message: str) -> DiagnosticError:
    """An error at a byte of a binary."""
    return DiagnosticError([Diagnostic(Severity.ERROR, f"byte {offset}: {message}", source, None)])


def read_binary(data: bytes, name: str = "<binary>") -> Binary:
    """Splits a binary of either byte order.

    Raises:
        DiagnosticError: The data is no SPIR-V, or damaged.
    """
    source = Source(name, "")
    words = _words(data, source)
    binary = _header(words, source)
    binary.instructions += _InstructionReader(binary, words).read_all()
    return binary


def _words(data: bytes, source: Source) -> Sequence[int]:
    if len(data) < 4 * HEADER_WORDS:
        message = f"SPIR-V begins with {4 * HEADER_WORDS} bytes of header, got {len(data)} bytes"
        raise error_at_byte(source, len(data), message)
    if len(data) % 4:
        message = f"SPIR-V consists of words of 4 bytes, got {len(data)} bytes"
        raise error_at_byte(source, len(data), message)
    words = array("I", data)
    if int.from_bytes(data[:4], sys.byteorder) != MAGIC:
        words.byteswap()
    if words[0] != MAGIC:
        message = f"SPIR-V begins with the number {MAGIC:#010x}, got {words[0]:#010x}"
        raise error_at_byte(source, 0, message)
    return words


def _header(words: Sequence[int], source: Source) -> Binary:
    version = (words[1] >> 16, words[1] >> 8 & 0xFF)
    if words[1] & 0xFF0000FF or version not in VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in VERSIONS)
        message = f"the version is {words[1]:#010x}, which is none of {known}"
        raise error_at_byte(source, 4, message)
    return Binary(source, version, words[2], words[3], words[4])


class _InstructionReader:
    """Reads instruction after instruction; what literals mean depends on those before."""

    def __init__(self, binary: Binary, words: Sequence[int]) -> None:
        self._binary = binary
        self._words = words
        self._number_types: dict[int, NumberType] = {}
        self._type_of: dict[int, int] = {}
        self._sets: dict[int, str] = {}
        # Of the instruction that is being read:
        self._start = HEADER_WORDS
        self._next = HEADER_WORDS
        self._end = HEADER_WORDS
        self._name = ""
        self._number_type: NumberType | None = None
        self._operands: list[RawOperand] = []

    def read_all(self) -> Iterator[RawInstruction]:
        while self._end < len(self._words):
            yield self._read()

    def _read(self) -> RawInstruction:
        start = self._start = self._end
        count, opcode = self._words[start] >> 16, self._words[start] & 0xFFFF
        entry = instructions().of_number(opcode)
        self._name = "" if entry is None else f"Op{entry.name}"
        if entry is None:
            raise self._error(start, f"there is no instruction with opcode {opcode}")
        if count == 0:
            raise self._error(start, "an instruction has at least one word, its count is 0")
        if start + count > len(self._words):
            left = len(self._words) - start
            raise self._error(start, f"has {count} words, but only {left} are left")
        self._next, self._end = start + 1, start + count
        type = self._id() if entry.has_type else None
        result = self._id() if entry.has_result else None
        self._operands = []
        self._number_type = self._number_type_of(entry, type)
        self._read_operands(entry.operands)
        if self._next < self._end:
            raise self._error(self._next, f"has {self._end - self._next} words too many")
        instruction = RawInstruction(4 * start, entry, type, result, self._operands)
        self._remember(instruction)
        return instruction

    def _remember(self, instruction: RawInstruction) -> None:
        """Keeps what later literals depend on."""
        result = instruction.result
        if result is None:
            return
        if instruction.type is not None:
            self._type_of[result] = instruction.type
        elif instruction.name == "ExtInstImport":
            self._sets[result] = instruction.text_at(0)
        elif instruction.name == "TypeInt":
            width, signedness = instruction.number_at(0), instruction.number_at(1)
            self._number_types[result] = NumberType(width, False, bool(signedness))
        elif instruction.name == "TypeFloat":
            encoding = instruction.number_at(1) if len(instruction.operands) > 1 else None
            self._number_types[result] = NumberType(instruction.number_at(0), True, False, encoding)

    def _number_type_of(self, entry: Entry, type: int | None) -> NumberType | None:
        """The type of the literals of an instruction, if it has literals that depend on one."""
        if entry.name in ("Constant", "SpecConstant"):
            return self._number_types.get(type or 0)
        if entry.name == "Switch" and self._next < self._end:
            selector = self._number_types.get(self._type_of.get(self._words[self._next], 0))
            return None if selector is None or selector.is_float else selector
        return None

    # --- operands ---

    def _read_operands(self, operands: Iterable[Operand]) -> None:
        for operand in operands:
            if operand.quantifier == "*":
                while self._next < self._end:
                    self._read_operand(operand.kind)
            elif operand.quantifier != "?" or self._next < self._end:
                self._read_operand(operand.kind)

    def _read_operand(self, kind: str) -> None:
        section = enumerants(kind)
        if kind in ID_KINDS:
            self._add(kind, self._id())
        elif section is not None:
            value = self._word(kind)
            self._add(kind, value)
            for entry in known_enumerants(section, value):
                self._read_operands(entry.operands)
        elif kind in PAIRS:
            self._read_operands(PAIRS[kind])
        elif kind == "LiteralString":
            self._add(kind, self._string())
        elif kind == "LiteralContextDependentNumber":
            self._add(kind, self._number())
        elif kind == "LiteralFloat":
            self._add(kind, Number(self._word(kind), _FLOAT))
        elif kind == "LiteralExtInstInteger":
            self._read_extended(kind)
        elif kind == "LiteralSpecConstantOpInteger":
            self._read_constant_operation(kind)
        else:
            self._add(kind, self._word(kind))

    def _add(self, kind: str, value: RawValue) -> None:
        self._operands.append(RawOperand(kind, value))

    def _read_extended(self, kind: str) -> None:
        """Reads an instruction of an extended set, and its operands where the set is known."""
        position = self._next
        number = self._word(kind)
        set_id = self._operands[-1].value
        assert isinstance(set_id, int)
        name = self._sets.get(set_id)
        if name is None:
            raise self._error(position - 1, f"%{set_id} is no set of extended instructions")
        section = extended_instructions(name)
        entry = None if section is None else section.of_number(number)
        if entry is not None:
            self._add(kind, Extended(name, entry))
            self._read_operands(entry.operands)
            if self._next < self._end and not name.startswith(NON_SEMANTIC):
                raise self._error(self._next, f"{entry.name} takes no further operand")
        elif section is None or name.startswith(NON_SEMANTIC):
            # The operands are ids then.
            self._add(kind, number)
        else:
            raise self._error(position, f"{name} has no instruction with number {number}")

    def _read_constant_operation(self, kind: str) -> None:
        position = self._next
        entry = instructions().of_number(self._word(kind))
        if entry is None or not entry.has_type or entry.name == "SpecConstantOp":
            raise self._error(position, "expected the opcode of an operation on constants")
        self._add(kind, entry)
        self._read_operands(entry.operands)

    def _number(self) -> Number:
        type = self._number_type
        if type is None or not 0 < type.width <= 64:
            raise self._error(self._start, "the type of the literal number is no type of numbers")
        bits = self._word("literal number")
        if type.width > WORD_BITS:
            bits |= self._word("literal number") << WORD_BITS
        return Number(bits, type)

    def _string(self) -> str:
        position = self._next
        data = self._words[position : self._end]
        text = b"".join(word.to_bytes(4, "little") for word in data)
        length = text.find(0)
        if length < 0:
            raise self._error(position, "a literal string has no end")
        self._next = position + length // 4 + 1
        return text[:length].decode("utf-8", "surrogateescape")

    def _id(self) -> int:
        position = self._next
        word = self._word("id")
        if not 0 < word < self._binary.bound:
            message = f"ids are from 1 to {self._binary.bound - 1} by the header, got {word}"
            raise self._error(position, message)
        return word

    def _word(self, kind: str) -> int:
        if self._next >= self._end:
            raise self._error(self._start, f"ends where its {kind} is expected")
        word = self._words[self._next]
        self._next += 1
        return word

    def _error(self, position: int, message: str) -> DiagnosticError:
        name = f"{self._name}: " if self._name else ""
        return self._binary.error(4 * position, f"{name}{message}")
