"""Tiles in other shapes, parts of tiles, and positions in them.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import i1, i64
from xdsl.dialects.vector import InsertOp
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import mixed
from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.types import shape_of


def _broadcast(operation: Operation, lowering: TileLowering) -> None:
    """Repeats along new leading dimensions, and along those of size 1."""
    (value,) = lowering.values(operation.operands)
    shape = shape_of(operation.results[0].type)
    own = lowering.shape(value)
    widened = lowering.reshape(value, (*[1] * (len(shape) - len(own)), *own))
    lowering.define(operation.results[0], lowering.broadcast(widened, shape))


def _shape_cast(operation: Operation, lowering: TileLowering) -> None:
    (value,) = lowering.values(operation.operands)
    made = lowering.reshape(value, shape_of(operation.results[0].type))
    lowering.define(operation.results[0], made)


def _transpose(operation: Operation, lowering: TileLowering) -> None:
    (value,) = lowering.values(operation.operands)
    order = cast("Sequence[int]", cast(Any, operation.properties["permutation"]).get_values())
    lowering.define(operation.results[0], lowering.permute(value, list(order)))


def _step(operation: Operation, lowering: TileLowering) -> None:
    (size,) = shape_of(operation.results[0].type)
    lowering.define(operation.results[0], lowering.iota(size, i64))


# --- parts ---


def _positions(operation: Operation, dynamic: Sequence[SSAValue], lowering: TileLowering) -> Any:
    given = cast("Sequence[int]", cast(Any, operation.properties["static_position"]).get_values())
    if any(number == -1 for number in given):
        raise lowering.error(f"a position of poison cannot be translated to {lowering.result_name}")
    return mixed(operation.properties["static_position"], lowering.numbers(dynamic))


def _extract(operation: Operation, lowering: TileLowering) -> None:
    source, *dynamic = operation.operands
    positions = _positions(operation, dynamic, lowering)
    value = lowering.value(source)
    lowering.define(operation.results[0], part_at(lowering, value, positions))


def part_at(lowering: TileLowering, value: SSAValue, positions: Sequence[Index]) -> SSAValue:
    """The part of a tile that has a position along its first dimensions."""
    shape = lowering.shape(value)
    rest = shape[len(positions) :]
    indices = [*positions, *[0] * len(rest)]
    size = (*[1] * len(positions), *rest)
    if size == shape:
        return lowering.reshape(value, rest)
    return lowering.reshape(lowering.extract(value, indices, size), rest)


def _insert(operation: Operation, lowering: TileLowering) -> None:
    """Chooses between the part, repeated, and the whole; two halves follow each other."""
    source, target, *dynamic = operation.operands
    positions = _positions(operation, dynamic, lowering)
    whole, part = lowering.value(target), lowering.value(source)
    shape = lowering.shape(whole)
    before = _first_half(target)
    if before is not None and list(positions) == [1]:
        made = lowering.joined(lowering.value(before), part)
        lowering.define(operation.results[0], made)
        return
    where: SSAValue | None = None
    for axis, position in enumerate(positions):
        index = lowering.iota(shape[axis])
        wanted = lowering.spread(lowering.as_value(position), (shape[axis],))
        is_it = lowering.cmpi("eq", index, wanted)
        where = lowering.both(where, lowering.along(is_it, axis, shape))
    rest = shape[len(positions) :]
    spread = lowering.reshape(part, (*[1] * len(positions), *rest))
    spread = lowering.broadcast(spread, shape)
    made = spread if where is None else lowering.select(where, spread, whole)
    lowering.define(operation.results[0], made)


def _first_half(whole: SSAValue) -> SSAValue | None:
    """The first half of a vector of two parts, if it was inserted last."""
    operation = whole.owner
    if not isinstance(operation, InsertOp) or shape_of(whole.type)[0] != 2:
        return None
    is_first = operation.static_position.get_values() == (0,)
    return operation.source if is_first else None


def _extract_strided_slice(operation: Operation, lowering: TileLowering) -> None:
    """A part whose offset is a multiple of its size."""
    value = lowering.value(operation.operands[0])
    whole, shape = lowering.shape(value), shape_of(operation.results[0].type)
    offsets = [number.value.data for number in cast(Any, operation.properties["offsets"])]
    offsets += [0] * (len(whole) - len(offsets))
    if any(offset % size for offset, size in zip(offsets, shape, strict=True)):
        raise lowering.error(
            f"a part of a tile that is no multiple of its size away from the start cannot be "
            f"translated to {lowering.result_name}"
        )
    indices = [offset // size for offset, size in zip(offsets, shape, strict=True)]
    lowering.define(operation.results[0], lowering.extract(value, indices, shape))


def _create_mask(operation: Operation, lowering: TileLowering) -> None:
    numbers = lowering.numbers(operation.operands)
    lowering.define(operation.results[0], _mask(lowering, numbers, operation))


def _constant_mask(operation: Operation, lowering: TileLowering) -> None:
    sizes = cast("Sequence[int]", cast(Any, operation.properties["mask_dim_sizes"]).get_values())
    lowering.define(operation.results[0], _mask(lowering, list(sizes), operation))


def _mask(lowering: TileLowering, sizes: Sequence[Index], operation: Operation) -> SSAValue:
    """Which elements have an index below the size in each dimension."""
    shape = shape_of(operation.results[0].type)
    mask: SSAValue | None = None
    for axis, (size, length) in enumerate(zip(sizes, shape, strict=True)):
        limit = lowering.spread(lowering.as_value(size), (length,))
        below = lowering.cmpi("slt", lowering.iota(length), limit)
        mask = lowering.both(mask, lowering.along(below, axis, shape))
    return lowering.constant(1, lowering.tile(i1, shape)) if mask is None else mask


RULES: dict[str, Rule] = {
    "vector.broadcast": _broadcast,
    "vector.constant_mask": _constant_mask,
    "vector.create_mask": _create_mask,
    "vector.extract": _extract,
    "vector.extract_strided_slice": _extract_strided_slice,
    "vector.insert": _insert,
    "vector.shape_cast": _shape_cast,
    "vector.splat": _broadcast,
    "vector.step": _step,
    "vector.transpose": _transpose,
}
"""The rule of each operation, by name."""
