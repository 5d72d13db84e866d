"""Runs a kernel of any language with the errors that another compiler or device may make.

What is rounded once, such as a product, is exact, and so are integers. What remains:

- A function, such as `exp`, is off by as many units in the last place as OpenCL C allows it.
- A quotient or a root in f32 is off by 2 units in Triton, and may take subnormal numbers for zeros.
- A product that is added may have been rounded before or not, where a source leaves it open.
- A sum of n terms is off by as much as its order may change it: n units of roundoff of the
  sum of the terms' magnitudes, which the same operation gives on the magnitudes of its operands
  (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2), and by one rounding.
  A region that combines narrow numbers rounds in each step, so that the unit is theirs.

Each run makes these errors in random directions, through the whole kernel, so what a few runs
differ by at the end is what such errors may grow to (`outcomes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard, cast

import ml_dtypes
import numpy as np
from xdsl.ir import Operation

from xtile.checking.tolerances import TOLERANCES
from xtile.dialects.tensorlang.types import F32
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Buffer, View
from xtile.semantics.state import State
from xtile.semantics.values import Array, Value

_REFERENCE = 4.0
"""What the reference device may be off, in units in the last place (docs/semantics.md, 1.10)."""

_MEASURED = {
    name: tolerance.ulps[F32] for name, tolerance in TOLERANCES.items() if F32 in tolerance.ulps
}

_OPENCL = {
    "acos": 4.0,
    "acosh": 4.0,
    "asin": 4.0,
    "asinh": 4.0,
    "atan": 5.0,
    "atan2": 6.0,
    "atanh": 5.0,
    "cbrt": 2.0,
    "cosh": 4.0,
    "erf": 16.0,
    "erfc": 16.0,
    "exp10": 3.0,
    "expm1": 3.0,
    "log10": 3.0,
    "log1p": 2.0,
    "pow": 16.0,
    "powf": 16.0,
    "fpowi": 16.0,
    "rsqrt": 2.0,
    "sinh": 4.0,
    "tan": 5.0,
    "tanh": 5.0,
    "sincos": 4.0,
    "approx_divf": 2.5,
    "extern_elementwise": 16.0,
}
"""OpenCL C 3.0, section 7.4 "Relative Error as ULPs", full profile, for f32."""

FUNCTIONS: Mapping[str, float] = {
    **{name: ulps + _REFERENCE for name, ulps in _OPENCL.items()},
    **_MEASURED,
}
"""For the last word of an operation's name how many units in the last place it may be off."""

_ROUGH = 1.0
"""How many units in the last place a run moves f32 quotients and roots that may be approximations.

Triton allows them 2 (PTX's `div.full.f32`; its `sqrt.approx.f32` is within 1). The comparison
allows 4 times as much as a run is off, and 8 units are a mistake.
"""

_MAY_BE_ROUGH = frozenset({"approx_divf", "div", "divf", "sqrt", "precise_divf", "precise_sqrt"})
"""The last words of the names of quotients and roots that some language computes roughly."""

_ROUGH_WORDS = ("afn", "approx", "arcp", "fast>", "full")
"""Words in attributes of those that need not be rounded to nearest."""

_PRODUCTS = frozenset(
    {
        *("gemm", "gemv", "cooperative_matrix_mul_add", "contract"),
        *("dot", "dot_scaled", "mmaf", "mmaf_scaled", "dpas", "mfma", "wmma"),
        *("matmul", "batch_matmul", "matvec", "vecmat", "generic"),
    }
)
"""The last words of the names of operations that multiply matrices."""

SUMS = _PRODUCTS | frozenset(
    {
        *("axpby", "cumsum", "ger", "hadamard", "sum", "cooperative_matrix_reduce_add"),
        *("subgroup_reduce_add", "subgroup_inclusive_scan_add", "subgroup_exclusive_scan_add"),
        *("subgroup_scan", "subgroup_reduce", "all_reduce", "outerproduct"),
        *("multi_reduction", "reduction", "scan", "reduce", "softmax"),
    }
)
"""Those of operations that may add up, in an order that is not specified."""

_ATOMIC = frozenset(
    {"atomic_add", "atomic_update", "atomic_rmw", "atomic_rmw_tko", "atomic_red_view_tko"}
)
"""Those of operations that add to memory in the order in which work-items come."""

_ADDED_AT_ONCE = 64
"""How many numbers are taken to be added to one by atomic operations."""

_KEEPS_ORDER = ("max", "min")
"""Words in what an operation combines floating numbers by that no order changes."""

_NARROW_PART = 0.25
"""The part of its bound that a run moves a sum by that is rounded to a narrow type in each step.

The comparison allows 4 times as much, which is the bound, and more of so large an error would hide
mistakes.
"""

