"""Shuffles of vectors, `vector.shuffle`, as operations on shapes where their masks are regular."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.elements import GatherOp
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape


@dataclass(frozen=True)
class Digit:
    """One digit of the numbers that count the elements of a mask.

    Attributes:
        size: How many values it has.
        stride: By how much the mask grows from one value to the next.
    """

    size: int
    stride: int


def digits_of(mask: Sequence[int]) -> list[Digit] | None:
    """The digits in which a mask is linear, the last of which changes fastest.

    `[0, 8, 1, 9, 2, 10, 3, 11]` has the digits `(4, 1)` and `(2, 8)`.

    Args:
        mask: The mask, which begins anywhere.

    Returns:
        The digits; None if there are none, or poison is asked for.
    """
    if min(mask) < 0:
        return None
    digits: list[Digit] = []
    rest = list(mask)
    while len(rest) > 1:
        stride = rest[1] - rest[0]
        size = next((n for n in _divisors(len(rest)) if _is_linear(rest, n, stride)), 1)
        if size == 1 or stride < 0:
            return None
        digits.insert(0, Digit(size, stride))
        rest = rest[::size]
    return digits


def _divisors(number: int) -> list[int]:
    """The divisors of a number from itself down to 2."""
    return [n for n in range(number, 1, -1) if number % n == 0]


def _is_linear(mask: Sequence[int], size: int, stride: int) -> bool:
    """Whether each so many elements of a mask grow by a stride."""
    return all(n - mask[i - i % size] == i % size * stride for i, n in enumerate(mask))


def shuffled(
    emitter: TileEmitter, first: SSAValue, second: SSAValue, mask: Sequence[int], axis: int = 0
) -> SSAValue:
    """Parts of two vectors along an axis, in an order that is known.

    Args:
        emitter: Where to emit.
        first: The first vector.
        second: The second one, which differs in its size along the axis only.
        mask: Which part each part of the result is: those of the second vector are counted on, and
            -1 is any.
        axis: The axis.
    """
    size, other = (shape_of(each.type)[axis] for each in (first, second))
    if all(n < size for n in mask):
        return _of_one(emitter, first, mask, axis)
    if all(n < 0 or n >= size for n in mask):
        return _of_one(emitter, second, [n - size if n >= 0 else n for n in mask], axis)
    made = None
    if size == other and _factors(mask, 2 * size) is not None:
        shape = shape_of(first.type)
        pair = emitter.joined([first, second], axis)
        whole = emitter.reshape(pair, [*shape[:axis], 2 * size, *shape[axis + 1 :]])
        made = _by_digits(emitter, whole, mask, axis)
    return _by_choice(emitter, first, second, mask, axis) if made is None else made


def _of_one(emitter: TileEmitter, vector: SSAValue, mask: Sequence[int], axis: int) -> SSAValue:
    """Parts of one vector."""
    made = _by_digits(emitter, vector, mask, axis)
    return _gathered(emitter, vector, mask, axis) if made is None else made


# --- masks that digits describe ---


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


@dataclass(frozen=True)
class _Factors:
    """A mask as a part of a box, whose dimensions are then put in order.

    Attributes:
        sizes: The sizes of the box.
        offsets: Where the part begins.
        counts: The sizes of the part.
        order: The dimension that each digit of the mask is; None where it repeats.
    """

    sizes: list[int]
    offsets: list[int]
    counts: list[int]
    order: list[int | None]


def _factors(mask: Sequence[int], size: int) -> _Factors | None:
    """The box that the parts of a vector are for a mask; None if there is none.

    Compilers of tiles have sizes that are powers of two, and parts that begin at multiples of
    their sizes.
    """
    digits = digits_of(mask)
    if digits is None or not _is_power_of_two(size) or not _is_power_of_two(len(mask)):
        return None
    strides = sorted({each.stride for each in digits if each.stride}, reverse=True)
    count = {each.stride: each.size for each in digits if each.stride}
    if len(count) != sum(each.stride != 0 for each in digits):
        return None
    ends = [size, *strides, 1]
    if any(a % b for a, b in pairwise(ends)):
        return None
    sizes = [a // b for a, b in pairwise(ends)]
    counts = [*(count[stride] for stride in strides), 1]
    offsets = [mask[0] // stride % n for stride, n in zip([*strides, 1], sizes, strict=True)]
    dimensions = zip(sizes, offsets, counts, strict=True)
    if any(offset + n > whole or offset % n for whole, offset, n in dimensions):
        return None
    order = [strides.index(each.stride) if each.stride else None for each in digits]
    return _Factors(sizes, offsets, counts, order)


def _by_digits(
    emitter: TileEmitter, vector: SSAValue, mask: Sequence[int], axis: int
) -> SSAValue | None:
    """Parts of a vector as a part of a box, turned and repeated."""
    shape = shape_of(vector.type)
    before, after = shape[:axis], shape[axis + 1 :]
    factors = _factors(mask, shape[axis])
    if factors is None:
        return None
    box = emitter.reshape(vector, [*before, *factors.sizes, *after])
    offsets = [*[0] * axis, *factors.offsets, *[0] * len(after)]
    part = emitter.slice(box, offsets, [*before, *factors.counts, *after])
    kept = [dimension for dimension in factors.order if dimension is not None]
    # The last dimension of the box, of which there is one element, is left out.
    part = emitter.reshape(part, [*before, *factors.counts[:-1], *after])
    rest = range(axis + len(kept), axis + len(kept) + len(after))
    part = emitter.transposed(part, [*range(axis), *(axis + i for i in kept), *rest])
    thin = [1 if i is None else factors.counts[i] for i in factors.order]
    full = [each.size for each in digits_of(mask) or ()]
    part = emitter.reshape(part, [*before, *thin, *after])
    part = emitter.spread(part, [*before, *full, *after])
    return emitter.reshape(part, [*before, len(mask), *after])


# --- other masks ---


def _by_choice(
    emitter: TileEmitter, first: SSAValue, second: SSAValue, mask: Sequence[int], axis: int
) -> SSAValue:
    """Parts of two vectors, found in each and then chosen."""
    size = shape_of(first.type)[axis]
    low = _gathered(emitter, first, [n if n < size else 0 for n in mask], axis)
    high = _gathered(emitter, second, [n - size if n >= size else 0 for n in mask], axis)
    truths = [int(n < size) for n in mask]
    is_low = _along(emitter, i1, truths, shape_of(low.type), axis)
    return emitter.pure(SelectOp, is_low, low, high)


def _gathered(emitter: TileEmitter, vector: SSAValue, mask: Sequence[int], axis: int) -> SSAValue:
    """Parts of a vector by their numbers."""
    shape = list(shape_of(vector.type))
    shape[axis] = len(mask)
    positions = _along(emitter, IndexType(), [max(n, 0) for n in mask], shape, axis)
    type_ = with_shape(vector.type, shape)
    return emitter.compute(GatherOp, [vector, positions], type_, {"axis": IntegerAttr(axis, i64)})


def _along(
    emitter: TileEmitter,
    element: IndexType | IntegerType,
    numbers: Sequence[int],
    shape: Sequence[int],
    axis: int,
) -> SSAValue:
    """Known numbers along an axis of a vector of some shape."""
    type_ = VectorType(element, [len(numbers)])
    dense = cast(Any, DenseIntOrFPElementsAttr).from_list(type_, list(numbers))
    line = emitter.emit(arith.ConstantOp(dense)).result
    return emitter.spread(emitter.along(line, axis, len(shape)), shape)
