"""Writes and runs kernels of the upstream dialects."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from xdsl.ir import Operation

from xtile.api import parse
from xtile.semantics.addresses import AddressSpace
from xtile.semantics.arguments import (
    Argument,
    GroupArgument,
    MemrefArgument,
    ScalarArgument,
)
from xtile.semantics.compiler import Compiler
from xtile.semantics.configuration import configuration_of
from xtile.semantics.engine import launch
from xtile.semantics.language import language_of
from xtile.semantics.state import State

Size = tuple[int, int, int]

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i4": np.int8,
    "i8": np.int8,
    "i16": np.int16,
    "i24": np.int32,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "f64": np.float64,
    "f32": np.float32,
    "tf32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}
"""How numpy holds the elements of each type."""


def kernel(parameters: str, body: str, *, attributes: str = "", around: str = "") -> str:
    """The text of a module with the kernel @k.

    Args:
        parameters: The parameters with their types.
        body: The operations, without the return.
        attributes: Attributes of the kernel.
        around: Further functions and variables in the kernel's module.
    """
    tail = f"attributes {{{attributes}}}" if attributes else ""
    return f"""gpu.module @m {{
      {around}
      gpu.func @k({parameters}) kernel {tail} {{
        {body}
        gpu.return
      }}
    }}"""


def function_of(text: str, name: str = "k") -> Operation:
    """The function of that name."""
    functions = [op for op in parse(text, language="mlir").walk() if op.name.endswith(".func")]
    named: dict[str, Operation] = {
        getattr(op.get_attr_or_prop("sym_name"), "data", ""): op for op in functions
    }
    return named[name]


def argument_of(value: Any) -> Argument:
    """Arrays become memrefs with the array's strides, numbers scalars."""
    if isinstance(value, GroupArgument | MemrefArgument | ScalarArgument):
        return value
    if not isinstance(value, np.ndarray):
        return ScalarArgument(value)
    array: np.ndarray[Any, Any] = value
    strides = tuple(stride // array.itemsize for stride in array.strides)
    span = 1 + sum((size - 1) * stride for size, stride in zip(array.shape, strides, strict=True))
    # numpy's as_strided does not know the name of f8E5M2.
    bits = array.view(f"u{array.itemsize}") if array.itemsize <= 8 else array
    flat = np.lib.stride_tricks.as_strided(bits, (span,), (array.itemsize,)).view(array.dtype)
    return MemrefArgument(flat if array.size else flat[:0], array.shape, strides)


def run(text: str, *arguments: Any, grid: Size = (1, 1, 1), block: Size = (1, 1, 1), **more: Any):
    """Runs the kernel @k of a text on numpy arrays and numbers."""
    given = [argument_of(argument) for argument in arguments]
    launch(function_of(text), given, grid, block=block, **more)


def final_values(text: str, block: Size, *names: str) -> dict[str, Any]:
    """The values that a kernel without parameters has computed, by their names in the text."""
    function = function_of(text)
    configuration = configuration_of(function, (1, 1, 1), block)
    compiler = Compiler(configuration, is_observed=False)
    body = language_of(function).compile(function, compiler)
    values = [None] * compiler.slot_count
    state = State(values, (0, 0, 0), configuration, AddressSpace(), None, is_collective=False)
    body.run(state)
    results = [result for op in function.walk() for result in op.results]
    return {r.name_hint: state.values[compiler.slot(r)] for r in results if r.name_hint in names}


def elementwise(operation: str, operands: list[Any], types: list[str], result: str) -> Any:
    """What an operation makes of each element, one for each work-item.

    Args:
        operation: The operation, in which {0}, {1}, ... stand for operands.
        operands: Arrays of one dimension.
        types: The type of each array's elements.
        result: The type of the result.
    """
    count = len(operands[0])
    parameters = [f"%p{i}: memref<{count}x{type}>" for i, type in enumerate(types)]
    loads = [
        f"%v{i} = memref.load %p{i}[%x] : memref<{count}x{type}>" for i, type in enumerate(types)
    ]
    text = kernel(
        ", ".join([*parameters, f"%out: memref<{count}x{result}>"]),
        "\n".join(
            [
                "%x = gpu.global_id x",
                *loads,
                f"%r = {operation.format(*(f'%v{i}' for i in range(len(types))))}",
                f"memref.store %r, %out[%x] : memref<{count}x{result}>",
            ]
        ),
    )
    out = np.zeros(count, DTYPES[result])
    run(text, *operands, out, block=(count, 1, 1))
    return out
