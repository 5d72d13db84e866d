"""Tiles of other shapes: constants, parts, joined and packed tiles.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`; CUDA Tile IR specification, "Packing Order".
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.numbers import (
    Tile,
    element_number,
    operand_number,
    result_number,
    shape_of,
    splat,
)
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State
from xtile.semantics.storage import from_bits, storage_bits, to_bits
from xtile.semantics.upstream.constants import integer_attribute
from xtile.semantics.upstream.elementwise import apply, constant
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Array, Value, choose, contiguous, copied

_TF32_BYTES, _TF32_UNUSED_BITS = 3, 13
"""A constant holds the 19 bits of a tf32 in three bytes, and f32 has 13 bits more below them."""


def constant_tile(value: Attribute) -> Tile:
    """The tile that a dense attribute stands for.

    Raises:
        ValueError: The attribute is not dense.
    """
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise ValueError(f"the elements of {value} are not known; expected dense<...>")
    dense = cast("Any", value)
    number, shape = element_number(dense.type.element_type), tuple(dense.type.get_shape())
    data: bytes = dense.data.data
    size: int = dense.get_element_type().compile_time_size
    first = data[:size]
    if data == first * (len(data) // size):
        return splat(_elements(first, size, number)[0], shape)
    return _elements(data, size, number).reshape(shape)


def _elements(data: bytes, size: int, number: Number) -> Array:
    """The elements in the bytes of a dense attribute."""
    raw = np.frombuffer(data, np.uint8)
    if size == _TF32_BYTES:
        words = np.zeros((len(raw) // size, 4), np.uint8)
        words[:, :size] = raw.reshape(-1, size)
        bits = words.view("<u4")[:, 0] << np.uint32(_TF32_UNUSED_BITS)
    else:
        bits = raw.view(f"<u{size}")
    return from_bits(bits, number)


def iota(number: Number, size: int) -> Tile:
    """The numbers from 0 on, as unsigned numbers."""
    return number.wrapped(np.arange(size, dtype=np.int64))


def part(source: Array, indices: tuple[int, ...], shape: tuple[int, ...]) -> Tile:
    """The part of a tile with a number for each dimension.

    Raises:
        UnlocatedError: There is no such part.
    """
    return source[_position(source, indices, shape)]


def replaced(source: Tile, whole: Array, indices: tuple[int, ...]) -> Array:
    """A tile whose part with a number for each dimension is another tile.

    Raises:
        UnlocatedError: There is no such part.
    """
    result = copied(whole)
    result[_position(whole, indices, np.shape(source))] = source
    return result


def _position(whole: Array, indices: tuple[int, ...], shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Where the part of a tile with a number for each dimension is.

    Raises:
        UnlocatedError: There is no such part.
    """
    for dimension, (index, size, extent) in enumerate(
        zip(indices, shape, whole.shape, strict=True)
    ):
        if index >= extent // size:
            raise UnlocatedError(
                f"there is no part {index} along dimension {dimension}: a size of {extent} has "
                f"{extent // size} parts of size {size}, which are counted from 0"
            )
    starts = zip(indices, shape, strict=True)
    return tuple(slice(index * size, (index + 1) * size) for index, size in starts)


def packed(source: Array, number: Number) -> Array:
    """The bytes of a tile with one dimension, as i8; the first elements are in the lowest bits."""
    bits, width = to_bits(source, number), storage_bits(number)
    if width >= 8:
        return contiguous(bits).astype(f"<u{width // 8}").view(np.int8)
    per_byte = 8 // width
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(width)
    parts = bits.astype(np.uint8).reshape(-1, per_byte) << shifts
    return np.bitwise_or.reduce(parts, axis=1).view(np.int8)


def unpacked(source: Array, number: Number) -> Array:
    """The tile with one dimension whose bytes are given."""
    data, width = contiguous(source).view(np.uint8), storage_bits(number)
    if width >= 8:
        return from_bits(data.view(f"<u{width // 8}"), number)
    shifts = np.arange(8 // width, dtype=np.uint8) * np.uint8(width)
    return from_bits((data[:, np.newaxis] >> shifts).reshape(-1), number)


def _constant(operation: Operation, compiler: Compiler) -> Step:
    return constant(operation, compiler, constant_tile(operation.properties["value"]))


def _iota(operation: Operation, compiler: Compiler) -> Step:
    (size,) = shape_of(operation.results[0])
    return constant(operation, compiler, iota(result_number(operation), size))


def _broadcast(operation: Operation, compiler: Compiler) -> Step:
    shape = shape_of(operation.results[0])

    def function(value: Value) -> Value:
        return np.broadcast_to(value, shape)[()]

    return apply(operation, compiler, function)


def _reshape(operation: Operation, compiler: Compiler) -> Step:
    shape = shape_of(operation.results[0])

    def function(value: Value) -> Value:
        return np.reshape(value, shape)[()]

    return apply(operation, compiler, function)


def _permute(operation: Operation, compiler: Compiler) -> Step:
    axes = cast("Any", operation.properties["permutation"]).get_values()

    def function(value: Value) -> Value:
        return np.transpose(value, axes)[()]

    return apply(operation, compiler, function)


def _cat(operation: Operation, compiler: Compiler) -> Step:
    axis = integer_attribute(operation, "dim") or 0

    def function(lhs: Value, rhs: Value) -> Value:
        return np.concatenate([lhs, rhs], axis)

    return apply(operation, compiler, function)


def _extract(operation: Operation, compiler: Compiler) -> Step:
    source, *indices = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    shape = shape_of(operation.results[0])
    types = [element_number(index.type) for index in operation.operands[1:]]

    def step(state: State) -> None:
        values = state.values
        chosen = (
            int(type.unsigned(values[slot])) for type, slot in zip(types, indices, strict=True)
        )
        values[result] = part(np.asanyarray(values[source]), tuple(chosen), shape)[()]

    return step


def _insert(operation: Operation, compiler: Compiler) -> Step:
    source, destination, *indices = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    types = [element_number(index.type) for index in operation.operands[2:]]

    def step(state: State) -> None:
        values = state.values
        chosen = (
            int(type.unsigned(values[slot])) for type, slot in zip(types, indices, strict=True)
        )
        whole = np.asanyarray(values[destination])
        values[result] = replaced(values[source], whole, tuple(chosen))[()]

    return step


def _select(operation: Operation, compiler: Compiler) -> Step:
    return apply(operation, compiler, choose)


def _pack(operation: Operation, compiler: Compiler) -> Step:
    number = operand_number(operation)

    def function(value: Value) -> Value:
        return packed(value, number)

    return apply(operation, compiler, function)


def _unpack(operation: Operation, compiler: Compiler) -> Step:
    number = result_number(operation)

    def function(value: Value) -> Value:
        return unpacked(value, number)

    return apply(operation, compiler, function)


HANDLERS: dict[str, Handler] = {
    "cuda_tile.broadcast": _broadcast,
    "cuda_tile.cat": _cat,
    "cuda_tile.constant": _constant,
    "cuda_tile.extract": _extract,
    "cuda_tile.insert": _insert,
    "cuda_tile.iota": _iota,
    "cuda_tile.pack": _pack,
    "cuda_tile.permute": _permute,
    "cuda_tile.reshape": _reshape,
    "cuda_tile.select": _select,
    "cuda_tile.unpack": _unpack,
}
"""The handler of each operation, by name."""