_TF32 = 2.0**-10
"""How far from an f32 its tf32 may be, and twice the same for the product of two."""

Random: TypeAlias = np.random.Generator


def has_rounding_errors(function: Operation) -> bool:
    """Whether a kernel has an operation that is not exact."""
    return any(
        _word(each) in FUNCTIONS or _is_sum(each) or _may_be_fused(each) or _is_rough(each)
        for each in function.walk()
    )


def has_exact_quotients(function: Operation) -> bool:
    """Whether a kernel has quotients or roots that are rounded to nearest."""
    return any(_word(each) in _MAY_BE_ROUGH and not _is_rough(each) for each in function.walk())


def has_rough_quotients(function: Operation) -> bool:
    """Whether a kernel has quotients or roots that need not be rounded to nearest in f32."""
    return any(map(_is_rough, function.walk()))


class RoundingErrors:
    """An instrument of the engine: every inexact operation gives another result that it may give.

    Args:
        random: Chooses the errors.
        overflow: What a sum becomes that overflows in some order: an infinity, or NaN.
        flushes: Whether approximations take subnormal numbers for zeros.
        is_rough: Whether all quotients and roots in f32 may be approximations, for a port in which
            some are.
    """

    def __init__(
        self,
        random: Random,
        overflow: float,
        *,
        flushes: bool = False,
        is_rough: bool = False,
    ) -> None:
        self._random = random
        self._overflow = overflow
        self._flushes = flushes
        self._has_rough = is_rough

    def __call__(self, operation: Operation, step: Step, compiler: Compiler) -> Step:
        """The step with errors."""
        word = _word(operation)
        if word in FUNCTIONS:
            return self._function(FUNCTIONS[word], operation, step, compiler)
        if _is_rough(operation) or (self._has_rough and word in _MAY_BE_ROUGH):
            return self._approximate(operation, step, compiler)
        if _may_be_fused(operation):
            return self._fused(operation, step, compiler)
        if not _is_sum(operation):
            return step
        if word in _ATOMIC:
            return self._atomic(operation, step, compiler)
        return self._sum(operation, step, compiler)

    def _function(self, ulps: float, operation: Operation, step: Step, compiler: Compiler) -> Step:
        results = compiler.slots(operation.results)

        def with_errors(state: State) -> None:
            step(state)
            for slot in results:
                value = state.values[slot]
                if _is_inexact(value):
                    state.values[slot] = self._moved(value, ulps * unit_of(value))

        return with_errors

    def _approximate(self, operation: Operation, step: Step, compiler: Compiler) -> Step:
        """A quotient or root, which may be an approximation in f32; infinities and NaN stay."""
        operands, results = compiler.slots(operation.operands), compiler.slots(operation.results)

        def with_errors(state: State) -> None:
            given = [state.values[slot] for slot in operands]
            if self._flushes:
                for slot, value in zip(operands, given, strict=True):
                    state.values[slot] = _flushed(value)
            step(state)
            for slot, value in zip(operands, given, strict=True):
                state.values[slot] = value
            for slot in results:
                value = state.values[slot]
                if _is_f32(value):
                    moved = self._moved(value, _ROUGH * unit_of(value))
                    state.values[slot] = _flushed(moved) if self._flushes else moved

        return with_errors

    def _fused(self, operation: Operation, step: Step, compiler: Compiler) -> Step:
        """A sum with a product that may have been rounded before, or not."""
        operands = compiler.slots(operation.operands)
        (result,) = compiler.slots(operation.results)

        def with_errors(state: State) -> None:
            given = [np.asarray(state.values[slot]) for slot in operands]
            with np.errstate(all="ignore"):
                # Of an fma the product is known by its factors only.
                terms = given if len(given) == 2 else [given[0] * given[1]]
            step(state)
            value = state.values[result]
            error = np.maximum(unit_of(value), np.maximum.reduce([*map(unit_of, terms)]))
            state.values[result] = self._moved(value, error)

        return with_errors

    def _atomic(self, operation: Operation, step: Step, compiler: Compiler) -> Step:
        operands = compiler.slots(operation.operands)

        def with_errors(state: State) -> None:
            before = [state.values[slot] for slot in operands]
            for slot, value in zip(operands, before, strict=True):
                if _is_inexact(value):
                    error = _ADDED_AT_ONCE * unit_of(value)
                    state.values[slot] = self._moved(value, error)
            step(state)
            for slot, value in zip(operands, before, strict=True):
                state.values[slot] = value

        return with_errors

    def _sum(self, operation: Operation, step: Step, compiler: Compiler) -> Step:
        operands = compiler.slots(operation.operands)
        outcomes = compiler.slots(operation.results or operation.operands[-1:])
        product_error = _TF32 if "tf32" in str(operation.attributes | operation.properties) else 0.0

        def with_errors(state: State) -> None:
            given = [state.values[slot] for slot in operands]
            magnitudes = _magnitudes(state, step, operands, outcomes)
            step(state)
            if magnitudes is None:
                return
            for slot, magnitude in zip(outcomes, magnitudes, strict=True):
                value = state.values[slot]
                numbers = _array_of(value)
                if numbers is None or magnitude is None or numbers.shape != magnitude.shape:
                    continue
                terms = _terms(operation, given, numbers)
                roundoff = _step_roundoff(operation, numbers.dtype)
                relative = (terms + 2) * roundoff + product_error
                error = relative * _finite(magnitude) + unit_of(numbers)
                moved = self._moved(self._overflowed(numbers, magnitude), error)
                if isinstance(value, View):
                    numbers[...] = moved
                else:
                    state.values[slot] = moved

        return with_errors

    def _overflowed(self, numbers: Array, magnitude: Array) -> Array:
        """Sums, of which those are no numbers that overflow in some order."""
        if not np.any(np.isinf(magnitude)):
            return numbers
        other = np.full(numbers.shape, self._overflow).astype(numbers.dtype)
        return np.where(np.isinf(magnitude), other, numbers)

    def _moved(self, value: Value, error: Array) -> Value:
        """Numbers that are off by `error`, all in one direction or each in its own."""
        value = np.asarray(value)
        shape = () if self._random.random() < 0.5 else value.shape
        error = np.where(np.isfinite(value), error, 0.0)
        if value.dtype.kind == "c":
            direction = np.exp(1j * self._random.uniform(0.0, 2 * np.pi, shape))
            return (value.astype(np.complex128) + error * direction).astype(value.dtype)[()]
        direction = self._random.choice((-1.0, 1.0), shape)
        with np.errstate(all="ignore"):
            return (value.astype(np.float64) + error * direction).astype(value.dtype)[()]


