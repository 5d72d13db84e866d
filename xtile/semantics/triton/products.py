"""Products of matrices, added to an accumulator.

Products and sums of floats are computed in f64 and rounded once to the accumulator's type; the
order of the additions is not specified. Factors of f32 are first split as `inputPrecision` says.

Source: Triton 3.9, `TritonOps.td`, `lib/Dialect/TritonGPU/Transforms/F32DotTC.cpp`; OCP
Microscaling Formats (MX) 1.0; docs/semantics.md, "Triton".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xtile.dialects.triton.tt.enumerations import InputPrecision, ScaleDotElemType
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.triton.tensors import (
    integer_property,
    number_in,
    optional_slot,
    shape_of,
)
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import FLOATS, Kind, Number
from xtile.semantics.values import Array, Value, choose, contiguous

_PARTS: dict[InputPrecision, tuple[Number, int]] = {
    InputPrecision.TF32: (FLOATS["tf32"], 1),
    InputPrecision.TF32X3: (FLOATS["tf32"], 2),
    InputPrecision.BF16X3: (FLOATS["bf16"], 2),
    InputPrecision.BF16X6: (FLOATS["bf16"], 3),
}
"""The type that factors of f32 are split into, and how many numbers each becomes."""


def _parts(factor: Array, number: Number, count: int) -> list[Array]:
    """Numbers of a type whose sum is close to a factor; what is not finite is in the first."""
    parts: list[Array] = []
    rest = factor
    for _ in range(count):
        part = np.asanyarray(number.rounded(rest)).astype(np.float32)
        parts.append(part.astype(np.float64))
        rest = np.where(np.isfinite(part), rest - part, np.float32(0))
    return parts


def _split_product(lhs: Array, rhs: Array, precision: InputPrecision) -> Array:
    """The product of factors of f32 that are split; products of two small parts are left out."""
    number, count = _PARTS[precision]
    left, right = (_parts(each, number, count) for each in (lhs, rhs))
    pairs = [(i, j) for i in range(count) for j in range(count - i) if i + j]
    rest = np.sum([np.matmul(left[i], right[j]) for i, j in pairs], axis=0)
    # The small parts of what is infinite are 0, and its product with them is NaN.
    return np.matmul(left[0], right[0]) + np.where(np.isnan(rest), 0.0, rest)


def _dot(operation: Any, compiler: Compiler) -> Step:
    factor, other = number_in(operation.a), number_in(operation.b)
    accumulator = number_in(operation.c)
    default = InputPrecision.IEEE
    precision = InputPrecision(integer_property(operation, "inputPrecision", default))
    is_split = precision in _PARTS and factor.text == other.text == "f32"

    def of_floats(lhs: Value, rhs: Value, total: Value) -> Value:
        if is_split:
            product = _split_product(lhs, rhs, precision)
        else:
            product = np.matmul(lhs.astype(np.float64), rhs.astype(np.float64))
        return accumulator.rounded(product + total.astype(np.float64))

    def of_integers(lhs: Value, rhs: Value, total: Value) -> Value:
        product = np.matmul(lhs.astype(np.int64), rhs.astype(np.int64))
        return accumulator.wrapped(product + total.astype(np.int64))

    is_integer = factor.kind is Kind.INTEGER
    return apply(operation, compiler, of_integers if is_integer else of_floats)


_ELEMENTS: dict[ScaleDotElemType, Number] = {
    ScaleDotElemType.E4M3: FLOATS["f8E4M3FN"],
    ScaleDotElemType.E5M2: FLOATS["f8E5M2"],
    ScaleDotElemType.E2M3: FLOATS["f6E2M3FN"],
    ScaleDotElemType.E3M2: FLOATS["f6E3M2FN"],
    ScaleDotElemType.E2M1: FLOATS["f4E2M1FN"],
    ScaleDotElemType.BF16: FLOATS["bf16"],
    ScaleDotElemType.FP16: FLOATS["f16"],
}
"""The numbers that the elements of a scaled product's factor are."""


def unpacked_halves(packed: Array, axis: int) -> Array:
    """The numbers of four bits in bytes, as bytes; the lower half comes first along an axis."""
    data = contiguous(packed).view(np.uint8)
    low, high = data & np.uint8(15), data >> np.uint8(4)
    shape = list(data.shape)
    shape[axis] *= 2
    along = axis % data.ndim + 1
    return np.stack([low, high], axis=along).reshape(shape)


def fp4_numbers(packed: Array, axis: int) -> Array:
    """The f4E2M1FN numbers in bytes, two in each along an axis."""
    return unpacked_halves(packed, axis).view(FLOATS["f4E2M1FN"].dtype)


