"""Which elements of a tile a mask lets through, where they are a box: ranges of its indices.

A mask is one where it joins comparisons of integers that are affine along one dimension each.
Source: microsoft/triton-shared, `MaskAnalysis`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.shapes import as_vector, bits_of
from xtile.dialects.upstream import value_type
from xtile.text.source import spelling_of
from xtile.transforms.structure.affine import (
    ONE,
    Affine,
    Polynomial,
    broadcast_dimensions,
    regrouped,
)
from xtile.transforms.structure.bounds import NOTHING, Needs
from xtile.transforms.structure.provenance import NotAffineError, Provenance, permutation_of


@dataclass(frozen=True)
class Bound:
    """An end of a range of indices along a dimension.

    Attributes:
        dimension: The dimension.
        is_upper: Whether indices are below the number; else none is below it.
        number: The number.
    """

    dimension: int
    is_upper: bool
    number: Polynomial


@dataclass(frozen=True)
class Box:
    """Indices of a tile.

    Attributes:
        bounds: Where they begin and end along dimensions.
        not_negative: Numbers that are 0 or more; else the box is empty.
        conditions: Truth values without an index that hold; else it is empty.
        needs: What a launch must find for this to be so.
    """

    bounds: tuple[Bound, ...] = ()
    not_negative: tuple[Polynomial, ...] = ()
    conditions: tuple[SSAValue, ...] = ()
    needs: Needs = NOTHING

    def __and__(self, other: Box) -> Box:
        return Box(
            tuple(dict.fromkeys((*self.bounds, *other.bounds))),
            self.not_negative + other.not_negative,
            tuple(dict.fromkeys((*self.conditions, *other.conditions))),
            self.needs | other.needs,
        )


def box_of(mask: SSAValue, provenance: Provenance) -> Box:
    """The elements that a mask lets through.

    Raises:
        NotAffineError: They are no box.
    """
    if as_vector(mask.type) is None:
        return Box(conditions=(mask,))
    owner = mask.owner
    rule = None if isinstance(owner, Block) else _RULES.get(owner.name)
    if rule is None:
        where = "control flow" if isinstance(owner, Block) else spelling_of(owner)
        raise NotAffineError(f"its mask comes from {where}")
    return rule(owner, provenance)


Rule: TypeAlias = Callable[[Any, Provenance], Box]


def _constant(operation: arith.ConstantOp, provenance: Provenance) -> Box:
    value = operation.value
    assert isinstance(value, DenseIntOrFPElementsAttr)
    if not value.is_splat():
        raise NotAffineError("its mask is a constant")
    holds = bool(value.get_values()[0])
    return Box() if holds else Box(not_negative=(Polynomial.of(-1),))


def _and(operation: Operation, provenance: Provenance) -> Box:
    a, b = operation.operands
    return box_of(a, provenance) & box_of(b, provenance)


# --- comparisons ---


def _compare(operation: arith.CmpiOp, provenance: Provenance) -> Box:
    left, right = (provenance.integers(operand) for operand in operation.operands)
    predicate = arith.CMPI_COMPARISON_OPERATIONS[operation.predicate.value.data]
    needs = left.needs | right.needs
    bits = bits_of(value_type(operation.lhs.type))
    if predicate in ("ugt", "uge"):
        left, right, predicate = right, left, {"ugt": "ult", "uge": "ule"}[predicate]
    if predicate in ("ult", "ule"):
        # What is negative is large without a sign: it is not below a number that is not negative.
        of_right = provenance.bounds.require(right, 0, (1 << (bits - 1)) - 1)
        if of_right is None:
            raise NotAffineError("its mask compares numbers without a sign, which may be negative")
        needs |= of_right
    if predicate not in _DIFFERENCES:
        raise NotAffineError(f"its mask compares with {predicate}")
    boxes = [_not_negative(find(left, right)) for find in _DIFFERENCES[predicate]]
    result = Box(needs=needs)
    for box in boxes:
        result &= box
    return result


def _less_one(tile: Affine) -> Affine:
    return Affine(tile.shape, tile.base - ONE, tile.strides)


_DIFFERENCES: Mapping[str, Sequence[Callable[[Affine, Affine], Affine]]] = {
    "eq": (lambda a, b: a - b, lambda a, b: b - a),
    "sge": (lambda a, b: a - b,),
    "sgt": (lambda a, b: _less_one(a - b),),
    "sle": (lambda a, b: b - a,),
    "slt": (lambda a, b: _less_one(b - a),),
    "ule": (lambda a, b: b - a, lambda a, b: a),
    "ult": (lambda a, b: _less_one(b - a), lambda a, b: a),
}
"""For a comparison what is 0 or more where it holds."""


def _not_negative(difference: Affine) -> Box:
    """Where an affine tile is 0 or more."""
    varying = difference.varying
    if not varying:
        return Box(not_negative=(difference.base,))
    if len(varying) > 1:
        raise NotAffineError("its mask compares indices along several dimensions with each other")
    (dimension,) = varying
    stride, base = difference.strides[dimension].constant, difference.base
    if stride == 1:
        return Box((Bound(dimension, False, -base),))
    if stride == -1:
        return Box((Bound(dimension, True, base + ONE),))
    if stride is None or base.constant is None:
        raise NotAffineError("its mask compares multiples of indices")
    if stride > 0:
        return Box((Bound(dimension, False, Polynomial.of(-(base.constant // stride))),))
    end = Polynomial.of(base.constant // -stride + 1)
    return Box((Bound(dimension, True, end),))


# --- other shapes ---


def _moved(box: Box, dimensions: Mapping[int, int | None]) -> Box:
    """A box in a tile of another shape, with the dimension that each of its own has become.

    Bounds of dimensions of size 1 are about index 0 only.
    """
    bounds: list[Bound] = []
    numbers = list(box.not_negative)
    for bound in box.bounds:
        to = dimensions[bound.dimension]
        if to is None:
            numbers.append(bound.number - ONE if bound.is_upper else -bound.number)
        else:
            bounds.append(Bound(to, bound.is_upper, bound.number))
    return Box(tuple(bounds), tuple(numbers), box.conditions, box.needs)


def _broadcast(operation: Operation, provenance: Provenance) -> Box:
    (source,) = operation.operands
    box = box_of(source, provenance)
    before, after = _shape(source), _shape(operation.results[0])
    pairs = enumerate(broadcast_dimensions(before, after))
    places = {own: i for i, own in pairs if own is not None}
    return _moved(box, {i: places.get(i) for i in range(len(before))})


def _shape_cast(operation: Operation, provenance: Provenance) -> Box:
    (source,) = operation.operands
    box = box_of(source, provenance)
    before, after = _shape(source), _shape(operation.results[0])
    groups = regrouped(before, after)
    if groups is None or any(len(one) + len(other) > 2 for one, other in groups):
        raise NotAffineError("its mask changes its shape by more than dimensions of size 1")
    places = {one[0]: other[0] for one, other in groups}
    return _moved(box, {i: places.get(i) for i in range(len(before))})


def _transpose(operation: Operation, provenance: Provenance) -> Box:
    order = permutation_of(operation)
    box = box_of(operation.operands[0], provenance)
    return _moved(box, {own: i for i, own in enumerate(order)})


def _shape(value: SSAValue) -> Sequence[int]:
    vector = as_vector(value.type)
    return () if vector is None else vector.get_shape()


_RULES: Mapping[str, Rule] = {
    "arith.andi": _and,
    "arith.cmpi": _compare,
    "arith.constant": _constant,
    "vector.broadcast": _broadcast,
    "vector.shape_cast": _shape_cast,
    "vector.splat": _broadcast,
    "vector.transpose": _transpose,
}
"""The box of a mask, by the operation that makes it."""
