"""Subviews that reach into the padding of memory compute the same in every language."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

import xtile
from tests.backends.intel.agreement import check_agreement
from tests.backends.intel.random_arguments import Arguments
from tests.mlir_opt import run_mlir_opt
from tests.seeds import fresh_seed
from tests.transforms.tile_linalg.from_source import reversed_modes
from tests.translate.core_to_cuda_tile.entries import (
    entry_of,
    functions_of,
    launch_entry,
    verify,
)
from tests.translate.ported import agrees, kernels_of
from tests.translate.tensorlang_to_core.test_values import PROGRAMS
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.translate.route import Options, translate

NAMES = [name for name in PROGRAMS if name.startswith("padding")]


def _function(name: str) -> FuncOp:
    (function,) = xtile.parse(PROGRAMS[name], language="tensorlang").body.block.ops
    assert isinstance(function, FuncOp)
    return function


@pytest.mark.parametrize("chip", ["pvc", "bmg", "dg2"])
@pytest.mark.parametrize("name", NAMES)
def test_xegpu(name: str, chip: str) -> None:
    module = xtile.parse(PROGRAMS[name], language="tensorlang")
    lowered = translate(module, "tensorlang-to-xegpu", Options(chip))
    (kernel,) = kernels_of(lowered)
    assert all(agrees(_function(name), kernel, Random(seed)) for seed in range(3))
    result = run_mlir_opt(xtile.to_text(lowered, "mlir"))
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_cuda_tile(name: str) -> None:
    module = xtile.parse(PROGRAMS[name], language="tensorlang")
    (signature,) = functions_of(translate(module, "tensorlang-to-core"))
    result = translate(module, "tensorlang-to-cuda_tile", Options("sm_90"))
    verify(result)
    entry, seed = entry_of(result, "f"), fresh_seed()

    def run(given: Sequence[Argument], grid: Size3) -> None:
        launch_entry(signature, entry, reversed_modes(function, given), grid)

    function = _function(name)
    arguments = Arguments(function, np.random.default_rng(seed)).values
    assert check_agreement(function, arguments, run, seed=seed) is not None
