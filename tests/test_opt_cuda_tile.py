"""xtile-opt writes and reads CUDA Tile bytecode, of the version that it is asked for."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.languages import TILE_MAGIC
from xtile.opt import main
from xtile.output_formats import TileBytecodeFormat

KERNEL = """\
cuda_tile.module @kernels {
  entry @add(%a: tile<f32>) {
    %b = addf %a, %a : tile<f32>
    return
  }
}
"""

NEWER = """\
cuda_tile.module @kernels {
  entry @newer(%a: tile<f32>) {
    %b = atan2 %a, %a : tile<f32>
    %c = exp %b rounding<approx> : tile<f32>
    return
  }
}
"""

Opt = Callable[..., tuple[int | str | None, bytes, str]]


@pytest.fixture
def opt(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Opt:
    """Runs xtile-opt in this process, with two kernels in its directory."""
    monkeypatch.chdir(tmp_path)
    Path("kernel.mlir").write_text(KERNEL)
    Path("newer.mlir").write_text(NEWER)

    def run(*arguments: object) -> tuple[int | str | None, bytes, str]:
        try:
            code: int | str | None = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capfdbinary.readouterr()
        return code, captured.out, captured.err.decode()

    return run


def test_text_becomes_bytecode_and_text_again(opt: Opt) -> None:
    code, data, errors = opt("kernel.mlir", "-t", "tileir-bytecode")
    assert (code, errors) == (0, "")
    assert data.startswith(TILE_MAGIC + b"\x0d\x03\x00\x00")
    Path("kernel.tileirbc").write_bytes(data)
    code, text, errors = opt("kernel.tileirbc")
    assert (code, errors) == (0, "")
    assert b"entry @add(%arg0: tile<f32>) {" in text
    assert opt("kernel.tileirbc", "-t", "tileir-bytecode") == (0, data, "")


def test_bytecode_from_standard_input() -> None:
    """Its first bytes tell what it is."""
    command = [sys.executable, "-m", "xtile.opt", "-"]
    written = subprocess.run(
        [*command, "-f", "mlir", "-t", "tileir-bytecode"],
        input=KERNEL.encode(),
        capture_output=True,
        check=True,
    )
    read = subprocess.run(command, input=written.stdout, capture_output=True, check=True)
    assert b"addf %arg0, %arg0 : tile<f32>" in read.stdout


@pytest.mark.slow
@pytest.mark.parametrize("version", ["13.1", "13.2", "13.3", "13.4", "13.5"])
def test_versions(opt: Opt, version: str) -> None:
    for option in (["--cuda-tile-version", version], []):
        target = "tileir-bytecode" if option else f"tileir-bytecode{{version={version}}}"
        code, data, errors = opt("kernel.mlir", "-t", target, *option)
        assert (code, errors) == (0, "")
        assert data[8:10] == bytes(map(int, version.split(".")))


def test_what_a_version_lacks_is_an_error_at_its_place(opt: Opt) -> None:
    code, out, errors = opt("newer.mlir", "-t", "tileir-bytecode{version=13.1}")
    assert (code, out) == (1, b"")
    assert "newer.mlir:3.5-33: error: 'cuda_tile.atan2' needs version 13.2" in errors
    assert "newer.mlir:4.5-44: error: 'rounding_mode' of 'cuda_tile.exp' needs version" in errors
    assert opt("newer.mlir", "-t", "tileir-bytecode")[0] == 0
    # The version is checked where text is printed, too.
    code, out, more = opt("newer.mlir", "--cuda-tile-version", "13.1")
    assert (code, out) == (1, b"")
    assert more == errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "tileir-bytecode{version=12.9}"], "there is no version '12.9' of CUDA Tile IR"),
        (["--cuda-tile-version", "13.9"], "invalid choice: '13.9'"),
        (
            ["-t", "tileir-bytecode", "--chip", "pvc"],
            "argument --chip: 'pvc' is a chip of ",
        ),
        (
            ["-t", "tileir-bytecode{chip=pvc}"],
            "'pvc' is a chip of Intel's; tileir-bytecode is for sm_80, ",
        ),
        (
            ["-t", "tileir-bytecode", "--split-input-file"],
            "argument --split-input-file: a file of bytes holds one module",
        ),
    ],
)
def test_usage(opt: Opt, arguments: list[str], message: str) -> None:
    code, out, errors = opt("kernel.mlir", *arguments)
    assert (code, out) == (2, b"")
    assert message in errors


def test_damaged_files_are_errors_at_a_byte(opt: Opt) -> None:
    Path("kernel.tileirbc").write_bytes(TILE_MAGIC + b"\x0d\x03\x00\x00\x01")
    code, out, errors = opt("kernel.tileirbc")
    assert (code, out) == (1, b"")
    assert errors == (
        "kernel.tileirbc: error: byte 13 (String): expected another byte, but the data ends here\n"
    )


def test_other_modules(opt: Opt) -> None:
    """A file holds one module of CUDA Tile IR and nothing else."""
    Path("two.mlir").write_text(KERNEL + KERNEL.replace("@kernels", "@more"))
    Path("other.mlir").write_text("func.func @f() {\n  return\n}\n")
    for name, message in {
        "two": "two.mlir:7.1-12.1: error: a file of bytecode is one cuda_tile.module, but there",
        "other": "other.mlir:1.1-3.1: error: @f is a function of the host, but the translation",
    }.items():
        code, out, errors = opt(f"{name}.mlir", "-t", "tileir-bytecode")
        assert (code, out) == (1, b"")
        assert message in errors


PRODUCT = """\
func @product(%a: memref<bf16x512x64>, %b: memref<bf16x64x512>, %c: memref<f32x512x512>) {
    %one = constant 1.0 : bf16
    %zero = constant 0.0 : f32
    gemm %one, %a, %b, %zero, %c
}
"""


@pytest.mark.slow
def test_kernels_of_other_languages(opt: Opt) -> None:
    """They are compiled for the architecture, whose hints are part of the bytecode."""
    Path("product.ir").write_text(PRODUCT)
    code, default, errors = opt("product.ir", "-t", "tileir-bytecode")
    assert (code, errors, default[:8]) == (0, "", b"\x7fTileIR\x00")
    for chip in ("sm_80", "sm_90"):
        _, data, _ = opt("product.ir", "-t", "tileir-bytecode", "--chip", chip)
        assert chip.encode() in data
        assert opt("product.ir", "-t", f"tileir-bytecode{{chip={chip}}}")[1] == data
        assert (data == default) == (chip == "sm_90")


def test_the_target_needs_a_stream_of_bytes() -> None:
    """Stock xDSL writes targets to streams of text, below which there may be bytes."""
    with pytest.raises(ValueError, match="CUDA Tile bytecode is bytes"):
        TileBytecodeFormat().emit(Context(), ModuleOp([]), io.StringIO())


def test_what_the_verifier_refuses_is_an_error_at_a_byte(opt: Opt) -> None:
    """A file may be read as operations, and these may be wrong."""
    _, data, _ = opt("kernel.mlir", "-t", "tileir-bytecode")
    # The result of the addition gets the type f32 instead of tile<f32>.
    position = data.index(b"\x02\x01\x00\x00\x00\x00")
    Path("wrong.tileirbc").write_bytes(data[: position + 1] + b"\0" + data[position + 2 :])
    code, out, errors = opt("wrong.tileirbc")
    assert (code, out) == (1, b"")
    assert errors.startswith(f"wrong.tileirbc: error: byte {position} (Function): ")


def test_arguments_that_may_overlap(opt: Opt) -> None:
    Path("two.ir").write_text(
        "func @two(%A: memref<f32x?>, %B: memref<f32x?>, %C: memref<f32x?>) {\n"
        "    %one = constant 1.0 : f32\n"
        "    axpby.n %one, %A, %one, %B\n"
        "    axpby.n %one, %A, %one, %C\n"
        "}\n"
    )
    counts: list[int] = []
    for options in ((), ("--may-overlap",)):
        code, out, _ = opt("two.ir", "--translate", "tensorlang-to-cuda_tile", *options)
        assert code == 0
        counts.append(out.count(b" token = "))
    # Loads of A wait for no store where A is none of the arguments that are written.
    assert 0 < counts[0] < counts[1]


@pytest.mark.slow
def test_what_nests_deeply_comes_back(opt: Opt) -> None:
    """Bytecode may nest as deep as text."""
    depth = 200
    call = 'callsite("a":1:1 at ' * depth + '"b":1:1' + ")" * depth
    body = "if %a {\n" * depth + "}\n" * depth + f"return loc({call})\n"
    text = f"cuda_tile.module @kernels {{\nentry @deep(%a: tile<i1>) {{\n{body}}}\n}}\n"
    Path("deep.mlir").write_text(text)
    code, _, errors = opt("deep.mlir", "-t", "tileir-bytecode", "-o", "deep.tileirbc")
    assert (code, errors) == (0, "")
    code, out, errors = opt("deep.tileirbc", "--print-debuginfo")
    assert (code, errors) == (0, "")
    assert out.count(b"if %arg0 {") == depth
    assert out.count(b"callsite(") == depth
