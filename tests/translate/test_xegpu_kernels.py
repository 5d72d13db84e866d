"""Kernels of the tensor language become XeGPU that mlir-opt compiles and that computes the same."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, i64

import xtile
from tests.generators.tensorlang_kernels import random_kernel
from tests.mlir_opt import run_mlir_opt
from tests.translate.core_to_xegpu.visible import make_visible
from tests.translate.ported import (
    agrees,
    as_bits,
    fix_sizes,
    kernels_of,
    translated_arguments,
)
from tests.translate.tensorlang_to_core.agreement import is_runnable
from tests.translate.tensorlang_to_core.case import Case
from tests.translate.tensorlang_to_core.cases import CASES
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics import engine
from xtile.semantics.errors import ExecutionError
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate

EXAMPLES = Path(__file__).parents[2] / "examples"

KERNELS = sorted(path.stem for path in EXAMPLES.glob("*.ir"))
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.ir") if path.with_suffix(".py").exists())

ROUTES = ("tensorlang-to-subgroup", "tensorlang-to-xegpu")

PIPELINE = "--gpu-lower-to-xevm-pipeline=xegpu-op-level=lane zebin-chip={chip} binary-format=isa"
"""The pipeline of LLVM that compiles XeGPU at lane level to SPIR-V."""


def _compile(module: ModuleOp, chip: str = "pvc") -> str:
    """Compiles a module to SPIR-V, and returns mlir-opt's output."""
    zebin_chip = {"dg2": "pvc"}.get(chip, chip)
    result = run_mlir_opt(xtile.to_text(module, "mlir"), PIPELINE.format(chip=zebin_chip))
    assert result.stderr == ""
    assert result.returncode == 0
    return result.stdout


def _visible(case: Case) -> FuncOp:
    """The function of a row, whose results are all in memory; it runs as one subgroup if it must.

    Which subgroup updates a matrix first is not defined.
    """
    (function,) = case.module().body.block.ops
    assert isinstance(function, FuncOp)
    if "cooperative_matrix_atomic" in case.source:
        sizes = [IntegerAttr(size, i64) for size in (16, 1)]
        function.properties["work_group_size"] = ArrayAttr(sizes)
    make_visible(function)
    return function


def _all_visible() -> ModuleOp:
    """The functions of all rows in one module."""
    functions: list[FuncOp] = []
    for number, case in enumerate(CASES):
        function = _visible(case)
        function.detach()
        function.properties["sym_name"] = StringAttr(f"kernel_{number}")
        functions.append(function)
    return ModuleOp(functions)


# --- mlir-opt ---


@pytest.mark.parametrize("chip", ["pvc", "bmg", "dg2"])
def test_every_instruction_compiles_to_spirv(chip: str) -> None:
    module = translate(_all_visible(), "tensorlang-to-xegpu", Options(chip))
    output = _compile(module, chip)
    assert output.count("OpEntryPoint Kernel") == len(CASES)


@pytest.mark.parametrize("name", KERNELS)
def test_examples_compile_to_spirv(name: str) -> None:
    source = xtile.parse(EXAMPLES / f"{name}.ir")
    module = translate(source, "tensorlang-to-xegpu")
    assert _compile(module).count("OpEntryPoint Kernel") == len(kernels_of(module))


def test_random_kernels_compile_to_spirv() -> None:
    """All in one module: a kernel for each seed."""
    functions: list[FuncOp] = []
    for seed in range(200, 250):
        module = random_kernel(seed, 8)
        try:
            translate(module, "tensorlang-to-xegpu", Options("dg2"))
        except DiagnosticError:
            continue
        for operation in list(module.body.block.ops):
            assert isinstance(operation, FuncOp)
            operation.detach()
            operation.properties["sym_name"] = StringAttr(f"kernel_{len(functions)}")
            functions.append(operation)
    assert len(functions) > 40
    output = _compile(translate(ModuleOp(functions), "tensorlang-to-xegpu", Options("dg2")))
    assert output.count("OpEntryPoint Kernel") == len(functions)