def unit_of(value: Value) -> Array:
    """The distance of the numbers of a type around each value; that around the modulus, if complex.

    Infinities and NaN have none, which is 0 here.
    """
    value = np.asarray(value)
    limits = _limits(value.dtype)
    modulus = np.abs(value.astype(np.complex128 if value.dtype.kind == "c" else np.float64))
    is_finite = np.isfinite(modulus)
    exponent = np.frexp(np.where(is_finite, modulus, 0.0))[1] - 1
    exponent = np.where(modulus == 0, limits.minexp, np.maximum(exponent, limits.minexp))
    unit = np.ldexp(float(limits.eps), exponent)
    return np.where(is_finite, unit, 0.0)


def is_subnormal(value: Array) -> Array:
    """Which numbers are nearer to 0 than the least normal number of their type, but are not 0."""
    modulus = np.abs(_wide(value))
    return (modulus > 0) & (modulus < float(_limits(value.dtype).smallest_normal))


def is_inexact_type(dtype: np.dtype[Any]) -> bool:
    """Whether a type has numbers that are rounded."""
    return dtype.kind in "fc" or (dtype.kind == "V" and _is_narrow(dtype))


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether a type is one of ml_dtypes' floats."""
    try:
        ml_dtypes.finfo(dtype)
    except ValueError:
        return False
    return True


def _limits(dtype: np.dtype[Any]) -> Any:
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    return cast("Any", ml_dtypes.finfo(part))


def _roundoff(dtype: np.dtype[Any]) -> float:
    """The largest relative error of one rounding in sums that end in a type: f32's, or f64's."""
    part = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return 2.0**-53 if part == 8 else 2.0**-24


def _step_roundoff(operation: Operation, dtype: np.dtype[Any]) -> float:
    """The relative error that counts for each term of a sum, with the part of it that runs make.

    A region gives each partial result the type of the whole.
    """
    has_region = any(region.blocks for region in operation.regions)
    epsilon = float(_limits(dtype).eps)
    if has_region and epsilon > 2.0**-23:
        return _NARROW_PART * epsilon / 2
    return _roundoff(dtype)


def _word(operation: Operation) -> str:
    """The last word of an operation's name, without the sign of what it takes."""
    return operation.name.rpartition(".")[2].removeprefix("warp_group_")


def _is_sum(operation: Operation) -> bool:
    word = _word(operation)
    if word not in SUMS and word not in _ATOMIC:
        return False
    body = [_word(each) for region in operation.regions for each in region.walk()]
    if body:
        return any(each.startswith(("add", "sub", "mul", "div")) for each in body)
    words = [str(each) for each in (operation.attributes | operation.properties).values()]
    return not any(kind in text.lower() for text in words for kind in _KEEPS_ORDER)


