"""Slices of memory as vectors, which may be permuted, masked or partly outside.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`; docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from xtile.dialects.shapes import dimensions_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import (
    Location,
    location,
)
from xtile.translate.xegpu_to_spirv.vectors.entries import (
    define_entries,
    element,
    entries,
    shape_of,
)
from xtile.translate.xegpu_to_spirv.vectors.memory import (
    Mask,
    both,
    define_slice,
    load_all,
    mask_entries,
    memory_of,
    store_all,
    store_slice,
)


class _Transfer:
    """Where the elements of a transfer's vector are."""

    def __init__(self, operation: Operation, vector: SSAValue, lowering: Lowering) -> None:
        given = cast(Any, operation)
        self._lowering = lowering
        self.memory = memory_of(given.source, lowering)
        self.indices = lowering.numbers(given.indices)
        self._shape = shape_of(vector.type)
        # The dimension of memory for each of the vector; None where elements are repeated.
        self._dimensions = dimensions_of(operation.properties["permutation_map"])
        bounds = [bool(entry.value.data) for entry in given.in_bounds.data]
        self._checked = [
            None if is_inside else dimension
            for dimension, is_inside in zip(self._dimensions, bounds, strict=True)
        ]

    @property
    def is_slice(self) -> bool:
        """Whether it is a slice along the last dimensions, all of it inside."""
        rank = len(self.indices)
        last = list(range(rank - len(self._shape), rank))
        return self._dimensions == last and not any(n is not None for n in self._checked)

    def locations(self) -> list[Location]:
        """Where each element is."""
        lowering = self._lowering
        return [
            location(lowering, self.memory, self._moved(index))
            for index in product(*map(range, self._shape))
        ]

    def _moved(self, index: Sequence[int]) -> list[Index]:
        moved = list(self.indices)
        for dimension, position in zip(self._dimensions, index, strict=True):
            if dimension is not None:
                moved[dimension] = self._lowering.add(moved[dimension], position)
        return moved

    def bounds(self) -> Mask:
        """For each element whether it is inside of the memref; None: all are."""
        if not any(dimension is not None for dimension in self._checked):
            return None
        return [self._is_inside(index) for index in product(*map(range, self._shape))]

    def _is_inside(self, index: Sequence[int]) -> SSAValue:
        lowering = self._lowering
        moved = self._moved(index)
        condition: SSAValue | None = None
        for dimension in self._checked:
            if dimension is None:
                continue
            # A negative index is a large number without a sign.
            size = lowering.as_value(self.memory.sizes[dimension])
            position = lowering.as_value(moved[dimension])
            is_below = lowering.shared_compute("ULessThan", i1, position, size)
            condition = (
                is_below
                if condition is None
                else lowering.shared_compute("LogicalAnd", i1, condition, is_below)
            )
        return lowering.true() if condition is None else condition

    def in_order(self, mask: Mask) -> Mask:
        """A mask of the slice in memory, with its elements in the order of the vector's."""
        if mask is None:
            return None
        used = sorted(dimension for dimension in self._dimensions if dimension is not None)
        sizes = [self._shape[self._dimensions.index(dimension)] for dimension in used]
        ordered: list[SSAValue] = []
        for index in product(*map(range, self._shape)):
            number = 0
            for dimension, size in zip(used, sizes, strict=True):
                number = number * size + index[self._dimensions.index(dimension)]
            ordered.append(mask[number])
        return ordered

    def mask(self, own: SSAValue | None, further: Mask) -> Mask:
        """Where elements are accessed."""
        given = None if own is None else mask_entries(own, self._lowering)
        masks = both(self._lowering, given, further)
        return both(self._lowering, self.in_order(masks), self.bounds())


def transfer_read(
    operation: Operation, lowering: Lowering, further: Mask = None, other: SSAValue | None = None
) -> None:
    """A slice of memory as a vector.

    Args:
        operation: The transfer.
        lowering: Where to emit.
        further: A mask of the slice in memory; None: all of it.
        other: What passes through where that mask is not set.
    """
    given = cast(Any, operation)
    (result,) = operation.results
    transfer = _Transfer(operation, result, lowering)
    mask = transfer.mask(given.mask, further)
    if mask is None and transfer.is_slice:
        define_slice(lowering, result, transfer.memory, transfer.indices)
        return
    locations = transfer.locations()
    padding = [(lowering.value(given.padding), 0)] * len(locations)
    loaded = load_all(lowering, transfer.memory, locations, mask, padding)
    where = transfer.in_order(further)
    if other is not None and where is not None:
        passing = entries(other, lowering)
        loaded = [
            (lowering.select(c, element(lowering, a), element(lowering, b)), 0)
            for c, a, b in zip(where, loaded, passing, strict=True)
        ]
    define_entries(lowering, result, loaded)


def transfer_write(operation: Operation, lowering: Lowering, further: Mask = None) -> None:
    """Stores a vector to a slice of memory."""
    given = cast(Any, operation)
    transfer = _Transfer(operation, given.vector, lowering)
    mask = transfer.mask(given.mask, further)
    if mask is None and transfer.is_slice:
        store_slice(lowering, given.vector, transfer.memory, transfer.indices)
        return
    values = entries(given.vector, lowering)
    store_all(lowering, transfer.memory, transfer.locations(), mask, values)


RULES: dict[str, Rule] = {
    "vector.transfer_read": lambda operation, lowering: transfer_read(operation, lowering),
    "vector.transfer_write": lambda operation, lowering: transfer_write(operation, lowering),
}
"""The rule of each operation, by name."""
