"""Accesses of several elements: neighbours, slices, and elements anywhere.

What a mask or the bounds leave out is not accessed: each element has a branch of its own then.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, cast

from xdsl.dialects.builtin import MemRefType, VectorType, i1, i64
from xdsl.ir import Block, Operation, SSAValue

from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.conversions import resize
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import (
    Location,
    is_nontemporal,
    load_piece,
    location,
    promised_alignment,
    store_piece,
)
from xtile.translate.xegpu_to_spirv.types import length_of, piece_lengths
from xtile.translate.xegpu_to_spirv.vectors.entries import (
    Entry,
    define_entries,
    element,
    entries,
    shape_of,
)

Mask = Sequence[SSAValue] | None
"""For each element whether it is accessed; None: all are."""


def memory_of(old: SSAValue, lowering: Lowering) -> Descriptor:
    """What is known of the memory that an operation accesses."""
    if not isinstance(old.type, MemRefType):
        raise lowering.error(f"a value of type {old.type} is no memory; use a memref")
    return lowering.descriptor(old)


# --- neighbours ---


def _rows(
    lowering: Lowering, memory: Descriptor, indices: Sequence[Index], shape: Sequence[int]
) -> Iterator[Location]:
    """Where the rows of a slice begin that lies along the last dimensions."""
    *outer, _ = shape or (1,)
    first = len(indices) - len(shape or (1,))
    for index in product(*map(range, outer)):
        moved = list(indices)
        for axis, position in enumerate(index):
            moved[first + axis] = lowering.add(moved[first + axis], position)
        yield location(lowering, memory, moved)


def _is_contiguous(memory: Descriptor) -> bool:
    return not memory.strides or memory.strides[-1] == 1


def _load(operation: Operation, lowering: Lowering) -> None:
    base, *indices = operation.operands
    (result,) = operation.results
    memory = memory_of(base, lowering)
    define_slice(lowering, result, memory, lowering.numbers(indices), promised_alignment(operation))


def define_slice(
    lowering: Lowering,
    result: SSAValue,
    memory: Descriptor,
    indices: Sequence[Index],
    alignment: int = 1,
) -> None:
    """Loads a slice along the last dimensions, a piece at a time if its rows have no gaps."""
    shape = shape_of(result.type)
    if not _is_contiguous(memory):
        locations = _element_locations(lowering, memory, indices, shape)
        loaded = [(load_piece(lowering, memory, where, 1), 0) for where in locations]
        define_entries(lowering, result, loaded)
        return
    lengths = piece_lengths(cast("VectorType[Any]", result.type))
    pieces: list[SSAValue] = []
    of_row = len(lengths) // max(1, math.prod(shape[:-1]))
    for row in _rows(lowering, memory, indices, shape):
        done = 0
        for length in lengths[:of_row]:
            promised = alignment if done == 0 else 1
            pieces.append(load_piece(lowering, memory, row.after(done), length, promised))
            done += length
    lowering.define_pieces(result, pieces)


def _element_locations(
    lowering: Lowering, memory: Descriptor, indices: Sequence[Index], shape: Sequence[int]
) -> Iterator[Location]:
    """Where the elements of a slice are that lies along the last dimensions."""
    first = len(indices) - len(shape)
    for index in product(*map(range, shape)):
        moved = list(indices)
        for axis, position in enumerate(index):
            moved[first + axis] = lowering.add(moved[first + axis], position)
        yield location(lowering, memory, moved)


def _store(operation: Operation, lowering: Lowering) -> None:
    value, base, *indices = operation.operands
    memory = memory_of(base, lowering)
    store_slice(
        lowering,
        value,
        memory,
        lowering.numbers(indices),
        promised_alignment(operation),
        is_nontemporal=is_nontemporal(operation),
    )


def store_slice(
    lowering: Lowering,
    value: SSAValue,
    memory: Descriptor,
    indices: Sequence[Index],
    alignment: int = 1,
    *,
    is_nontemporal: bool = False,
) -> None:
    """Stores a slice along the last dimensions, a piece at a time if its rows have no gaps."""
    shape = shape_of(value.type)
    if not _is_contiguous(memory):
        locations = _element_locations(lowering, memory, indices, shape)
        for where, entry in zip(locations, entries(value, lowering), strict=True):
            store_piece(lowering, memory, where, element(lowering, entry))
        return
    pieces = iter(lowering.pieces(value))
    width = (shape or (1,))[-1]
    for row in _rows(lowering, memory, indices, shape):
        done = 0
        while done < width:
            piece = next(pieces)
            promised = alignment if done == 0 else 1
            store_piece(lowering, memory, row.after(done), piece, promised, is_nontemporal)
            done += length_of(piece.type)


# --- elements under conditions ---


def _load_where(
    lowering: Lowering, memory: Descriptor, where: Location, condition: SSAValue, other: SSAValue
) -> SSAValue:
    """An element if a condition holds, and something else if not."""
    inside, end = Block(), Block(arg_types=[other.type])
    with lowering.inside(inside):
        loaded = load_piece(lowering, memory, where, 1)
        lowering.do("Branch", (end, loaded))
    lowering.do("SelectionMerge", end, "None")
    lowering.do("BranchConditional", condition, inside, (end, other))
    lowering.continue_in(end)
    return end.args[0]


def _store_where(
    lowering: Lowering, memory: Descriptor, where: Location, condition: SSAValue, value: SSAValue
) -> None:
    """Stores an element if a condition holds."""
    inside, end = Block(), Block()
    with lowering.inside(inside):
        store_piece(lowering, memory, where, value)
        lowering.do("Branch", end)
    lowering.do("SelectionMerge", end, "None")
    lowering.do("BranchConditional", condition, inside, end)
    lowering.continue_in(end)


def load_all(
    lowering: Lowering,
    memory: Descriptor,
    locations: Sequence[Location],
    mask: Mask,
    others: Sequence[Entry],
) -> list[Entry]:
    """Elements anywhere."""
    if mask is None:
        return [(load_piece(lowering, memory, where, 1), 0) for where in locations]
    return [
        (_load_where(lowering, memory, where, condition, element(lowering, other)), 0)
        for where, condition, other in zip(locations, mask, others, strict=True)
    ]


def store_all(
    lowering: Lowering,
    memory: Descriptor,
    locations: Sequence[Location],
    mask: Mask,
    values: Sequence[Entry],
) -> None:
    """Stores elements anywhere, in order."""
    conditions = mask or [None] * len(locations)
    for where, condition, entry in zip(locations, conditions, values, strict=True):
        value = element(lowering, entry)
        if condition is None:
            store_piece(lowering, memory, where, value)
        else:
            _store_where(lowering, memory, where, condition, value)


def mask_entries(old: SSAValue, lowering: Lowering) -> list[SSAValue]:
    """The truth values of a mask."""
    return [element(lowering, entry) for entry in entries(old, lowering)]


def _masked_load(operation: Operation, lowering: Lowering) -> None:
    base, *indices, mask, other = operation.operands
    (result,) = operation.results
    memory = memory_of(base, lowering)
    numbers = lowering.numbers(indices)
    locations = list(_element_locations(lowering, memory, numbers, shape_of(result.type)))
    chosen = mask_entries(mask, lowering)
    loaded = load_all(lowering, memory, locations, chosen, entries(other, lowering))
    define_entries(lowering, result, loaded)


def _masked_store(operation: Operation, lowering: Lowering) -> None:
    base, *indices, mask, value = operation.operands
    memory = memory_of(base, lowering)
    numbers = lowering.numbers(indices)
    locations = list(_element_locations(lowering, memory, numbers, shape_of(value.type)))
    store_all(lowering, memory, locations, mask_entries(mask, lowering), entries(value, lowering))


def _packed_locations(
    lowering: Lowering, memory: Descriptor, indices: Sequence[Index], mask: Sequence[SSAValue]
) -> list[Location]:
    """Where elements are that follow each other, counting only those of the mask."""
    locations: list[Location] = []
    last = indices[-1]
    one, zero = lowering.integer(1, i64), lowering.integer(0, i64)
    for condition in mask:
        locations.append(location(lowering, memory, [*indices[:-1], last]))
        last = lowering.add(last, lowering.select(condition, one, zero))
    return locations


def _expand_load(operation: Operation, lowering: Lowering) -> None:
    base, *indices, mask, other = operation.operands
    memory = memory_of(base, lowering)
    chosen = mask_entries(mask, lowering)
    locations = _packed_locations(lowering, memory, lowering.numbers(indices), chosen)
    loaded = load_all(lowering, memory, locations, chosen, entries(other, lowering))
    define_entries(lowering, operation.results[0], loaded)


def _compress_store(operation: Operation, lowering: Lowering) -> None:
    base, *indices, mask, value = operation.operands
    memory = memory_of(base, lowering)
    chosen = mask_entries(mask, lowering)
    locations = _packed_locations(lowering, memory, lowering.numbers(indices), chosen)
    store_all(lowering, memory, locations, chosen, entries(value, lowering))


# --- elements anywhere ---


def _scattered_locations(
    lowering: Lowering, memory: Descriptor, indices: Sequence[SSAValue], positions: SSAValue
) -> list[Location]:
    """Where elements are whose positions along the last dimension are in a vector."""
    *outer, last = lowering.numbers(indices)
    locations: list[Location] = []
    for entry in entries(positions, lowering):
        position = resize(lowering, element(lowering, entry), i64)
        locations.append(location(lowering, memory, [*outer, lowering.add(last, position)]))
    return locations


def _gather(operation: Operation, lowering: Lowering) -> None:
    gather(operation, lowering, None)


def gather(operation: Operation, lowering: Lowering, further: Mask) -> None:
    """Elements anywhere, under a further mask too."""
    base, *indices, positions, mask, other = operation.operands
    memory = memory_of(base, lowering)
    locations = _scattered_locations(lowering, memory, indices, positions)
    chosen = both(lowering, mask_entries(mask, lowering), further)
    loaded = load_all(lowering, memory, locations, chosen, entries(other, lowering))
    define_entries(lowering, operation.results[0], loaded)


def _scatter(operation: Operation, lowering: Lowering) -> None:
    base, *indices, positions, mask, value = operation.operands
    memory = memory_of(base, lowering)
    locations = _scattered_locations(lowering, memory, indices, positions)
    store_all(lowering, memory, locations, mask_entries(mask, lowering), entries(value, lowering))


def both(lowering: Lowering, a: Mask, b: Mask) -> Mask:
    """Where two masks are set."""
    if a is None or b is None:
        return b if a is None else a
    return [
        lowering.shared_compute("LogicalAnd", i1, left, right)
        for left, right in zip(a, b, strict=True)
    ]


RULES: dict[str, Rule] = {
    "vector.compressstore": _compress_store,
    "vector.expandload": _expand_load,
    "vector.gather": _gather,
    "vector.load": _load,
    "vector.maskedload": _masked_load,
    "vector.maskedstore": _masked_store,
    "vector.scatter": _scatter,
    "vector.store": _store,
}
"""The rule of each operation, by name."""
