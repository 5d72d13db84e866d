"""Kernels that apply one operation to each number of a tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tests.samples import one_of
from tests.semantics.upstream.kernels import DTYPES
from tests.transforms.distribute.kernels import printed, read
from tests.translate.core_to_cuda_tile.entries import (
    CHIPS,
    assemble_for_all,
    entry_of,
    functions_of,
    launch_entry,
    tile_function,
    verify,
)
from xtile.semantics.arguments import Argument, MemrefArgument, ScalarArgument
from xtile.semantics.engine import launch
from xtile.targets import NVIDIA
from xtile.translate.core_to_cuda_tile import translate_module

Array = np.ndarray[Any, Any]

COUNT = 512
"""The numbers that a kernel is run on."""


def on_tile(operation: str, types: Sequence[str], result: str) -> tuple[str, str]:
    """The parameters and the body of a kernel that applies an operation to tiles.

    Args:
        operation: The operation, in which {0}, {1}, ... stand for operands, and types stand
            between << and >>.
        types: The types of the operands.
        result: The type of the result.
    """
    names = [f"%v{i}" for i in range(len(types))]
    reads = [
        f"{name} = vector.load %p{i}[%c0] : memref<{COUNT}x{type}>, vector<{COUNT}x{type}>"
        for i, (name, type) in enumerate(zip(names, types, strict=True))
    ]
    text = operation.format(*names).replace("<<", f"vector<{COUNT}x").replace(">>", ">")
    body = [
        "%c0 = arith.constant 0 : index",
        *reads,
        f"%r = {text}",
        f"vector.store %r, %out[%c0] : memref<{COUNT}x{result}>, vector<{COUNT}x{result}>",
    ]
    return _parameters(types, result), "\n".join(body)


def on_scalar(operation: str, types: Sequence[str], result: str) -> tuple[str, str]:
    """The same with the first number of each operand, in a loop over the others."""
    names = [f"%v{i}" for i in range(len(types))]
    reads = [
        f"{name} = memref.load %p{i}[%i] : memref<{COUNT}x{type}>"
        for i, (name, type) in enumerate(zip(names, types, strict=True))
    ]
    text = operation.format(*names).replace("<<", "").replace(">>", "")
    body = [
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        f"%count = arith.constant {COUNT} : index",
        "scf.for %i = %c0 to %count step %c1 {",
        *reads,
        f"%r = {text}",
        f"memref.store %r, %out[%i] : memref<{COUNT}x{result}>",
        "}",
    ]
    return _parameters(types, result), "\n".join(body)


def _parameters(types: Sequence[str], result: str) -> str:
    inputs = [f"%p{i}: memref<{COUNT}x{type}>" for i, type in enumerate(types)]
    return ", ".join([*inputs, f"%out: memref<{COUNT}x{result}>"])


def unwritten(result: str) -> Array:
    """Memory for results: what is left of it shows."""
    dtype = np.dtype(DTYPES[result])
    return np.full(COUNT, np.nan if dtype.kind in "fcV" else 77, dtype)


class TileKernels:
    """Kernels that are translated together.

    Args:
        kernels: The parameters and the body of each.
    """

    def __init__(self, kernels: Mapping[str, tuple[str, str]]) -> None:
        functions = "\n".join(tile_function(*kernel, name=name) for name, kernel in kernels.items())
        self._kernels = kernels
        self.source = read(f"gpu.module @m {{\n{functions}\n}}")
        self._functions = {f.sym_name.data: f for f in functions_of(self.source)}

    @cached_property
    def module(self) -> Any:
        """What they have become."""
        module = translate_module(self.source, NVIDIA.chips["sm_90"])
        verify(module)
        return read(printed(module))

    @cached_property
    def _entries(self) -> dict[str, Any]:
        names = self._functions
        return {name: entry_of(self.module, name) for name in names}

    def assemble(self) -> None:
        """Has `tileiras` compile them for the oldest architecture, and some for the newest."""
        assemble_for_all(self.module, CHIPS[:1])
        sample = dict(one_of(4, self._kernels.items()) or self._kernels.items())
        assemble_for_all(TileKernels(sample).module, CHIPS[-1:])

    def on_both(self, name: str, *values: Any) -> list[tuple[Array, Array]]:
        """The arrays after runs of a kernel and of its entry, from equal arguments."""
        expected, found = ([_copied(value) for value in values] for _ in range(2))
        function = self._functions[name]
        launch(function, [_argument(value) for value in expected], (1, 1, 1))
        launch_entry(function, self._entries[name], [_argument(value) for value in found])
        return [
            (first, second)
            for first, second in zip(expected, found, strict=True)
            if isinstance(first, np.ndarray)
        ]


def _argument(value: Any) -> Argument:
    if not isinstance(value, np.ndarray):
        return ScalarArgument(value)
    return MemrefArgument(value, value.shape, (1,))


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def same(expected: Array, found: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where two arrays hold the same bits, or NaN."""
    with np.errstate(invalid="ignore"):
        is_nan = (expected != expected) & (found != found)
    size = expected.dtype.itemsize
    first, second = (np.ascontiguousarray(a).view(f"V{size}") for a in (expected, found))
    return is_nan | (first == second)
