"""Where tiles of integers and of pointers come from.

A tile of pointers is a pointer and offsets. Both, and the offsets of a gather, are affine in the
tile's indices if they are made by the operations of `_RULES`; of all others the reason says why
not. Source: microsoft/triton-shared, `PtrAnalysis`, has the same operations of Triton.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.shapes import as_vector, bits_of
from xtile.dialects.upstream import value_type
from xtile.rewrite.facts import constant_of
from xtile.rewrite.folding import constant_number
from xtile.rewrite.tile_emitter import shape_of
from xtile.text.source import spelling_of
from xtile.transforms.structure.affine import (
    Affine,
    NotAffineError,
    broadcast_dimensions,
    reshaped,
    where_not_negative,
)
from xtile.transforms.structure.bounds import NOTHING, Bounds, Needs
from xtile.transforms.structure.boxes import Box
from xtile.transforms.structure.polynomials import (
    ONE,
    ZERO,
    Atom,
    Polynomial,
    Rounds,
    Trips,
    is_inside,
)


@dataclass(frozen=True)
class Pointers:
    """Pointers to elements that lie some offsets behind one.

    Attributes:
        base: The pointer, which has no index.
        offsets: How many elements behind it.
    """

    base: SSAValue
    offsets: Affine


class Provenance:
    """Finds what tiles of integers and of pointers are, each once.

    Args:
        bounds: What is known of integers.
        box_of: The elements that a mask lets through.
    """

    def __init__(self, bounds: Bounds, box_of: Callable[[SSAValue, Provenance], Box]) -> None:
        self.bounds = bounds
        self._box_of = box_of
        self._integers: dict[SSAValue, Affine | NotAffineError] = {}
        self._pointers: dict[SSAValue, Pointers | NotAffineError] = {}
        self._of_arguments: dict[SSAValue, bool] = {}
        self._boxes: dict[SSAValue, Box | NotAffineError] = {}

    def integers(self, value: SSAValue) -> Affine:
        """Integers as polynomials.

        Raises:
            NotAffineError: They are not affine in their indices.
        """
        return _once(self._integers, value, self._find_integers)

    def pointers(self, value: SSAValue) -> Pointers:
        """Pointers as one with offsets.

        Raises:
            NotAffineError: The offsets are not affine in the tile's indices.
        """
        return _once(self._pointers, value, self._find_pointers)

    def box(self, mask: SSAValue) -> Box:
        """The elements that a mask lets through.

        Raises:
            NotAffineError: They are no box.
        """
        return _once(self._boxes, mask, lambda mask: self._box_of(mask, self))

    def is_of_arguments(self, atom: Atom) -> bool:
        """Whether a number is the same for all tile blocks, because it comes from arguments."""
        if not isinstance(atom, SSAValue):
            bounds = atom.loop.lb, atom.loop.ub, atom.loop.step
            return isinstance(atom, Trips) and all(map(self.is_of_arguments, bounds))
        if atom not in self._of_arguments:
            owner = atom.owner
            self._of_arguments[atom] = (
                isinstance(owner.parent_op(), FuncOp)
                if isinstance(owner, Block)
                else _is_arithmetic(owner) and all(map(self.is_of_arguments, owner.operands))
            )
        return self._of_arguments[atom]

    def fitting(self, tile: Affine, value: SSAValue, operation: Operation) -> Affine:
        """Integers that an operation computes, if they do not wrap around.

        Raises:
            NotAffineError: They may.
        """
        if "nsw" in str(operation.properties.get("overflowFlags", "")):
            return tile
        bits = bits_of(value_type(value.type))
        needs = self.bounds.require_bits(tile, bits)
        if needs is None:
            raise NotAffineError(
                f"{spelling_of(operation)} of {bits} bits may wrap around, as far as it is known"
            )
        return tile.needing(needs)

    # --- integers ---

    def _find_integers(self, value: SSAValue) -> Affine:
        if as_vector(value.type) is None:
            return Affine.of((), self.number(value))
        owner = value.owner
        if isinstance(owner, Block) or owner.regions:
            return self._carried_integers(value)
        rule = _RULES.get(owner.name)
        if rule is None:
            raise NotAffineError(_unknown(owner))
        return rule(self, owner)

    def number(self, value: SSAValue) -> Polynomial:
        """An integer as a polynomial of those from which it comes without wrapping around."""
        constant = constant_of(value)
        if constant is not None:
            return Polynomial.of(constant)
        owner = value.owner
        if isinstance(owner, Operation) and owner.name in _WIDENS:
            source = owner.operands[0]
            if bits_of(source.type) <= bits_of(value.type):
                return self.number(source)
        if isinstance(owner, Operation) and owner.name in _ON_NUMBERS:
            a, b = (self.number(operand) for operand in owner.operands)
            result = _ON_NUMBERS[owner.name](a, b)
            if self._is_exact(Affine.of((), result), owner):
                return result
        return Polynomial.of(value)

    def expanded(
        self, number: Polynomial, is_wanted: Callable[[Atom], bool]
    ) -> tuple[Polynomial, Needs]:
        """A polynomial in numbers further back, which a launch finds not to wrap around.

        Args:
            number: The polynomial.
            is_wanted: Of which numbers it is not to be one.
        """
        total, needs = ZERO, NOTHING
        for product, factor in number.terms.items():
            each = Polynomial.of(factor)
            for atom in product:
                part, more = self._expanded_atom(atom, is_wanted)
                each, needs = each * part, needs | more
            total += each
        return total, needs

    def _expanded_atom(
        self, atom: Atom, is_wanted: Callable[[Atom], bool]
    ) -> tuple[Polynomial, Needs]:
        owner = atom.owner if isinstance(atom, SSAValue) and is_wanted(atom) else None
        if not isinstance(owner, Operation) or owner.name not in _ON_NUMBERS:
            return Polynomial.of(atom), NOTHING
        (a, of_a), (b, of_b) = (
            self.expanded(self.number(operand), is_wanted) for operand in owner.operands
        )
        result = _ON_NUMBERS[owner.name](a, b)
        bits = bits_of(owner.results[0].type)
        needs = self.bounds.require_bits(Affine.of((), result), bits)
        if needs is None:
            return Polynomial.of(atom), NOTHING
        return result, needs | of_a | of_b

    def _is_exact(self, number: Affine, operation: Operation) -> bool:
        """Whether an operation on numbers certainly does not wrap around."""
        if "nsw" in str(operation.properties.get("overflowFlags", "")):
            return True
        return self.bounds.require_bits(number, bits_of(operation.results[0].type)) == NOTHING

    def _carried_integers(self, value: SSAValue) -> Affine:
        carried = _carried(value)
        start, step, yielded = self.integers(carried.first), None, carried.last
        while yielded is not carried.argument:
            owner = yielded.owner
            if not isinstance(owner, Operation) or owner.name != "arith.addi":
                raise NotAffineError("a loop does more than add to the offsets that it carries")
            yielded, added = _split_sum(owner.operands, carried.argument)
            step = _sum(step, self._invariant(added, carried.loop))
        if step is None:
            return start
        tile = start + self._added(step, carried)
        return self.fitting(tile, value, carried.loop)

    def _invariant(self, value: SSAValue, loop: scf.ForOp) -> Affine:
        tile = self.integers(value)
        numbers = (tile.base, *tile.strides, *(bound.number for bound in tile.only))
        if any(is_inside(atom, loop) for number in numbers for atom in number.atoms):
            raise NotAffineError("a loop adds to what it carries another number each time")
        return tile

    def _added(self, step: Affine, carried: _Carried) -> Affine:
        """What a loop has added when some or all of its iterations are over."""
        loop = carried.loop
        if carried.is_left:
            return step.scaled(Polynomial.of(Trips(loop)))
        width = constant_of(loop.step)
        lower, variable = self.number(loop.lb), Polynomial.of(loop.body.block.args[0])
        numbers = (step.base, *step.strides)
        parts = [None if not width else number.divided(width) for number in numbers]
        if None in parts:
            return step.scaled(Polynomial.of(Rounds(loop)))
        base, *strides = (cast("Polynomial", part) for part in parts)
        return replace(step, base=base, strides=tuple(strides)).scaled(variable - lower)

    # --- pointers ---

    def _find_pointers(self, value: SSAValue) -> Pointers:
        owner = value.owner
        is_tile = as_vector(value.type) is not None
        try:
            if isinstance(owner, Block) or owner.regions:
                return self._carried_pointers(value)
            rule = _POINTER_RULES.get(owner.name)
            if rule is None:
                raise NotAffineError(_unknown(owner))
            return rule(self, owner)
        except NotAffineError:
            if is_tile:
                raise
            # One pointer may come from anywhere.
            return Pointers(value, Affine.of((), ZERO))

    def _carried_pointers(self, value: SSAValue) -> Pointers:
        carried = _carried(value)
        start, step, yielded = self.pointers(carried.first), None, carried.last
        while yielded is not carried.argument:
            owner = yielded.owner
            if not isinstance(owner, Operation) or owner.name != "core.pointer_add":
                raise NotAffineError("a loop does more than advance the pointers that it carries")
            yielded = owner.operands[0]
            step = _sum(step, self._invariant(owner.operands[1], carried.loop))
        if step is None:
            return start
        return replace(start, offsets=start.offsets + self._added(step, carried))


def _is_arithmetic(operation: Operation) -> bool:
    return operation.name.startswith("arith.") or operation.name in ("core.assume", "gpu.grid_dim")


def _once(found: dict[SSAValue, Any], value: SSAValue, find: Callable[[SSAValue], Any]) -> Any:
    if value not in found:
        try:
            found[value] = find(value)
        except NotAffineError as reason:
            found[value] = reason
    result = found[value]
    if isinstance(result, NotAffineError):
        raise result
    return result


def _unknown(operation: Operation) -> str:
    words = _WORDS.get(operation.name)
    return f"its offsets come from {spelling_of(operation)}" if words is None else words


_WORDS: Mapping[str, str] = {
    **dict.fromkeys(
        ("arith.ceildivsi", "arith.divsi", "arith.divui", "arith.floordivsi"),
        "its offsets are quotients",
    ),
    "arith.remsi": "its offsets are remainders, which begin again",
    "arith.remui": "its offsets are remainders, which begin again",
    "core.gather_load": "its offsets or pointers were loaded from memory",
    "vector.transfer_read": "its offsets or pointers were loaded from memory",
}
"""Why the results of some operations are not affine."""


@dataclass(frozen=True)
class _Carried:
    """A value that a loop carries.

    Attributes:
        loop: The loop.
        argument: What an iteration gets.
        first: What the first one gets.
        last: What an iteration hands on.
        is_left: Whether it is what is left after the loop.
    """

    loop: scf.ForOp
    argument: SSAValue
    first: SSAValue
    last: SSAValue
    is_left: bool


def _carried(value: SSAValue) -> _Carried:
    """What a loop carries as a value, or leaves."""
    owner, number = value.owner, cast("int", cast("Any", value).index)
    loop = owner.parent_op() if isinstance(owner, Block) else owner
    number -= isinstance(owner, Block)
    if not isinstance(loop, scf.ForOp) or number < 0 or UNSIGNED in loop.properties:
        raise NotAffineError("its offsets or pointers are carried by control flow that may do more")
    end = loop.body.block.last_op
    assert end is not None
    argument = loop.body.block.args[1 + number]
    return _Carried(
        loop, argument, loop.iter_args[number], end.operands[number], not isinstance(owner, Block)
    )


def _split_sum(operands: Any, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The summand that depends on what a loop carries, and the other one."""
    a, b = operands
    return (b, a) if b is value else (a, b)


