"""Loops whose variable comes near to the end of its type, and what they compute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}


@dataclass(frozen=True)
class Loop:
    """A loop.

    Attributes:
        type: The variable's type.
        lower: What it starts with, as a signed number, as the others.
        upper: What it stays below.
        step: What is added to it.
        is_unsigned: Whether the bounds have no sign.
    """

    type: str
    lower: int
    upper: int
    step: int
    is_unsigned: bool = False

    def summary(self) -> list[int]:
        """How many iterations there are, and the sum of the variable, in 64 bits."""
        size = 1 << BITS[self.type] if self.is_unsigned else 0
        lower, upper = (x % size if size else x for x in (self.lower, self.upper))
        numbers = range(lower, upper, self.step % size if size else self.step)
        # Here the variable is taken as a signed number again.
        half = 1 << (BITS[self.type] - 1)
        total = sum((x + half) % (2 * half) - half for x in numbers)
        return [len(numbers), (total + 2**63) % 2**64 - 2**63]


def loops(type: str) -> Iterator[Loop]:
    """Loops near the ends of a type, and some that are far from them."""
    half = 1 << (BITS[type] - 1)
    last, first = half - 1, -half
    far = half // 4 + 1
    yield Loop(type, last - 5, last - 1, 3)
    yield Loop(type, last - 5, last, 5)
    yield Loop(type, last - 1, last, last)
    yield Loop(type, first, last, far)
    yield Loop(type, first, first + 5, 2)
    yield Loop(type, last, first, 1)
    yield Loop(type, last - 2, last, 1)
    yield Loop(type, -7, 9, 4)
    yield Loop(type, -6, -1, 3, is_unsigned=True)
    yield Loop(type, -3, -1, 1, is_unsigned=True)
    yield Loop(type, 0, -1, far, is_unsigned=True)
    yield Loop(type, 5, -1, first, is_unsigned=True)
    yield Loop(type, -1, 5, 3, is_unsigned=True)
    yield Loop(type, 3, 60, 11, is_unsigned=True)


ALL = [loop for type in BITS for loop in loops(type)]

NAMES = ("lower", "upper", "step")
"""The names of the bounds in `summary_text`."""


def constants_text(loop: Loop) -> str:
    """The bounds as constants."""
    return "".join(
        f"%{name} = arith.constant {getattr(loop, name)} : {loop.type}\n" for name in NAMES
    )


def summary_text(loop: Loop) -> str:
    """The operations that store in %out what `Loop.summary` gives, from bounds that are known."""
    type = loop.type
    cast = {
        "i64": "%w = arith.addi %i, %zero : i64",
        "index": "%w = arith.index_cast %i : index to i64",
    }.get(type, f"%w = arith.extsi %i : {type} to i64")
    sign = "unsigned " if loop.is_unsigned else ""
    suffix = "" if type == "index" else f": {type} "
    return f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %n, %sum = scf.for {sign}%i = %lower to %upper step %step
            iter_args(%m = %zero, %s = %zero) -> (i64, i64) {suffix}{{
          {cast}
          %t = arith.addi %s, %w : i64
          %k = arith.addi %m, %one : i64
          scf.yield %k, %t : i64, i64
        }}
        memref.store %n, %out[%c0] : memref<2xi64>
        memref.store %sum, %out[%c1] : memref<2xi64>
    """