class _Factor:
    """A factor of a scaled product, in f64 and with its scales.

    Args:
        value: The factor.
        scale: Its scales: those of a row of the left or of a column of the right factor are a row.
        element: What its elements are.
        k_axis: The dimension that is summed over.
        is_packed_along_k: Whether two elements of a byte follow each other in that dimension.
        compiler: Compiles it.
    """

    def __init__(
        self,
        value: SSAValue,
        scale: SSAValue | None,
        element: ScaleDotElemType,
        k_axis: int,
        is_packed_along_k: bool,
        compiler: Compiler,
    ) -> None:
        self._value, self._scale = compiler.slot(value), optional_slot(scale, compiler)
        self._number, self._scale_number = number_in(value), scale and number_in(scale)
        self._element = element
        self._k_axis = k_axis
        self._packed_axis = k_axis if is_packed_along_k else -3 - k_axis

    def wide(self, state: State) -> Array:
        """The factor times its scales."""
        wide = self._elements(np.asanyarray(state.values[self._value])).astype(np.float64)
        if self._scale is None or self._scale_number is None:
            return wide
        scales = scale_values(np.asanyarray(state.values[self._scale]), self._scale_number)
        if self._k_axis == -2:
            scales = np.swapaxes(scales, -1, -2)
        count = wide.shape[self._k_axis] // scales.shape[self._k_axis]
        return wide * np.repeat(scales, count, axis=self._k_axis)

    def _elements(self, value: Array) -> Array:
        if self._number.kind is Kind.FLOAT:
            return value
        if self._element is ScaleDotElemType.E2M1:
            return fp4_numbers(value, self._packed_axis)
        return contiguous(value).view(_ELEMENTS[self._element].dtype)


def scale_values(scales: Array, number: Number) -> Array:
    """Scales in f64: integers are exponents with a bias of 127, of which 255 stands for NaN."""
    if number.kind is Kind.FLOAT:
        return scales.astype(np.float64)
    exponents = contiguous(scales).view(np.uint8).astype(np.int64)
    powers = np.ldexp(np.float64(1), exponents - 127)
    return np.asanyarray(choose(exponents == 255, np.float64(np.nan), powers))


def _dot_scaled(operation: Any, compiler: Compiler) -> Step:
    def factor(name: str, side: str, k_axis: int) -> _Factor:
        element = ScaleDotElemType(integer_property(operation, f"{name}_elem_type"))
        is_packed = bool(integer_property(operation, f"{side}_k_pack", 1))
        value, scale = getattr(operation, name), getattr(operation, f"{name}_scale")
        return _Factor(value, scale, element, k_axis, is_packed, compiler)

    left, right = factor("a", "lhs", -1), factor("b", "rhs", -2)
    accumulator = number_in(operation.c)
    total, result = compiler.slots((operation.c, operation.d))

    def step(state: State) -> None:
        product = np.matmul(left.wide(state), right.wide(state))
        acc = state.values[total].astype(np.float64)
        state.values[result] = accumulator.rounded(product + acc)

    return step


def _fp4_to_fp(operation: Any, compiler: Compiler) -> Step:
    axis, number = integer_property(operation, "axis"), number_in(operation.result)

    def function(packed: Value) -> Value:
        return number.rounded(fp4_numbers(packed, axis).astype(np.float32))

    return apply(operation, compiler, function)


def _scaled_upcast(operation: Any, compiler: Compiler) -> Step:
    """Numbers times scales, of which there is one for each number.

    Scales of integers or of bf16 hold the exponents of powers of two.
    """
    source, scale = operation.operands
    number, source_number = number_in(operation.results[0]), number_in(source)
    scale_number = number_in(scale)
    shape = shape_of(operation.results[0])
    axis = integer_property(operation, "axis")

    def function(value: Value, scales: Value) -> Value:
        is_packed = source_number.kind is Kind.INTEGER
        elements = fp4_numbers(value, axis) if is_packed else value
        factors = spread(scale_values(scales, scale_number), shape)
        return number.rounded(elements.astype(np.float64) * factors)

    return apply(operation, compiler, function)


def spread(scales: Array, shape: Sequence[int]) -> Array:
    """Scales for each element, where one scale may stand for several that follow each other."""
    for axis, size in enumerate(shape):
        if scales.shape[axis] != size:
            scales = np.repeat(scales, size // scales.shape[axis], axis=axis)
    return scales


def _upcast_mxfp(operation: Any, compiler: Compiler) -> Step:
    """Numbers times scales, of which there is one for 32 numbers along K."""
    element = ScaleDotElemType(integer_property(operation, "fp_type"))
    number, scale_number = number_in(operation.result), number_in(operation.scale)
    shape, k_axis = shape_of(operation.result), operation.k_axis
    is_right = k_axis != len(shape) - 1

    def function(value: Value, scales: Value) -> Value:
        is_packed = element is ScaleDotElemType.E2M1
        dtype = _ELEMENTS[element].dtype
        elements = fp4_numbers(value, k_axis) if is_packed else np.asanyarray(value).view(dtype)
        powers = scale_values(scales, scale_number)
        factors = spread(np.swapaxes(powers, -1, -2) if is_right else powers, shape)
        return number.rounded(elements.astype(np.float64) * factors)

    return apply(operation, compiler, function)


HANDLERS: dict[str, Handler] = {
    "amdg.scaled_upcast_fp4": _scaled_upcast,
    "amdg.scaled_upcast_fp8": _scaled_upcast,
    "amdg.upcast_mxfp": _upcast_mxfp,
    "tt.dot": _dot,
    "tt.dot_scaled": _dot_scaled,
    "ttg.fp4_to_fp": _fp4_to_fp,
}
"""The handler of each operation, by name."""
