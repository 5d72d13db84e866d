"""Sizes, strides and offsets of memref types.

An unknown size, stride or offset is `None` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.irdl import AttrConstraint
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.upstream import TypeWhere

Extent = int | None
"""A size, a stride or an offset; None if it is not known before the program runs."""

RANKED_OR_UNRANKED: AttrConstraint = TypeWhere(
    "a memref", lambda type: isinstance(type, MemRefType | UnrankedMemRefType)
)


@dataclass(frozen=True)
class Layout:
    """Where the elements of a memref lie: element `(i, j)` at `offset + i * s0 + j * s1`."""

    sizes: tuple[Extent, ...]
    strides: tuple[Extent, ...]
    offset: Extent


def extents(values: Sequence[int]) -> tuple[Extent, ...]:
    """Returns sizes, strides or offsets with None where MLIR has its mark for unknown ones."""
    return tuple(None if value == DYNAMIC_INDEX else value for value in values)


def sizes_of(type: Attribute) -> tuple[Extent, ...]:
    """Returns the sizes of a memref's dimensions."""
    return extents(ranked(type).get_shape())


def layout_of(type: Attribute) -> Layout | None:
    """Returns where the elements of a memref lie; None if a map says it that is not strided."""
    memref = ranked(type)
    if isinstance(memref.layout, AffineMapAttr):
        return _layout_of_map(sizes_of(type), memref.layout.data)
    strides = memref.get_strides()
    if strides is None:
        return None
    return Layout(sizes_of(type), tuple(strides), memref.get_offset())


def _layout_of_map(sizes: tuple[Extent, ...], map: AffineMap) -> Layout | None:
    """Returns the strides and the offset of a map with one linear result; None for another map."""
    if len(map.results) != 1 or map.num_dims != len(sizes):
        return None
    terms = _terms(map.results[0])
    if terms is None:
        return None
    strides = tuple(terms.get(index, 0) for index in range(map.num_dims))
    return Layout(sizes, strides, terms.get(_OFFSET, 0))


_OFFSET = -1
"""Stands for the offset among the dimensions."""


def _terms(expression: AffineExpr) -> dict[int, Extent] | None:
    """Returns the factor of every dimension and the offset; None if it is not linear."""
    match expression:
        case AffineDimExpr():
            return {expression.position: 1}
        case AffineConstantExpr():
            return {_OFFSET: expression.value}
        case AffineSymExpr():
            return {_OFFSET: None}
        case AffineBinaryOpExpr():
            left, right = _terms(expression.lhs), _terms(expression.rhs)
            if left is None or right is None:
                return None
            if expression.kind is AffineBinaryOpKind.Add:
                return _sum(left, right)
            if expression.kind is AffineBinaryOpKind.Mul and set(right) == {_OFFSET}:
                return {index: _product(factor, right[_OFFSET]) for index, factor in left.items()}
            return None
        case _:
            return None


def _sum(left: dict[int, Extent], right: dict[int, Extent]) -> dict[int, Extent]:
    terms = {**left}
    for index, factor in right.items():
        known = terms.get(index, 0)
        terms[index] = None if known is None or factor is None else known + factor
    return terms


def _product(one: Extent, other: Extent) -> Extent:
    return None if one is None or other is None else one * other


def ranked(type: Attribute) -> MemRefType:
    """Returns a memref type of known rank as such.

    Raises:
        VerifyException: It is another type.
    """
    if not isa(type, MemRefType):
        raise VerifyException(f"expected a memref of known rank, got {type}")
    return type


def with_layout(type: Attribute, layout: Layout) -> MemRefType:
    """Returns a memref type with another shape and layout."""
    memref = ranked(type)
    shape = [DYNAMIC_INDEX if size is None else size for size in layout.sizes]
    strided = StridedLayoutAttr(list(layout.strides), layout.offset)
    return MemRefType(memref.element_type, shape, strided, memref.memory_space)


