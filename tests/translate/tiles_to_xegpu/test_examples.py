"""Examples of collective instructions compute the same as XeGPU of a work-group.

Some run each time; `XTILE_WHOLE_CORPUS=1` in the environment takes all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import xtile
from tests.backends.intel.agreement import check_agreement
from tests.backends.intel.random_arguments import any_numbers
from tests.transforms.tile_linalg.from_source import Shaped, reversed_modes
from tests.transforms.tile_linalg.test_examples import SHAPES
from tests.translate.ported import kernels_of
from tests.translate.tiles_to_xegpu.ported import TAKES_ALL, as_xegpu
from xtile.dialects.gpu.functions import FuncOp as KernelOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch

EXAMPLES = Path(__file__).parents[3] / "examples"


SAMPLE = ("batched_gemm", "coopmatrix_gemm", "fused_kernel", "tall_and_skinny")


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES if TAKES_ALL else SAMPLE)
def test_numbers(name: str) -> None:
    grid, shapes = SHAPES[name]
    module = xtile.parse(EXAMPLES / f"{name}.ir")
    kernels = kernels_of(as_xegpu(module))
    functions = [each for each in module.body.block.ops if isinstance(each, FuncOp)]
    for function, kernel in zip(functions, kernels, strict=True):
        random = np.random.default_rng(1)
        arguments = Shaped(function, shapes[function.sym_name.data], random, any_numbers).values

        def run(
            given: Sequence[Argument],
            grid: Size3,
            function: FuncOp = function,
            kernel: KernelOp = kernel,
        ) -> None:
            launch(kernel, reversed_modes(function, given), grid)

        assert check_agreement(function, arguments, run, grid) is not None
