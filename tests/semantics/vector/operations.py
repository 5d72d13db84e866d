"""Runs single operations on vectors, with other operands in each work-item."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.semantics.upstream.kernels import DTYPES, kernel, run

WORK_ITEMS = 4

Array = np.ndarray[Any, Any]


def shape_and_element(type: str) -> tuple[tuple[int, ...], str]:
    """The shape of a type and the text of its elements: `vector<2x3xf32>`, or `f32`."""
    match = re.fullmatch(r"vector<((?:\d+x)*)(.*)>", type)
    if match is None:
        return (), type
    return tuple(int(size) for size in match[1].split("x")[:-1]), match[2]


def numpy_type(type: str) -> Any:
    """How numpy holds the elements of a type."""
    return DTYPES[shape_and_element(type)[1]]


def random_operand(rng: np.random.Generator, type: str) -> Array:
    """Operands of a type: one for each work-item, with small numbers of both signs."""
    shape, element = shape_and_element(type)
    least, past = (0, 2) if element == "i1" else (-7, 8)
    return rng.integers(least, past, (WORK_ITEMS, *shape)).astype(DTYPES[element])


def evaluate(
    operation: str,
    operands: Sequence[tuple[str, Array]],
    *results: str,
    before: str = "",
    memories: Mapping[str, tuple[str, Array]] | None = None,
) -> Any:
    """What an operation makes of operands that differ between work-items.

    Args:
        operation: The operation without its results; {0}, {1}, ... stand for operands.
        operands: The type of each operand, and an array with one of them for each work-item.
        results: The types of the results.
        before: Operations that stand before it.
        memories: Memrefs that the operations use, by name, with their types.

    Returns:
        An array with the result of each work-item, or a list with one for each result.
    """
    types = [type for type, _ in operands]
    outputs = [np.zeros((WORK_ITEMS, *shape_and_element(r)[0]), numpy_type(r)) for r in results]
    shared = memories or {}
    parameters = [f"{name}: {type}" for name, (type, _) in shared.items()]
    parameters += [f"%p{i}: {_memref(type)}" for i, type in enumerate(types)]
    parameters += [f"%o{i}: {_memref(type)}" for i, type in enumerate(results)]
    given = operation.format(*(f"%v{i}" for i in range(len(types))))
    names = ", ".join(f"%r{i}" for i in range(len(results)))
    lines = ["%x = gpu.thread_id x", "%zero = arith.constant 0 : index"]
    lines += [f"%v{i} = {_load(f'%p{i}', type)}" for i, type in enumerate(types)]
    lines += [before, f"{names} = {given}" if results else given]
    lines += [_store(f"%r{i}", f"%o{i}", type) for i, type in enumerate(results)]
    text = kernel(", ".join(parameters), "\n".join(lines))
    arrays = [array for _, array in (*shared.values(), *operands)]
    run(text, *arrays, *outputs, block=(WORK_ITEMS, 1, 1))
    return outputs[0] if len(outputs) == 1 else outputs


def _memref(type: str) -> str:
    shape, element = shape_and_element(type)
    return f"memref<{'x'.join(map(str, (WORK_ITEMS, *shape)))}x{element}>"


def _position(type: str) -> str:
    return ", ".join(["%x", *["%zero"] * len(shape_and_element(type)[0])])


def _load(memref: str, type: str) -> str:
    if not type.startswith("vector"):
        return f"memref.load {memref}[%x] : {_memref(type)}"
    return f"vector.load {memref}[{_position(type)}] : {_memref(type)}, {type}"


def _store(value: str, memref: str, type: str) -> str:
    if not type.startswith("vector"):
        return f"memref.store {value}, {memref}[%x] : {_memref(type)}"
    return f"vector.store {value}, {memref}[{_position(type)}] : {_memref(type)}, {type}"
