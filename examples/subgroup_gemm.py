"""Runs subgroup_gemm.ir, and shows what becomes of its subgroups for NVIDIA's GPUs: one product."""

from __future__ import annotations

import numpy as np
from checking import (
    HERE,
    compare,
    exit_status,
    leave,
    product_tolerance,
    random_array,
    random_generator,
    unwritten,
)

import xtile


def check(generator: np.random.Generator, m: int, n: int, depth: int) -> bool:
    """C := A B for an m x n result, by subgroups and by tiles."""
    a = random_array(generator, (m, depth), np.float16)
    b = random_array(generator, (depth, n), np.float16)
    expected = a.astype(float) @ b.astype(float)
    # The products of two f16 numbers are exact in f32.
    tolerance = product_tolerance(a, b)
    grid = (-(-m // 128), -(-n // 256), 1)
    kernel = HERE / "subgroup_gemm.ir"
    tiles = xtile.translate(kernel, "cuda_tile", chip="sm_90")

    are_right: list[bool] = []
    for name, each in (("subgroups", kernel), ("tiles", tiles)):
        c = unwritten((m, n))
        xtile.run(each, {"A": a, "B": b, "C": c}, grid=grid)
        are_right.append(compare(f"{name} {m} x {n} x {depth}", c, expected, tolerance))
    products = [line for line in xtile.to_text(tiles, "mlir").splitlines() if "mmaf" in line]
    print(*(line.strip() for line in products), sep="\n")
    return all(are_right)


def main() -> int:
    """Returns 0 if the results are right."""
    generator = random_generator()
    return exit_status(check(generator, 128, 256, 64), check(generator, 141, 275, 41))


if __name__ == "__main__":
    leave(main())
