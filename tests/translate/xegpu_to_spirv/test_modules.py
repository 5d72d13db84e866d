"""Whole modules: what has a rule, names, entry points, sizes, and what other tools say to them."""

from __future__ import annotations

import re
import subprocess
from itertools import product
from pathlib import Path

import pytest

import xtile
from tests.mlir_opt import llvm_tool
from tests.translate.xegpu_to_spirv.lane_kernels import (
    LaneKernel,
    LaneKernels,
    spirv_text,
    validate,
)
from xtile.backends.intel.compilation import compile_program, spirv_in
from xtile.dialects.registry import all_dialects
from xtile.dialects.spirv import encode
from xtile.targets import INTEL
from xtile.targets.intel import CPU
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate
from xtile.translate.xegpu_to_spirv import RULES, translate_module

EXAMPLES = Path(__file__).parents[3] / "examples"

KERNELS = sorted(path.stem for path in EXAMPLES.glob("*.ir"))

_REFUSED = {
    # They end a region, and the rule of the operation around it takes what they yield.
    *("func.return", "gpu.return", "gpu.terminator", "gpu.yield", "memref.alloca_scope.return"),
    *("memref.atomic_yield", "scf.condition", "scf.reduce"),
    *("scf.reduce.return", "scf.yield"),
    # Operations of the host.
    *("gpu.alloc", "gpu.binary", "gpu.dealloc", "gpu.host_register", "gpu.host_unregister"),
    *("gpu.launch", "gpu.launch_func", "gpu.memcpy", "gpu.memset", "gpu.set_default_device"),
    *("gpu.wait", "memref.alloc", "memref.dealloc", "memref.realloc", "memref.dma_start"),
    "memref.dma_wait",
    # A work-group's size is not known when a module is translated, or a memref's rank.
    *("gpu.dynamic_shared_memory", "memref.reshape"),
    # No language of the project has these in kernels.
    *("arith.scaling_extf", "arith.scaling_truncf", "func.call_indirect", "func.constant"),
    "ub.unreachable",
}
"""Operations of upstream's dialects that are errors, with the reason."""


@pytest.mark.parametrize(
    "dialect", ["arith", "func", "gpu", "index", "math", "memref", "scf", "ub"]
)
def test_every_operation_has_a_rule_or_is_refused(dialect: str) -> None:
    names = {operation.name for operation in all_dialects()[dialect]().operations}
    assert {name for name in names if RULES.get(name) is None} == names & _REFUSED


def test_an_operation_without_a_rule_is_an_error_at_its_place() -> None:
    body = "%m = memref.alloc() : memref<4xf32>"
    with pytest.raises(DiagnosticError) as caught:
        _ = LaneKernels({"k": LaneKernel("", body)}).program
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "memref.alloc cannot be translated to SPIR-V"
    assert body in str(caught.value)


# --- names and entry points ---


def test_names_are_those_of_the_source() -> None:
    body = """
        %first = arith.constant 0 : index
        %0 = memref.load %data[%first] : memref<?xf32>
        %twice = arith.addf %0, %0 : f32
        memref.store %twice, %data[%first] : memref<?xf32>
    """
    text = spirv_text(body, "%data: memref<?xf32>")
    names = re.findall(r'OpName %\S+ "([^"]+)"', text)
    assert names == ["k", "data", "data_size0", "twice"]


def test_kernels_of_a_module_share_what_they_can() -> None:
    body = """
        %seven = arith.constant 7 : index
        %x = gpu.thread_id x
        %l = memref.get_global @tile : memref<64xindex, 3>
        memref.store %seven, %l[%x] : memref<64xindex, 3>
    """
    around = """
        memref.global "private" @tile : memref<64xindex, 3> = uninitialized
        memref.global "private" @unused : memref<64xindex, 3> = uninitialized
    """
    kernels = LaneKernels(
        {"a": LaneKernel("", body, (64, 1, 1)), "b": LaneKernel("", body, (32, 1, 1))}, around
    )
    validate(kernels.program.spirv)
    text = xtile.to_text(translate_module(kernels.module, for_spirv(CPU)), "spirv-asm")
    assert text.count("OpEntryPoint Kernel") == 2
    assert text.count("LocalSize") == 2
    assert text.count("OpVariable %_ptr_Workgroup") == 1
    assert text.count("OpConstant %ulong 7") == 1
    assert text.count("BuiltIn LocalInvocationId") == 1


def test_nothing_is_declared_that_is_not_used() -> None:
    text = spirv_text(
        "%c = arith.constant 5 : index\n%d = arith.constant dense<1.0> : vector<4xf32>"
    )
    assert "OpConstant" not in text


def test_translation_is_deterministic() -> None:
    module = xtile.parse(EXAMPLES / "softmax.ir")
    first, second = (
        encode(spirv_in(translate(module, "tensorlang-to-spirv", Options("pvc")))) for _ in "ab"
    )
    assert first == second


# --- examples ---


_OF_DOUBLES = ("old_syntax", "older_syntax")


@pytest.mark.parametrize(
    ("name", "chip"),
    [(n, c) for n, c in product(KERNELS, INTEL.chips) if c != "dg2" or n not in _OF_DOUBLES],
)
def test_examples_are_valid(name: str, chip: str) -> None:
    module = xtile.parse(EXAMPLES / f"{name}.ir")
    validate(compile_program(module, for_spirv(INTEL.chips[chip])).spirv)


@pytest.mark.parametrize("name", _OF_DOUBLES)
def test_examples_with_numbers_that_a_device_lacks(name: str) -> None:
    with pytest.raises(DiagnosticError, match="dg2 has no numbers of type f64"):
        compile_program(xtile.parse(EXAMPLES / f"{name}.ir"), for_spirv(INTEL.chips["dg2"]))


@pytest.mark.parametrize("chip", ["dg2", "pvc"])
@pytest.mark.parametrize("name", ["axpby", "batched_gemm", "coopmatrix_gemm", "tall_and_skinny"])
def test_mlir_reads_examples(name: str, chip: str, tmp_path: Path) -> None:
    """These have no local memory, whose alignment mlir-translate does not know."""
    module = xtile.parse(EXAMPLES / f"{name}.ir")
    path = tmp_path / "module.spv"
    path.write_bytes(compile_program(module, for_spirv(INTEL.chips[chip])).spirv)
    command = [
        llvm_tool("mlir-translate"),
        "--no-implicit-module",
        "--deserialize-spirv",
        str(path),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    kernels = [operation for operation in module.walk() if operation.name == "tensorlang.func"]
    assert result.stdout.count("spirv.EntryPoint") == len(kernels)


@pytest.mark.parametrize("name", ["batched_gemm", "flash_attention", "matrix_chain"])
@pytest.mark.parametrize("chip", ["cpu", "pvc"])
def test_modules_are_small(name: str, chip: str) -> None:
    program = compile_program(xtile.parse(EXAMPLES / f"{name}.ir"), for_spirv(INTEL.chips[chip]))
    assert len(program.spirv) < 60_000
