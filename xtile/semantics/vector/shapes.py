"""Elements in other positions: slices, shuffles, transpositions, other shapes and types."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Attribute, Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import filled
from xtile.semantics.upstream.numbers import Kind, Number, number_of
from xtile.semantics.values import Array, contiguous
from xtile.semantics.vector.arrays import (
    AXES,
    flattened,
    numbers_in,
    outer_shape,
    shape_of,
    with_outer,
)


def cast_bits(source: Attribute, target: Attribute) -> Callable[[Array], Array]:
    """The function that reads the bits of a vector's rows as elements of another type.

    The first element has the lowest bits. All axes of the result's vectors are one.

    Raises:
        ValueError: numpy holds numbers of a type in another form than their bits.
    """
    given, made = number_of(source), number_of(target)
    for number in (given, made):
        if number.kind is Kind.FLOAT and number.bits > 8 and not _fills(number):
            raise ValueError(f"the bits of {number.text} cannot be computed")
    if _fills(given) and _fills(made):
        return lambda vector: flattened(contiguous(vector)).view(made.dtype)
    return lambda vector: _from_bits(_to_bits(vector, given), made)


def _fills(number: Number) -> bool:
    """Whether the numbers of a type fill numpy's."""
    return number.bits == 8 * number.dtype.itemsize


def _to_bits(vector: Array, number: Number) -> Array:
    """The bits of each row, from the lowest."""
    bytes_ = contiguous(vector)[..., np.newaxis].view(np.uint8)
    return np.unpackbits(bytes_, axis=-1, count=number.bits, bitorder="little")


def _from_bits(bits: Array, number: Number) -> Array:
    """The numbers that rows of bits stand for."""
    parts = bits.reshape(*bits.shape[:2], -1, number.bits)
    unused = 8 * number.dtype.itemsize - number.bits
    padded = np.pad(parts, [(0, 0)] * 3 + [(0, unused)])
    bytes_ = np.packbits(padded, axis=-1, bitorder="little")
    if number.bits == 1:
        return bytes_[..., 0].astype(np.bool_)
    held = bytes_.view(number.dtype)[..., 0]
    return number.wrapped(held) if number.kind is Kind.INTEGER else held


_ALL_BITS = 0xFF


def _slices(offsets: list[int], sizes: list[int], strides: list[int]) -> tuple[slice, ...]:
    return tuple(
        slice(offset, offset + size * stride, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    )


def _extract_strided_slice(operation: Operation, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.operands[0], operation.results[0]))
    part = _slices(*(numbers_in(operation, name) for name in ("offsets", "sizes", "strides")))

    def step(state: State) -> None:
        state.values[result] = state.values[source][(slice(None), slice(None), *part)]

    return step


def _insert_strided_slice(operation: Operation, compiler: Compiler) -> Step:
    value, dest = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    sizes = shape_of(operation.operands[0])
    offsets, strides = numbers_in(operation, "offsets"), numbers_in(operation, "strides")
    lead = len(offsets) - len(sizes)
    part = _slices(offsets, [1] * lead + list(sizes), [1] * lead + strides)

    def step(state: State) -> None:
        new, whole = state.values[value], state.values[dest]
        made = with_outer(whole, outer_shape(new, whole)).copy()
        placed = new.reshape(*new.shape[:AXES], *(1,) * lead, *sizes)
        made[(slice(None), slice(None), *part)] = placed
        state.values[result] = made

    return step


def _shuffle(operation: Operation, compiler: Compiler) -> Step:
    slots = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    mask = numbers_in(operation, "mask")
    has_rows = shape_of(operation.operands[0]) != ()
    is_poison = np.array([row < 0 for row in mask])
    poison = filled(operation.results[0].type, _ALL_BITS)

    def step(state: State) -> None:
        vectors: list[Array] = [state.values[slot] for slot in slots]
        outer = outer_shape(*vectors)
        rows = [with_outer(each, outer) for each in vectors]
        both = np.concatenate(rows, AXES) if has_rows else np.stack(rows, AXES)
        made = both[:, :, mask]
        made[:, :, is_poison] = poison[:, :, is_poison]
        state.values[result] = made

    return step


def _interleave(operation: Operation, compiler: Compiler) -> Step:
    slots = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    shape = shape_of(operation.results[0])

    def step(state: State) -> None:
        pairs = np.stack(np.broadcast_arrays(*(state.values[slot] for slot in slots)), -1)
        state.values[result] = pairs.reshape(*pairs.shape[:AXES], *shape)

    return step


def _deinterleave(operation: Operation, compiler: Compiler) -> Step:
    (source,) = compiler.slots(operation.operands)
    even, odd = compiler.slots(operation.results)

    def step(state: State) -> None:
        vector: Array = state.values[source]
        state.values[even] = vector[..., 0::2]
        state.values[odd] = vector[..., 1::2]

    return step


def _shape_cast(operation: Operation, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.operands[0], operation.results[0]))
    shape = shape_of(operation.results[0])

    def step(state: State) -> None:
        vector: Array = state.values[source]
        state.values[result] = vector.reshape(*vector.shape[:AXES], *shape)

    return step


def _transpose(operation: Operation, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.operands[0], operation.results[0]))
    axes = [AXES + n for n in numbers_in(operation, "permutation")]

    def step(state: State) -> None:
        state.values[result] = state.values[source].transpose(0, 1, *axes)

    return step


def _bitcast(operation: Operation, compiler: Compiler) -> Step:
    (source,), (result,) = operation.operands, operation.results
    slot, result_slot = compiler.slots((source, result))
    shape = shape_of(result)
    convert = cast_bits(source.type, result.type)

    def step(state: State) -> None:
        vector: Array = state.values[slot]
        state.values[result_slot] = convert(vector).reshape(*vector.shape[:AXES], *shape)

    return step


HANDLERS: dict[str, Handler] = {
    "vector.bitcast": _bitcast,
    "vector.deinterleave": _deinterleave,
    "vector.extract_strided_slice": _extract_strided_slice,
    "vector.insert_strided_slice": _insert_strided_slice,
    "vector.interleave": _interleave,
    "vector.shape_cast": _shape_cast,
    "vector.shuffle": _shuffle,
    "vector.transpose": _transpose,
}
"""The handler of each operation, by name."""
