"""Runs flash_attention.ir and compares it with softmax(scale Q^T K) V in f64."""

from __future__ import annotations

import math

import numpy as np
from checking import (
    HERE,
    UNIT_ROUNDOFF_F16,
    Array,
    compare,
    exit_status,
    leave,
    random_array,
    random_generator,
    unwritten,
)

import xtile

HEAD_DIMENSION = 64


def attention(q: Array, k: Array, v: Array, scale: float) -> Array:
    """The attention of one head in f64; arguments and result are d x T."""
    scores = scale * (k.astype(float).T @ q.astype(float))
    weights = np.exp(scores - scores.max(axis=0))
    return v.astype(float) @ (weights / weights.sum(axis=0))


def check(generator: np.random.Generator, length: int, heads: int) -> bool:
    """Attention over `length` positions."""
    shape = (HEAD_DIMENSION, length, heads)
    q, k, v = (random_array(generator, shape, np.float16) for _ in range(3))
    o = unwritten(shape, np.float16)
    scale = 1 / math.sqrt(HEAD_DIMENSION)
    expected = np.stack(
        [attention(q[..., h], k[..., h], v[..., h], scale) for h in range(heads)], axis=-1
    )
    # The weights and the result are rounded to f16, relative to the mean of the values' magnitudes;
    # everything else is in f32, for which half of an f16 roundoff is plenty.
    magnitudes = [attention(q[..., h], k[..., h], abs(v[..., h]), scale) for h in range(heads)]
    tolerance = 2.5 * UNIT_ROUNDOFF_F16 * float(np.max(magnitudes))

    xtile.run(
        HERE / "flash_attention.ir",
        {"Q": q, "K": k, "V": v, "O": o, "scale": scale},
        grid=(-(-length // 64), heads, 1),
    )
    return compare(f"flash_attention T={length}, {heads} heads", o, expected, tolerance)


def main() -> int:
    """Returns 0 if the results are right."""
    generator = random_generator()
    return exit_status(check(generator, 128, 2), check(generator, 77, 1))


if __name__ == "__main__":
    leave(main())
