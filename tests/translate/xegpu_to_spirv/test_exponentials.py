"""Powers on a CPU: how many units in the last place they are off, and what is no number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import xtile
from tests.precision.distances import unit_in_last_place
from tests.seeds import SEED_VARIABLE, fresh_seed
from xtile.dialects.tensorlang.types import F32

KERNEL = """
func @powers(%x: memref<f32x?,strided<1>>, %y: memref<f32x?,strided<1>>)
    attributes {{subgroup_size=8}} {{
  %zero = constant 0 : index
  %size = size %x[0] : index
  foreach (%i)=(%zero),(%size) {{
    %a = load %x[%i] : f32
    %power = {function} %a : f32
    store %power, %y[%i]
  }}
}}
"""

MOST_LOST = 1.25
"""Units in the last place."""

COUNT = 1 << 15

LIMITS = (
    *(0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -1e30, 1e30),
    *(88.72283, 88.72284, -87.33654, -87.33655, -103.97207, -103.97209),
    *(127.99999, 128.0, -126.0, -149.0, -149.5, -150.0),
)
"""What is no number, and operands between which powers become infinite, subnormal and 0."""


def operands(seed: int) -> npt.NDArray[np.float32]:
    """Numbers of all sizes, most of whose powers are finite and not 0, and those at the limits."""
    random = np.random.default_rng(seed)
    limits = np.array(LIMITS, np.float32)
    payloads = np.array([0x7FC00102, 0xFFC12345], np.uint32).view(np.float32)
    wide = random.uniform(-155, 130, COUNT).astype(np.float32)
    narrow = random.standard_normal(COUNT).astype(np.float32)
    bits = random.integers(0, 2**32, COUNT, np.uint32).view(np.float32)
    return np.concatenate([limits, payloads, wide, narrow, bits])


def powers(function: str, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    y = np.full_like(x, np.nan)
    xtile.run(KERNEL.format(function=function), [x, y], grid=(1, 1, 1), device="opencl")
    return y


@pytest.mark.random
@pytest.mark.parametrize("function", ["exp", "exp2", "native_exp", "native_exp2"])
def test_powers_are_near(function: str) -> None:
    seed = fresh_seed()
    x = operands(seed)
    with np.errstate(all="ignore"):
        power = np.exp2 if function.endswith("exp2") else np.exp
        expected = power(x, dtype=np.float64)
        rounded = expected.astype(np.float32)
    y = powers(function, x)
    assert (np.isnan(y) == np.isnan(rounded)).all(), f"{SEED_VARIABLE}={seed}"
    assert (np.isposinf(y) == np.isposinf(rounded)).all(), f"{SEED_VARIABLE}={seed}"
    finite = np.isfinite(rounded)
    lost = np.abs(y[finite] - expected[finite]) / unit_in_last_place(expected[finite], F32)
    assert lost.max() <= MOST_LOST, f"{SEED_VARIABLE}={seed}"
    assert (y[finite][rounded[finite] == 0] == 0).all()
