"""`xtile run` on files with host code, and the examples."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import xtile
from tests.host.programs import PRINT_F32, program, without_addresses
from tests.seeds import fresh_generator
from xtile.cli import main

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples" / "xegpu"

SCALED = """
  func.func @scale(%a: memref<2x2xf32>, %s: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
      %x = memref.load %a[%bx, %tx] : memref<2x2xf32>
      %y = arith.mulf %x, %s : f32
      memref.store %y, %a[%bx, %tx] : memref<2x2xf32>
      gpu.terminator
    }
    return
  }
"""

BODY = """
  %A = memref.alloc() : memref<2x2xf32>
  %one = arith.constant 1.0 : f32
  gpu.memset %A, %one : memref<2x2xf32>, f32
  %three = arith.constant 3.0 : f32
  call @scale(%A, %three) : (memref<2x2xf32>, f32) -> ()
  %u = memref.cast %A : memref<2x2xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "program.mlir"
    file.write_text(program(BODY, SCALED + PRINT_F32))
    return str(file)


def test_main_runs_by_itself(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path]) == 0
    output = capsys.readouterr()
    assert without_addresses(output.out) == (
        "Unranked Memref base@ = ? rank = 2 offset = 0 sizes = [2, 2] strides = [2, 1] data = \n"
        "[[3,   3], \n [3,   3]]\n"
    )
    assert output.err == ""


def test_main_runs_from_python(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    xtile.run(path, [])
    assert capsys.readouterr().out.endswith("\n[[3,   3], \n [3,   3]]\n")


def test_another_function_takes_arguments(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = fresh_generator().standard_normal((2, 2)).astype(np.float32)
    np.save(tmp_path / "a.npy", given)
    arguments = ["--arg", f"a={tmp_path / 'a.npy'}", "--arg", "s=2", "--out", f"a={tmp_path}/b.npy"]
    assert main(["run", path, "--entry", "scale", *arguments]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), 2 * given)
    assert "memref<2x2xf32>" in capsys.readouterr().out


@pytest.mark.parametrize("option", [["--grid", "2"], ["--block", "16"], ["--sanitize"]])
def test_options_for_kernels(
    option: list[str], path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", path, *option]) == 2
    assert capsys.readouterr().err == (
        f"xtile: error: {option[0]} is for kernels, but @main is a function of the host; choose a "
        "kernel with --entry\n"
    )


def test_a_mistake_has_a_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.mlir"
    file.write_text(
        "func.func private @printMemrefF23(memref<*xf32>)\n"
        "func.func @main() {\n"
        "  %A = memref.alloc() : memref<2xf32>\n"
        "  %u = memref.cast %A : memref<2xf32> to memref<*xf32>\n"
        "  call @printMemrefF23(%u) : (memref<*xf32>) -> ()\n"
        "  return\n"
        "}\n"
    )
    assert main(["run", str(file)]) == 1
    message, line, underline = capsys.readouterr().err.splitlines()
    assert message.startswith(f"{file}:5.3-")
    assert "similar names: printMemrefF32," in message
    assert line.strip() == "call @printMemrefF23(%u) : (memref<*xf32>) -> ()"
    assert set(underline.strip()) <= set("^~")


@pytest.mark.slow
def test_seeds_give_the_same_random_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(EXAMPLES / "gemm.mlir")
    outputs: list[str] = []
    for seed in ("1", "1", "2"):
        assert main(["run", path, "--seed", seed]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


EXPECTED = {
    "add": (
        r"Unranked Memref base@ = 0x[0-9a-f]+ rank = 2 offset = 674 sizes = \[4, 6\] "
        r"strides = \[40, 1\] data = \n"
        r"\[\[50,   51,   52,   53,   54,   55\], \n \[51,   52,   53,   54,   55,   56\], \n"
        r" \[52,   53,   54,   55,   56,   57\], \n \[53,   54,   55,   56,   57,   58\]\]\n0\n"
    ),
    "gemm": r"\[ALLCLOSE: TRUE\]\nMax absolute error \S+ at .*\nMax relative error \S+ at .*\n",
    "rectified_product": r"\[ALLCLOSE: TRUE\]\n",
}


def test_every_example_with_host_code_is_checked() -> None:
    texts = {path.stem: path.read_text() for path in EXAMPLES.glob("*.mlir")}
    assert {name for name, text in texts.items() if "@main" in text} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLES / f"{name}.mlir")]) == 0
    assert re.fullmatch(EXPECTED[name], capsys.readouterr().out)
