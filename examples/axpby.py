"""Runs axpby.ir on views of larger arrays, and checks that nothing around them changes."""

from __future__ import annotations

import numpy as np
from checking import HERE, UNIT_ROUNDOFF_F32, compare, exit_status, leave, random_generator

import xtile


def main() -> int:
    """Returns 0 if the result is right."""
    generator = random_generator()
    rows, columns = 33, 75
    alpha, beta = 1.25, -0.5
    # A view has a larger stride than its rows; the kernel gets it as a dynamic stride.
    around_a = np.full((40, columns), np.nan, dtype=np.float32, order="F")
    around_b = np.full((50, columns), np.nan, dtype=np.float32, order="F")
    a, b = around_a[3 : 3 + rows], around_b[5 : 5 + rows]
    a[:] = generator.standard_normal(a.shape)
    b[:] = generator.standard_normal(b.shape)
    expected = alpha * a.astype(np.float64) + beta * b.astype(np.float64)
    # Two products and one sum are rounded.
    tolerance = 3 * UNIT_ROUNDOFF_F32 * float(np.max(abs(alpha * a) + abs(beta * b)))

    xtile.run(
        HERE / "axpby.ir",
        {"alpha": alpha, "A": a, "beta": beta, "B": b},
        grid=(-(-columns // 32), 1, 1),
    )

    is_rest_untouched = bool(np.isnan(around_b[:5]).all() and np.isnan(around_b[5 + rows :]).all())
    return exit_status(compare("axpby", b, expected, tolerance), is_rest_untouched)


if __name__ == "__main__":
    leave(main())
