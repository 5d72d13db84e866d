"""Kernels that apply one operation to each number, or to each vector of several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.backends.intel.operands import pairs, random_numbers, special_numbers
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.lane_kernels import Array, LaneKernel

COUNT = 512
"""The numbers that a kernel is run on."""

BLOCK = (64, 1, 1)

LENGTH = 7
"""The length of vectors: it is cut into 4, 2 and 1."""

VECTORS = 73
"""The number of vectors, which have about as many elements as there are numbers."""

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")
FLOATS = ("f16", "bf16", "f32", "f64")


def on_numbers(operation: str, types: Sequence[str], result: str) -> LaneKernel:
    """A kernel in which each work-item applies an operation to one number of each operand.

    Args:
        operation: The operation, in which {0}, {1}, ... stand for operands and {t} is empty.
        types: The types of the operands.
        result: The type of the result.
    """
    names = [f"%v{i}" for i in range(len(types))]
    loads = [
        f"{name} = memref.load %p{i}[%x] : memref<{COUNT}x{type}>"
        for i, (name, type) in enumerate(zip(names, types, strict=True))
    ]
    body = [
        "%x = gpu.global_id x",
        *loads,
        f"%r = {_filled(operation, names, '{}')}",
        f"memref.store %r, %out[%x] : memref<{COUNT}x{result}>",
    ]
    return LaneKernel(_parameters(COUNT, types, result), "\n".join(body), BLOCK)


def on_vectors(operation: str, types: Sequence[str], result: str) -> LaneKernel:
    """A kernel in which each work-item applies an operation to a vector of each operand."""
    count = VECTORS * LENGTH
    names = [f"%v{i}" for i in range(len(types))]
    loads = [
        f"{name} = vector.load %p{i}[%f] : memref<{count}x{type}>, vector<{LENGTH}x{type}>"
        for i, (name, type) in enumerate(zip(names, types, strict=True))
    ]
    body = [
        "%x = gpu.global_id x",
        f"%length = arith.constant {LENGTH} : index",
        "%f = arith.muli %x, %length : index",
        *loads,
        f"%r = {_filled(operation, names, f'vector<{LENGTH}x{{}}>')}",
        f"vector.store %r, %out[%f] : memref<{count}x{result}>, vector<{LENGTH}x{result}>",
    ]
    return LaneKernel(_parameters(count, types, result), "\n".join(body), (1, 1, 1))


def _filled(operation: str, names: Sequence[str], shape: str) -> str:
    """An operation with its operands, and with its types between < and > as vectors or numbers."""
    text = operation.format(*names)
    while "<<" in text:
        before, _, rest = text.partition("<<")
        type, _, after = rest.partition(">>")
        text = before + shape.format(type) + after
    return text


def _parameters(count: int, types: Sequence[str], result: str) -> str:
    inputs = [f"%p{i}: memref<{count}x{type}>" for i, type in enumerate(types)]
    return ", ".join([*inputs, f"%out: memref<{count}x{result}>"])


def operands(random: np.random.Generator, types: Sequence[str], count: int) -> list[Array]:
    """Edge values and random ones; the second of two integers of one type is not 0."""
    if len(types) == 2 and types[0] == types[1] and types[0] != "i1":
        return [array[:count] for array in pairs(random, np.dtype(DTYPES[types[0]]), COUNT)]
    return [_numbers(random, type, count) for type in types]


def _numbers(random: np.random.Generator, type: str, count: int) -> Array:
    if type == "i1":
        return random.integers(0, 2, count).astype(np.bool_)
    dtype = np.dtype(DTYPES[type])
    if dtype.kind == "c":
        parts = random.normal(0.0, 2.0, (2, count))
        return (parts[0] + 1j * parts[1]).astype(dtype)
    special = special_numbers(dtype)
    rest = random_numbers(random, dtype, count)
    return random.permutation(np.concatenate((special, rest))[:count])
