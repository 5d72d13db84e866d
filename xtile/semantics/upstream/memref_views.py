"""The operations of the `memref` dialect that make one memref of another, or tell of it.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`; docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation

from xtile.dialects.memref.layouts import kept_dimensions
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import (
    Group,
    Index,
    Mask,
    View,
    as_index,
    combine,
    from_index,
    transform,
    uniform_integers,
    where_active,
)
from xtile.semantics.state import State, any_active
from xtile.semantics.upstream.allocation import row_major_strides
from xtile.semantics.upstream.numbers import memref_type, number_of
from xtile.semantics.values import Value, first_where, is_array

Change = Callable[[View, State, Mask], View]
"""Makes a view of another one, for the active work-items that have it."""


def changed(operation: Operation, compiler: Compiler, change: Change) -> Step:
    """The step that gives the result what `change` makes of the first operand."""
    source = compiler.slot(operation.operands[0])
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        values[result] = transform(
            values[source], lambda view, mask: change(view, state, mask), state.mask
        )

    return step


class Mixed:
    """A list of numbers, some of which are known from the text and the others are operands."""

    def __init__(self, static: Attribute, dynamic: Sequence[int]) -> None:
        """Makes a list.

        Args:
            static: The numbers, with `DYNAMIC_INDEX` for each operand.
            dynamic: The slots of the operands.
        """
        numbers: Any = static
        slots = iter(dynamic)
        self.static: tuple[int, ...] = tuple(numbers.get_values())
        self._entries = [
            (next(slots), True) if number == DYNAMIC_INDEX else (number, False)
            for number in self.static
        ]

    def numbers(self, values: Sequence[Value]) -> list[Index]:
        """The numbers at run time."""
        return [as_index(values[entry]) if is_slot else entry for entry, is_slot in self._entries]


def mixed_of(operation: Operation, compiler: Compiler, *names: str) -> list[Mixed]:
    """The lists of numbers that an operation has after its first operand."""
    operands = list(compiler.slots(operation.operands[1:]))
    result: list[Mixed] = []
    for name in names:
        static: Any = operation.properties[f"static_{name}"]
        count = list(static.get_values()).count(DYNAMIC_INDEX)
        result.append(Mixed(static, operands[:count]))
        del operands[:count]
    return result


def _subview(operation: Operation, compiler: Compiler) -> Step:
    offsets, sizes, strides = mixed_of(operation, compiler, "offsets", "sizes", "strides")
    kept = kept_dimensions(sizes.static, _shape(operation.results[0].type))

    def change(view: View, state: State, mask: Mask) -> View:
        values = state.values
        position = view.element(offsets.numbers(values))
        extents, steps = sizes.numbers(values), strides.numbers(values)
        return View(
            view.buffer,
            position,
            tuple(extents[dimension] for dimension in kept),
            tuple(view.strides[dimension] * steps[dimension] for dimension in kept),
        )

    return changed(operation, compiler, change)


def _shape(type: Attribute) -> tuple[int, ...]:
    return memref_type(type).get_shape()


def _start(view: View) -> Index:
    """The position of the memory's first element: what an allocation's pointer points to."""
    parts = view.buffer.parts
    return 0 if parts is None else parts.starts


def _reinterpret_cast(operation: Operation, compiler: Compiler) -> Step:
    offsets, sizes, strides = mixed_of(operation, compiler, "offsets", "sizes", "strides")

    def change(view: View, state: State, mask: Mask) -> View:
        values = state.values
        (offset,) = offsets.numbers(values)
        shape, steps = tuple(sizes.numbers(values)), tuple(strides.numbers(values))
        return View(view.buffer, _start(view) + offset, shape, steps)

    return changed(operation, compiler, change)


def _cast(operation: Operation, compiler: Compiler) -> Step:
    type_ = operation.results[0].type
    if isinstance(type_, UnrankedMemRefType):
        return changed(operation, compiler, lambda view, state, mask: view)
    shape = _shape(type_)

    def change(view: View, state: State, mask: Mask) -> View:
        if len(view.shape) != len(shape):
            raise UnlocatedError(
                f"the memref has {len(view.shape)} dimensions, but the cast is to {type_}"
            )
        for dimension, (size, wanted) in enumerate(zip(view.shape, shape, strict=True)):
            wrong = where_active(np.asanyarray(size != wanted), mask)
            if wanted != DYNAMIC_INDEX and wrong.any():
                given = first_where(size, wrong)
                raise UnlocatedError(
                    f"dimension {dimension} has size {given}, but the cast is to {type_}"
                )
        return view

    return changed(operation, compiler, change)


def _same(operation: Operation, compiler: Compiler) -> Step:
    return changed(operation, compiler, lambda view, state, mask: view)


def _view(operation: Operation, compiler: Compiler) -> Step:
    _, shift, *sizes = compiler.slots(operation.operands)
    type_ = operation.results[0].type
    dtype = number_of(type_).dtype
    shape = _shape(type_)

    def change(view: View, state: State, mask: Mask) -> View:
        values = state.values
        given = iter([as_index(values[size]) for size in sizes])
        extents = [next(given) if size == DYNAMIC_INDEX else size for size in shape]
        first = view.offset + as_index(values[shift])
        wrong = where_active(np.asanyarray(first % dtype.itemsize != 0), mask)
        if wrong.any():
            raise UnlocatedError(
                f"byte {first_where(first, wrong)} of {view.buffer.name} is no multiple of the "
                f"{dtype.itemsize} bytes of an element"
            )
        strides = row_major_strides(uniform_integers(extents))
        return View(view.buffer.typed(dtype), first // dtype.itemsize, tuple(extents), strides)

    return changed(operation, compiler, change)


def _dim(operation: Operation, compiler: Compiler) -> Step:
    source, index = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        dimension, memref = state.values[index], state.values[source]
        if isinstance(memref, Group):
            state.values[result] = np.int64(len(memref.views))
            return

        def size(view: View) -> Value:
            rank = len(view.shape)
            if any_active((dimension < 0) | (dimension >= rank), state):
                raise UnlocatedError(
                    f"there is no dimension {dimension}: the memref has {rank} dimensions"
                )
            if not is_array(dimension):
                return from_index(view.shape[int(dimension)])
            return np.select([dimension == d for d in range(rank)], list(view.shape), 0)

        state.values[result] = combine(memref, size)

    return step


def _rank(operation: Operation, compiler: Compiler) -> Step:
    source = compiler.slot(operation.operands[0])
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        state.values[result] = combine(state.values[source], lambda view: np.int64(len(view.shape)))

    return step


def _extract_strided_metadata(operation: Operation, compiler: Compiler) -> Step:
    source = compiler.slot(operation.operands[0])
    base, offset, *rest = compiler.slots(operation.results)
    rank = len(rest) // 2

    def step(state: State) -> None:
        values = state.values
        memref = values[source]
        values[base] = transform(
            memref, lambda view, mask: View(view.buffer, _start(view), (), ()), state.mask
        )
        values[offset] = combine(memref, lambda view: from_index(_offset(view)))
        for dimension in range(rank):
            values[rest[dimension]] = combine(memref, _number_at("shape", dimension))
            values[rest[rank + dimension]] = combine(memref, _number_at("strides", dimension))

    return step


def _offset(view: View) -> Index:
    """The number of elements from the start of the memory to the view's first."""
    if view.buffer.parts is None:
        return view.offset
    return view.offset - _start(view)


