"""Between which numbers the integers of a function of Triton lie.

What is said of signs holds if sums and products of index computations do not wrap around, as
everywhere in Triton; what is said of bounds holds in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.triton.operation import element_of, width_of

Range = tuple[int, int]
"""The least and the greatest number that a value may be."""

_DEPTH = 64
"""How many operations before a value are looked at, one after the other."""

_MOST_PROGRAMS = (2**31 - 1, 65535, 65535)
"""The programs that a launch can have along each axis."""


class Bounds:
    """What is known of integers; what has been found out is kept."""

    def __init__(self) -> None:
        self._ranges: dict[SSAValue, Range] = {}
        self._signs: dict[SSAValue, bool] = {}

    def of(self, value: SSAValue, depth: int = _DEPTH) -> Range:
        """The bounds of an integer, or of all in a tensor, as signed numbers."""
        if value not in self._ranges:
            everything = _of_type(value.type)
            # What depends on itself, in a loop, may be anything.
            self._ranges[value] = everything
            low, high = self._find(value, depth - 1) if depth else everything
            is_inside = everything[0] <= low <= high <= everything[1]
            self._ranges[value] = (low, high) if is_inside else everything
        return self._ranges[value]

    def _find(self, value: SSAValue, depth: int) -> Range:
        operation = value.owner
        if isinstance(operation, Block):
            return self._of_argument(value, operation, depth)
        name = operation.name
        if name == "arith.constant":
            return _of_constant(operation.properties.get("value")) or _of_type(value.type)
        if name == "tt.make_range":
            start, end = (_number(operation, key) for key in ("start", "end"))
            return start, end - 1
        if name in ("tt.get_program_id", "tt.get_num_programs"):
            most = _MOST_PROGRAMS[_number(operation, "axis")]
            return (0, most - 1) if name == "tt.get_program_id" else (1, most)
        if name in _SAME:
            return self.of(operation.operands[0], depth)
        if name == "arith.extui":
            return _unsigned(self.of(operation.operands[0], depth), operation.operands[0].type)
        if name == "arith.select":
            return _hull(*(self.of(each, depth) for each in operation.operands[1:]))
        combine = _COMBINE.get(name)
        if combine is None:
            return _of_type(value.type)
        return combine(*(self.of(each, depth) for each in operation.operands))

    def _of_argument(self, value: SSAValue, block: Block, depth: int) -> Range:
        loop = block.parent_op()
        if not isinstance(loop, scf.ForOp) or value is not block.args[0]:
            return _of_type(value.type)
        low, high = self.of(loop.lb, depth)[0], self.of(loop.ub, depth)[1] - 1
        return low, max(low, high)

    def is_not_negative(self, value: SSAValue) -> bool:
        """Whether an integer, or each in a tensor, is 0 or more if nothing wraps around."""
        if value not in self._signs:
            # What loops carry has the sign of what they begin with, if they keep it.
            self._signs[value] = True
            found = self._find_sign(value)
            if not found:
                self._signs = {each: sign for each, sign in self._signs.items() if not sign}
            self._signs[value] = found
        return self._signs[value]

    def _find_sign(self, value: SSAValue) -> bool:
        if self.of(value)[0] >= 0:
            return True
        operation = value.owner
        if isinstance(operation, Block):
            return self._sign_of_argument(value, operation)
        if any(_assumes_sign(use.operation) for use in value.uses):
            return True
        name, operands = operation.name, operation.operands
        if name in ("arith.remsi",):
            return self.is_not_negative(operands[0])
        if name in ("arith.maxsi", "arith.andi"):
            return any(map(self.is_not_negative, operands))
        if name == "arith.select":
            return all(map(self.is_not_negative, operands[1:]))
        return name in _SIGN_KEEPING and all(map(self.is_not_negative, operands))

    def _sign_of_argument(self, value: SSAValue, block: Block) -> bool:
        if any(_assumes_sign(use.operation) for use in value.uses):
            return True
        loop = block.parent_op()
        if not isinstance(loop, scf.ForOp):
            return False
        if value is block.args[0]:
            return self.is_not_negative(loop.lb)
        index = next(i for i, each in enumerate(block.args) if each is value) - 1
        last = block.last_op
        assert last is not None
        return self.is_not_negative(loop.iter_args[index]) and self.is_not_negative(
            last.operands[index]
        )


def _assumes_sign(comparison: Operation) -> bool:
    """Whether it is assumed that what a comparison compares is more than a number from 0 on."""
    if comparison.name != "arith.cmpi":
        return False
    if not any(use.operation.name == "llvm.intr.assume" for use in comparison.results[0].uses):
        return False
    predicate: Any = comparison.properties["predicate"]
    least = constant_of(comparison.operands[1])
    if least is None:
        return False
    # 4 and 5 are sgt and sge.
    return {4: least >= -1, 5: least >= 0}.get(predicate.value.data, False)


def constant_of(value: SSAValue) -> int | None:
    """The number that an integer, or each in a tensor, is; None where that is not known."""
    operation = value.owner
    if isinstance(operation, Block):
        return None
    if operation.name in ("tt.splat", "tt.broadcast", "arith.extsi"):
        return constant_of(operation.operands[0])
    if operation.name != "arith.constant":
        return None
    found = _of_constant(operation.properties.get("value"))
    return found[0] if found is not None and found[0] == found[1] else None


def _number(operation: Operation, name: str) -> int:
    attribute: Any = operation.properties[name]
    return attribute.value.data


def _of_type(type_: Attribute) -> Range:
    width = width_of(element_of(type_)) or 64
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def _of_constant(value: Attribute | None) -> Range | None:
    if isinstance(value, IntegerAttr):
        return value.value.data, value.value.data
    if isinstance(value, DenseIntOrFPElementsAttr):
        values: list[Any] = list(value.get_values())
        numbers = [each for each in values if isinstance(each, int)]
        return (min(numbers), max(numbers)) if numbers else None
    return None


def _unsigned(range_: Range, type_: Attribute) -> Range:
    return range_ if range_[0] >= 0 else (0, 2 * _of_type(type_)[1] + 1)


def _hull(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient(a: Range, b: Range) -> Range:
    if b[0] <= 0:
        return -max(map(abs, a)), max(map(abs, a))
    corners = [int(abs(x) // y) * (1 if x >= 0 else -1) for x in a for y in b]
    return min(corners), max(corners)


def _remainder(a: Range, b: Range) -> Range:
    most = max(map(abs, b)) - 1
    low = 0 if a[0] >= 0 else -min(most, -a[0])
    return low, max(0, min(most, a[1]))


def _and(a: Range, b: Range) -> Range:
    known = [high for low, high in (a, b) if low >= 0]
    return (0, min(known)) if known else _hull(a, b)


def _shifted_left(a: Range, b: Range) -> Range:
    return _product(a, (1 << max(0, b[0]), 1 << min(max(0, b[1]), 64)))


def _shifted_right(a: Range, b: Range) -> Range:
    return (a[0] >> min(b[1], 63) if a[0] >= 0 else a[0], max(a[1], 0) >> max(0, b[0]))


_SAME = frozenset(
    {
        "arith.extsi",
        "arith.index_cast",
        "arith.trunci",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.reshape",
        "tt.splat",
        "tt.trans",
    }
)
"""Operations that keep each number where it fits their result; elsewhere all can come out."""

_COMBINE: dict[str, Callable[[Range, Range], Range]] = {
    "arith.addi": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "arith.subi": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "arith.muli": _product,
    "arith.divsi": _quotient,
    "arith.remsi": _remainder,
    "arith.andi": _and,
    "arith.minsi": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "arith.maxsi": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "arith.shli": _shifted_left,
    "arith.shrsi": _shifted_right,
}
"""The bounds of an operation's exact result, from those of its operands."""

_SIGN_KEEPING = frozenset(
    {
        "arith.addi",
        "arith.divsi",
        "arith.extsi",
        "arith.minsi",
        "arith.muli",
        "arith.shli",
        "arith.shrsi",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.splat",
    }
)
"""Operations that give no negative number of none, if nothing wraps around."""


_SMALL_RANGE = 32
"""The bits of `tt.pointer_range` that promise offsets in bytes below 2 GB."""


def small_arguments(function: Operation) -> set[SSAValue]:
    """The arguments whose memory is promised to end within 2 GB."""
    given: Any = function.properties.get("arg_attrs") or []
    block: Block | None = function.regions[0].blocks.first
    if block is None:
        return set()
    return {
        argument
        for argument, promises in zip(block.args, given, strict=False)
        if isinstance(found := promises.data.get("tt.pointer_range"), IntegerAttr)
        and found.value.data == _SMALL_RANGE
    }
