"""Cooperative matrices of complex numbers compute the same as two matrices of their parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.backends.intel.agreement import check_agreement
from tests.backends.intel.every_type.matrices import matrix_kernels
from tests.backends.intel.random_arguments import Arguments
from tests.mlir_opt import run_mlir_opt
from tests.seeds import fresh_seed
from tests.translate.ported import fix_sizes, kernels_of, translated_arguments
from xtile.dialects.gpu.functions import FuncOp as KernelOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch
from xtile.text.diagnostics import Diagnostics
from xtile.text.verification import verify_module
from xtile.translate.route import Options, translate

TYPES = ("c32", "c64")

PIPELINE = "--gpu-lower-to-xevm-pipeline=xegpu-op-level=lane zebin-chip={} binary-format=isa"


def _functions(type_: str) -> list[FuncOp]:
    """All instructions, in functions with the sizes that they have on the reference device."""
    functions = [kernel.function() for kernel in matrix_kernels(type_)]
    for function in functions:
        fix_sizes(function)
    return functions


def _module(type_: str) -> ModuleOp:
    return ModuleOp(_functions(type_))


def _check(function: FuncOp, inputs: int, kernel: KernelOp) -> None:
    """Compares a function of so many inputs with what it has become."""

    def run(given: Sequence[Argument], grid: Size3) -> None:
        launch(kernel, translated_arguments(function, given), grid)

    seed, outputs = fresh_seed(), range(inputs, len(function.parameters))
    arguments = Arguments(function, np.random.default_rng(seed), outputs=outputs).values
    assert check_agreement(function, arguments, run, seed=seed) is not None


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    ("route", "chip"),
    [
        ("tensorlang-to-subgroup", "pvc"),
        ("tensorlang-to-xegpu", "pvc"),
        ("tensorlang-to-xegpu", "dg2"),
    ],
)
def test_every_instruction_computes_the_same(route: str, chip: str, type_: str) -> None:
    translated = translate(_module(type_), route, Options(chip))
    diagnostics = Diagnostics()
    verify_module(translated, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    sources = zip(_functions(type_), matrix_kernels(type_), strict=True)
    for (function, written), kernel in zip(sources, kernels_of(translated), strict=True):
        _check(function, len(written.inputs), kernel)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("chip", ["pvc", "bmg", "dg2"])
def test_every_instruction_compiles_to_spirv(chip: str, type_: str) -> None:
    module = translate(_module(type_), "tensorlang-to-xegpu", Options(chip))
    zebin_chip = {"dg2": "pvc"}.get(chip, chip)
    result = run_mlir_opt(xtile.to_text(module, "mlir"), PIPELINE.format(zebin_chip))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("OpEntryPoint Kernel") == len(_functions(type_))
