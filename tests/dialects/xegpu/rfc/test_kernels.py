"""Whole kernels: read, printed in both forms, read again, and accepted by mlir-opt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dialects.xegpu.rfc.texts import print_llvm22, print_rfc, read_module
from tests.mlir_opt import run_mlir_opt
from xtile.opt import main

KERNELS = Path(__file__).parent / "kernels"
NAMES = ("gemm_of_the_rfc", "gemm_of_the_first_kernels", "gather_of_upstream_2024")


def read_kernel(name: str) -> str:
    return (KERNELS / f"{name}.mlir").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_rfcs_form_is_read_again(name: str) -> None:
    module = read_module(read_kernel(name))
    printed = print_rfc(module)
    assert "xegpu." not in printed
    assert read_module(printed).is_structurally_equivalent(module)


@pytest.mark.parametrize("name", NAMES)
def test_llvm22s_form_is_read_again(name: str) -> None:
    module = read_module(read_kernel(name))
    printed = print_llvm22(module)
    assert read_module(printed).is_structurally_equivalent(module)


def test_mlir_opt_accepts_llvm22s_form() -> None:
    texts = [print_llvm22(read_module(read_kernel(name))) for name in NAMES]
    result = run_mlir_opt("\n// -----\n".join(texts), "-split-input-file")
    assert (result.stderr, result.returncode) == ("", 0)


def test_a_split_that_only_a_product_uses_is_not_made() -> None:
    printed = print_llvm22(read_module(read_kernel("gemm_of_the_rfc")))
    assert "shape_cast" not in printed
    assert (
        "%va = xegpu.load_nd %ta  : !xegpu.tensor_desc<8x16xbf16> -> vector<8x16xbf16>" in printed
    )


def test_the_command_prints_llvm22s_form_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(KERNELS / "gemm_of_the_rfc.mlir")
    assert main([path]) == 0
    llvm22 = capsys.readouterr().out
    assert main([path, "--xegpu-syntax=llvm22"]) == 0
    assert capsys.readouterr().out == llvm22
    assert "xegpu.dpas" in llvm22
    assert "XeGPU" not in llvm22


def test_the_command_prints_the_rfcs_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(KERNELS / "gemm_of_the_rfc.mlir"), "--xegpu-syntax=rfc"]) == 0
    printed = capsys.readouterr().out
    assert printed == print_rfc(read_module(printed))


def test_the_command_says_what_the_form_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hint.mlir"
    path.write_text("func.func @f() {\n  XeGPU.compile_hint {hint=schedule_barrier}\n  return\n}\n")
    assert main([str(path)]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        f"{path}:2.3-44: error: 'xegpu.compile_hint' is an operation of the RFC, which cannot be "
        "said in LLVM 22's form of XeGPU; --xegpu-syntax=rfc prints it\n"
        "  XeGPU.compile_hint {hint=schedule_barrier}\n"
        "  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
    )
    assert main([str(path), "--xegpu-syntax=rfc"]) == 0


def test_the_rfc_has_no_generic_form(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(KERNELS / "gemm_of_the_rfc.mlir")
    with pytest.raises(SystemExit, match="2"):
        main([path, "--xegpu-syntax=rfc", "--print-op-generic"])
    assert "the RFC has no generic form; leave --print-op-generic out" in capsys.readouterr().err


def test_the_pass_leaves_nothing_of_the_rfc(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(KERNELS / "gemm_of_the_first_kernels.mlir")
    assert main([path, "-p", "xegpu-rfc-to-llvm22", "--print-op-generic"]) == 0
    generic = capsys.readouterr().out
    assert not {"vnni_axis", "transpose_bit_width", "mode ="} & set(generic.split())
    assert run_mlir_opt(generic).returncode == 0