# --- values ---


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_instruction_computes_the_same(case: Case, route: str) -> None:
    function = _visible(case)
    module = ModuleOp([function.clone()])
    (kernel,) = kernels_of(translate(module, route))
    # Random indices can be outside of random sizes.
    assert any(agrees(function, kernel, Random(seed)) for seed in range(20))


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_examples_compute_the_same(
    name: str,
    route: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each example's own check passes on what its kernels have become."""
    launch = engine.launch

    def launch_translated(function: Any, arguments: Any, grid: Any, **options: Any) -> Any:
        if not isinstance(function, FuncOp):
            return launch(function, arguments, grid, **options)
        (kernel,) = kernels_of(translate(ModuleOp([function.clone()]), route))
        given = translated_arguments(function, arguments)
        options.pop("block")
        is_lowered = route == "tensorlang-to-xegpu"
        return launch(kernel, as_bits(given) if is_lowered else given, grid, **options)

    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(engine, "launch", launch_translated)
    module = importlib.import_module(name)
    assert module.main() == 0, capsys.readouterr().out


_SEEDS = 30
"""How many random kernels a test takes."""


@pytest.mark.parametrize("first", range(0, 2 * _SEEDS, _SEEDS))
def test_random_kernels_compute_the_same(first: int) -> None:
    count = 0
    for seed in range(first, first + _SEEDS):
        for function, kernel in _random_pairs(seed):
            count += agrees(function, kernel, Random(seed))
    assert count >= _SEEDS // 10


def _random_pairs(seed: int) -> list[tuple[FuncOp, Any]]:
    """The functions of a random module that can be run, and what they have become."""
    module = random_kernel(seed, 10)
    functions = [operation for operation in module.walk() if isinstance(operation, FuncOp)]
    try:
        for function in functions:
            fix_sizes(function)
            make_visible(function)
        kernels = kernels_of(translate(module, "tensorlang-to-xegpu", Options("dg2")))
    except (DiagnosticError, ExecutionError):
        return []
    pairs = zip(functions, kernels, strict=True)
    return [(function, kernel) for function, kernel in pairs if is_runnable(function)]


# --- shapes ---

_ODD_SHAPES = """
func @f{size}_{columns}(%A: memref<f16x64x32>, %B: memref<f32x64x32>, %n: index)
        attributes {{subgroup_size={size},work_group_size=[{size},1]}} {{
    parallel {{
        %c0 = constant 0 : index
        %two = constant 2.0 : f32
        %a = cooperative_matrix_load.t %A[%c0,%c0] : coopmatrix<f16x32x{columns},matrix_acc>
        %wide = cast %a : coopmatrix<f32x32x{columns},matrix_acc>
        %sum = for %i=%c0,%n init(%s=%wide) -> (coopmatrix<f32x32x{columns},matrix_acc>) {{
            %b = cooperative_matrix_load.n.rows_checked %B[%i,%c0]
                : coopmatrix<f32x32x{columns},matrix_acc>
            %size = abs %b : coopmatrix<f32x32x{columns},matrix_acc>
            %next = add %s, %size : coopmatrix<f32x32x{columns},matrix_acc>
            %last = cooperative_matrix_extract %next[{last}] : f32
            %more = add %last, %two : f32
            %changed = cooperative_matrix_insert %more, %next[{last}]
                : coopmatrix<f32x32x{columns},matrix_acc>
            yield (%changed)
        }}
        cooperative_matrix_store %sum, %B[%c0,%c0]
    }}
}}
"""


def test_matrices_with_odd_numbers_of_columns() -> None:
    """LLVM's SPIR-V backend fails on vectors of 5, 6 or 7; transposed blocks are 8 words wide."""
    text = "".join(
        _ODD_SHAPES.format(size=size, columns=columns, last=columns - 1)
        for size in (16, 32)
        for columns in (1, 3, 4, 5, 6, 7, 13, 16)
    )
    source = xtile.parse(text, language="tensorlang")
    module = translate(source, "tensorlang-to-xegpu")
    assert _compile(module).count("OpEntryPoint Kernel") == 16
    functions = [op for op in source.body.block.ops if isinstance(op, FuncOp)]
    for function, kernel in zip(functions, kernels_of(module), strict=True):
        # A large index is outside of the memory.
        assert any(agrees(function, kernel, Random(seed)) for seed in range(20))
