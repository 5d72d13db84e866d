"""Which integers, and vectors of some, are a sum and a known stride along each dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType
from xdsl.ir import Operation, SSAValue

from xtile.dialects.upstream import value_type
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index, IndexArithmetic
from xtile.rewrite.tile_emitter import shape_of

_LARGEST = 2**31

_DEPTH = 32
"""Operations that are looked at, one after the other."""


@dataclass(frozen=True)
class Affine:
    """An integer, or a vector of some: the one with indices i, j is the base + i strides[0] + ..

    Attributes:
        constant: The known part of the base.
        strides: How much more the next one is along each dimension.
        terms: The other parts of the base: indices, and how often each is in it.
    """

    constant: int
    strides: tuple[int, ...] = ()
    terms: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    @property
    def known(self) -> int | None:
        """The base, if it is a number."""
        return None if self.terms else self.constant

    @property
    def is_uniform(self) -> bool:
        """Whether all integers are the same."""
        return not any(self.strides)

    def base(self, indices: IndexArithmetic) -> Index:
        """Emits the base."""
        products = [indices.multiply(value, factor) for value, factor in self.terms.items()]
        return indices.add_all([*products, self.constant])

    def plus(self, other: Affine, sign: int = 1) -> Affine:
        """The sum or the difference of two of the same shape."""
        terms = dict(self.terms)
        for value, factor in other.terms.items():
            terms[value] = terms.get(value, 0) + sign * factor
        pairs = zip(self.strides, other.strides, strict=True)
        return Affine(
            self.constant + sign * other.constant,
            tuple(a + sign * b for a, b in pairs),
            {value: factor for value, factor in terms.items() if factor},
        )

    def times(self, factor: int) -> Affine:
        """The product with a number."""
        return Affine(
            self.constant * factor,
            tuple(stride * factor for stride in self.strides),
            {value: n * factor for value, n in self.terms.items() if factor},
        )


def affine_of(value: SSAValue, depth: int = _DEPTH) -> Affine | None:
    """An index, or a vector of some, as a sum and strides; None if it is not known to be that.

    Args:
        value: The index.
        depth: How many operations before it may be looked at.
    """
    owner = value.owner
    rule = _RULES.get(owner.name) if isinstance(owner, Operation) and depth else None
    assert isinstance(owner, Operation) or rule is None
    found = rule(owner, depth - 1) if rule is not None and isinstance(owner, Operation) else None
    shape, is_index = shape_of(value.type), isinstance(value_type(value.type), IndexType)
    if found is not None and not is_index:
        found = _without_wrapping(found, shape)
    if found is None and is_index and not shape:
        return Affine(0, (), {value: 1})
    return found


def _without_wrapping(found: Affine, shape: tuple[int, ...]) -> Affine | None:
    """Integers with fewer bits than an index, which could wrap around if they are not known."""
    if found.known is None:
        return None
    pairs = zip(found.strides, shape, strict=True)
    reach = abs(found.constant) + sum(abs(stride) * (size - 1) for stride, size in pairs)
    return found if reach < _LARGEST else None


_Rule = Callable[[Operation, int], Affine | None]


def _step(operation: Operation, depth: int) -> Affine | None:
    return Affine(0, (1,))


def _constant(operation: Operation, depth: int) -> Affine | None:
    (result,) = operation.results
    number = constant_of(result)
    if number is not None:
        return Affine(number)
    value = operation.properties["value"]
    if not isinstance(value, DenseIntOrFPElementsAttr) or not value.is_splat():
        return None
    (given,) = value.get_values()[:1]
    return Affine(int(given), (0,) * len(shape_of(result.type)))


def _broadcast(operation: Operation, depth: int) -> Affine | None:
    source = affine_of(operation.operands[0], depth)
    if source is None:
        return None
    more = len(shape_of(operation.results[0].type)) - len(source.strides)
    return Affine(source.constant, (*(0,) * more, *source.strides), source.terms)


def _reshape(operation: Operation, depth: int) -> Affine | None:
    """Dimensions of size 1 come and go."""
    source = affine_of(operation.operands[0], depth)
    before, after = (shape_of(v.type) for v in (operation.operands[0], operation.results[0]))
    if source is None or [n for n in before if n > 1] != [n for n in after if n > 1]:
        return None
    kept = iter([s for s, size in zip(source.strides, before, strict=True) if size > 1])
    strides = tuple(next(kept) if size > 1 else 0 for size in after)
    return Affine(source.constant, strides, source.terms)


def _sum(sign: int) -> _Rule:
    def rule(operation: Operation, depth: int) -> Affine | None:
        a, b = (affine_of(operand, depth) for operand in operation.operands)
        return None if a is None or b is None else a.plus(b, sign)

    return rule


def _product(operation: Operation, depth: int) -> Affine | None:
    a, b = (affine_of(operand, depth) for operand in operation.operands)
    if a is None or b is None:
        return None
    if b.known is None or not b.is_uniform:
        a, b = b, a
    return a.times(b.constant) if b.known is not None and b.is_uniform else None


def _same(operation: Operation, depth: int) -> Affine | None:
    return affine_of(operation.operands[0], depth)


_RULES: Mapping[str, _Rule] = {
    "arith.addi": _sum(1),
    "arith.constant": _constant,
    "arith.extsi": _same,
    "arith.index_cast": _same,
    "arith.muli": _product,
    "arith.subi": _sum(-1),
    "vector.broadcast": _broadcast,
    "vector.shape_cast": _reshape,
    "vector.step": _step,
}
"""The rule of each operation on integers, by its name."""