def _sum(a: Affine | None, b: Affine) -> Affine:
    return b if a is None else a + b


# --- operations on integers ---

Rule: TypeAlias = Callable[[Provenance, Any], Affine]


def _constant(provenance: Provenance, operation: arith.ConstantOp) -> Affine:
    """Equal numbers, or numbers of one dimension with a step."""
    shape = shape_of(operation.results[0].type)
    value = operation.value
    assert isinstance(value, DenseIntOrFPElementsAttr)
    numbers = [int(cast("Any", number)) for number in value.get_values()]
    if value.is_splat():
        return Affine.of(shape, Polynomial.of(numbers[0]))
    steps = {b - a for a, b in pairwise(numbers)}
    if len(shape) != 1 or len(steps) != 1:
        raise NotAffineError("its offsets are constants without a common step")
    return Affine.of(shape, Polynomial.of(numbers[0]), {0: Polynomial.of(steps.pop())})


def _step(provenance: Provenance, operation: Operation) -> Affine:
    return Affine.of(shape_of(operation.results[0].type), ZERO, {0: ONE})


def _sums(combine: Callable[[Affine, Affine], Affine]) -> Rule:
    def rule(provenance: Provenance, operation: Operation) -> Affine:
        a, b = (provenance.integers(operand) for operand in operation.operands)
        return provenance.fitting(combine(a, b), operation.results[0], operation)

    return rule


