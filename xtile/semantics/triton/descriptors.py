"""Descriptors of tensors in memory, and accesses of blocks through them.

What lies outside of the tensor is not written, and read as the padding.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xtile.dialects.triton.tt.enumerations import DescriptorReduceKind, PaddingOption
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State
from xtile.semantics.storage import storage_of
from xtile.semantics.triton.atomics import Update, Updater
from xtile.semantics.triton.memory import (
    PADDINGS,
    Reader,
    Writer,
    addresses_in,
    block_indices,
    inside_of,
)
from xtile.semantics.triton.tensors import integer_property, number_in, shape_of
from xtile.semantics.unspecified import STORED, forget, reach
from xtile.semantics.upstream import floats, integers
from xtile.semantics.upstream.numbers import Kind, Number
from xtile.semantics.values import Array, Value, choose


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A tensor in memory.

    Attributes:
        address: Of the first element, in bytes.
        sizes: In elements.
        strides: In elements.
        padding: What is read from outside of it.
        element_bytes: The bytes of an element.
        is_used: Whether copies by it are made at all.
    """

    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    padding: float
    element_bytes: int
    is_used: bool = True


def _make_tensor_descriptor(operation: Any, compiler: Compiler) -> Step:
    base, result = compiler.slots((operation.base, operation.result))
    shape, strides = compiler.slots(operation.shape), compiler.slots(operation.strides)
    option = PaddingOption(integer_property(operation, "padding", PaddingOption.ZERO))
    padding = PADDINGS[option]
    size_of_element = storage_of(operation.result.type.element_type).step

    def step(state: State) -> None:
        values = state.values
        sizes, steps = (tuple(int(values[slot]) for slot in each) for each in (shape, strides))
        if any(size < 0 for size in sizes):
            raise UnlocatedError(f"a size of a tensor cannot be negative, but {sizes} are given")
        values[result] = Descriptor(int(values[base]), sizes, steps, padding, size_of_element)

    return step


class _Access:
    """An operation's access through a descriptor."""

    def __init__(self, operation: Any, compiler: Compiler) -> None:
        type_ = operation.desc.type
        self._descriptor = compiler.slot(operation.desc)
        self._operation = operation
        self._block: tuple[int, ...] = tuple(type_.get_shape())
        self.storage = storage_of(type_.block_type.element_type)
        self._is_gathered = hasattr(operation, "x_offsets")
        gathered = ("x_offsets", "y_offset")
        given = [getattr(operation, each) for each in gathered] if self._is_gathered else ()
        self._positions = compiler.slots(given or operation.indices)

    def _indices(self, state: State) -> list[Array]:
        """The indices of the elements along each dimension, ready to be broadcast."""
        given = [state.values[slot] for slot in self._positions]
        if not self._is_gathered:
            return block_indices([int(each) for each in given], self._block)
        rows, column = given
        columns = int(column) + np.arange(self._block[-1])
        return [np.asanyarray(rows, np.int64)[:, np.newaxis], columns[np.newaxis, :]]

    def elements(self, state: State, shape: Sequence[int]) -> tuple[Array, Array, Descriptor]:
        """The addresses of the elements in a shape, which of them are inside, the descriptor."""
        if state.unspecified:
            for slot in self._positions:
                reach(state, self._operation, slot, "an index")
        descriptor: Descriptor = state.values[self._descriptor]
        indices = self._indices(state)
        dimensions = range(len(indices))
        inside = inside_of(descriptor.sizes, indices, dimensions)
        size = self.storage.step
        pointers = addresses_in(descriptor.address, descriptor.strides, indices, size)
        mask = np.broadcast_to(inside, pointers.shape)
        return pointers.reshape(shape), mask.reshape(shape), descriptor


def _load(operation: Any, compiler: Compiler) -> Step:
    access, result = _Access(operation, compiler), compiler.slot(operation.result)
    shape, number = shape_of(operation.result), access.storage.number
    reader = Reader(operation, access.storage, shape)

    def step(state: State) -> None:
        pointers, inside, descriptor = access.elements(state, shape)
        padding = number.number(descriptor.padding)
        state.values[result] = reader.read(state, pointers, inside, padding)
        if state.unspecified is not None:
            forget(state, result)

    return step


