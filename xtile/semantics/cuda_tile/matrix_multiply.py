"""Products of matrices, added to an accumulator.

Products and sums of floats are computed in f64 and rounded once to the accumulator's type; the
order of the additions is not specified. So is what a device rounds in between: it is within the
error of any order of summation in the accumulator's type. `fast_acc` changes nothing here.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`; docs/semantics.md, "CUDA Tile IR: numbers".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.integer import signedness_of
from xtile.semantics.cuda_tile.numbers import operand_number
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Array, contiguous, is_exact

_TF32_MASK = np.uint32(0xFFFFE000)
"""The bits of an f32 that a tensor core reads of a tf32."""


def _wide(value: Array, number: Number) -> Array:
    """The factors in f64."""
    if number.text == "tf32" and not is_exact(value):
        value = (contiguous(value).view(np.uint32) & _TF32_MASK).view(np.float32)
    return value.astype(np.float64)


def float_product(factor: Number, accumulator: Number) -> Callable[..., Array]:
    """The function of two factors and an accumulator, each a matrix or a batch of matrices."""

    def function(lhs: Array, rhs: Array, acc: Array) -> Array:
        total = np.matmul(_wide(lhs, factor), _wide(rhs, factor)) + acc.astype(np.float64)
        return accumulator.rounded(total)

    return function


def scaled_product(
    lhs: Array, rhs: Array, acc: Array, lhs_scale: Array | None, rhs_scale: Array | None
) -> Array:
    """A product of factors with scales, and an accumulator of f32.

    A scale belongs to a block of consecutive factors along the dimension that is summed over.
    """
    left, right = _scaled(lhs, lhs_scale, -1), _scaled(rhs, rhs_scale, -2)
    return (np.matmul(left, right) + acc.astype(np.float64)).astype(np.float32)


def _scaled(factor: Array, scale: Array | None, axis: int) -> Array:
    """A factor in f64, times its scales if it has some."""
    wide = factor.astype(np.float64)
    if scale is None:
        return wide
    block = factor.shape[axis] // scale.shape[axis]
    return wide * np.repeat(scale.astype(np.float64), block, axis=axis)


def integer_product(lhs_signedness: Signedness, rhs_signedness: Signedness) -> Callable[..., Array]:
    """The function of two factors of i8 and an accumulator of i32, which wraps around."""

    def function(lhs: Array, rhs: Array, acc: Array) -> Array:
        left, right = _integers(lhs, lhs_signedness), _integers(rhs, rhs_signedness)
        # f64 holds these sums exactly: a tile has at most 2^24 elements, of less than 2^16 each.
        total: Any = np.matmul(left, right)
        return (total.astype(np.int64) + acc).astype(np.int32)

    return function


def _integers(value: Array, signedness: Signedness) -> Array:
    is_signed = signedness is Signedness.SIGNED
    return (value if is_signed else value.view(np.uint8)).astype(np.float64)


def _mmaf(operation: Operation, compiler: Compiler) -> Step:
    factor, accumulator = operand_number(operation), operand_number(operation, 2)
    return apply(operation, compiler, float_product(factor, accumulator))


def _mmaf_scaled(operation: Operation, compiler: Compiler) -> Step:
    return apply(operation, compiler, scaled_product)


def _mmai(operation: Operation, compiler: Compiler) -> Step:
    lhs, rhs = (signedness_of(operation, f"signedness_{side}") for side in ("lhs", "rhs"))
    return apply(operation, compiler, integer_product(lhs, rhs))


HANDLERS: dict[str, Handler] = {
    "cuda_tile.mmaf": _mmaf,
    "cuda_tile.mmaf_scaled": _mmaf_scaled,
    "cuda_tile.mmai": _mmai,
}
"""The handler of each operation, by name."""
