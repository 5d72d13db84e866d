"""Runs matrix_chain.ir: a chain of small products of odd sizes for a group of elements."""

from __future__ import annotations

import math

import numpy as np
from checking import (
    HERE,
    UNIT_ROUNDOFF_F32,
    Array,
    compare,
    exit_status,
    leave,
    random_array,
    random_generator,
    unwritten,
)

import xtile
from xtile.launch import Group

ROWS = (56, 35, 20, 10, 4)
COLUMNS = 9


def integral(dt: float, q: Array, operators: list[Array], a: Array) -> Array:
    """The sum over k of dt^(k+1) / (k+1)! D_k in f64."""
    derivative, scale = q.astype(float), dt
    result = scale * derivative
    for order, operator in enumerate(operators, start=2):
        derivative = operator.astype(float) @ derivative @ a.astype(float)
        scale *= dt / order
        result[: len(derivative)] += scale * derivative
    return result


def main() -> int:
    """Returns 0 if the result is right."""
    generator = random_generator()
    elements, dt, offset = 6, 1.25, 9
    # Each element's numbers start `offset` elements after the address in the group.
    storage = [random_array(generator, (offset + ROWS[0] * COLUMNS,)) for _ in range(elements)]
    q = [x[offset:].reshape((ROWS[0], COLUMNS), order="F") for x in storage]
    # Scaled so that all derivatives have about the same size, and so count in the result.
    operators = [
        random_array(generator, (ROWS[k + 1], ROWS[k])) / np.float32(math.sqrt(ROWS[k]))
        for k in range(len(ROWS) - 1)
    ]
    a = random_array(generator, (COLUMNS, COLUMNS, elements)) / np.float32(math.sqrt(COLUMNS))
    result = [unwritten((ROWS[0], COLUMNS)) for _ in range(elements)]

    xtile.run(
        HERE / "matrix_chain.ir",
        {
            "dt": dt,
            "Q": Group(storage, offset=offset),
            **{f"K{k}": operator for k, operator in enumerate(operators)},
            "A": a,
            "I": result,
        },
        grid=(elements, 1, 1),
    )

    magnitudes = [abs(x) for x in operators]
    is_right = True
    for i in range(elements):
        expected = integral(dt, q[i], operators, a[..., i])
        # The error of every product is bounded by its depth; the longest way through the chain
        # adds up 56 + 35 + 20 + 10 + 4 * 9 numbers and rounds the scale and the sum each time.
        bound = integral(dt, abs(q[i]), magnitudes, abs(a[..., i])).max()
        tolerance = (sum(ROWS[:-1]) + 4 * COLUMNS + 15) * UNIT_ROUNDOFF_F32 * float(bound)
        is_right &= compare(f"matrix_chain element {i}", result[i], expected, tolerance)
    return exit_status(is_right)


if __name__ == "__main__":
    leave(main())