def _product(provenance: Provenance, operation: Operation) -> Affine:
    a, b = (provenance.integers(operand) for operand in operation.operands)
    if not b.is_uniform:
        a, b = b, a
    if not b.is_uniform:
        raise NotAffineError("its offsets are products of indices")
    tile = a.scaled(b.base).needing(b.needs)
    return provenance.fitting(tile, operation.results[0], operation)


def _shift(provenance: Provenance, operation: Operation) -> Affine:
    distance = constant_number(operation.operands[1])
    bits = bits_of(value_type(operation.results[0].type))
    if not isinstance(distance, int) or not 0 <= distance < bits:
        raise NotAffineError("its offsets are shifted by a number that is not known")
    tile = provenance.integers(operation.operands[0]).scaled(Polynomial.of(1 << distance))
    return provenance.fitting(tile, operation.results[0], operation)


def _cast(provenance: Provenance, operation: Operation) -> Affine:
    """A signed number of another width, if that has it."""
    tile = provenance.integers(operation.operands[0])
    return provenance.fitting(tile, operation.results[0], operation)


def _unsigned_cast(provenance: Provenance, operation: Operation) -> Affine:
    """A number without sign, which is the same as a signed one if it is not negative."""
    tile = provenance.integers(operation.operands[0])
    needs = provenance.bounds.require(tile, 0, (1 << 63) - 1)
    if needs is None:
        raise NotAffineError("its offsets are widened without a sign, and may be negative")
    return tile.needing(needs)


