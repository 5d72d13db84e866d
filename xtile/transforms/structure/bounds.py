"""Between which numbers integers lie: proofs from the text, and what a launch must find.

An operation on 32 bits is what a polynomial says only if it does not wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerType, MemRefType
from xdsl.ir import Block, SSAValue

from xtile.arguments.launch_checks import (
    Expression,
    LaunchCheck,
    check_of,
    first_failing,
    words_of,
)
from xtile.dialects.core.launch_checks import CHECKS_ATTRIBUTE, check_words, checks_attribute
from xtile.dialects.core.signature import Role, source_signature
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import dimension_number
from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.facts import Facts, constant_of
from xtile.rewrite.ranges import Range, range_of, width_of
from xtile.transforms.structure.affine import Affine
from xtile.transforms.structure.polynomials import Atom, Monomial, Polynomial, Rounds, Trips

Needs: TypeAlias = frozenset[LaunchCheck]

NOTHING: Needs = frozenset()

_WIDE = 64

_DEPTH = 24
"""How many operations on numbers a check is made of at most, one after the other."""


class Bounds:
    """What is known of integers, or can be known at a launch.

    Args:
        may_wrap: Whether only proofs count, because nobody checks anything at a launch.
    """

    def __init__(self, may_wrap: bool) -> None:
        self._may_wrap = may_wrap
        self._facts = Facts()

    def require(self, tile: Affine, least: int, most: int) -> Needs | None:
        """What a launch must find for a tile to have no number below or above some.

        Returns:
            Nothing, if that is certain; None if a launch could not tell.
        """
        low, high = self.range_of(tile)
        if least <= low and high <= most:
            return NOTHING
        return None if self._may_wrap else self._checked(_expression_of_tile(tile), least, most)

    def require_number(self, number: SSAValue, least: int, most: int) -> Needs | None:
        """What a launch must find for a number not to be below or above some."""
        low, high = self._range_of_atom(number)
        if least <= low and high <= most:
            return NOTHING
        return None if self._may_wrap else self._checked(_expression(number, _DEPTH), least, most)

    def _checked(self, expression: Expression | None, least: int, most: int) -> Needs | None:
        """What a launch must find of a number; None if it cannot tell, or it is never so."""
        if expression is None:
            return None
        check = LaunchCheck(expression, least, most)
        if _has_numbers_of_a_launch(expression):
            return frozenset({check})
        # Every launch would find the same.
        return NOTHING if first_failing([check], (), ()) is None else None

    def require_bits(self, tile: Affine, bits: int) -> Needs | None:
        """What a launch must find for a tile to have signed numbers of so many bits only.

        Numbers of 64 bits are never too small, because no memory has so many elements.
        """
        if bits >= _WIDE:
            return NOTHING
        return self.require(tile, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    def range_of(self, tile: Affine) -> Range:
        """Between which numbers those of a tile lie for certain."""
        low, high = self.range_of_number(tile.base)
        for size, stride in zip(tile.shape, tile.strides, strict=True):
            ends = [(size - 1) * end for end in self.range_of_number(stride)]
            low, high = low + min(0, *ends), high + max(0, *ends)
        return low, high

    def divisor(self, value: SSAValue) -> int:
        """A power of two that certainly divides a number, also where that wraps around."""
        divisor = self._facts.divisor(value)
        return divisor & -divisor or 1 << width_of(value)

    def range_of_number(self, number: Polynomial) -> Range:
        """Between which numbers a number lies for certain."""
        low = high = 0
        for product, factor in number.terms.items():
            ends = self._range_of_product(product, factor)
            low, high = low + ends[0], high + ends[1]
        return low, high

    def _range_of_product(self, product: Monomial, factor: int) -> Range:
        ends = factor, factor
        for atom in product:
            corners = [x * y for x in ends for y in self._range_of_atom(atom)]
            ends = min(corners), max(corners)
        return ends

    def _range_of_atom(self, atom: Atom) -> Range:
        if isinstance(atom, Rounds | Trips):
            return 0, 1 << width_of(atom.loop.lb)
        low, high = range_of(atom)
        power = self.divisor(atom)
        return -(-low // power) * power, high // power * power


# --- expressions, of which a launch finds the range ---


def _has_numbers_of_a_launch(expression: Expression) -> bool:
    if isinstance(expression, int):
        return False
    kind, *rest = expression
    return kind in _OF_A_LAUNCH or any(map(_has_numbers_of_a_launch, rest))


_OF_A_LAUNCH = frozenset({"argument", "block", "grid"})


class KernelChecks:
    """What launches of a kernel check.

    Args:
        kernel: The kernel, which may list some checks already.
        remark: Tells of each other one.
    """

    def __init__(self, kernel: FuncOp, remark: Callable[[str], object]) -> None:
        self._checks = dict.fromkeys(check_of(words) for words in check_words(kernel))
        self._remark = remark

    def rely_on(self, needs: Needs) -> None:
        """Lets launches check something, and says so."""
        for check in sorted(needs, key=str):
            if check not in self._checks:
                self._checks[check] = None
                self._remark(f"a launch checks that {check}")

    def list_in(self, kernel: FuncOp) -> None:
        """Lists the checks in what a kernel has become."""
        if self._checks:
            kernel.attributes[CHECKS_ATTRIBUTE] = checks_attribute(map(words_of, self._checks))


def of_each_choice(number: SSAValue, require: Callable[[SSAValue], Needs | None]) -> Needs | None:
    """What a launch must find for a number, or for both that `arith.select` chooses from."""
    if not isinstance(number.owner, arith.SelectOp):
        return require(number)
    sides = [of_each_choice(each, require) for each in (number.owner.lhs, number.owner.rhs)]
    known = [each for each in sides if each is not None]
    return NOTHING.union(*known) if len(known) == len(sides) else None


def _expression_of_tile(tile: Affine) -> Expression | None:
    total = _expression_of_number(tile.base)
    for size, stride in zip(tile.shape, tile.strides, strict=True):
        each = _expression_of_number(stride)
        if total is None or each is None:
            return None
        if stride.terms:
            total = _joined("add", total, _joined("mul", ("between", 0, size - 1), each))
    return total


def _expression_of_number(number: Polynomial) -> Expression | None:
    total: Expression = number.terms.get((), 0)
    for product, factor in number.terms.items():
        if not product:
            continue
        each: Expression = factor
        factors = [
            _expression(atom, _DEPTH) if isinstance(atom, SSAValue) else _of_loop(atom)
            for atom in product
        ]
        # The factors of a polynomial have an order that differs from run to run.
        for one in sorted(factors, key=str):
            if one is None:
                return None
            each = _joined("mul", each, one)
        total = _joined("add", total, each)
    return total


def _joined(kind: str, a: Expression, b: Expression) -> Expression:
    neutral = 0 if kind == "add" else 1
    if a == neutral or b == neutral:
        return b if a == neutral else a
    return kind, _WIDE, a, b


def _of_loop(atom: Rounds | Trips) -> Expression | None:
    """How many iterations are over, or how many there are."""
    bounds = atom.loop.lb, atom.loop.ub, atom.loop.step
    lower, upper, step = (_expression(each, _DEPTH) for each in bounds)
    if lower is None or upper is None or step is None:
        return None
    trips = "ceildiv", _WIDE, ("sub", _WIDE, upper, lower), step
    if isinstance(atom, Trips):
        return "max", _WIDE, 0, trips
    return "between", 0, ("max", _WIDE, 0, ("sub", _WIDE, trips, 1))


def _expression(value: SSAValue, depth: int) -> Expression | None:
    """What a launch can compute of a number; None where it depends on more than it knows."""
    constant = constant_of(value)
    if constant is not None:
        return constant
    owner = value.owner
    if isinstance(owner, Block):
        return _of_argument(value, owner, depth)
    if owner.name in _IDS:
        return _IDS[owner.name], dimension_number(owner)
    if not depth:
        return None
    if owner.name in _KEEP_THE_VALUE:
        inner = _expression(owner.operands[0], depth - 1)
        if inner is None or width_of(owner.operands[0]) <= width_of(value):
            return inner
        return "cast", width_of(value), inner
    if owner.name in _WITHOUT_SIGN:
        return _without_sign(_expression(owner.operands[0], depth - 1)) or _known_range(value)
    kind = _OPERATIONS.get(owner.name)
    if kind is None:
        return _known_range(value)
    a, b = (_expression(operand, depth - 1) for operand in owner.operands)
    return _known_range(value) if a is None or b is None else (kind, width_of(value), a, b)


def _without_sign(number: Expression | None) -> Expression | None:
    """A number that is read without its sign, if it is that of a work-group, which fits 32 bits."""
    match number:
        case ("cast", int(width), ("block" | "grid" as kind, dimension)) if width >= _LEAST_WIDTH:
            return kind, dimension
        case ("block" | "grid", _):
            return number
        case _:
            return None


def _known_range(value: SSAValue) -> Expression | None:
    """A number of which the text tells something."""
    low, high = range_of(value)
    half = 1 << (width_of(value) - 1)
    return None if high - low >= half else ("between", low, high)


def _of_argument(value: SSAValue, block: Block, depth: int) -> Expression | None:
    around = block.parent_op()
    if isinstance(around, scf.ForOp):
        if value is not block.args[0] or UNSIGNED in around.properties or not depth:
            return None
        lower, upper = _expression(around.lb, depth - 1), _expression(around.ub, depth - 1)
        if lower is None or upper is None:
            return None
        return "between", lower, ("sub", _WIDE, upper, 1)
    if isinstance(around, FuncOp) and isinstance(value.type, IntegerType):
        parameter = _parameter(around, block.args.index(value))
        return None if parameter is None else ("argument", parameter)
    return None


def _parameter(function: FuncOp, argument: int) -> int | None:
    """The parameter of the source that an argument is the value of."""
    signature = source_signature(function)
    if signature is None:
        is_flat = not any(isinstance(each.type, MemRefType) for each in function.arguments)
        return argument if is_flat else None
    pieces = [(i, piece) for i, each in enumerate(signature.parameters) for piece in each.becomes]
    parameter, piece = pieces[argument]
    return parameter if piece.role is Role.VALUE else None


_IDS = {"gpu.block_id": "block", "gpu.grid_dim": "grid"}

_KEEP_THE_VALUE = frozenset({"arith.extsi", "arith.index_cast", "arith.trunci", "core.assume"})
"""Operations that keep the value where it fits their result."""

_WITHOUT_SIGN = frozenset({"arith.extui", "arith.index_castui"})
"""Operations that keep a number that is not negative."""

_LEAST_WIDTH = 32
"""The bits that the number of a work-group fits into, read without a sign."""

_OPERATIONS: Mapping[str, str] = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.minsi": "min",
    "arith.maxsi": "max",
    "arith.divsi": "div",
    "arith.floordivsi": "floordiv",
    "arith.ceildivsi": "ceildiv",
    "arith.remsi": "rem",
}
"""What checks call each operation."""
