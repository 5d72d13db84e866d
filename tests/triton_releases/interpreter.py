"""Runs functions with Triton's interpreter, in a process that has Triton and TRITON_INTERPRET."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

_ALIGNMENT = 64
"""Of arrays in bytes; the interpreter asks for 16 under descriptors."""


def interpret(
    function: Any,
    grid: Sequence[int],
    arguments: Mapping[str, Any],
    arrays: Mapping[str, str],
    types: Mapping[str, str],
) -> dict[str, str]:
    """Runs a function.

    Args:
        function: With `triton.jit`.
        grid: The programs along each dimension.
        arguments: Constants and numbers.
        arrays: The bytes of arrays, in base 64.
        types: Triton's names of the types of their elements.

    Returns:
        The bytes of the arrays afterwards, in base 64.
    """
    _repair_interpreter()
    tensors = {n: _Tensor(_aligned(base64.b64decode(a)), types[n]) for n, a in arrays.items()}
    function[tuple(grid)](**{**arguments, **tensors})
    return {n: base64.b64encode(t.array.tobytes()).decode() for n, t in tensors.items()}


class _Tensor:
    """Memory of numpy with what Triton's interpreter asks of PyTorch's tensors.

    The interpreter would copy them to the host and back; this is there, and as one piece.
    """

    def __init__(self, array: Any, type_: str) -> None:
        self.array = array
        self.dtype = type_

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def itself(self, *_: Any, **__: Any) -> _Tensor:
        return self

    untyped_storage = cpu = new_empty = set_ = copy_ = storage_offset = size = stride = itself


@cache
def _repair_interpreter() -> None:
    """Lets the interpreter compute with numbers in bf16, and round to the nearest.

    That of Triton 3.9 computes with the bits of bf16, cuts them off where f32 is rounded to it, and
    loses the carry into the exponent where it rounds to 8 bits.
    """
    interpreter: Any = import_module("triton.runtime.interpreter")
    tl: Any = import_module("triton.language")
    builder = interpreter.InterpreterBuilder
    types = {
        "fp16": np.float16,
        "fp32": np.float32,
        "fp64": np.float64,
        "bf16": ml_dtypes.bfloat16,
        "fp8e4nv": ml_dtypes.float8_e4m3fn,
        "fp8e5": ml_dtypes.float8_e5m2,
        "fp8e4b8": ml_dtypes.float8_e4m3fnuz,
        "fp8e5b16": ml_dtypes.float8_e5m2fnuz,
    }
    toward_zero = interpreter._ir.ROUNDING_MODE.RTZ
    cut_off, compute, multiply = (
        interpreter._convert_float,
        builder.binary_op,
        builder.create_dot,
    )

    def convert(x: Any, from_: Any, to: Any, mode: Any) -> Any:
        if mode == toward_zero:
            return cut_off(x, from_, to, mode)
        source, target = np.dtype(types[from_.name]), np.dtype(types[to.name])
        return x.view(source).astype(target).view(f"u{target.itemsize}")

    def widened(self: Any, x: Any) -> Any:
        return self.cast_impl(x, tl.float32) if x.dtype.scalar == tl.bfloat16 else x

    def binary_op(self: Any, a: Any, b: Any, operation: Any) -> Any:
        is_narrow = a.dtype.scalar == tl.bfloat16
        done = compute(self, widened(self, a), widened(self, b), operation)
        if not is_narrow:
            return done
        if done.data.dtype == np.bool_:
            return interpreter.TensorHandle(done.data, a.dtype.scalar)
        return self.cast_impl(done, tl.bfloat16)

    def create_dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        return multiply(self, widened(self, a), widened(self, b), *rest)

    interpreter._convert_float = convert
    builder.binary_op = binary_op
    builder.create_dot = create_dot


def _aligned(data: bytes) -> Any:
    memory = np.zeros(len(data) + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    array = memory[start : start + len(data)]
    array[:] = np.frombuffer(data, np.uint8)
    return array
