"""Cooperative matrices of complex numbers compute the same as two matrices of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.backends.intel.agreement import Launch, check_agreement
from tests.backends.intel.every_type.matrices import matrix_kernels
from tests.backends.intel.opencl_kernels import Kernels
from tests.backends.intel.random_arguments import Arguments
from tests.mlir_opt import run_mlir_opt
from tests.samples import one_of
from tests.seeds import fresh_seed
from tests.transforms.tile_linalg.from_source import reversed_modes
from tests.translate.core_to_cuda_tile.entries import (
    entry_of,
    functions_of,
    launch_entry,
    verify,
)
from tests.translate.ported import fix_sizes, kernels_of, translated_arguments
from xtile.dialects.gpu.functions import FuncOp as KernelOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.verification import verify_module
from xtile.semantics.arguments import Argument
from xtile.semantics.configuration import Size3
from xtile.semantics.engine import launch
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate

pytestmark = pytest.mark.slow

TYPES = ("c32", "c64")

_M = "coopmatrix<c32x16x8,matrix_acc>"

PROGRAMS = {
    "loop": f"""
        %zero = constant [0.0, 0.0] : {_M}
        %n = constant 3 : index
        %p, %q = for %i=%z,%n init(%s=%zero,%u=%b) -> ({_M},{_M}) {{
            %v = add %s, %u : {_M}
            yield (%v,%s)
        }}
        cooperative_matrix_store %p, %C[%z,%z]
        cooperative_matrix_store.both_checked %q, %D[%t,%t]""",
    "branch": f"""
        %part = re %x : f32
        %one = constant 1.0 : f32
        %is = less_than %part, %one : bool
        %p = if %is -> ({_M}) {{
            %q = cooperative_matrix_scale %x, %a : {_M}
            yield (%q)
        }} else {{
            yield (%b)
        }}
        cooperative_matrix_store.t %p, %C[%z,%z]""",
    "components": f"""
        %p = cooperative_matrix_apply (%i,%j,%v)=%b -> {_M} {{
            %d = sub %i, %j : i32
            %f = cast %d : c32
            %w = mul %f, %v : c32
            %u = mul %w, %x : c32
            yield (%u)
        }}
        cooperative_matrix_store %p, %C[%z,%z]
        %q = div %b, %p : {_M}
        cooperative_matrix_store %q, %D[%z,%z]""",
    "memory": f"""
        %p = cooperative_matrix_atomic_add.both_checked %b, %C[%t,%z] : {_M}
        %r = cooperative_matrix_reduce_add.column %p : coopmatrix<c32x1x8,matrix_acc>
        cooperative_matrix_prefetch 0, %A[%z,%z], 16, 8
        cooperative_matrix_store %r, %D[%z,%z]""",
}
"""What matrices pass through, in kernels whose work-items all do the same."""

_KERNEL = """
func @k(%A: memref<c32x20x20>, %B: memref<c32x20x20>, %C: memref<c32x20x20>,
        %D: memref<c32x20x20>, %x: c32) attributes {{subgroup_size=16, work_group_size=[16,1]}} {{
    parallel {{
        %z = constant 0 : index
        %t = constant 13 : index
        %a = cooperative_matrix_load.both_checked %A[%t,%z] : coopmatrix<c32x16x8,matrix_acc>
        %b = cooperative_matrix_load.t %B[%z,%z] : coopmatrix<c32x16x8,matrix_acc>
{}
    }}
}}
"""

WAYS = [
    (route, chip, type_)
    for route, chip in (
        ("tensorlang-to-subgroup", "pvc"),
        ("tensorlang-to-xegpu", "pvc"),
        ("tensorlang-to-xegpu", "dg2"),
    )
    for type_ in TYPES
]

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


@pytest.mark.parametrize(("route", "chip", "type_"), one_of(2, WAYS))
def test_every_instruction_computes_the_same(route: str, chip: str, type_: str) -> None:
    functions, kernels = _translated(route, chip, type_)
    sources = zip(functions, matrix_kernels(type_), strict=True)
    for (function, written), kernel in zip(sources, kernels, strict=True):
        _check(function, len(written.inputs), kernel)


@lru_cache(maxsize=1)
def _translated(route: str, chip: str, type_: str) -> tuple[list[FuncOp], list[KernelOp]]:
    """All functions, and what they become."""
    translated = translate(_module(type_), route, Options(chip))
    diagnostics = Diagnostics()
    verify_module(translated, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    return _functions(type_), kernels_of(translated)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("chip", ["pvc", "dg2"])
def test_every_instruction_compiles_to_spirv(chip: str, type_: str) -> None:
    module = translate(_module(type_), "tensorlang-to-xegpu", Options(chip))
    zebin_chip = {"dg2": "pvc"}.get(chip, chip)
    result = run_mlir_opt(xtile.to_text(module, "mlir"), PIPELINE.format(zebin_chip))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("OpEntryPoint Kernel") == len(_functions(type_))


@lru_cache(maxsize=1)
def _program(name: str) -> ModuleOp:
    return xtile.parse(_KERNEL.format(PROGRAMS[name]), language="tensorlang")


def _check_launch(module: ModuleOp, launch_translated: Launch) -> None:
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    seed = fresh_seed()
    arguments = Arguments(function, np.random.default_rng(seed)).values
    assert check_agreement(function, arguments, launch_translated, seed=seed) is not None


@lru_cache(maxsize=2)
def _program_as(route: str, name: str, chip: str | None = None) -> ModuleOp:
    return translate(_program(name), route, Options(chip))


@lru_cache(maxsize=1)
def _on_opencl(function: FuncOp) -> Kernels:
    return Kernels([function])


@pytest.mark.parametrize("chip", ["pvc", "dg2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_as_xegpu(name: str, chip: str) -> None:
    module = _program(name)
    (kernel,) = kernels_of(_program_as("tensorlang-to-xegpu", name, chip))
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    _check_launch(
        module, lambda given, grid: launch(kernel, translated_arguments(function, given), grid)
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_on_opencl(name: str) -> None:
    (function,) = (module := _program(name)).body.block.ops
    assert isinstance(function, FuncOp)
    _check_launch(module, _on_opencl(function).launch(0))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_as_tiles(name: str) -> None:
    module = _program(name)
    (signature,) = functions_of(_program_as("tensorlang-to-core", name))
    result = _program_as("tensorlang-to-cuda_tile", name, "sm_90")
    verify(result)
    entry = entry_of(result, "k")
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)

    def run(given: Sequence[Argument], grid: Size3) -> None:
        launch_entry(signature, entry, reversed_modes(function, given), grid)

    _check_launch(module, run)
