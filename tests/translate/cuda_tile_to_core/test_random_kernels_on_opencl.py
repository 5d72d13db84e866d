"""Random kernels of CUDA Tile IR compute the same on a CPU as on the reference device.

Their numbers are exact, so that both are equal. Each run takes the same kernels; a seed in the
environment gives others, of which the first one has that seed.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

import xtile
from tests.generators.cuda_tile_kernels import BLOCKS, KernelWriter
from tests.seeds import fresh_generator, given_seed

KERNELS = 4


@pytest.mark.parametrize("number", range(KERNELS))
def test_kernels(number: int) -> None:
    writer = KernelWriter((given_seed() or 0) + number)
    text = writer.text()
    expected = writer.arguments(fresh_generator())
    found = deepcopy(expected)
    xtile.run(text, expected, BLOCKS)
    xtile.run(text, found, BLOCKS, device="opencl")
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(b, a, err_msg=text)
