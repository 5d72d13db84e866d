"""What is said of passes and targets that fail without a defect of xtile."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from xtile.command import EXIT_INPUT_WRONG, EXIT_OK, EXIT_TOOL_FAILED
from xtile.opt import main
from xtile.opt_steps import StepError, step_error


def failure(capsys: pytest.CaptureFixture[str], kernel: Path, *options: str) -> str:
    kernel.write_text("func.func @f(%a: f32) {\n  %b = arith.addf %a, %a : f32\n  return\n}\n")
    assert main([str(kernel), *options]) == EXIT_TOOL_FAILED
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err


def test_a_target_without_its_package(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    assert failure(capsys, tmp_path / "k.mlir", "-t", "llvm") == (
        "xtile-opt: error: target 'llvm' needs the package llvmlite, which is not installed; "
        "install it with: pip install 'xdsl[llvm]'\n"
    )


def test_a_target_of_xdsl(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    message = failure(capsys, tmp_path / "k.mlir", "-t", "mps")
    assert message.startswith("xtile-opt: error: target 'mps' failed, which is a part of xDSL ")
    assert "defect of xtile" not in message


@pytest.mark.parametrize("target", ["csl", "wat", "wgsl"])
def test_a_target_of_xdsl_that_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, target: str
) -> None:
    kernel = tmp_path / "k.mlir"
    kernel.write_text("func.func @f() {\n  return\n}\n")
    assert main([str(kernel), "-t", target]) == EXIT_INPUT_WRONG
    output = capsys.readouterr()
    assert output.out == ""
    assert f"k.mlir:1.1-3.1: error: target '{target}' writes none of the operations" in output.err
    assert "UserWarning" not in output.err


@pytest.mark.parametrize("target", ["arm-asm", "csl", "riscv-asm", "tensorlang", "wat", "wgsl"])
def test_an_empty_module_is_empty_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, target: str
) -> None:
    kernel = tmp_path / "k.mlir"
    kernel.write_text("module {\n}\n")
    assert main([str(kernel), "-t", target]) == EXIT_OK
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_a_pass_of_xdsl(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    message = failure(capsys, tmp_path / "k.mlir", "-p", "cse,apply-pdl-interp")
    start = "xtile-opt: error: pass 'apply-pdl-interp' failed, which is a part of xDSL "
    assert message.startswith(start)


class OwnPass:
    """A pass of another package."""


def test_what_is_installed_with_which_command() -> None:
    for package, command in (
        ("llvmlite", "pip install 'xdsl[llvm]'"),
        ("unknown", "pip install unknown"),
    ):
        error = ModuleNotFoundError("no module", name=f"{package}.part")
        raised = step_error(error, "pass 'own'", OwnPass())
        assert isinstance(raised, StepError)
        assert str(raised).endswith(f"install it with: {command}")


def test_a_defect_stays_one() -> None:
    error = KeyError("lost")
    assert step_error(error, "pass 'own'", OwnPass()) is error
