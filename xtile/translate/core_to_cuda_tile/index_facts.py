"""What is known of emitted integers without running: constants, divisors, signs and bounds.

Tiles of memory can be accessed through views only where their indices are known to be multiples of
a number, and not to be negative.
"""

from __future__ import annotations

from math import lcm

from typing_extensions import override
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SignednessAttr
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index

_NAMES = {
    "cuda_tile.addi": "arith.addi",
    "cuda_tile.assume": "core.assume",
    "cuda_tile.divi": "arith.divsi",
    "cuda_tile.exti": "arith.extsi",
    "cuda_tile.maxi": "arith.maxsi",
    "cuda_tile.mini": "arith.minsi",
    "cuda_tile.muli": "arith.muli",
    "cuda_tile.offset": "core.pointer_add",
    "cuda_tile.remi": "arith.remsi",
    "cuda_tile.select": "arith.select",
    "cuda_tile.subi": "arith.subi",
    "cuda_tile.trunci": "arith.trunci",
}

_UNSIGNED_NAMES = {
    "cuda_tile.divi": "arith.divui",
    "cuda_tile.exti": "arith.extui",
    "cuda_tile.maxi": "arith.maxui",
    "cuda_tile.mini": "arith.minui",
    "cuda_tile.remi": "arith.remui",
}


class IndexFacts(Facts):
    """What is known of each integer, if nothing overflows."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[SSAValue, int] = {}
        self._bounds: dict[SSAValue, Index] = {}

    def learn_number(self, value: SSAValue, number: int) -> None:
        """Records that a value is a constant."""
        self._numbers[value] = number

    def learn_bound(self, value: SSAValue, bound: Index) -> None:
        """Records a number that is greater than a value."""
        self._bounds[value] = bound

    def learn_divisor(self, value: SSAValue, divisor: int) -> None:
        """Records that a value is a multiple of a positive number, beside what is known of it."""
        self.assume(value, lcm(self.divisor(value), divisor), self.is_not_negative(value))

    def number(self, value: SSAValue) -> Index:
        """A value, or the number that it is."""
        return self._numbers.get(value, value)

    def bound(self, value: Index) -> Index | None:
        """A number that is greater; None if none is known."""
        return value + 1 if isinstance(value, int) else self._bounds.get(value)

    @override
    def name_of(self, operation: Operation) -> str:
        names = _UNSIGNED_NAMES if _is_unsigned(operation) else _NAMES
        return names.get(operation.name, operation.name)

    @override
    def constant(self, value: SSAValue) -> int | None:
        return self._numbers.get(value)

    @override
    def promise_of(self, assume: Operation) -> tuple[int, int | None]:
        predicate = assume.properties["predicate"]
        divisor = predicate.divisor.data if isinstance(predicate, DivByAttr) else 1
        return divisor, predicate.lower_bound if isinstance(predicate, BoundedAttr) else None


def _is_unsigned(operation: Operation) -> bool:
    signedness = operation.properties.get("signedness")
    return isinstance(signedness, SignednessAttr) and signedness.data is Signedness.UNSIGNED
