"""Random kernels at each level of XeGPU, against the reference device and an OpenCL device."""

from __future__ import annotations

import pytest

from tests.generators.xegpu_kernels import COLUMNS, ROWS, XeGPUKernel
from tests.seeds import fresh_generator, fresh_random
from tests.semantics.xegpu.kernels import random_array, undefined
from tests.translate.xegpu_to_core.raised import check

LEVELS = {
    "subgroup": "known_block_size = array<i32: 16, 1, 1>",
    "vector compute": "VectorComputeFunctionINTEL, known_block_size = array<i32: 1, 1, 1>",
    "work-group": "known_block_size = array<i32: 64, 1, 1>",
}


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("level", LEVELS)
def test_random_kernel(level: str, number: int) -> None:
    kernel = XeGPUKernel(fresh_random(), is_of_work_group=level == "work-group")
    text = kernel.text(LEVELS[level])
    rng = fresh_generator()
    arrays = [random_array(rng, shape, "f32") for shape in ((ROWS, COLUMNS), (ROWS * COLUMNS,))]
    # The sign of a zero that two zeros give is not specified, nor are the bits of a NaN.
    check(text, [*arrays, undefined((ROWS, COLUMNS), "f32")], tolerance=1e-6, on_opencl=True)