def _may_be_fused(operation: Operation) -> bool:
    """Whether a product may be added with or without a rounding.

    Triton's compiler does so unless told not to, and not every language has an fma.
    """
    if _word(operation) == "fma":
        return len(operation.operands) == 3
    if _word(operation) not in ("addf", "subf"):
        return False
    if not any(
        isinstance(operand.owner, Operation) and _word(operand.owner) == "mulf"
        for operand in operation.operands
    ):
        return False
    flags = str(operation.get_attr_or_prop("fastmath") or "")
    return "contract" in flags or "fast>" in flags or _is_of_triton(operation)


def _is_rough(operation: Operation) -> bool:
    """Whether an operation is a quotient or root that some text allows to be an approximation."""
    word = _word(operation)
    if word not in _MAY_BE_ROUGH or word.startswith("precise"):
        return False
    text = str([str(operation.get_attr_or_prop(name)) for name in ("fastmath", "rounding_mode")])
    return any(each in text for each in _ROUGH_WORDS) or _is_of_triton(operation)


def _is_of_triton(operation: Operation) -> bool:
    around = operation.parent_op()
    while around is not None and around.name != "tt.func":
        around = around.parent_op()
    return around is not None


def _is_inexact(value: Value) -> bool:
    return _is_number(value) and is_inexact_type(np.asarray(value).dtype)


def _is_number(value: Value) -> TypeGuard[Array]:
    """Whether a value is in registers: an array, or a scalar that all work-items share."""
    return isinstance(value, np.ndarray | np.generic)


def _is_f32(value: Value) -> TypeGuard[Array]:
    return _is_number(value) and np.asarray(value).dtype == np.float32


def _flushed(value: Value) -> Value:
    """Numbers of f32 of which those that are subnormal are zeros of the same sign."""
    if not _is_f32(value):
        return value
    is_subnormal = np.abs(value) < np.finfo(np.float32).tiny
    return np.where(is_subnormal, np.copysign(np.float32(0), value), value)[()]


def _array_of(value: Value) -> Array | None:
    """The floating numbers of a value, or those that a memref shows, which share its memory."""
    if isinstance(value, View):
        try:
            numbers = value.array()
        except (UnlocatedError, ValueError):
            return None
    elif _is_number(value):
        numbers = np.asarray(value)
    else:
        return None
    return numbers if is_inexact_type(numbers.dtype) else None


def _magnitudes(
    state: State, step: Step, operands: Sequence[int], outcomes: Sequence[int]
) -> list[Array | None] | None:
    """What an operation gives on the magnitudes of its operands; memory stays as it is."""
    before = {
        slot: state.values[slot] for slot in (*operands, *outcomes) if slot < len(state.values)
    }
    try:
        for slot in operands:
            state.values[slot] = _magnitude(state.values[slot])
        step(state)
        arrays = [_array_of(state.values[slot]) for slot in outcomes]
        return [None if each is None else np.abs(_wide(each)) for each in arrays]
    except UnlocatedError:
        return None
    finally:
        for slot in operands:
            state.values[slot] = before[slot]


def _magnitude(value: Value) -> Value:
    numbers = _array_of(value)
    if numbers is None:
        return value if not isinstance(value, View) else _copy(value)
    magnitude = np.where(np.isfinite(numbers), np.abs(numbers), 0).astype(numbers.dtype)
    return _view(magnitude) if isinstance(value, View) else magnitude[()]


def _copy(view: View) -> Value:
    try:
        return _view(view.array())
    except (UnlocatedError, ValueError):
        return view


def _view(array: Array) -> View:
    """A memref of its own memory."""
    strides = tuple(int(np.prod(array.shape[:mode])) for mode in range(array.ndim))
    return View(Buffer(array.reshape(-1, order="F").copy(), ""), 0, array.shape, strides)


def _terms(operation: Operation, operands: Sequence[Value], result: Array) -> float:
    """How many terms each result is the sum of, from the numbers of elements.

    A product of M x K and K x N gives M x N elements: K is the root of MK times KN over MN.
    """
    arrays = [each for each in map(_array_of, operands) if each is not None]
    if "scan" in operation.name or _word(operation) == "cumsum":
        return float(max((max(each.shape, default=1) for each in arrays), default=1))
    if not arrays or result.size == 0:
        return 1.0
    matrices = [each.size for each in arrays if each.ndim]
    if _word(operation) in _PRODUCTS and len(matrices) > 1:
        return max(1.0, (matrices[0] * matrices[1] / result.size) ** 0.5)
    return max(1.0, max(each.size for each in arrays) / result.size)


def _finite(numbers: Array) -> Array:
    return np.where(np.isfinite(numbers), numbers, 0.0)


def _wide(numbers: Array) -> Array:
    return numbers.astype(np.complex128 if numbers.dtype.kind == "c" else np.float64)
