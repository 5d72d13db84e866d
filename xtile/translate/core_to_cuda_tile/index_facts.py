"""What is known of emitted integers without running: divisors, signs and bounds.

Tiles of memory can be accessed through views only where their indices are known to be multiples of
a number, and not to be negative.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, prod

from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SignednessAttr
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.rewrite.indices import Index

_ONE_OF = frozenset({"cuda_tile.maxi", "cuda_tile.mini", "cuda_tile.select"})
"""Operations that return one of their last two operands."""

_KEEP_THE_VALUE = frozenset({"cuda_tile.exti", "cuda_tile.trunci"})

_DIVISORS: dict[str, Callable[[list[int]], int]] = {
    "cuda_tile.addi": lambda divisors: gcd(*divisors),
    "cuda_tile.subi": lambda divisors: gcd(*divisors),
    "cuda_tile.remi": lambda divisors: gcd(*divisors),
    "cuda_tile.muli": prod,
}
"""For an operation a divisor of its result, from divisors of its operands."""

_SIGN_KEEPING = frozenset({"cuda_tile.addi", "cuda_tile.muli", "cuda_tile.divi", *_ONE_OF})
"""Operations whose result is not negative if no operand is."""


class IndexFacts:
    """What is known of each integer, if nothing overflows."""

    def __init__(self) -> None:
        self._numbers: dict[SSAValue, int] = {}
        self._divisors: dict[SSAValue, int] = {}
        self._signs: dict[SSAValue, bool] = {}
        self._bounds: dict[SSAValue, Index] = {}

    def learn_number(self, value: SSAValue, number: int) -> None:
        """Records that a value is a constant."""
        self._numbers[value] = number

    def learn(
        self,
        value: SSAValue,
        divisor: int = 1,
        is_not_negative: bool = False,
        below: Index | None = None,
    ) -> None:
        """Records what is known of a value from elsewhere; divisor 0 means that it is 0."""
        self._divisors[value] = divisor
        self._signs[value] = is_not_negative
        if below is not None:
            self._bounds[value] = below

    def learn_divisor(self, value: SSAValue, divisor: int) -> None:
        """Records that a value is a multiple of a positive number, beside what is known of it."""
        self._divisors[value] = _least_common_multiple(self.divisor(value), divisor)

    def number(self, value: SSAValue) -> Index:
        """A value, or the number that it is."""
        return self._numbers.get(value, value)

    def bound(self, value: Index) -> Index | None:
        """A number that is greater; None if none is known."""
        return value + 1 if isinstance(value, int) else self._bounds.get(value)

    def divisor(self, value: Index) -> int:
        """A number that divides the value; 0 if the value is 0, 1 if nothing is known."""
        if isinstance(value, int):
            return abs(value)
        if value in self._numbers:
            return abs(self._numbers[value])
        if value not in self._divisors:
            self._divisors[value] = self._find_divisor(value.owner)
        return self._divisors[value]

    def is_not_negative(self, value: Index) -> bool:
        """Whether the value is known to be 0 or more."""
        if isinstance(value, int):
            return value >= 0
        if value in self._numbers:
            return self._numbers[value] >= 0
        if value not in self._signs:
            self._signs[value] = self._find_sign(value.owner)
        return self._signs[value]

    def _find_divisor(self, owner: object) -> int:
        if not isinstance(owner, Operation):
            return 1
        name = owner.name
        divisors = [self.divisor(operand) for operand in owner.operands]
        if name == "cuda_tile.assume":
            predicate = owner.properties["predicate"]
            promised = predicate.divisor.data if isinstance(predicate, DivByAttr) else 1
            return _least_common_multiple(divisors[0], promised)
        if name in _KEEP_THE_VALUE:
            return divisors[0]
        if name in _ONE_OF:
            return gcd(*divisors[-2:])
        combine = _DIVISORS.get(name)
        return 1 if combine is None else combine(divisors)

    def _find_sign(self, owner: object) -> bool:
        if not isinstance(owner, Operation):
            return False
        name = owner.name
        if name == "cuda_tile.exti" and _is_unsigned(owner):
            return True
        if name == "cuda_tile.assume":
            predicate = owner.properties["predicate"]
            if isinstance(predicate, BoundedAttr) and _is_at_least_0(predicate.lower_bound):
                return True
        if name in ("cuda_tile.exti", "cuda_tile.assume", "cuda_tile.remi"):
            return self.is_not_negative(owner.operands[0])
        signs = [self.is_not_negative(operand) for operand in owner.operands[-2:]]
        if name == "cuda_tile.maxi":
            return any(signs)
        return name in _SIGN_KEEPING and all(signs)


def _is_unsigned(operation: Operation) -> bool:
    signedness = operation.properties.get("signedness")
    return isinstance(signedness, SignednessAttr) and signedness.data is Signedness.UNSIGNED


def _is_at_least_0(bound: int | None) -> bool:
    return bound is not None and bound >= 0


def _least_common_multiple(a: int, b: int) -> int:
    return a if a == 0 or b == 0 else a * b // gcd(a, b)
