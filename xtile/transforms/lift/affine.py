"""Which vectors of integers are a number and a known stride along each dimension."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType
from xdsl.ir import Operation, SSAValue

from xtile.dialects.upstream import value_type
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.tile_emitter import TileEmitter, shape_of

_LARGEST = 2**31


@dataclass(frozen=True)
class Affine:
    """An integer, or a vector of some: the one with indices i, j is `base + i strides[0] + ..`."""

    base: Index
    strides: tuple[int, ...] = ()

    @property
    def is_uniform(self) -> bool:
        """Whether all integers are the same."""
        return not any(self.strides)


def affine_of(value: SSAValue, kernel: TileEmitter) -> Affine | None:
    """An index, or a vector of some, as a base and strides; None if it is not known to be that.

    Args:
        value: The index.
        kernel: Where sums of bases are emitted.
    """
    shape = shape_of(value.type)
    if not shape:
        constant = constant_of(value)
        is_index = isinstance(value.type, IndexType)
        return Affine(constant) if constant is not None else Affine(value) if is_index else None
    owner = value.owner
    rule = _RULES.get(owner.name) if isinstance(owner, Operation) else None
    assert isinstance(owner, Operation) or rule is None
    found = rule(owner, kernel) if rule is not None and isinstance(owner, Operation) else None
    if found is None or isinstance(value_type(value.type), IndexType):
        return found
    # Integers with fewer bits than an index could wrap around.
    if not isinstance(found.base, int):
        return None
    reach = abs(found.base) + sum(
        abs(stride) * (size - 1) for stride, size in zip(found.strides, shape, strict=True)
    )
    return found if reach < _LARGEST else None


def _step(operation: Operation, kernel: TileEmitter) -> Affine | None:
    return Affine(0, (1,))


def _constant(operation: Operation, kernel: TileEmitter) -> Affine | None:
    value = operation.properties["value"]
    if not isinstance(value, DenseIntOrFPElementsAttr) or not value.is_splat():
        return None
    return Affine(int(value.get_values()[0]), (0,) * len(shape_of(operation.results[0].type)))


def _broadcast(operation: Operation, kernel: TileEmitter) -> Affine | None:
    source = affine_of(operation.operands[0], kernel)
    if source is None:
        return None
    more = len(shape_of(operation.results[0].type)) - len(source.strides)
    return Affine(source.base, (*(0,) * more, *source.strides))


def _reshape(operation: Operation, kernel: TileEmitter) -> Affine | None:
    """Dimensions of size 1 come and go."""
    source = affine_of(operation.operands[0], kernel)
    before, after = (shape_of(v.type) for v in (operation.operands[0], operation.results[0]))
    if source is None or [n for n in before if n > 1] != [n for n in after if n > 1]:
        return None
    kept = iter(s for s, size in zip(source.strides, before, strict=True) if size > 1)
    return Affine(source.base, tuple(next(kept) if size > 1 else 0 for size in after))


def _sum(sign: int) -> Callable[[Operation, TileEmitter], Affine | None]:
    def rule(operation: Operation, kernel: TileEmitter) -> Affine | None:
        a, b = (affine_of(operand, kernel) for operand in operation.operands)
        if a is None or b is None:
            return None
        combine = kernel.add if sign > 0 else kernel.subtract
        pairs = zip(a.strides, b.strides, strict=True)
        return Affine(combine(a.base, b.base), tuple(x + sign * y for x, y in pairs))

    return rule


def _product(operation: Operation, kernel: TileEmitter) -> Affine | None:
    a, b = (affine_of(operand, kernel) for operand in operation.operands)
    if a is None or b is None:
        return None
    if a.is_uniform:
        a, b = b, a
    if not b.is_uniform or not isinstance(b.base, int):
        return None
    factor = b.base
    return Affine(kernel.multiply(a.base, factor), tuple(s * factor for s in a.strides))


def _same(operation: Operation, kernel: TileEmitter) -> Affine | None:
    return affine_of(operation.operands[0], kernel)


_RULES: dict[str, Callable[[Operation, TileEmitter], Affine | None]] = {
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
"""The rule of each operation on vectors of integers, by its name."""
