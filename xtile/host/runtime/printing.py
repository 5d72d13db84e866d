"""Functions that print numbers and memrefs.

Source: MLIR (LLVM 22), `ExecutionEngine/RunnerUtils.h`, `CRunnerUtils.cpp`, `Float16bits.cpp`.
"""

from __future__ import annotations

import sys
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


def metadata_text(context: Context, view: View) -> str:
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
        sys.stdout.write(f"{kind} {metadata_text(context, view)}")
        sys.stdout.write(f" data = \n{elements}\n")

    return run


def _print_shape(context: Context, view: View) -> None:
    sys.stdout.write(f"Unranked Memref {metadata_text(context, view)}\n")


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


_RANKED = {
    "0d": ("F32",),
    "1d": ("I8", "I32", "I64", "Ind", "F32", "F64", "C32", "C64"),
    "2d": ("F32",),
    "3d": ("F32",),
    "4d": ("F32",),
}
"""For each rank the element types of which memrefs of that rank can be printed."""

FUNCTIONS: dict[str, RuntimeFunction] = {
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
}
"""The functions by name."""
