"""Runs whole_softmax.ir: a work-group holds a column in registers."""

from __future__ import annotations

import numpy as np
from checking import (
    HERE,
    UNIT_ROUNDOFF_F32,
    compare,
    exit_status,
    leave,
    random_array,
    random_generator,
    unwritten,
)

import xtile


def main() -> int:
    """Returns 0 if the result is right."""
    generator = random_generator()
    rows, columns = 4099, 3
    x = random_array(generator, (rows, columns))
    y = unwritten(x.shape)
    exponentials = np.exp(x - x.max(axis=0).astype(float))
    expected = exponentials / exponentials.sum(axis=0)
    # Results are at most 1. Relative errors: rounding x - max, which exp turns into an error of
    # |x - max| roundings; exp itself (4 of them at most); the sum of `rows` numbers; the inverse
    # and the product.
    spread = float(np.max(x.max(axis=0) - x.min(axis=0)))
    tolerance = (2 * spread + 2 * 4 + rows + 2) * UNIT_ROUNDOFF_F32

    xtile.run(HERE / "whole_softmax.ir", {"X": x, "Y": y}, grid=(columns, 1, 1))
    return exit_status(compare("whole_softmax", y, expected, tolerance))


if __name__ == "__main__":
    leave(main())