# --- operations that are affine for some elements, which may be all that matter ---


def _remainder(provenance: Provenance, operation: Operation) -> Affine:
    """What is not negative stays what it is where it is smaller than the divisor."""
    tile, divisor = (provenance.integers(operand) for operand in operation.operands)
    needs = provenance.bounds.require(tile, 0, (1 << 63) - 1)
    if needs is None or not divisor.is_uniform:
        raise NotAffineError(_unknown(operation))
    return _where(tile.needing(needs), divisor - tile - _one(tile), operation, provenance)


def _smaller(provenance: Provenance, operation: Operation) -> Affine:
    tile, limit = _with_limit(provenance, operation)
    return _where(tile, limit - tile, operation, provenance)


def _larger(provenance: Provenance, operation: Operation) -> Affine:
    tile, limit = _with_limit(provenance, operation)
    return _where(tile, tile - limit, operation, provenance)


def _with_limit(provenance: Provenance, operation: Operation) -> tuple[Affine, Affine]:
    """Two operands, of which the second one is a number without an index."""
    a, b = (provenance.integers(operand) for operand in operation.operands)
    if b.is_uniform:
        return a, b
    if a.is_uniform:
        return b, a
    raise NotAffineError(_unknown(operation))


def _one(tile: Affine) -> Affine:
    return Affine.of(tile.shape, ONE)


def _where(
    tile: Affine, difference: Affine, operation: Operation, provenance: Provenance
) -> Affine:
    """What an operation leaves as it is where a difference is 0 or more."""
    if provenance.bounds.range_of(difference)[0] >= 0:
        return tile
    return _limited(tile, where_not_negative(difference), operation)


