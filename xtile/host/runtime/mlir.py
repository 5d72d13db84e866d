"""The functions of MLIR's runtime libraries: clocks, and what prints and verifies memrefs.

Source: MLIR (LLVM 22), `ExecutionEngine/RunnerUtils.h`, `RunnerUtils.cpp`, `CRunnerUtils.cpp`,
`Float16bits.cpp`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from xtile.host.runtime.function import ELEMENT_TYPES, Context, RuntimeFunction, unranked
from xtile.host.runtime.texts import (
    ELEMENT_TEXTS,
    array_text,
    float_text,
    integer_text,
    unsigned_text,
)
from xtile.semantics.memory import View, uniform_integers
from xtile.semantics.values import Array

_VERIFIED = {"F32": 1e-6, "F64": 1e-12}
"""The relative error up to which floating numbers are equal; all others must be the same."""

_SHOWN_ERRORS = 10


def _seconds(context: Context) -> np.float64:
    """Seconds since 1970."""
    return np.float64(time.time())


def _nanoseconds(context: Context) -> np.int64:
    return np.int64(time.time_ns())


def _print_flops(context: Context, operations: Any) -> None:
    """Shows operations for each second."""
    sys.stderr.write(f"{operations / 1e9:f} GFLOPS\n")


def _metadata_text(context: Context, view: View) -> str:
    """Where a memref lies and which elements it has."""
    (offset,) = uniform_integers((view.offset,))
    sizes = ", ".join(map(str, uniform_integers(view.shape)))
    strides = ", ".join(map(str, uniform_integers(view.strides)))
    return (
        f"base@ = {context.addresses.address_of(view.buffer):#x} rank = {len(view.shape)} "
        f"offset = {offset} sizes = [{sizes}] strides = [{strides}]"
    )


def _print_memref(kind: str, suffix: str) -> Callable[[Context, View], None]:
    def run(context: Context, view: View) -> None:
        elements = array_text(view.array(), ELEMENT_TEXTS[suffix])
        sys.stdout.write(f"{kind} {_metadata_text(context, view)}")
        sys.stdout.write(f" data = \n{elements}\n")

    return run


def _print_shape(context: Context, view: View) -> None:
    sys.stdout.write(f"Unranked Memref {_metadata_text(context, view)}\n")


def _printer(text: Callable[[Any], str]) -> Callable[[Context, Any], None]:
    def run(context: Context, value: Any) -> None:
        sys.stdout.write(text(value))

    return run


def _of_bits(dtype: type) -> Callable[[Any], str]:
    """Shows the number of a 16-bit type that has the bits of an integer."""
    return lambda value: float_text(np.int16(value).view(dtype))


def _writer(text: str) -> Callable[[Context], None]:
    def run(context: Context) -> None:
        sys.stdout.write(text)

    return run


def _verifier(suffix: str) -> Callable[[Context, View, View], np.int64]:
    """Counts the elements that are wrong, and shows the first ones on standard error."""
    text = ELEMENT_TEXTS[suffix]

    def run(context: Context, given: View, expected: View) -> np.int64:
        if _layout(given) != _layout(expected):
            sys.stderr.write(_metadata_text(context, given) + _metadata_text(context, expected))
            return np.int64(-1)
        one, other = given.array(), expected.array()
        wrong = np.argwhere(~_are_equal(suffix, one, other))
        for index in map(tuple, wrong[:_SHOWN_ERRORS]):
            position = given.element([int(number) for number in index])
            sys.stderr.write(f"{text(one[index])} != {text(other[index])} offset = {position}\n")
        return np.int64(len(wrong))

    return run


def _layout(view: View) -> tuple[Any, ...]:
    return view.offset, view.shape, view.strides


def _are_equal(suffix: str, given: Array, expected: Array) -> Array:
    if suffix in ("F16", "BF16"):
        return given.view(np.int16) == expected.view(np.int16)
    if suffix not in _VERIFIED:
        return given == expected
    with np.errstate(all="ignore"):
        limit = given.dtype.type(_VERIFIED[suffix]) * np.abs(expected)
        is_near = np.abs(given - expected) <= limit
    return is_near & np.isfinite(given) & np.isfinite(expected)


_RANKED = {
    "0d": ("F32",),
    "1d": ("I8", "I32", "I64", "Ind", "F32", "F64", "C32", "C64"),
    "2d": ("F32",),
    "3d": ("F32",),
    "4d": ("F32",),
}
"""For each rank the element types of which memrefs of that rank can be printed."""

FUNCTIONS: dict[str, RuntimeFunction] = {
    "nanoTime": RuntimeFunction((), "i64", _nanoseconds),
    "printFlops": RuntimeFunction(("f64",), None, _print_flops),
    "rtclock": RuntimeFunction((), "f64", _seconds),
    "printBF16": RuntimeFunction(("i16",), None, _printer(_of_bits(ml_dtypes.bfloat16))),
    "printClose": RuntimeFunction((), None, _writer(" )")),
    "printComma": RuntimeFunction((), None, _writer(", ")),
    "printF16": RuntimeFunction(("i16",), None, _printer(_of_bits(np.float16))),
    "printF32": RuntimeFunction(("f32",), None, _printer(float_text)),
    "printF64": RuntimeFunction(("f64",), None, _printer(float_text)),
    "printI64": RuntimeFunction(("i64",), None, _printer(integer_text)),
    "printNewline": RuntimeFunction((), None, _writer("\n")),
    "printOpen": RuntimeFunction((), None, _writer("( ")),
    "printU64": RuntimeFunction(("i64",), None, _printer(unsigned_text)),
    **{
        f"printMemref{suffix}": RuntimeFunction(
            (unranked(suffix),), None, _print_memref("Unranked Memref", suffix)
        )
        for suffix in ELEMENT_TYPES
    },
    **{
        f"printMemrefShape{suffix}": RuntimeFunction((unranked(suffix),), None, _print_shape)
        for suffix in ELEMENT_TYPES
        if suffix not in ("I16", "F16", "BF16")
    },
    **{
        f"printMemref{rank}{suffix}": RuntimeFunction(
            (f"memref<{'?x' * int(rank[0])}{ELEMENT_TYPES[suffix]}>",),
            None,
            _print_memref("Memref", suffix),
        )
        for rank, suffixes in _RANKED.items()
        for suffix in suffixes
    },
    **{
        f"verifyMemRef{suffix}": RuntimeFunction(
            (unranked(suffix), unranked(suffix)), "i64", _verifier(suffix)
        )
        for suffix in ELEMENT_TYPES
    },
}
"""The functions by name."""
