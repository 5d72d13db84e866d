"""What registers of inline assembly hold, and what computes it."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from xdsl.dialects.builtin import IntegerType, f32, i1
from xdsl.ir import Attribute

from xtile.dialects.shapes import bits_of

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """What computes the values in registers."""

    def constant(self, number: float, type: Attribute) -> V:
        """A number."""
        ...

    def compute(self, name: str, operands: Sequence[V], type: Attribute) -> V:
        """An operation of `arith` or `math` whose operands and result have one type."""
        ...

    def compare(self, predicate: str, operands: Sequence[V], type: Attribute) -> V:
        """`arith.cmpf` or `arith.cmpi` with a predicate."""
        ...

    def select(self, condition: V, operands: Sequence[V], type: Attribute) -> V:
        """The first operand where a condition holds, and else the second."""
        ...

    def convert(self, name: str, value: V, source: Attribute, target: Attribute) -> V:
        """A cast of `arith`."""
        ...


@dataclass(frozen=True)
class Register(Generic[V]):
    """What a register holds.

    Attributes:
        value: As an `Arithmetic` has it.
        type: Its type, which is as wide as what was written.
    """

    value: V
    type: Attribute


@dataclass
class Machine(Generic[V]):
    """The registers of a program that runs."""

    numbers: Arithmetic[V]
    registers: dict[str, Register[V]] = field(default_factory=dict[str, Register[V]])

    def read(self, operand: str, type: Attribute) -> V:
        """A register's or a literal's value; an integer that is read as a float is its bits."""
        if operand in self.registers:
            return self.seen_as(self.registers[operand], type)
        number = _literal(operand)
        if number is None:
            raise ValueError(f"nothing was written to '{operand}' in the inline assembly")
        if isinstance(number, int) and type == f32:
            (number,) = struct.unpack("f", struct.pack("I", number % 2**32))
        if isinstance(number, int):
            integer = _integer(type)
            return self.seen_as(Register(self.numbers.constant(number, integer), integer), type)
        return self.numbers.constant(number, type)

    def seen_as(self, register: Register[V], type: Attribute) -> V:
        """The lowest bits of a register as a value of a type; those that are missing are 0."""
        if register.type == type:
            return register.value
        held, wanted = _integer(register.type), _integer(type)
        value = self._cast("bitcast", register.value, register.type, held)
        if wanted == i1:
            zero = self.numbers.constant(0, held)
            return self.numbers.compare("ne", [value, zero], held)
        name = "extui" if bits_of(wanted) > bits_of(held) else "trunci"
        return self._cast("bitcast", self._cast(name, value, held, wanted), wanted, type)

    def write(self, operand: str, value: V, type: Attribute) -> None:
        """Gives a register a value."""
        self.registers[operand] = Register(value, type)

    def split(self, value: V, count: int, type: Attribute) -> list[V]:
        """Parts of an integer, the lowest first.

        Args:
            value: As wide as all the parts.
            count: Of the parts.
            type: The type of a part.
        """
        width = bits_of(type)
        whole = IntegerType(width * count)
        parts: list[V] = []
        for number in range(count):
            distance = self.numbers.constant(number * width, whole)
            moved = self.numbers.compute("shrui", [value, distance], whole) if number else value
            parts.append(self.seen_as(Register(moved, whole), type))
        return parts

    def join(self, parts: Sequence[V], type: Attribute) -> V:
        """An integer of parts, the lowest first."""
        width = bits_of(type)
        whole = IntegerType(width * len(parts))
        joined = self.seen_as(Register(parts[0], type), whole)
        for number, part in enumerate(parts[1:], 1):
            wide = self.seen_as(Register(part, type), whole)
            distance = self.numbers.constant(number * width, whole)
            moved = self.numbers.compute("shli", [wide, distance], whole)
            joined = self.numbers.compute("ori", [joined, moved], whole)
        return joined

    def _cast(self, name: str, value: V, source: Attribute, target: Attribute) -> V:
        return value if source == target else self.numbers.convert(name, value, source, target)


def _integer(type: Attribute) -> IntegerType:
    return IntegerType(bits_of(type))


def _literal(operand: str) -> float | None:
    """The number that an operand is; the bits of a float in hexadecimal digits."""
    literal = operand.lower()
    if re.fullmatch(r"0f[0-9a-f]{8}", literal):
        return int(literal[2:], 16)
    if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)u?", literal):
        return int(literal.removesuffix("u"), 0)
    return float(literal) if re.fullmatch(r"-?\d+\.\d*", literal) else None
