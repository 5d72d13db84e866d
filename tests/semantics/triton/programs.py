"""Runs a body of operations of Triton as a kernel, on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import xtile
from xtile.dialects.reading import parse
from xtile.semantics.upstream.numbers import FLOATS

Array = Any

DTYPES: dict[str, np.dtype[Any]] = {
    "i1": np.dtype(np.bool_),
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{text: number.dtype for text, number in FLOATS.items()},
}
"""How numpy holds the elements of each type."""

_NAMES = {dtype: text for text, dtype in reversed(DTYPES.items())}


def tensor(shape: Sequence[int], element: str) -> str:
    """The text of a tensor's type; a scalar has no shape."""
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape else element


def computed(
    body: str, operands: Sequence[Array], results: Sequence[tuple[Sequence[int], str]]
) -> list[Array]:
    """What operations make of operands.

    Args:
        body: Operations on %0, %1, ..., which give %r0, %r1, ....
        operands: Arrays and numpy scalars, whose types follow from them.
        results: The shape and the type of the elements of each result.
    """
    module, arrays = kernel(body, operands, results)
    xtile.run(module, arrays)
    given = arrays[len(operands) :]
    return [array.reshape(shape) for array, (shape, _) in zip(given, results, strict=True)]


def kernel(
    body: str, operands: Sequence[Array], results: Sequence[tuple[Sequence[int], str]]
) -> tuple[Any, list[Array]]:
    """The kernel of `computed`, and its arguments: outputs are filled with NaN, or with -1."""
    lines: list[str] = []
    arrays: list[Array] = []
    for number, operand in enumerate(operands):
        array = np.asarray(operand)
        element = _NAMES[array.dtype]
        lines += _pointers(f"in{number}", array.shape, element)
        lines += _load(number, array.shape, element)
        arrays.append(_stored(array))
    for number, (shape, element) in enumerate(results):
        lines += _pointers(f"out{number}", shape, element)
        arrays.append(_wrong(int(np.prod(shape)), element))
    lines.append(body)
    for number, (shape, element) in enumerate(results):
        lines += _store(number, shape, element)
    types = [_NAMES[np.asarray(each).dtype] for each in operands]
    names = [f"%in{number}: !tt.ptr<{_held(type)}>" for number, type in enumerate(types)]
    names += [f"%out{n}: !tt.ptr<{_held(element)}>" for n, (_, element) in enumerate(results)]
    text = "\n".join(lines)
    return parse(
        f"tt.func public @kernel({', '.join(names)}) {{\n{text}\ntt.return\n}}\n", language="mlir"
    ), arrays


def _held(element: str) -> str:
    """What memory holds for elements."""
    return "i8" if element == "i1" else element


def _stored(array: Array) -> Array:
    held = array.astype(np.int8) if array.dtype == np.bool_ else array
    return np.ascontiguousarray(held).reshape(-1).copy()


def _wrong(count: int, element: str) -> Array:
    dtype = DTYPES[_held(element)]
    is_float = dtype.kind not in "iu"
    return np.full(count, np.nan if is_float else -1, dtype)


def _pointers(name: str, shape: Sequence[int], element: str) -> list[str]:
    """A tensor of pointers to the elements of memory in row-major order."""
    if not shape:
        return []
    count, pointer = int(np.prod(shape)), f"!tt.ptr<{_held(element)}>"
    flat, shaped = tensor([count], pointer), tensor(shape, pointer)
    numbers = tensor([count], "i32")
    return [
        f"%{name}_r = tt.make_range {{end = {count} : i32, start = 0 : i32}} : {numbers}",
        f"%{name}_s = tt.splat %{name} : {pointer} -> {flat}",
        f"%{name}_a = tt.addptr %{name}_s, %{name}_r : {flat}, {numbers}",
        f"%{name}_p = tt.reshape %{name}_a : {flat} -> {shaped}",
    ]


def _load(number: int, shape: Sequence[int], element: str) -> list[str]:
    pointer = f"%in{number}_p" if shape else f"%in{number}"
    type = tensor(shape, f"!tt.ptr<{_held(element)}>")
    if element != "i1":
        return [f"%{number} = tt.load {pointer} : {type}"]
    held, made = tensor(shape, "i8"), tensor(shape, "i1")
    return [
        f"%held{number} = tt.load {pointer} : {type}",
        f"%{number} = arith.trunci %held{number} : {held} to {made}",
    ]


def _store(number: int, shape: Sequence[int], element: str) -> list[str]:
    pointer = f"%out{number}_p" if shape else f"%out{number}"
    type = tensor(shape, f"!tt.ptr<{_held(element)}>")
    if element != "i1":
        return [f"tt.store {pointer}, %r{number} : {type}"]
    held, made = tensor(shape, "i8"), tensor(shape, "i1")
    return [
        f"%heldr{number} = arith.extui %r{number} : {made} to {held}",
        f"tt.store {pointer}, %heldr{number} : {type}",
    ]
