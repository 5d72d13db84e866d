"""What is promised of a group is about its memrefs, and not about how many there are."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import xtile

KERNEL = """
func @f(%A: group<memref<{memref}> x ?> {{shape_gcd=[{divisors}]}}, %count: memref<i32x4>) {{
    %zero = constant 0 : index
    %one = constant 1 : i32
    %n = size %A[0] : index
    foreach (%i)=(%zero),(%n) {{
        store %one, %count[%i]
    }}
}}
"""


@pytest.mark.parametrize(("memref", "divisors", "shape"), [("f32", "", ()), ("f32x?", "16", (32,))])
@pytest.mark.parametrize("chip", ["pvc", "cpu"])
def test_the_size_of_a_group(
    memref: str, divisors: str, shape: tuple[int, ...], chip: Literal["pvc", "cpu"]
) -> None:
    kernel = KERNEL.format(memref=memref, divisors=divisors)
    ported = xtile.port(kernel, "xegpu", chip=chip)
    count = np.zeros(4, np.int32)
    xtile.run(ported, [[np.zeros(shape, np.float32)] * 3, count])
    assert count.tolist() == [1, 1, 1, 0]
