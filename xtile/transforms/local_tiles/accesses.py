"""Which elements of local memory operations access."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import SSAValue

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.upstream import value_type
from xtile.rewrite.affine_tiles import affine_of
from xtile.rewrite.indices import Index
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape


@dataclass(frozen=True)
class View:
    """A part of memory.

    Attributes:
        memory: The memory, in the source.
        offsets: Where it begins.
        kept: For each of its dimensions that of the memory along which its indices count.
        factors: For each of its dimensions how far an index moves there.
        sizes: Its sizes.
        wraps: Whether indices may go beyond a dimension of memory, into the next row.
    """

    memory: SSAValue
    offsets: tuple[Index, ...]
    kept: tuple[int, ...]
    factors: tuple[int, ...]
    sizes: tuple[Index, ...]
    wraps: bool = False


def seen_by(view: SSAValue) -> SSAValue | None:
    """The memory, or the view, that a view is made of; None if it is none."""
    owner = view.owner
    is_view = isinstance(owner, memref.SubviewOp | memref.ReinterpretCastOp)
    return owner.source if is_view else None


@dataclass(frozen=True)
class Line:
    """An index of each element along a dimension of memory.

    Attributes:
        base: What all indices have in common.
        along: The dimensions of the accessed tile along which it grows, the slowest first, so that
            the indices follow each other; none if it is one index.
    """

    base: Index
    along: tuple[int, ...]


@dataclass(frozen=True)
class Access:
    """The elements that an operation accesses.

    Attributes:
        memory: The memory, in the source.
        shape: The shape of the accessed tile.
        indices: The index of each element in each dimension of memory: a number, or a vector of
            that shape in which sizes may be 1.
        mask: Which elements are accessed; None: all.
        wraps: Whether indices may go beyond a dimension of memory, into the next row.
    """

    memory: SSAValue
    shape: tuple[int, ...]
    indices: tuple[Index, ...]
    mask: SSAValue | None
    wraps: bool


def access_of(
    kernel: TileEmitter,
    view: View,
    indices: Sequence[SSAValue],
    shape: Sequence[int],
    mask: SSAValue | None = None,
) -> Access:
    """The accessed elements of a view, at indices of the source."""
    return access_at(kernel, view, kernel.values(indices), shape, mask)


def access_at(
    kernel: TileEmitter,
    view: View,
    indices: Sequence[SSAValue],
    shape: Sequence[int],
    mask: SSAValue | None = None,
) -> Access:
    """The accessed elements of a view."""
    at = list[Index](view.offsets)
    for index, dimension, factor in zip(indices, view.kept, view.factors, strict=True):
        at[dimension] = _sum(kernel, at[dimension], _multiple(kernel, index, factor))
    return Access(view.memory, tuple(shape), tuple(map(_folded, at)), mask, view.wraps)


def _sum(kernel: TileEmitter, a: Index, b: Index) -> Index:
    """The sum of indices, each of which may be one for all elements of a tile."""
    if a == 0 or b == 0:
        return b if a == 0 else a
    shapes = [shape for index in (a, b) if (shape := _shape(index))]
    if not shapes:
        return kernel.add(a, b)
    shape = [max(sizes) for sizes in zip(*shapes, strict=True)]
    terms = [indices_in(kernel, index, shape) for index in (b, a)]
    return kernel.compute(arith.AddiOp, terms, terms[0].type)


def _multiple(kernel: TileEmitter, index: Index, factor: int) -> Index:
    shape = _shape(index)
    if factor == 1 or not shape:
        return kernel.multiply(index, factor)
    numbers = indices_in(kernel, index, shape)
    factors = kernel.spread(kernel.index(factor), shape)
    return kernel.compute(arith.MuliOp, [numbers, factors], numbers.type)


def _shape(index: Index) -> tuple[int, ...]:
    return () if isinstance(index, int) else tuple(shape_of(index.type))


def _folded(index: Index) -> Index:
    """A number that is known."""
    known = None if isinstance(index, int) or shape_of(index.type) else affine_of(index)
    return known.known if known is not None and known.known is not None else index


def access_of_transfer(
    operation: TransferReadOp | TransferWriteOp,
    kernel: TileEmitter,
    view: View,
    shape: Sequence[int],
) -> Access:
    """The elements that a transfer accesses: those of its mask that are inside where it checks."""
    mask = kernel.value(operation.mask) if operation.mask is not None else None
    along = [cast("int", each) for each in dimensions_of(operation.permutation_map)]
    if mask is not None:
        order = sorted(range(len(shape)), key=lambda i: along[i])
        mask = kernel.transposed(mask, [order.index(i) for i in range(len(shape))])
    inside = [bool(flag.value.data) for flag in operation.in_bounds]
    return access_of_box(kernel, view, operation.indices, shape, along, inside, mask)


def access_of_box(
    kernel: TileEmitter,
    view: View,
    indices: Sequence[SSAValue],
    shape: Sequence[int],
    along: Sequence[int],
    inside: Sequence[bool],
    mask: SSAValue | None,
) -> Access:
    """The elements of a box.

    Args:
        kernel: What emits.
        view: The memory.
        indices: Where the box begins.
        shape: Its shape.
        along: For each of its dimensions that of memory.
        inside: For each of its dimensions whether it is not checked.
        mask: Which elements are accessed; None: all that are inside.
    """
    first = access_of(kernel, view, indices, ())
    at, rank = list(first.indices), len(shape)
    for axis, (dimension, is_inside) in enumerate(zip(along, inside, strict=True)):
        root, start = view.kept[dimension], kernel.value(indices[dimension])
        numbers = kernel.along(kernel.step(shape[axis]), axis, rank)
        thin = shape_of(numbers.type)
        if not is_inside and not _fits(start, shape[axis], view.sizes[dimension]):
            index = kernel.compute(
                arith.AddiOp, [numbers, kernel.spread(start, thin)], numbers.type
            )
            limit = kernel.spread(kernel.as_value(view.sizes[dimension]), thin)
            zero = kernel.spread(kernel.index(0), thin)
            is_there = kernel.both(
                kernel.compare("sge", index, zero), kernel.compare("slt", index, limit)
            )
            mask = kernel.both(mask, kernel.spread(is_there, shape))
        at[root] = _sum(kernel, at[root], _multiple(kernel, numbers, view.factors[dimension]))
    return Access(view.memory, tuple(shape), tuple(at), mask, view.wraps)


def _fits(start: SSAValue, length: int, size: Index) -> bool:
    """Whether what is checked is certainly inside."""
    first = _folded(start)
    return isinstance(first, int) and isinstance(size, int) and 0 <= first <= size - length


def indices_in(kernel: TileEmitter, index: Index, shape: Sequence[int]) -> SSAValue:
    """An index for each element of a tile."""
    value = kernel.as_value(index)
    if shape_of(value.type) and not isinstance(value_type(value.type), IndexType):
        type_ = with_shape(IndexType(), shape_of(value.type))
        value = kernel.compute(IndexCastOp, [value], type_)
    return kernel.spread(value, shape)


def lines_of(kernel: TileEmitter, access: Access) -> list[Line] | None:
    """The indices of an access as lines, if each dimension of the tile lies along one of memory."""
    if access.wraps:
        return None
    left = {i for i, size in enumerate(access.shape) if size > 1}
    found: list[Line] = []
    for index in access.indices:
        if isinstance(index, int):
            found.append(Line(index, ()))
            continue
        affine = affine_of(index)
        if affine is None:
            return None
        strides = affine.strides or (0,) * len(access.shape)
        along, size = list[int](), 1
        varying = [(n, i) for i, n in enumerate(strides) if n and access.shape[i] > 1]
        if any(i not in left for _, i in varying):
            return None
        for stride, i in sorted(varying):
            if stride != size:
                return None
            along.insert(0, i)
            size *= access.shape[i]
            left.remove(i)
        found.append(Line(affine.base(kernel), tuple(along)))
    return None if left else found


def box_of(access: Access, lines: Sequence[Line] | None, whole: Sequence[int]) -> list[int] | None:
    """Where the box begins that an access is of, if that is known and parts of tiles are.

    A box of all the memory may be larger than it, as long as its size is a multiple: nobody
    accesses what is beyond.

    Args:
        access: The access.
        lines: Its indices as lines, if they are.
        whole: The sizes of the memory.
    """
    if lines is None:
        return None
    offsets: list[int] = []
    for line, size in zip(lines, whole, strict=True):
        part = math.prod(access.shape[i] for i in line.along)
        if line.base == 0 and part % size == 0 and (part == size or not size & (size - 1)):
            offsets.append(0)
            continue
        if not isinstance(line.base, int) or line.base % part or size % part:
            return None
        if not 0 <= line.base <= size - part or (part != size and part & (part - 1)):
            return None
        offsets.append(line.base)
    return offsets
