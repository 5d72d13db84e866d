"""An instruction's arguments as words, by the kinds of operands that the table gives.

Source: SPIR-V specification, section 2.2.1 (Instructions: literals), section 3 (operand kinds).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.dialects.spirv.arguments import Argument, ConstantId, FloatLiteral, Target
from xtile.dialects.spirv.grammar import (
    Entry,
    Operand,
    Section,
    enumerants,
    extended_instructions,
    instructions,
)
from xtile.dialects.spirv.types import OtherType

MAGIC = 0x07230203
"""The first word of a binary."""

WORD_BITS = 32
WORD_MASK = 0xFFFFFFFF

MAXIMUM_WORDS = (1 << 16) - 1
"""How many words an instruction may have."""

ID_KINDS = frozenset(("IdRef", "IdScope", "IdMemorySemantics"))
"""The kinds of operands that are ids."""

PAIRS = {
    "PairLiteralIntegerIdRef": (Operand("LiteralContextDependentNumber"), Operand("IdRef")),
    "PairIdRefLiteralInteger": (Operand("IdRef"), Operand("LiteralInteger")),
    "PairIdRefIdRef": (Operand("IdRef"), Operand("IdRef")),
}
"""What the pairs among the kinds consist of; the literals of `OpSwitch` are as its selector."""


@dataclass(frozen=True, slots=True)
class Function:
    """The id of a function, by its name."""

    name: str


Word: TypeAlias = int | Target | ConstantId | Attribute | Function | None
"""A word, or the id of the next operand or block, of a constant, a type or a function."""


class ArgumentError(ValueError):
    """Arguments do not fit their instruction."""


@dataclass(slots=True)
class Resolved:
    """The words of an instruction's arguments, and the enumerants among them."""

    words: list[Word] = field(default_factory=list[Word])
    enumerants: list[Entry] = field(default_factory=list[Entry])
    """The enumerants, and for `OpSpecConstantOp` the instruction."""


def resolve(
    entry: Entry, arguments: Sequence[Argument], literal_type: Attribute | None
) -> Resolved:
    """The words of an instruction's, a decoration's or a type's arguments.

    Args:
        entry: The instruction or the enumerant.
        arguments: All arguments, with None for each operand.
        literal_type: The type of literals that depend on the context: that of the result of
            `OpConstant`, and of the selector of `OpSwitch`.

    Raises:
        ArgumentError: The arguments are not what the table says.
    """
    return _Resolver(entry, arguments, literal_type).resolve()


def string_words(text: str) -> list[int]:
    """A literal string: UTF-8, ended by a zero byte, padded with zeros to whole words.

    Raises:
        ArgumentError: The text has a zero character, which would end it.
    """
    data = text.encode("utf-8", "surrogateescape")
    if 0 in data:
        raise ArgumentError("a literal string cannot hold the character 0")
    data += bytes(4 - len(data) % 4)
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


def number_words(number: int | FloatLiteral, type: Attribute | None) -> list[int]:
    """A literal number of a type: the lower words come first.

    Numbers narrower than a word fill it with zeros, or with their sign if the type is signed.
    Numbers of types that are not builtin's are given by their bits.

    Raises:
        ArgumentError: The number does not fit the type.
    """
    if isinstance(number, FloatLiteral):
        if isa(type, AnyFloat) and type != number.type:
            raise ArgumentError(f"expected a number of type {type}, got one of type {number.type}")
        return _split(number.bits, number.type.bitwidth)
    if isa(type, IntegerType):
        width = type.width.data
        if not -(1 << (width - 1)) <= number < 1 << width:
            raise ArgumentError(f"{number} does not fit {type}")
        number &= (1 << width) - 1
        if type.signedness.data is Signedness.SIGNED and number >> (width - 1):
            number -= 1 << width
        return _split(number, width)
    if isinstance(type, OtherType) and type.instruction.data == "TypeFloat":
        width = type.arguments.data[0]
        assert isinstance(width, int)
        return _split(number, width)
    raise ArgumentError(f"expected a number of type {type}, got {number}")


