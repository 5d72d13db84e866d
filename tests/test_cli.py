"""The command `xtile`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from xtile.cli import main

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

AXPBY = str(EXAMPLES / "axpby.ir")


def run_process(*arguments: str, directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Starts the real command."""
    command = Path(sys.executable).parent / "xtile"
    start = [str(command)] if command.exists() else [sys.executable, "-m", "xtile.cli"]
    return subprocess.run([*start, *arguments], capture_output=True, text=True, cwd=directory)


def save(path: Path, array: Any) -> str:
    np.save(path, array)
    return str(path)


class TestRealCommand:
    def test_a_launch(self, tmp_path: Path) -> None:
        a = fresh_generator().standard_normal((33, 50)).astype(np.float32)
        path = save(tmp_path / "a.npy", a)
        result = run_process(
            *("run", AXPBY, "--grid", "2,1,1", "--arg", "alpha=2", "--arg", "beta=0"),
            *("--arg", f"A={path}", "--arg", "B=zeros:33x50", "--out", "B=b.npy"),
            directory=tmp_path,
        )
        assert result.returncode == 0, result.stderr
        # Twice a number is exact.
        assert np.array_equal(np.load(tmp_path / "b.npy"), 2 * a)
        assert result.stderr == ""
        assert "(33, 50)" in result.stdout
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "b.npy"]

    def test_a_reader_that_goes_away(self) -> None:
        command = [sys.executable, "-m", "xtile.cli", "devices"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == ""
        assert process.returncode == 0

    def test_usage(self) -> None:
        result = run_process("run", AXPBY, "--grid", "2,x")
        assert result.returncode == 2
        assert result.stderr.endswith(
            "xtile run: error: argument --grid: expected up to 3 positive integers, given '2,x'\n"
        )

    def test_help(self) -> None:
        result = run_process("--help")
        assert result.returncode == 0
        assert "run a kernel on arrays" in result.stdout

    def test_help_loads_little(self) -> None:
        code = (
            "import sys, xtile.cli; xtile.cli.main(['--help']); "
            "sys.exit(any(name in sys.modules for name in ('numpy', 'xdsl', 'rich')))"
        )
        assert (
            subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0
        )


class TestInProcess:
    @pytest.fixture(autouse=True)
    def _in_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    def fail(self, capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
        """Runs a command that fails; returns its one line on standard error."""
        assert main(["run", *arguments]) == code
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        return captured.err.removeprefix("xtile: error: ").rstrip("\n")

    def test_random_arguments_and_a_seed(self) -> None:
        options = ["--arg", "alpha=1", "--arg", "beta=1", "--rand", "--size", "A=3x4"]
        for name in ("1", "2"):
            outputs = ["--size", "B=3x4", "--out", f"A=a{name}.npy", "--out", f"B=b{name}.npy"]
            assert main(["run", AXPBY, *options, "--seed", "7", *outputs, "--quiet"]) == 0
        assert np.array_equal(np.load("a1.npy"), np.load("a2.npy"))
        assert np.array_equal(np.load("b1.npy"), np.load("b2.npy"))
        assert not np.array_equal(np.load("a1.npy"), np.load("b1.npy"))

    def test_groups_and_an_entry(self) -> None:
        arguments = ["--arg", "alpha=1", "--arg", "beta=0", "--arg", "C=zeros:2x4,null"]
        sizes = ["--rand", "--size", "A=2x3*2", "--size", "B=3x4*2"]
        outputs = ["--out", "A=a.npz", "--out", "B=b.npz", "--out", "C=c.npz"]
        kernel = str(EXAMPLES / "batched_gemm.ir")
        code = main(
            ["run", kernel, "--entry", "grouped_gemm", "--grid", "2", *arguments, *sizes, *outputs]
        )
        assert code == 0
        a, b, c = (np.load(f"{name}.npz") for name in "abc")
        assert list(c) == ["entry_0"]
        # 3 products of normal numbers, with an error of a few units of roundoff.
        np.testing.assert_allclose(c["entry_0"], a["entry_0"] @ b["entry_0"], rtol=0, atol=1e-5)

    def test_the_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        kernel = Path("k.ir")
        kernel.write_text(
            "func @k(%n: i32, %A: memref<f32x4x?>, %B: memref<c32x2>, %C: memref<f32x?>) {\n}\n"
        )
        values = ["--arg", "n=3", "--arg", "A=nan:4x2", "--arg", "B=ones", "--arg", "C=null"]
        assert main(["run", str(kernel), *values]) == 0
        rows = [line.split() for line in capsys.readouterr().out.replace("│", " ").splitlines()]
        assert ["n", "i32", "3"] in rows
        assert ["A", "memref<f32x4x?>", "(4,", "2)", "(1,", "4)", "8"] in rows
        assert ["B", "memref<c32x2>", "(2,)", "(1,)", "1", "1", "1", "0"] in rows
        assert ["C", "memref<f32x?>", "null"] in rows

    @pytest.mark.parametrize(
        ("code", "arguments", "message"),
        [
            (1, ["none.ir"], "none.ir: error: cannot read the file: No such file or directory"),
            (
                2,
                ["none.txt"],
                "none.txt: expected a file ending with .ir, .mlir, .ttir, .ttgir or .tileirbc",
            ),
            (
                2,
                [AXPBY, "--arg", "x=3"],
                "--arg x: the kernel has no such argument; it has: alpha, A, beta, B",
            ),
            (2, [AXPBY, "--arg", "alpha=3", "--arg", "alpha=3"], "--arg alpha: given twice"),
            (2, [AXPBY, "--out", "A=no/a.npy"], "--out A: there is no directory no"),
            (
                2,
                [
                    AXPBY,
                    "--out",
                    "beta=b.npy",
                    "--rand",
                    "--arg",
                    "alpha=1",
                    "--arg",
                    "beta=1",
                    "--size",
                    "A=2x2",
                    "--size",
                    "B=2x2",
                ],
                "--out beta: argument 'beta' (f32) has no array to save",
            ),
            (
                1,
                [AXPBY, "--rand"],
                "argument 'alpha' (f32): no value is given; add --arg alpha=...",
            ),
            (
                1,
                [AXPBY, "--arg", "alpha=1"],
                ("argument 'A' (memref<f32x?x?>): no value is given; add --arg A=... or --rand"),
            ),
            (
                1,
                [AXPBY, "--arg", "alpha=1", "--arg", "A=no.npy"],
                "argument 'A' (memref<f32x?x?>): cannot read no.npy: No such file or directory",
            ),
            (
                1,
                [AXPBY, "--entry", "f"],
                "the kernel has no function 'f'; it has 'axpby'",
            ),
            (
                2,
                [AXPBY, "--device", "gpu"],
                (
                    "there is no device 'gpu'; there are 'reference', 'field', 'cuda', 'hip', "
                    "'triton', 'opencl', 'auto', 'pvc', 'bmg', 'dg2', 'cpu', 'cpu-avx2', "
                    "'cpu-amx', 'sm_80', 'sm_86', 'sm_89', 'sm_90', 'sm_100', 'sm_103', 'sm_110', "
                    "'sm_120', 'sm_121', 'gfx90a', "
                    "'gfx942', 'gfx950', 'gfx1100', 'gfx1101', 'gfx1151', 'gfx1200', 'gfx1201', "
                    "'gfx1250'"
                ),
            ),
        ],
    )
    def test_mistakes(
        self,
        code: int,
        arguments: list[str],
        message: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert self.fail(capsys, code, *arguments) == message

    def test_a_failed_launch_leaves_the_old_result(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("b.npy").write_text("old")
        self.fail(capsys, 1, AXPBY, "--rand", "--out", "B=b.npy")
        assert Path("b.npy").read_text() == "old"
        assert [path.name for path in Path().iterdir()] == ["b.npy"]

    def test_a_kernel_with_mistakes(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("k.ir").write_text("func @k() {\n    %a = nonsense\n    %b = size %c[0] : index\n}\n")
        assert main(["run", "k.ir"]) == 1
        error = capsys.readouterr().err
        assert "k.ir:2." in error
        assert "k.ir:3." in error
        assert "~~~" in error

    def test_sanitize(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("k.ir").write_text(
            "func @k(%A: memref<f32x4>) {\n"
            "    %c4 = constant 4 : index\n"
            "    parallel {\n"
            "        %x = load %A[%c4] : f32\n"
            "    }\n"
            "}\n"
        )
        assert main(["run", "k.ir", "--rand", "--sanitize", "--quiet"]) == 1
        assert "k.ir:4." in capsys.readouterr().err

    def test_sanitize_finds_nothing_in_an_example(self, capsys: pytest.CaptureFixture[str]) -> None:
        kernel = str(EXAMPLES / "softmax.ir")
        arguments = ["--arg", "X=rand:20x9", "--arg", "Y=nan:20x9", "--grid", "2"]
        assert main(["run", kernel, *arguments, "--sanitize", "--quiet"]) == 0
        assert capsys.readouterr() == ("", "")

    @pytest.mark.slow
    def test_devices(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["devices"]) == 0
        assert "reference" in capsys.readouterr().out

    def test_no_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([]) == 2
        assert "usage: xtile" in capsys.readouterr().err
