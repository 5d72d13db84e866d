"""Ports a product to XeGPU, and checks the port and its source against numpy.

Both run on the reference device, and the source through OpenCL, too. The port's memrefs are
row-major, but it takes the arguments of its source.
"""

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


def main() -> int:
    """Returns 0 if the results are right."""
    generator = random_generator()
    a = random_array(generator, (32, 64), np.float16)
    b = random_array(generator, (64, 8), np.float16)
    expected = a.astype(float) @ b.astype(float)
    # The products of two f16 numbers are exact in f32.
    tolerance = product_tolerance(a, b)

    c = unwritten((32, 8))
    xtile.run(HERE / "matrix_unit.ir", {"A": a, "B": b, "C": c})
    is_source_right = compare("tensor language", c, expected, tolerance)

    ported = xtile.port(HERE / "matrix_unit.ir", "xegpu", chip="pvc")
    c = unwritten((32, 8))
    xtile.run(ported, {"A": a, "B": b, "C": c})
    is_port_right = compare("XeGPU", c, expected, tolerance)

    c = unwritten((32, 8))
    result = xtile.run(HERE / "matrix_unit.ir", {"A": a, "B": b, "C": c}, device="opencl")
    is_device_right = compare(f"OpenCL, {result.device}", c, expected, tolerance)
    return exit_status(is_source_right, is_port_right, is_device_right)


if __name__ == "__main__":
    leave(main())
