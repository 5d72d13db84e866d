"""Every example of collective instructions computes the same in CUDA Tile IR, and assembles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import xtile
from tests.backends.intel.agreement import check_agreement
from tests.backends.intel.random_arguments import any_numbers
from tests.samples import one_of
from tests.transforms.tile_linalg.from_source import Shaped, reversed_modes
from tests.transforms.tile_linalg.test_examples import LIFTED, SHAPES
from tests.translate.core_to_cuda_tile.entries import (
    CHIPS,
    assemble_for_all,
    entry_of,
    functions_of,
    launch_entry,
    verify,
)
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.translate.route import Options, translate

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"


def _text(name: str) -> str:
    return (EXAMPLES / f"{name}.ir").read_text()


@pytest.mark.parametrize("name", SHAPES)
def test_numbers(name: str) -> None:
    grid, shapes = SHAPES[name]
    module = xtile.parse(_text(name), language="tensorlang")
    signatures = functions_of(translate(module, "tensorlang-to-core"))
    result = translate(module, "tensorlang-to-cuda_tile", Options("sm_90"))
    verify(result)
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    for function, signature in zip(functions, signatures, strict=True):
        random = np.random.default_rng(1)
        name_ = function.sym_name.data
        arguments = Shaped(function, shapes[name_], random, any_numbers).values
        entry = entry_of(result, name_)

        def run(
            given: Sequence[Argument],
            grid: Size3,
            function: FuncOp = function,
            signature: object = signature,
            entry: object = entry,
        ) -> None:
            launch_entry(signature, entry, reversed_modes(function, given), grid)  # pyright: ignore

        assert check_agreement(function, arguments, run, grid) is not None


@pytest.mark.parametrize(("name", "chip"), one_of(2, product([*SHAPES, *LIFTED], CHIPS)))
def test_assembler(name: str, chip: str) -> None:
    module = xtile.parse(_text(name), language="tensorlang")
    assemble_for_all(translate(module, "tensorlang-to-cuda_tile", Options(chip)), [chip])