def is_identity(type: Attribute) -> bool:
    """Whether a memref has the default layout."""
    layout = ranked(type).layout
    if isinstance(layout, AffineMapAttr):
        return layout.data == AffineMap.identity(layout.data.num_dims)
    return isinstance(layout, NoneAttr)


def symbols_of(type: Attribute) -> int:
    """Returns how many symbols the map of a memref's layout has."""
    layout = ranked(type).layout
    return layout.data.num_symbols if isinstance(layout, AffineMapAttr) else 0


def are_compatible(one: Sequence[Extent], other: Sequence[Extent]) -> bool:
    """Whether two lists are equal where both are known."""
    return len(one) == len(other) and all(
        a is None or b is None or a == b for a, b in zip(one, other, strict=True)
    )


def claims_no_more(claimed: Sequence[Extent], known: Sequence[Extent]) -> bool:
    """Whether a type claims no more than what is known."""
    return len(claimed) == len(known) and all(
        a is None or a == b for a, b in zip(claimed, known, strict=True)
    )


def is_reduction(type: Attribute, full: MemRefType) -> bool:
    """Whether a memref type is another one, possibly without some dimensions of size 1."""
    if not isa(type, MemRefType):
        return False
    if (type.element_type, type.memory_space) != (full.element_type, full.memory_space):
        return False
    layout, whole = layout_of(type), layout_of(full)
    if layout is None or whole is None or layout.offset != whole.offset:
        return False
    dropped = len(whole.sizes) - len(layout.sizes)
    if dropped < 0:
        return False
    units = [index for index, size in enumerate(whole.sizes) if size == 1]
    wanted = list(zip(layout.sizes, layout.strides, strict=True))
    pairs = list(zip(whole.sizes, whole.strides, strict=True))
    return any(
        [pair for index, pair in enumerate(pairs) if index not in drop] == wanted
        for drop in combinations(units, dropped)
    )


def text_of(values: Sequence[Extent]) -> str:
    """Returns sizes, strides or offsets for a message."""
    return ", ".join("?" if value is None else str(value) for value in values)


def verify_count(found: int, expected: int, what: str, type: Attribute) -> None:
    """Checks that there are as many sizes, indices or symbols as a memref type needs.

    Raises:
        VerifyException: There are not.
    """
    if found != expected:
        raise VerifyException(f"expected {expected} {what} for {type}, got {found}")


def verify_indices(indices: Sequence[object], type: Attribute) -> None:
    """Checks that there is an index for each dimension.

    Raises:
        VerifyException: There is not.
    """
    verify_count(len(indices), len(sizes_of(type)), "indices", type)


def verify_alignment(alignment: int | None) -> None:
    """Checks that an alignment is a power of two.

    Raises:
        VerifyException: It is not.
    """
    if alignment is not None and (alignment <= 0 or alignment & (alignment - 1)):
        raise VerifyException(f"the alignment must be a power of two, got {alignment}")


def verify_same_content(one: Attribute, other: Attribute) -> None:
    """Checks that two memrefs hold the same type in the same memory space.

    Raises:
        VerifyException: They do not.
    """
    assert isa(one, MemRefType | UnrankedMemRefType)
    assert isa(other, MemRefType | UnrankedMemRefType)
    if one.element_type != other.element_type:
        raise VerifyException(f"expected equal element types, got {one} and {other}")
    if one.memory_space != other.memory_space:
        raise VerifyException(f"expected equal memory spaces, got {one} and {other}")


def kept_dimensions(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """The dimensions of a block that remain where some of size 1 are left out.

    Args:
        sizes: The sizes of the block.
        shape: The shape of the result.
    """
    if len(sizes) == len(shape):
        return list(range(len(sizes)))
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        is_next = len(kept) < len(shape) and shape[len(kept)] == 1
        if size != 1 or is_next:
            kept.append(dimension)
    return kept
