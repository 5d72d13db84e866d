"""Random kernels of four languages with layouts, beside what they are without.

    python -m tests.translate.triton_to_amdg.random_kernels LANGUAGE FIRST LAST [--compile N]

tries the kernels of some seeds, each for one of AMD's chips and a number of warps, and compiles
every Nth one. It prints those that differ, and how many there were.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.backends.intel.random_arguments import any_numbers
from tests.generators.collective_kernels import collective_kernel
from tests.generators.cuda_tile_kernels import BLOCKS, KernelWriter
from tests.generators.triton_kernels import PROGRAMS, TritonWriter
from tests.generators.xegpu_kernels import XeGPUKernel, arguments
from tests.translate.core_to_cuda_tile.entries import functions_of
from tests.translate.core_to_cuda_tile.test_random_kernels import core_arguments
from tests.translate.flattened import Padded, all_flattened
from tests.translate.on_cpu import assert_close, memory_of
from tests.translate.triton_to_amdg.laid_out import laid_out, said_of
from tests.triton_releases.judges import NEWEST, assembled
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.triton.tt.ops import FuncOp as TritonFuncOp
from xtile.semantics.engine import launch
from xtile.targets import AMD
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate

WARPS = (None, 1, 4, 8)


@dataclass(frozen=True)
class RandomKernel:
    """A kernel with what it runs on.

    Attributes:
        module: The kernel in `tt`.
        run: Runs a module on the same arguments each time; returns what is in memory then.
    """

    module: ModuleOp
    run: Callable[[ModuleOp], Sequence[Any]]


def _on_arrays(arguments: Sequence[Any], grid: int) -> Callable[[ModuleOp], Sequence[Any]]:
    def run(module: ModuleOp) -> Sequence[Any]:
        own = deepcopy(list(arguments))
        # Offsets and promises are checked beside accesses.
        xtile.run(module, own, grid, sanitize=True)
        return [each for each in own if isinstance(each, np.ndarray)]

    return run


def of_triton(seed: int) -> RandomKernel:
    """A kernel of Triton."""
    writer = TritonWriter(seed)
    module = xtile.parse(writer.text(), language="ttir")
    return RandomKernel(module, _on_arrays(writer.arguments(np.random.default_rng(seed)), PROGRAMS))


def of_cuda_tile(seed: int) -> RandomKernel:
    """A kernel of CUDA Tile IR."""
    writer = KernelWriter(seed)
    module = translate(xtile.parse(writer.text(), language="mlir"), "cuda_tile-to-triton")
    return RandomKernel(module, _on_arrays(writer.arguments(np.random.default_rng(seed)), BLOCKS))


def of_xegpu(seed: int) -> RandomKernel:
    """A kernel of XeGPU for work-groups."""
    text = XeGPUKernel(Random(seed), is_of_work_group=True).text(
        "known_block_size = array<i32: 64, 1, 1>"
    )
    module = translate(xtile.parse(text, language="mlir"), "xegpu-to-triton")
    return RandomKernel(module, _on_arrays(arguments(np.random.default_rng(seed)), 1))


def of_tensorlang(seed: int) -> RandomKernel:
    """A kernel of collective instructions of the tensor language."""
    kernel = collective_kernel(seed)
    source = xtile.parse(kernel.text, language="tensorlang")
    options = Options(AMD.default)
    (tile,) = functions_of(translate(source, "tensorlang-to-tile", options))
    (function,) = [each for each in source.walk() if isinstance(each, FuncOp)]
    given = kernel.arguments(np.random.default_rng(seed), any_numbers)

    def run(module: ModuleOp) -> Sequence[Any]:
        (made,) = [each for each in module.ops if isinstance(each, TritonFuncOp)]
        own, padded = deepcopy(given), Padded()
        arguments = core_arguments(function, own)
        flat = [padded.argument(each) for each in all_flattened(tile, arguments)]
        launch(made, flat, kernel.grid)
        padded.copy_back()
        return memory_of(arguments)

    return RandomKernel(translate(source, "tensorlang-to-triton", options), run)


KERNELS = {
    "cuda_tile": of_cuda_tile,
    "tensorlang": of_tensorlang,
    "triton": of_triton,
    "xegpu": of_xegpu,
}


def with_layouts(kernel: RandomKernel, seed: int) -> tuple[ModuleOp, str]:
    """A kernel with layouts for one of the chips, and the name of that."""
    chip = [*AMD.chips][seed % len(AMD.chips)]
    return laid_out(kernel.module, chip, WARPS[seed % len(WARPS)]), chip


def check(kernel: RandomKernel, module: ModuleOp) -> None:
    """Compares a kernel with layouts with itself.

    Raises:
        AssertionError: They compute something else.
    """
    for found, expected in zip(kernel.run(module), kernel.run(kernel.module), strict=True):
        assert_close(found, expected)


def main() -> int:
    """Tries kernels; returns how many differ, as an exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=KERNELS)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--compile", type=int, default=0, metavar="N")
    given = parser.parse_args()
    tried = refused = compiled = wrong = 0
    for seed in range(given.first, given.last):
        try:
            kernel = KERNELS[given.language](seed)
        except DiagnosticError:
            refused += 1
            continue
        tried += 1
        try:
            module, chip = with_layouts(kernel, seed)
            check(kernel, module)
            if given.compile and seed % given.compile == 0:
                said = said_of(module, NEWEST, chip)
                assert not said, said
                verdict = assembled(NEWEST, xtile.to_text(module, "mlir"), chip, "ttgir")
                assert verdict.accepted, verdict.said
                compiled += 1
        # Whatever happens is a finding.
        except Exception as error:
            wrong += 1
            print(
                f"{given.language} {seed}: {type(error).__name__}: {str(error)[:400]}", flush=True
            )
    print(f"{given.language}: {tried} tried, {refused} refused, {compiled} compiled, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
