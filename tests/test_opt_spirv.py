"""xtile-opt writes and reads SPIR-V, as bytes and as the assembler's text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import xtile
from tests.spirv_tools import problems_of
from xtile.dialects.languages import SPIRV_MAGIC
from xtile.opt import main

KERNEL = """\
func @add(%A: memref<f32x4>, %B: memref<f32x4>) {
    %one = constant 1.0 : f32
    axpby %one, %A, %one, %B
}
"""

TOO_LARGE = """\
func @f() {
    %a = alloca : memref<f32x1000000,local>
    %zero = constant 0.0 : f32
    axpby %zero, %a, %zero, %a
}
"""

Opt = Callable[..., tuple[int | str | None, bytes, str]]


@pytest.fixture
def opt(capfdbinary: pytest.CaptureFixture[bytes]) -> Opt:
    """Runs xtile-opt in this process; returns its exit code and what it wrote."""

    def run(*arguments: object) -> tuple[int | str | None, bytes, str]:
        try:
            code: int | str | None = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capfdbinary.readouterr()
        return code, captured.out, captured.err.decode()

    return run


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a kernel, in the current directory."""
    monkeypatch.chdir(tmp_path)
    path = Path("kernel.ir")
    path.write_text(KERNEL)
    return path


def test_a_kernel_becomes_bytes_that_the_validator_accepts(opt: Opt, kernel: Path) -> None:
    code, out, err = opt(kernel, "-t", "spirv")
    assert (code, err) == (0, "")
    assert out.startswith(SPIRV_MAGIC)
    assert opt(kernel, "-t", "spirv", "-o", "kernel.spv") == (0, b"", "")
    assert Path("kernel.spv").read_bytes() == out
    assert problems_of(out) == ""


@pytest.mark.slow
def test_bytes_and_text_are_read_back(opt: Opt, kernel: Path) -> None:
    _, binary, _ = opt(kernel, "-t", "spirv", "-o", "kernel.spv")
    binary = Path("kernel.spv").read_bytes()
    _, text, _ = opt(kernel, "-t", "spirv-asm", "-o", "kernel.spvasm")
    text = Path("kernel.spvasm").read_bytes()
    assert b"OpEntryPoint Kernel" in text
    assert b'"add"' in text
    assert opt("kernel.spv", "-t", "spirv") == (0, binary, "")
    assert opt("kernel.spv", "-t", "spirv-asm") == (0, text, "")
    assert opt("kernel.spvasm", "-t", "spirv") == (0, binary, "")
    code, mlir, err = opt("kernel.spv")
    assert (code, err) == (0, "")
    Path("kernel.mlir").write_bytes(mlir)
    assert opt("kernel.mlir", "-t", "spirv") == (0, binary, "")


def test_the_api_reads_and_prints(kernel: Path, opt: Opt) -> None:
    module = xtile.port(kernel, "spirv", chip="cpu")
    text = xtile.to_text(module, "spirv-asm")
    _, shown, _ = opt(kernel, "-t", "spirv-asm", "--chip", "cpu")
    assert text.encode() == shown
    assert xtile.to_text(xtile.parse(text), "spirv-asm") == text


def test_standard_input_tells_that_it_is_binary(opt: Opt, kernel: Path) -> None:
    opt(kernel, "-t", "spirv", "-o", "kernel.spv")
    binary = Path("kernel.spv").read_bytes()
    command = [sys.executable, "-m", "xtile.opt", "-t", "spirv"]
    done = subprocess.run(command, input=binary, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, binary, b"")


PRODUCT = """
func @product(%A: memref<f16x32x64>, %B: memref<f16x64x8>, %C: memref<f32x32x8>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f16
    gemm %one, %A, %B, %zero, %C
}
"""


@pytest.fixture
def product(kernel: Path) -> Path:
    """The path of a kernel that multiplies matrices."""
    kernel.write_text(PRODUCT)
    return kernel


def test_the_chip_is_chosen(opt: Opt, kernel: Path) -> None:
    _, cpu, _ = opt(kernel, "-t", "spirv", "--chip", "cpu")
    _, pvc, _ = opt(kernel, "-t", "spirv", "--chip", "pvc")
    assert cpu != pvc
    assert opt(kernel, "-t", "spirv") == (0, pvc, "")
    assert opt(kernel, "-t", "spirv{chip=pvc}") == (0, pvc, "")
    assert opt(kernel, "-t", "spirv{chip=cpu}") == (0, cpu, "")


@pytest.mark.slow
def test_the_spelling_of_products_is_chosen(opt: Opt, product: Path) -> None:
    def spelled(*more: str) -> bytes:
        code, text, err = opt(product, "-t", "spirv-asm", "--chip", "pvc", *more)
        assert (code, err) == (0, "")
        return text

    default = spelled()
    assert b"_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f" in default
    assert b"lsc_load_block2d" in default
    assert b"dpas.hf.hf.8.8" in spelled("--matrix-spelling", "inline-visa")
    assert b"OpSubgroup2DBlockLoadINTEL" in spelled("--matrix-spelling", "extensions")
    plain = spelled("--matrix-spelling", "plain")
    assert b"OpGroupBroadcast" in plain
    assert b"intel_sub_group" not in plain
    target = "spirv-asm{chip=pvc matrix-spelling=plain}"
    assert opt(product, "-t", target) == (0, plain, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("-t", "spirv", "--chip", "cpu", "--matrix-spelling", "inline-visa"),
            "argument --matrix-spelling: cpu has no matrix spelling 'inline-visa'; it has plain",
        ),
        (
            ("--matrix-spelling", "plain"),
            "argument --matrix-spelling: is for kernels that become SPIR-V",
        ),
        (
            ("-t", "spirv{chip=i960}"),
            (
                "argument -t/--target: there is no chip 'i960'; spirv is for pvc, bmg, dg2, cpu, "
                "cpu-avx2, cpu-amx"
            ),
        ),
        (
            ("--chip", "pvc"),
            (
                "argument --chip: needs --translate, or -t with one of spirv, spirv-asm, "
                "tileir-bytecode, amdgcn, hsaco"
            ),
        ),
        (
            ("-t", "spirv", "--split-input-file"),
            "argument --split-input-file: a file of bytes holds one module",
        ),
    ],
)
def test_usage_errors(opt: Opt, kernel: Path, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = opt(kernel, *arguments)
    assert (code, out) == (2, b"")
    assert err.endswith(f"xtile-opt: error: {message}\n")


def test_what_the_device_has_not_is_located(opt: Opt, kernel: Path) -> None:
    kernel.write_text(TOO_LARGE)
    code, out, err = opt(kernel, "-t", "spirv", "--chip", "cpu", "-o", "kernel.spv")
    assert (code, out) == (1, b"")
    assert err.startswith("kernel.ir:2.10-43: error: a work-group of cpu can have 262144 bytes")
    assert "    %a = alloca : memref<f32x1000000,local>\n" in err
    assert not Path("kernel.spv").exists()


def test_damaged_bytes_are_an_error(opt: Opt, kernel: Path) -> None:
    Path("kernel.spv").write_bytes(SPIRV_MAGIC + b"\x00\x01")
    code, out, err = opt("kernel.spv", "-t", "spirv-asm")
    assert (code, out) == (1, b"")
    assert err.startswith("kernel.spv")
    assert "error: " in err
    assert "Traceback" not in err
