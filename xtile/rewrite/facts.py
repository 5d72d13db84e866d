"""What is known of values without running: divisors and signs of integers, and what made them.

The analysis feeds the legality of two-dimensional block accesses, whose addresses, pitches and
offsets must be multiples of a few bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from math import gcd, lcm, prod
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xtile.rewrite.indices import Index

COUNTS = frozenset(
    {
        "gpu.block_dim",
        "gpu.block_id",
        "gpu.global_id",
        "gpu.grid_dim",
        "gpu.lane_id",
        "gpu.num_subgroups",
        "gpu.subgroup_id",
        "gpu.subgroup_size",
        "gpu.thread_id",
        "memref.dim",
        "vector.step",
    }
)
"""Operations that count memory or work-items: their results are never negative."""

_KEEP_THE_VALUE = frozenset(
    {
        "arith.extsi",
        "arith.extui",
        "arith.index_cast",
        "arith.index_castui",
        "arith.trunci",
        "core.integer_to_pointer",
        "core.pointer_cast",
        "core.pointer_to_integer",
    }
)

_ONE_OF = frozenset({"arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui", "arith.select"})
"""Operations that return one of their last two operands."""


class Facts:
    """What is known of each value; asked for values whose operations exist.

    The rules are about operations of `arith`. A dialect whose integers are computed in the same way
    overrides `name_of`, `constant` and `promise_of`.
    """

    def __init__(self) -> None:
        self._divisors: dict[SSAValue, int] = {}
        self._signs: dict[SSAValue, bool] = {}
        self._assumed: dict[SSAValue, tuple[int, bool, int]] = {}

    def assume(
        self, value: SSAValue, divisor: int = 1, is_not_negative: bool = False, least: int = 0
    ) -> None:
        """Records what is known of a value from elsewhere; divisor 0 means that it is 0."""
        self._assumed[value] = divisor, is_not_negative, least
        self._divisors[value] = divisor
        self._signs[value] = is_not_negative

    def supposing(self, divisors: Mapping[SSAValue, int]) -> Facts:
        """What would be known if values that are not negative had these divisors."""
        facts = Facts()
        for value, known in self._assumed.items():
            facts.assume(value, *known)
        for value, divisor in divisors.items():
            facts.assume(value, divisor, True)
        return facts

    def name_of(self, operation: Operation) -> str:
        """The operation of `arith` that computes the same, or one of `core`."""
        return operation.name

    def constant(self, value: SSAValue) -> int | None:
        """The number that an integer constant is, or None."""
        return constant_of(value)

    def promise_of(self, assume: Operation) -> tuple[int, int | None]:
        """A divisor and a lower bound that an assumption tells of its operand."""
        # With `contiguous` it is about some elements only.
        every = "contiguous" not in assume.properties
        return (every and assumed(assume, "divisible_by")) or 1, assumed(assume, "at_least")

    def divisor(self, value: SSAValue | int) -> int:
        """A number that divides the value; 0 if the value is 0, 1 if nothing is known.

        Where a number wraps around, or a negative one is taken as unsigned, the powers of two in
        it still do. Of a pointer, or of each in a vector, it divides the address in bytes.
        """
        if isinstance(value, int):
            return abs(value)
        if value not in self._divisors:
            self._divisors[value] = self._find_divisor(value)
        return self._divisors[value]

    def least(self, value: SSAValue | int) -> int:
        """A number that the value is known not to be below, for sizes and strides.

        A multiple of a number is that number at least, because where a size is 0 nothing is
        accessed.
        """
        if isinstance(value, int):
            return value
        known = self.divisor(value) if self.is_not_negative(value) else 0
        return max(known, self._promised_least(value))

    def _promised_least(self, value: SSAValue) -> int:
        """What an assumption says that a value, or the same one before, is not below; or else 0."""
        if value in self._assumed:
            return self._assumed[value][2]
        operation = value.owner
        if not isinstance(operation, Operation):
            return 0
        name = self.name_of(operation)
        own = self.promise_of(operation)[1] or 0 if name == "core.assume" else 0
        is_same = name in ("arith.extsi", "arith.index_cast", "core.assume")
        return max(own, self._promised_least(operation.operands[0]) if is_same else 0)

    def is_not_negative(self, value: SSAValue | int) -> bool:
        """Whether the value is known to be 0 or more, if nothing overflows."""
        if isinstance(value, int):
            return value >= 0
        if value not in self._signs:
            self._signs[value] = self._find_sign(value)
        return self._signs[value]

    def _find_divisor(self, value: SSAValue) -> int:
        if not isinstance(value, OpResult):
            return 1
        operation = value.op
        constant = self.constant(value)
        if constant is not None:
            return abs(constant)
        name = self.name_of(operation)
        if name == "core.assume":
            return lcm(self.promise_of(operation)[0], self.divisor(operation.operands[0]))
        if name in _KEEP_THE_VALUE:
            return self.divisor(operation.operands[0])
        if name in _ONE_OF:
            return gcd(*(self.divisor(operand) for operand in operation.operands[-2:]))
        if name == "core.pointer_add":
            address, offset = (self.divisor(operand) for operand in operation.operands)
            return gcd(address, offset * _pointee_bytes(value.type))
        combine = _DIVISORS.get(name)
        return 1 if combine is None else combine([self.divisor(x) for x in operation.operands])

    def _find_sign(self, value: SSAValue) -> bool:
        if not isinstance(value, OpResult):
            return False
        operation = value.op
        constant = self.constant(value)
        if constant is not None:
            return constant >= 0
        name = self.name_of(operation)
        if name in COUNTS or name == "arith.extui":
            return True
        if name == "arith.divui":
            # A negative number is a large unsigned one, which only a divisor of 1 keeps.
            divisor = self.constant(operation.operands[1])
            return self.is_not_negative(operation.operands[0]) or (divisor or 0) > 1
        if name == "arith.remui":
            return any(self.is_not_negative(operand) for operand in operation.operands)
        signs = [self.is_not_negative(operand) for operand in operation.operands]
        if name == "core.assume":
            least = self.promise_of(operation)[1]
            return signs[0] or (least is not None and least >= 0)
        if name in ("arith.maxsi", "arith.andi"):
            return any(signs)
        if name == "arith.select":
            return all(signs[1:])
        if name == "arith.remsi":
            return signs[0]
        keeps = name in _KEEP_THE_VALUE or name in _ONE_OF or name in _SIGN_KEEPING
        return keeps and all(signs)


def _pointee_bytes(type: Attribute) -> int:
    """The bytes of what pointers point to, or 1 where they are not counted here."""
    pointee: Attribute = getattr(getattr(type, "element_type", type), "pointee_type", type)
    bits = cast("int", getattr(pointee, "bitwidth", 8))
    return max(1, bits // 8)


def assumed(operation: Operation, what: str) -> int | None:
    """The number that an operation such as `core.assume` has in a property; None without one."""
    attribute = operation.properties.get(what)
    if isinstance(attribute, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", attribute).value.data
    return None


_SIGN_KEEPING = frozenset({"arith.addi", "arith.muli", "arith.divsi", "arith.shrui"})

_DIVISORS: dict[str, Callable[[list[int]], int]] = {
    "arith.addi": lambda divisors: gcd(*divisors),
    "arith.subi": lambda divisors: gcd(*divisors),
    "arith.remsi": lambda divisors: gcd(*divisors),
    "arith.remui": lambda divisors: gcd(*divisors),
    "arith.muli": lambda divisors: prod(divisors),
}
"""For an operation a divisor of its result, from divisors of its operands."""


def constant_of(value: SSAValue) -> int | None:
    """The number that an integer constant is, or None."""
    # Nearly all values are results, which is found out sooner of them than of their owners.
    if not isinstance(value, OpResult) or value.op.name != "arith.constant":
        return None
    attribute = value.op.properties.get("value")
    if isinstance(attribute, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", attribute).value.data
    return None


def sum_of(index: SSAValue) -> tuple[SSAValue | None, int]:
    """An index as something and a number that is added to it."""
    known = constant_of(index)
    if known is not None:
        return None, known
    owner = index.owner
    if isinstance(owner, Operation) and owner.name == "arith.addi":
        for base, number in (owner.operands, reversed(owner.operands)):
            added = constant_of(number)
            if added is not None:
                inner, more = sum_of(base)
                return inner, more + added
    return index, 0


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

    @contextmanager
    def bounded(self, bounds: Mapping[SSAValue, Index]) -> Generator[None]:
        """Knows for a while numbers that are greater than values."""
        before = self._bounds
        self._bounds = {**before, **bounds}
        try:
            yield
        finally:
            self._bounds = before

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
    def constant(self, value: SSAValue) -> int | None:
        return self._numbers.get(value)


def only_origin(
    value: SSAValue, sources_of: Callable[[SSAValue], list[SSAValue] | None]
) -> SSAValue | None:
    """The one value that another is made of in the end; None if there are several, or if not known.

    Args:
        value: The other one.
        sources_of: The values that one is made of directly; none for an origin, and None where they
            are not known.
    """
    found: set[SSAValue] = set()
    seen: set[SSAValue] = set()
    left = [value]
    while left:
        each = left.pop()
        if each in seen:
            continue
        seen.add(each)
        sources = sources_of(each)
        if sources is None:
            return None
        if not sources:
            found.add(each)
        left += sources
    return found.pop() if len(found) == 1 else None