def _store(operation: Any, compiler: Compiler) -> Step:
    access, source = _Access(operation, compiler), compiler.slot(operation.src)
    writer, shape = Writer(operation, access.storage), shape_of(operation.src)

    def step(state: State) -> None:
        pointers, inside, _ = access.elements(state, shape)
        if state.unspecified:
            reach(state, operation, source, STORED, inside)
        writer.write(state, pointers, state.values[source], inside)

    return step


def _incremented(number: Number) -> Update:
    """Counts up to the operand, and then from 0 again."""

    def update(old: Value, value: Value) -> Value:
        is_last = number.unsigned(old) >= number.unsigned(value)
        return choose(is_last, number.number(0), number.wrapped(old + 1))

    return update


def _decremented(number: Number) -> Update:
    """Counts down to 0, and then from the operand again."""

    def update(old: Value, value: Value) -> Value:
        is_first = (old == 0) | (number.unsigned(old) > number.unsigned(value))
        return choose(is_first, value, number.wrapped(old - 1))

    return update


_OF_INTEGERS: dict[DescriptorReduceKind, Callable[[Number], Update]] = {
    DescriptorReduceKind.ADD: integers.BINARY["addi"],
    DescriptorReduceKind.MIN: integers.BINARY["minsi"],
    DescriptorReduceKind.MAX: integers.BINARY["maxsi"],
    DescriptorReduceKind.INC: _incremented,
    DescriptorReduceKind.DEC: _decremented,
    DescriptorReduceKind.AND: integers.BINARY["andi"],
    DescriptorReduceKind.OR: integers.BINARY["ori"],
    DescriptorReduceKind.XOR: integers.BINARY["xori"],
}

_OF_UNSIGNED: dict[DescriptorReduceKind, Callable[[Number], Update]] = {
    **_OF_INTEGERS,
    DescriptorReduceKind.MIN: integers.BINARY["minui"],
    DescriptorReduceKind.MAX: integers.BINARY["maxui"],
}

_OF_FLOATS: dict[DescriptorReduceKind, Callable[[Number], Update]] = {
    DescriptorReduceKind.ADD: floats.BINARY["addf"],
    DescriptorReduceKind.MIN: floats.BINARY["minnumf"],
    DescriptorReduceKind.MAX: floats.BINARY["maxnumf"],
}


def _update(operation: Any, number: Number) -> Update:
    kind = DescriptorReduceKind(integer_property(operation, "kind"))
    is_unsigned = str(operation.desc.type.element_type).startswith("ui")
    if number.kind is Kind.FLOAT:
        updates = _OF_FLOATS
    else:
        updates = _OF_UNSIGNED if is_unsigned else _OF_INTEGERS
    if kind not in updates:
        raise ValueError(f"there is no update {kind.name.lower()} of {number.text}")
    return updates[kind](number)


def _reduce(operation: Any, compiler: Compiler) -> Step:
    access, source = _Access(operation, compiler), compiler.slot(operation.src)
    shape, function = shape_of(operation.src), _update(operation, number_in(operation.src))
    updater = Updater(operation, access.storage, shape)

    def step(state: State) -> None:
        pointers, inside, _ = access.elements(state, shape)
        if state.unspecified:
            reach(state, operation, source, STORED, inside)
        operands = np.ravel(state.values[source])
        updater.update(state, pointers, inside, operands, function)

    return step


HANDLERS: dict[str, Handler] = {
    "tt.descriptor_gather": _load,
    "tt.descriptor_load": _load,
    "tt.descriptor_reduce": _reduce,
    "tt.descriptor_scatter": _store,
    "tt.descriptor_store": _store,
    "tt.make_tensor_descriptor": _make_tensor_descriptor,
}
"""The handler of each operation, by name."""
