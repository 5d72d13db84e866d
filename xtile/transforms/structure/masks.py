"""Which elements of a tile a mask lets through, where they are a box: ranges of its indices.

A mask is one where it joins comparisons of integers that are affine along one dimension each.
Source: microsoft/triton-shared, `MaskAnalysis`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.shapes import as_vector, bits_of
from xtile.dialects.upstream import value_type
from xtile.rewrite.tile_emitter import shape_of
from xtile.text.source import spelling_of
from xtile.transforms.structure.affine import (
    Affine,
    NotAffineError,
    broadcast_dimensions,
    regrouped,
    where_not_negative,
)
from xtile.transforms.structure.boxes import Box
from xtile.transforms.structure.polynomials import ONE, Polynomial
from xtile.transforms.structure.provenance import SHAPES, Provenance, permutation_of


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
    result = Box()
    for each in _compared(operation, provenance):
        result &= where_not_negative(each) & Box(needs=each.needs)
    return result


def _compared(operation: arith.CmpiOp, provenance: Provenance) -> list[Affine]:
    """What is 0 or more where a comparison holds."""
    left, right = (provenance.integers(operand) for operand in operation.operands)
    if left.only or right.only:
        raise NotAffineError("its mask compares remainders")
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
    return [find(left, right).needing(needs) for find in _DIFFERENCES[predicate]]


def differences_of(mask: SSAValue, provenance: Provenance) -> list[Affine]:
    """Tiles that are 0 or more at exactly those elements that a mask lets through.

    Raises:
        NotAffineError: There are none that are affine.
    """
    owner = mask.owner
    if isinstance(owner, arith.AndIOp):
        return [each for side in owner.operands for each in differences_of(side, provenance)]
    if isinstance(owner, arith.CmpiOp):
        return _compared(owner, provenance)
    if isinstance(owner, Operation) and owner.name in SHAPES:
        change = SHAPES[owner.name]
        return [change(each, owner) for each in differences_of(owner.operands[0], provenance)]
    where = "control flow" if isinstance(owner, Block) else spelling_of(owner)
    raise NotAffineError(f"its mask comes from {where}")


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


# --- other shapes ---


def _broadcast(operation: Operation, provenance: Provenance) -> Box:
    (source,) = operation.operands
    box = box_of(source, provenance)
    before, after = shape_of(source.type), shape_of(operation.results[0].type)
    pairs = enumerate(broadcast_dimensions(before, after))
    return box.moved({own: i for i, own in pairs if own is not None})


def _shape_cast(operation: Operation, provenance: Provenance) -> Box:
    (source,) = operation.operands
    box = box_of(source, provenance)
    before, after = shape_of(source.type), shape_of(operation.results[0].type)
    groups = regrouped(before, after)
    if groups is None or any(len(one) + len(other) > 2 for one, other in groups):
        raise NotAffineError("its mask changes its shape by more than dimensions of size 1")
    return box.moved({one[0]: other[0] for one, other in groups})


def _transpose(operation: Operation, provenance: Provenance) -> Box:
    order = permutation_of(operation)
    box = box_of(operation.operands[0], provenance)
    return box.moved({own: i for i, own in enumerate(order)})


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