def _limited(tile: Affine, box: Box, operation: Operation) -> Affine:
    if box.not_negative or box.conditions:
        raise NotAffineError(_unknown(operation))
    only = tuple(dict.fromkeys((*tile.only, *box.bounds)))
    return replace(tile.needing(box.needs), only=only)


def _select(provenance: Provenance, operation: Operation) -> Affine:
    mask, chosen, _ = operation.operands
    return _limited(provenance.integers(chosen), provenance.box(mask), operation)


def _same(provenance: Provenance, operation: Operation) -> Affine:
    return provenance.integers(operation.operands[0])


# --- operations on tiles of anything ---


def _broadcast(tile: Affine, operation: Operation) -> Affine:
    shape = shape_of(operation.results[0].type)
    return tile.moved(broadcast_dimensions(tile.shape, shape), shape)


def _transpose(tile: Affine, operation: Operation) -> Affine:
    order = permutation_of(operation)
    return tile.moved(order, [tile.shape[i] for i in order])


def _shape_cast(tile: Affine, operation: Operation) -> Affine:
    result = reshaped(tile, shape_of(operation.results[0].type))
    if result is None:
        raise NotAffineError("its offsets are not affine in the shape that vector.shape_cast gives")
    return result


SHAPES: Mapping[str, Callable[[Affine, Operation], Affine]] = {
    "vector.broadcast": _broadcast,
    "vector.shape_cast": _shape_cast,
    "vector.splat": _broadcast,
    "vector.transpose": _transpose,
}
"""Operations that give the elements of a tile another shape."""


def _shaped(change: Callable[[Affine, Operation], Affine]) -> Rule:
    return lambda provenance, operation: change(
        provenance.integers(operation.operands[0]), operation
    )


def permutation_of(operation: Operation) -> list[int]:
    """For each dimension of the result of `vector.transpose` that of its operand."""
    return [int(i) for i in cast("Any", operation.properties["permutation"]).get_values()]


_WIDENS = frozenset({"arith.extsi", "arith.index_cast"})

_ON_NUMBERS: Mapping[str, Callable[[Polynomial, Polynomial], Polynomial]] = {
    "arith.addi": Polynomial.__add__,
    "arith.subi": Polynomial.__sub__,
    "arith.muli": Polynomial.__mul__,
}

_RULES: Mapping[str, Rule] = {
    "arith.addi": _sums(Affine.__add__),
    "arith.constant": _constant,
    "arith.extsi": _cast,
    "arith.extui": _unsigned_cast,
    "arith.index_cast": _cast,
    "arith.index_castui": _unsigned_cast,
    "arith.maxsi": _larger,
    "arith.minsi": _smaller,
    "arith.muli": _product,
    "arith.remsi": _remainder,
    "arith.remui": _remainder,
    "arith.select": _select,
    "arith.shli": _shift,
    "arith.subi": _sums(Affine.__sub__),
    "arith.trunci": _cast,
    "core.assume": _same,
    "vector.step": _step,
    **{name: _shaped(change) for name, change in SHAPES.items()},
}
"""What tiles of integers are, by the operation that makes them."""


# --- operations on pointers ---


def _add(provenance: Provenance, operation: Operation) -> Pointers:
    pointers, offsets = operation.operands
    before = provenance.pointers(pointers)
    return replace(before, offsets=before.offsets + provenance.integers(offsets))


def _shaped_pointers(change: Callable[[Affine, Operation], Affine]) -> Callable[..., Pointers]:
    def rule(provenance: Provenance, operation: Operation) -> Pointers:
        before = provenance.pointers(operation.operands[0])
        return replace(before, offsets=change(before.offsets, operation))

    return rule


def _same_pointers(provenance: Provenance, operation: Operation) -> Pointers:
    if as_vector(operation.results[0].type) is None:
        return Pointers(operation.results[0], Affine.of((), ZERO))
    return provenance.pointers(operation.operands[0])


_POINTER_RULES: Mapping[str, Callable[[Provenance, Any], Pointers]] = {
    "core.assume": _same_pointers,
    "core.pointer_add": _add,
    **{name: _shaped_pointers(change) for name, change in SHAPES.items()},
}
"""What pointers are, by the operation that makes them."""