def _number_at(what: str, dimension: int) -> Callable[[View], Value]:
    return lambda view: from_index(getattr(view, what)[dimension])


def _pointer(operation: Operation, compiler: Compiler) -> Step:
    source = compiler.slot(operation.operands[0])
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        memref = state.values[source]
        if isinstance(memref, Group):
            state.values[result] = np.int64(state.addresses.address_of(memref.pointers))
            return

        def pointer(view: View) -> Value:
            size = view.buffer.data.dtype.itemsize
            first = state.addresses.address_of(view.buffer)
            return from_index(first + _start(view) * size)

        state.values[result] = combine(memref, pointer)

    return step


def _assume_alignment(operation: Operation, compiler: Compiler) -> Step:
    """A promise; older text has no result."""
    if not operation.results:
        return lambda state: None
    return _same(operation, compiler)


def _distinct_objects(operation: Operation, compiler: Compiler) -> Step:
    sources, results = compiler.slots(operation.operands), compiler.slots(operation.results)

    def step(state: State) -> None:
        for source, result in zip(sources, results, strict=True):
            state.values[result] = state.values[source]

    return step


HANDLERS: dict[str, Handler] = {
    "memref.assume_alignment": _assume_alignment,
    "memref.cast": _cast,
    "memref.dim": _dim,
    "memref.distinct_objects": _distinct_objects,
    "memref.extract_aligned_pointer_as_index": _pointer,
    "memref.extract_strided_metadata": _extract_strided_metadata,
    "memref.memory_space_cast": _same,
    "memref.rank": _rank,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.subview": _subview,
    "memref.view": _view,
}
"""The handler of each operation, by name."""