def _split(bits: int, width: int) -> list[int]:
    count = max(1, (width + WORD_BITS - 1) // WORD_BITS)
    return [bits >> (WORD_BITS * index) & WORD_MASK for index in range(count)]


class _Resolver:
    """Goes through arguments and the kinds of operands side by side."""

    def __init__(
        self, entry: Entry, arguments: Sequence[Argument], literal_type: Attribute | None
    ) -> None:
        self._entry = entry
        self._arguments = arguments
        self._next = 0
        self._literal_type = literal_type
        self._resolved = Resolved()

    def resolve(self) -> Resolved:
        self._take_all(self._entry.operands)
        if self._next < len(self._arguments):
            count = len(self._arguments)
            raise ArgumentError(f"expected at most {self._next} arguments, got {count}")
        return self._resolved

    def _take_all(self, operands: Sequence[Operand]) -> None:
        for operand in operands:
            if operand.quantifier == "*":
                while self._next < len(self._arguments):
                    self._take(operand.kind)
            elif operand.quantifier != "?" or self._next < len(self._arguments):
                self._take(operand.kind)

    def _take(self, kind: str) -> None:
        if kind in PAIRS:
            self._take_all(PAIRS[kind])
            return
        if self._next >= len(self._arguments):
            raise ArgumentError(f"argument {self._next + 1} is missing, {_article(kind)}")
        argument = self._arguments[self._next]
        self._next += 1
        section = enumerants(kind)
        if section is not None:
            self._take_enumerants(kind, section, argument)
        elif kind in ID_KINDS:
            self._resolved.words.append(self._id(argument))
        else:
            self._take_literal(kind, argument)

    def _id(self, argument: Argument) -> Word:
        if isinstance(argument, str):
            return Function(argument)
        if isinstance(argument, int | FloatLiteral):
            raise self._wrong("a value", argument)
        return argument

    def _take_literal(self, kind: str, argument: Argument) -> None:
        words = self._resolved.words
        if kind == "LiteralString":
            if not isinstance(argument, str):
                raise self._wrong("a text", argument)
            words += string_words(argument)
        elif kind == "LiteralSpecConstantOpInteger":
            self._take_instruction(argument)
        elif kind == "LiteralExtInstInteger" and isinstance(argument, str):
            self._take_extended(argument)
        elif isinstance(argument, FloatLiteral):
            if kind == "LiteralInteger":
                raise self._wrong("an integer", argument)
            words += number_words(argument, self._literal_type)
        elif not isinstance(argument, int):
            raise self._wrong("a number", argument)
        elif kind == "LiteralContextDependentNumber":
            words += number_words(argument, self._literal_type)
        else:
            if not -(1 << 31) <= argument < 1 << 32:
                raise self._wrong("an integer of 32 bits", argument)
            words.append(argument & WORD_MASK)

    def _take_instruction(self, argument: Argument) -> None:
        """Takes the instruction of `OpSpecConstantOp`, and its operands."""
        entry = instructions().get(argument) if isinstance(argument, str) else None
        if entry is None:
            raise self._wrong("the name of an instruction", argument)
        self._resolved.words.append(entry.number)
        self._resolved.enumerants.append(entry)
        self._take_all(entry.operands)

    def _take_extended(self, argument: str) -> None:
        """Takes the set and the name of an extended instruction, and its operands."""
        name, _, instruction = argument.partition(":")
        section = extended_instructions(name)
        entry = None if section is None else section.get(instruction)
        if entry is None:
            raise self._wrong(
                "an instruction of an extended set, such as GLSL.std.450:Sqrt", argument
            )
        self._resolved.words.append(entry.number)
        self._take_all(entry.operands)

    def _take_enumerants(self, kind: str, section: Section, argument: Argument) -> None:
        if isinstance(argument, int) and 0 <= argument <= WORD_MASK:
            entries = list(known_enumerants(section, argument))
            value = argument
        elif isinstance(argument, str):
            entries = self._named(kind, section, argument)
            value = 0
            for entry in entries:
                value |= entry.number
        else:
            raise self._wrong(_article(kind), argument)
        self._resolved.words.append(value)
        self._resolved.enumerants += entries
        for entry in entries:
            self._take_all(entry.operands)

    def _named(self, kind: str, section: Section, argument: str) -> list[Entry]:
        names = argument.split("|") if section.is_mask else [argument]
        entries: dict[int, Entry] = {}
        for name in names:
            entry = section.get(name)
            if entry is None:
                raise self._wrong(_article(kind), argument)
            entries[entry.number] = entry
        return [entries[number] for number in sorted(entries)]

    def _wrong(self, expected: str, argument: Argument) -> ArgumentError:
        got = _description(argument)
        return ArgumentError(f"expected {expected} as argument {self._next}, got {got}")


def known_enumerants(section: Section, value: int) -> Iterator[Entry]:
    """The enumerants that a value stands for; those of a mask from its lowest bit on."""
    if not section.is_mask or value == 0:
        entry = section.of_number(value)
        if entry is not None:
            yield entry
        return
    for bit in range(WORD_BITS):
        entry = section.of_number(1 << bit) if value >> bit & 1 else None
        if entry is not None:
            yield entry


def _description(argument: Argument) -> str:
    if argument is None:
        return "a value"
    if isinstance(argument, Target):
        return "a block"
    if isinstance(argument, ConstantId):
        return "a constant"
    if isinstance(argument, FloatLiteral):
        return f"a number of type {argument.type}"
    return f"'{argument}'" if isinstance(argument, str) else str(argument)


def _article(kind: str) -> str:
    """A kind of operand in the words of messages."""
    if kind in ID_KINDS:
        return "a value"
    article = "an" if kind[0] in "AEIOU" else "a"
    return f"{article} {kind}"


def enumerant_argument(kind: str, value: int) -> str | int:
    """A value of an enumeration by name, `Volatile|Aligned`; itself if it has no name."""
    section = enumerants(kind)
    if section is None:
        return value
    known = list(known_enumerants(section, value))
    bits = 0
    for entry in known:
        bits |= entry.number
    return "|".join(entry.name for entry in known) if known and bits == value else value
