"""The linear algebra instructions, on numpy arrays.

Each computes `alpha f(inputs) + beta output` in the accumulation type of the output's element
type (`accumulation.accumulation_type`) and rounds once to the element type. Where beta is 0, the
output is not read. The atomic forms add to, or replace, each element of the output.

Source: tensor language reference, sections "Axpby" to "Sum"; docs/semantics.md, "Linear algebra".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Attribute

from xtile.dialects.tensorlang import types
from xtile.semantics.accumulation import accumulation_type
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.numeric_types import cast_function, is_integer
from xtile.semantics.values import Array, Value

Update = Callable[[Value, Array, Value, Array], None]
Product = Callable[[Array, Array], Array]

_LARGEST_EXACT_F64 = 2**53


def product_function(a: Attribute, b: Attribute, result: Attribute) -> Product:
    """The product of (stacks of) matrices, with products and sums in type `result`.

    The order of summation is undefined. `result` must hold all values of both element types.
    """
    to_wide_a, to_wide_b = cast_function(a, result), cast_function(b, result)

    def multiply(x: Array, y: Array) -> Array:
        return np.matmul(to_wide_a(x), to_wide_b(y))

    if not (is_integer(a) and is_integer(b)):
        return multiply
    bits = 8 * (types.SIZE_IN_BYTES[a] + types.SIZE_IN_BYTES[b]) - 2
    to_result = cast_function(types.I64, result)

    def multiply_integers(x: Array, y: Array) -> Array:
        if x.shape[-1] << bits > _LARGEST_EXACT_F64:
            return multiply(x, y)
        # BLAS multiplies floating matrices much faster than numpy multiplies integer ones.
        exact = np.matmul(x.astype(np.float64), y.astype(np.float64))
        return to_result(exact.astype(np.int64))

    return multiply_integers


def update_function(
    alpha_type: Attribute, beta_type: Attribute, output_type: Attribute, is_atomic: bool
) -> Update:
    """The function of alpha, a result, beta and the output that updates the output.

    The result is in the accumulation type. The function raises UnlocatedError if the shapes differ.
    """
    wide = accumulation_type(output_type)
    to_alpha, to_beta = cast_function(alpha_type, wide), cast_function(beta_type, wide)
    to_old, to_narrow = cast_function(output_type, wide), cast_function(wide, output_type)

    def update(alpha: Value, result: Array, beta: Value, output: Array) -> None:
        if result.shape != output.shape:
            raise UnlocatedError(
                f"the result has shape {result.shape}, but the output {output.shape}"
            )
        scaled = to_alpha(alpha) * result
        if beta == 0:
            output[...] = to_narrow(scaled)
        elif is_atomic:
            output[...] = to_narrow(scaled) + output
        else:
            output[...] = to_narrow(scaled + to_beta(beta) * to_old(output))

    return update


def transposed(array: Array, is_transposed: bool) -> Array:
    """The transpose of a matrix; other orders stay as they are."""
    return array.T if is_transposed and array.ndim == 2 else array


def check_depth(a: Array, b: Array) -> None:
    """Checks that a matrix product exists.

    Raises:
        UnlocatedError: The factors' depths differ.
    """
    if a.shape[-1] != b.shape[0]:
        raise UnlocatedError(
            f"the first factor has {a.shape[-1]} columns, but the second has {b.shape[0]} rows"
        )


def check_shapes(a: Array, b: Array) -> None:
    """Checks that two inputs have one shape.

    Raises:
        UnlocatedError: They do not.
    """
    if a.shape != b.shape:
        raise UnlocatedError(f"the inputs have different shapes, {a.shape} and {b.shape}")


def sum_of(wide: Array) -> Array:
    """The sums over the last mode."""
    return np.add.reduce(wide, axis=-1, dtype=wide.dtype)


def cumulative_sum(wide: Array, mode: int) -> Array:
    """The inclusive cumulative sums over a mode."""
    return np.add.accumulate(wide, axis=mode, dtype=wide.dtype)
