"""What is known of neighbours in a tensor: where numbers count up, where they are equal.

A tensor is cut, along each dimension, into groups of `contiguity` numbers that count up by 1 (of
pointers, that point to elements which follow each other) and into groups of `constancy` equal
ones. `divisor` is a power of two that divides the first number of each group that counts up; of
pointers it divides the address in bytes. Groups begin at multiples of their size.

Source: Triton 3.9, `include/triton/Analysis/AxisInfo.h`, whose words these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.arith import CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.triton.operation import element_of, shape_of
from xtile.dialects.triton.tt.types import PointerType
from xtile.dialects.walk import walk
from xtile.translate.triton_to_amdg.bounds import Bounds

MOST = 1 << 20
"""The largest divisor that is of any use."""


@dataclass(frozen=True)
class Axis:
    """What is known along one dimension.

    Attributes:
        contiguity: The numbers of a group that counts up.
        divisor: What divides the first number of such a group.
        constancy: The numbers of a group of equal ones.
    """

    contiguity: int = 1
    divisor: int = 1
    constancy: int = 1

    def divisor_of(self, group: int) -> int:
        """What divides the first number of each group of so many."""
        return self.divisor if group >= self.contiguity else min(self.divisor, group)


Axes = tuple[Axis, ...]
"""What is known along each dimension; scalars have one."""


class AxisFacts:
    """What is known of the values of a function.

    Args:
        function: The function.
        bounds: Between which numbers its integers lie.

    Attributes:
        bounds: The same.
    """

    def __init__(self, function: Operation, bounds: Bounds) -> None:
        self._known: dict[SSAValue, Axes] = {}
        self.bounds = bounds
        # What loops carry is first taken for what they begin with.
        for _ in range(8):
            if not self._pass(function):
                return
        self._known.clear()

    def of(self, value: SSAValue) -> Axes:
        """What is known of a value along each dimension."""
        found = self._known.get(value)
        return found or (Axis(),) * max(1, len(shape_of(value.type)))

    def _pass(self, function: Operation) -> bool:
        """Looks at all operations; whether anything was not known so before."""
        for argument, divisor in _promised_arguments(function):
            self._known[argument] = (Axis(divisor=divisor),)
        has_changed = False
        for operation in walk(function):
            if isinstance(operation, scf.ForOp):
                has_changed |= self._loop(operation)
            rule = _RULES.get(operation.name)
            if rule is None or not operation.results:
                continue
            found = _with_promises(operation, rule(operation, self))
            result = operation.results[0]
            has_changed |= self._known.get(result) != found
            self._known[result] = found
        return has_changed

    def _loop(self, loop: scf.ForOp) -> bool:
        variable, *carried = loop.body.block.args
        divisor = gcd(self.of(loop.lb)[0].divisor, self.of(loop.step)[0].divisor)
        self._known[variable] = (Axis(divisor=divisor),)
        last = loop.body.block.last_op
        yielded: Sequence[SSAValue] = last.operands if last is not None else ()
        has_changed = False
        for argument, first, after, result in zip(
            carried, loop.iter_args, yielded, loop.results, strict=True
        ):
            met = self.of(first)
            if argument in self._known and after in self._known:
                met = tuple(map(_meet, met, self.of(after)))
            elif argument in self._known:
                met = self.of(after)
            has_changed |= self._known.get(argument) != met
            self._known[argument] = self._known[result] = met
        return has_changed

    def is_not_negative(self, value: SSAValue) -> bool:
        """Whether a value, or each in a tensor, is certainly 0 or more."""
        return self.bounds.is_not_negative(value)


def _meet(a: Axis, b: Axis) -> Axis:
    contiguity = gcd(a.contiguity, b.contiguity)
    divisor = gcd(a.divisor_of(contiguity), b.divisor_of(contiguity))
    return Axis(contiguity, divisor, gcd(a.constancy, b.constancy))


def _promised_arguments(function: Operation) -> Iterator[tuple[SSAValue, int]]:
    given: Any = function.properties.get("arg_attrs")
    if not function.regions or not function.regions[0].blocks:
        return
    arguments = function.regions[0].blocks[0].args
    for argument, promises in zip(arguments, given or [], strict=False):
        divisor = promises.data.get("tt.divisibility")
        if isinstance(divisor, IntegerAttr):
            yield argument, _power_of_two(divisor.value.data)


def _with_promises(operation: Operation, axes: Axes) -> Axes:
    """What is known, with what attributes of the operation promise."""

    def given(name: str) -> Sequence[int]:
        found: Any = operation.attributes.get(name)
        if found is None:
            return (1,) * len(axes)
        values = found.get_values() if hasattr(found, "get_values") else (found.value.data,)
        return [_power_of_two(int(value)) for value in values]

    sizes = [given(f"tt.{name}") for name in ("contiguity", "divisibility", "constancy")]
    if any(len(each) != len(axes) for each in sizes):
        return axes
    return tuple(
        Axis(max(a.contiguity, c), max(a.divisor, d), max(a.constancy, e))
        for a, c, d, e in zip(axes, *sizes, strict=True)
    )


def _power_of_two(number: int) -> int:
    """The largest power of two that divides a number."""
    return min(number & -number, MOST) if number else MOST


# --- operations ---


def _constant(operation: Operation, facts: AxisFacts) -> Axes:
    value: Attribute | None = operation.properties.get("value")
    shape = shape_of(operation.results[0].type) or (1,)
    if isinstance(value, IntegerAttr):
        return (Axis(divisor=_power_of_two(value.value.data)),)
    if isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat():
        number: Any = value.get_values()[0]
        divisor = _power_of_two(number) if isinstance(number, int) else 1
        return tuple(Axis(1, divisor, size) for size in shape)
    return (Axis(),) * len(shape)


def _range(operation: Operation, facts: AxisFacts) -> Axes:
    start: Any = operation.properties["start"]
    (size,) = shape_of(operation.results[0].type)
    divisor = _power_of_two(start.value.data)
    return (Axis(_power_of_two(size), divisor, 1),)


def _splat(operation: Operation, facts: AxisFacts) -> Axes:
    divisor = facts.of(operation.operands[0])[0].divisor
    return tuple(Axis(1, divisor, size) for size in shape_of(operation.results[0].type))


def _expand_dims(operation: Operation, facts: AxisFacts) -> Axes:
    axis: Any = operation.properties["axis"]
    axes, at = list(facts.of(operation.operands[0])), axis.value.data
    # Along the new dimension each element is a group of its own.
    divisor = max(each.divisor_of(1) for each in axes)
    return (*axes[:at], Axis(1, divisor, 1), *axes[at:])


def _broadcast(operation: Operation, facts: AxisFacts) -> Axes:
    before = shape_of(operation.operands[0].type)
    after = shape_of(operation.results[0].type)
    return tuple(
        Axis(1, axis.divisor, size) if old == 1 and size > 1 else axis
        for axis, old, size in zip(facts.of(operation.operands[0]), before, after, strict=True)
    )


def _same(operation: Operation, facts: AxisFacts) -> Axes:
    return facts.of(operation.operands[0])


def _scale_of(operation: Operation) -> int:
    """The bytes that a pointer moves by for each number that is added."""
    pointer = element_of(operation.operands[0].type)
    if not isinstance(pointer, PointerType):
        return 1
    return max(1, getattr(pointer.pointee, "bitwidth", 64) // 8)


def _sum(operation: Operation, facts: AxisFacts) -> Axes:
    scale, is_difference = _scale_of(operation), operation.name == "arith.subi"

    def along(a: Axis, b: Axis) -> Axis:
        ways = [gcd(a.contiguity, b.constancy)]
        if not is_difference:
            ways.append(gcd(a.constancy, b.contiguity))
        group = max(ways)
        # A pointer's divisor counts bytes.
        left = a.divisor if group >= a.contiguity else min(a.divisor, group * scale)
        divisor = gcd(left, b.divisor_of(group) * scale)
        return Axis(group, min(divisor, MOST), gcd(a.constancy, b.constancy))

    return _along_all(operation, facts, along)


def _product(operation: Operation, facts: AxisFacts) -> Axes:
    def along(a: Axis, b: Axis) -> Axis:
        divisor = min(a.divisor_of(1) * b.divisor_of(1), MOST)
        return Axis(1, divisor, gcd(a.constancy, b.constancy))

    return _along_all(operation, facts, along)


def _shift_left(operation: Operation, facts: AxisFacts) -> Axes:
    def along(a: Axis, b: Axis) -> Axis:
        return Axis(1, a.divisor_of(1), gcd(a.constancy, b.constancy))

    return _along_all(operation, facts, along)


def _quotient(operation: Operation, facts: AxisFacts) -> Axes:
    is_counted = facts.is_not_negative(operation.operands[0])

    def along(a: Axis, b: Axis) -> Axis:
        equal = gcd(a.constancy, b.constancy)
        if is_counted:
            # All of a group that begins at a multiple of its size have one quotient.
            group = gcd(a.contiguity, a.divisor, b.divisor, b.constancy)
            equal = max(equal, group)
        return Axis(1, 1, equal)

    return _along_all(operation, facts, along)


def _remainder(operation: Operation, facts: AxisFacts) -> Axes:
    is_counted = facts.is_not_negative(operation.operands[0])

    def along(a: Axis, b: Axis) -> Axis:
        equal = gcd(a.constancy, b.constancy)
        group = gcd(a.contiguity, a.divisor, b.divisor, b.constancy) if is_counted else 1
        divisor = gcd(a.divisor_of(group), b.divisor)
        return Axis(group, divisor, equal)

    return _along_all(operation, facts, along)


_EQUAL = frozenset(map(CMPI_COMPARISON_OPERATIONS.index, ("eq", "ne")))

_BEFORE_A_BOUND = frozenset(map(CMPI_COMPARISON_OPERATIONS.index, ("slt", "sge", "ult", "uge")))
"""Comparisons that give one result for all numbers from one multiple of a bound's divisor to the
next, if these are on the left; the others do if they are on the right."""


def _comparison(operation: Operation, facts: AxisFacts) -> Axes:
    """Truth values: those of a group that counts up are equal if no bound lies inside of it."""
    given: Any = operation.properties["predicate"]
    predicate: int = given.value.data

    def along(a: Axis, b: Axis) -> Axis:
        equal = gcd(a.constancy, b.constancy)
        counted, bound = (a, b) if predicate in _BEFORE_A_BOUND else (b, a)
        if predicate not in _EQUAL:
            group = gcd(counted.contiguity, counted.divisor, bound.divisor, bound.constancy)
            equal = max(equal, group)
        return Axis(1, 1, equal)

    return _along_all(operation, facts, along)


def _bits(operation: Operation, facts: AxisFacts) -> Axes:
    return _along_all(operation, facts, lambda a, b: Axis(1, 1, gcd(a.constancy, b.constancy)))


def _one_of(operation: Operation, facts: AxisFacts) -> Axes:
    """Either of the last two operands; which one is not known for any element."""
    *_, first, second = (facts.of(operand) for operand in operation.operands)
    return tuple(
        Axis(1, gcd(a.divisor_of(1), b.divisor_of(1)), 1)
        for a, b in zip(first, second, strict=True)
    )


def _along_all(operation: Operation, facts: AxisFacts, along: Callable[[Axis, Axis], Axis]) -> Axes:
    left, right = (facts.of(operand) for operand in operation.operands[:2])
    return tuple(map(along, left, right))


_RULES: dict[str, Callable[[Operation, AxisFacts], Axes]] = {
    "arith.constant": _constant,
    "tt.make_range": _range,
    "tt.splat": _splat,
    "tt.expand_dims": _expand_dims,
    "tt.broadcast": _broadcast,
    **dict.fromkeys(("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast"), _same),
    **dict.fromkeys(("arith.addi", "arith.subi", "tt.addptr"), _sum),
    "arith.cmpi": _comparison,
    **dict.fromkeys(("arith.andi", "arith.ori", "arith.xori"), _bits),
    "arith.muli": _product,
    "arith.shli": _shift_left,
    **dict.fromkeys(("arith.divsi", "arith.divui"), _quotient),
    **dict.fromkeys(("arith.remsi", "arith.remui"), _remainder),
    **dict.fromkeys(
        ("arith.minsi", "arith.minui", "arith.maxsi", "arith.maxui", "arith.select"), _one_of
    ),
}
"""What is known of an operation's first result; of others nothing is."""
