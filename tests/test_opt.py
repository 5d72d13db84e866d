"""xtile-opt: what it prints, where its messages point, and its exit codes."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import ReturnOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xtile.opt import XtileOptMain, main
from xtile.universe import XTILE_UNIVERSE

KERNEL = """\
; B := A + B
func @add(%A: memref<f32x4>, %B: memref<f32x4>) {
    %one = constant 1.0 : f32
    axpby %one, %A, %one, %B
}
"""

KERNEL_AS_MLIR = """\
module {
  tensorlang.func @add(%A: !tensorlang.memref<4xf32>, %B: !tensorlang.memref<4xf32>) \
attributes {tensorlang.comments = ["B := A + B"]} {
    %one = tensorlang.constant 1.0 : f32
    tensorlang.axpby %one, %A, %one, %B
  }
}
"""

TWO_ERRORS = """\
func @f(%A: memref<f32x4>) {
    %a = constant 1.0 : i32
    no_such_instruction
    axpby %A, %A, %A, %A
}
"""


@dataclass
class Result:
    """What a run of xtile-opt came to."""

    code: int | str | None
    out: str
    err: str


@pytest.fixture
def opt(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs xtile-opt in this process."""

    def run(*arguments: object) -> Result:
        try:
            code: int | str | None = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a good kernel, in the current directory."""
    monkeypatch.chdir(tmp_path)
    path = Path("kernel.ir")
    path.write_text(KERNEL)
    return path


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text)
    return path


Opt = Callable[..., Result]


# Languages


def test_tensor_language_becomes_mlir(opt: Opt, kernel: Path) -> None:
    assert opt(kernel) == Result(0, KERNEL_AS_MLIR, "")


@pytest.mark.parametrize(
    "arguments", [("-t", "tensorlang"), ("--translate", "tensorlang-to-tensorlang")]
)
def test_tensor_language_stays(opt: Opt, kernel: Path, arguments: tuple[str, str]) -> None:
    assert opt(kernel, *arguments) == Result(0, KERNEL, "")


def test_mlir_becomes_the_tensor_language(opt: Opt, kernel: Path) -> None:
    path = write("kernel.mlir", KERNEL_AS_MLIR)
    assert opt(path) == Result(0, KERNEL_AS_MLIR, "")
    assert opt(path, "-t", "tensorlang") == Result(0, KERNEL, "")


def test_locations_survive(opt: Opt, kernel: Path) -> None:
    first = opt(kernel, "--print-debuginfo")
    assert 'loc("kernel.ir":4:5)' in first.out
    second = opt(write("kernel.mlir", first.out), "--print-debuginfo")
    assert second.out == first.out
    in_full = opt(kernel, "--print-debuginfo", "--print-local-scope").out
    assert 'tensorlang.axpby %one, %A, %one, %B loc("kernel.ir":4:5)' in in_full


def test_generic_form(opt: Opt, kernel: Path) -> None:
    generic = opt(kernel, "--print-op-generic")
    assert '"tensorlang.axpby"(%one, %A, %one, %B)' in generic.out
    assert opt(write("kernel.mlir", generic.out)) == Result(0, KERNEL_AS_MLIR, "")


@pytest.mark.parametrize("arguments", [("-f", "ir"), ("-f", "ir", "-")])
def test_standard_input(
    opt: Opt, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(KERNEL.encode())))
    assert opt(*arguments) == Result(0, KERNEL_AS_MLIR, "")


def test_standard_input_is_mlir_by_default(opt: Opt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"?")))
    assert opt() == Result(1, "", "<stdin>:1.1: error: expected an operation\n?\n~\n")


# Errors of the input


def test_all_errors_in_source_order(opt: Opt, kernel: Path) -> None:
    result = opt(write("bad.ir", TWO_ERRORS))
    assert (result.code, result.out) == (1, "")
    headers = [line for line in result.err.split("\n") if line.startswith("bad.ir:")]
    assert [header.split(":")[1].split(".")[0] for header in headers] == ["2", "3", "4", "4"]
    assert all(": error: " in header for header in headers)
    assert "    no_such_instruction\n    ~~~~~~~~~~~~~~~~~~~\n" in result.err
    assert "Traceback" not in result.err


def test_colors(opt: Opt, kernel: Path) -> None:
    path = write("bad.ir", TWO_ERRORS)
    assert "\x1b[1;31merror: " in opt(path, "--color", "always").err
    assert "\x1b" not in opt(path).err


def test_verification_can_be_left_out(opt: Opt, kernel: Path) -> None:
    path = write("bad.mlir", "func.func @f() {\n  %0 = arith.constant true\n}\n")
    assert opt(path).code == 1
    result = opt(path, "--disable-verify")
    assert (result.code, result.err) == (0, "")
    assert "arith.constant true" in result.out


def test_leaving_out_verification_changes_nothing_for_the_next_run(opt: Opt, kernel: Path) -> None:
    assert opt(kernel, "--disable-verify").code == 0
    assert opt(write("bad.mlir", '"test.op"() {a = 1000 : i8} : () -> ()')).code == 1


def test_unregistered_dialects(opt: Opt, kernel: Path) -> None:
    path = write("a.mlir", '"no.such"() : () -> ()\n')
    assert opt(path).err.startswith("a.mlir:1.1-9: error: Operation no.such is not registered\n")
    assert opt(path, "--allow-unregistered-dialect").code == 0


def test_a_missing_file_is_one_line(opt: Opt, kernel: Path) -> None:
    assert opt("none.ir") == Result(
        1, "", "none.ir: error: cannot read the file: No such file or directory\n"
    )
    Path("folder.ir").mkdir()
    assert opt("folder.ir") == Result(
        1, "", "folder.ir: error: the folder has no .ttir or .ttgir of a kernel\n"
    )


def test_invalid_utf8_is_located(opt: Opt, kernel: Path) -> None:
    Path("bad.ir").write_bytes(b"; ok\n\xff")
    assert opt("bad.ir").err == (
        "bad.ir:2.1: error: byte 0xff at offset 5 is not valid UTF-8; save the file as UTF-8\n"
        "\N{REPLACEMENT CHARACTER}\n~\n"
    )


@pytest.mark.parametrize("name", ["deep.ir", "deep.mlir"])
def test_deep_nesting_is_an_error(opt: Opt, kernel: Path, name: str) -> None:
    text = "func @f() {" + "parallel {" * 10_000 + "}" * 10_001
    result = opt(write(name, text))
    assert result.code == 1
    assert "internal error" not in result.err
    assert result.err.startswith(f"{name}:1.")


@pytest.mark.parametrize("name", ["empty.ir", "empty.mlir"])
def test_an_empty_file_is_an_empty_module(opt: Opt, kernel: Path, name: str) -> None:
    assert opt(write(name, "")) == Result(0, "module {\n}\n", "")


@pytest.mark.slow
def test_a_huge_line_is_read_or_refused(opt: Opt, kernel: Path) -> None:
    for name in ("long.ir", "long.mlir"):
        result = opt(write(name, "x" * 100_000_000))
        assert result.code == 1
        assert result.err.startswith(f"{name}:1.1")
        assert len(result.err) < 10_000


# The command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--no-such-flag",), "unrecognized arguments: --no-such-flag"),
        (
            ("-p", "tensorlang-verfy"),
            "unknown pass 'tensorlang-verfy'; did you mean 'tensorlang-verify'?",
        ),
        (("-p", "cse{"), "Expected argument name here"),
        (("-p", "cse{no-such=1}"), 'Provided arguments ["no_such"] not found'),
        (("-t", "no-such"), "argument -t/--target: invalid choice: 'no-such'"),
        (("-t", "tensorlang{no-such=1}"), 'Provided arguments ["no_such"] not found'),
        (("-t", "mlir{"), "Expected argument name here"),
        (("-f", "no-such"), "argument -f/--frontend: invalid choice: 'no-such'"),
        (("--translate", "no-such"), "argument --translate: invalid choice: 'no-such'"),
        (
            ("--translate", "tensorlang-to-tensorlang", "-t", "csl"),
            "argument -t/--target: csl does not encode tensorlang, which --translate ",
        ),
        (
            ("--translate", "tensorlang-to-tensorlang", "-f", "ir"),
            "argument --translate: already says what -f/--frontend would",
        ),
        (("--tensorlang-revision", "v9"), "invalid choice: 'v9'"),
        (
            ("-f", "mlir", "--tensorlang-revision", "v0.4"),
            "argument --tensorlang-revision: the input is not in the tensor language",
        ),
        (("-o", "no/such/folder"), "cannot write no/such/folder: No such file or directory"),
    ],
)
def test_usage_errors(opt: Opt, kernel: Path, arguments: tuple[str, ...], message: str) -> None:
    path = write("empty.mlir", "") if "mlir" in arguments else kernel
    result = opt(path, *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert "xtile-opt: error: " in result.err
    assert "Traceback" not in result.err


def test_an_unknown_extension_is_a_usage_error(opt: Opt, kernel: Path) -> None:
    path = write("kernel.txt", KERNEL)
    result = opt(path)
    assert result.code == 2
    assert result.err.endswith(
        "xtile-opt: error: kernel.txt: expected a file ending with .ir, .mlir, .ttir, .ttgir, "
        ".spv, .spvasm or .tileirbc; "
        "use --frontend to say what is in it\n"
    )
    assert opt(path, "--frontend", "ir").code == 0


def test_help_and_version(opt: Opt) -> None:
    result = opt("--help")
    assert result.code == 0
    assert "--tensorlang-revision" in result.out
    result = opt("--version")
    assert result.code == 0
    assert result.out.startswith("xtile-opt 0.")


@pytest.mark.parametrize("revision", ["v0.1", "v0.3", "v0.4"])
def test_the_revision_reaches_the_reader(
    opt: Opt, kernel: Path, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    from xtile.dialects.tensorlang import reader

    seen: list[str | None] = []
    original = reader.read

    def read(source: object, diagnostics: object, revision: str | None = None) -> ModuleOp:
        seen.append(revision)
        return original(source, diagnostics)  # type: ignore[arg-type]

    monkeypatch.setattr(reader, "read", read)
    opt(kernel, "--tensorlang-revision", revision)
    opt(kernel)
    assert seen == [revision, None]


# Output


def test_an_output_file(opt: Opt, kernel: Path) -> None:
    assert opt(kernel, "-o", "out.mlir") == Result(0, "", "")
    assert Path("out.mlir").read_text() == KERNEL_AS_MLIR
    assert opt(kernel, "-o", "-") == Result(0, KERNEL_AS_MLIR, "")


def test_an_error_leaves_the_output_file(opt: Opt, kernel: Path) -> None:
    out = write("out.mlir", "old")
    assert opt(write("bad.ir", TWO_ERRORS), "-o", out).code == 1
    assert out.read_text() == "old"
    assert not list(Path().glob("*.tmp"))


def test_output_is_utf8(opt: Opt, kernel: Path) -> None:
    path = write("comment.ir", "; é ∑\nfunc @f() {\n}\n")
    assert opt(path, "-t", "tensorlang").out == "; é ∑\nfunc @f() {\n}\n"


def test_a_reader_that_goes_away(kernel: Path) -> None:
    lines = "".join(f"    %{i} = constant 1.0 : f32\n" for i in range(20_000))
    write("long.ir", f"func @f() {{\n{lines}}}\n")
    command = f"'{sys.executable}' -m xtile.opt --disable-verify long.ir | head -n 1"
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "module {\n", "")


# Parts of a file


def test_parts_are_processed_on_their_own(opt: Opt, kernel: Path) -> None:
    path = write("parts.ir", f"func @f() {{\n}}\n; -----\nwrong\n// -----\n{KERNEL}")
    result = opt(path, "--split-input-file", "-t", "tensorlang")
    assert result.code == 1
    assert result.out == f"func @f() {{\n}}\n; -----\n{KERNEL}"
    assert result.err.startswith("parts.ir:4.1-5: error: ")
    assert result.err.count("error: ") == 1


def test_parts_with_an_error_write_no_file(opt: Opt, kernel: Path) -> None:
    path = write("parts.mlir", "func.func private @f()\n// -----\n?")
    assert opt(path, "--split-input-file", "-o", "out.mlir").code == 1
    assert not Path("out.mlir").exists()


def test_parts_of_mlir(opt: Opt, kernel: Path) -> None:
    path = write("parts.mlir", "func.func private @f()\n// -----\nfunc.func private @f()\n")
    part = "module {\n  func.func private @f()\n}\n"
    assert opt(path, "--split-input-file") == Result(0, f"{part}// -----\n{part}", "")


# Expected diagnostics


def test_expected_errors_are_met(opt: Opt, kernel: Path) -> None:
    path = write(
        "test.ir",
        "func @f() {\n"
        "    wrong ; expected-error {{unknown instruction 'wrong'}}\n"
        "}\n"
        "; -----\n"
        "; expected-error@+1 {{unknown instruction}}\n"
        "func @f() { wrong }\n",
    )
    result = opt(path, "--verify-diagnostics", "--split-input-file")
    assert result == Result(0, "", "")


def test_unmet_and_unexpected_errors(opt: Opt, kernel: Path) -> None:
    path = write("test.mlir", '// expected-error@+1 {{never}}\n"a.b"() : () -> ()\n')
    assert opt(path, "--verify-diagnostics") == Result(
        1,
        "",
        'test.mlir:1.4-30: error: expected error "never" was not produced\n'
        "// expected-error@+1 {{never}}\n"
        "   ~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "test.mlir:2.1-5: error: unexpected error: Operation a.b is not registered\n"
        '"a.b"() : () -> ()\n'
        "~~~~~\n",
    )


def test_expected_errors_have_no_limit(opt: Opt, kernel: Path) -> None:
    lines = "".join(f"lifetime_stop %x{i} ; expected-error {{{{%x{i} is}}}}\n" for i in range(200))
    path = write("test.ir", f"func @f() {{\n{lines}}}\n")
    assert opt(path, "--verify-diagnostics") == Result(0, "", "")
    assert opt(path).err.endswith("test.ir: note: too many errors; 100 more are not shown\n")


# Passes


@dataclass(frozen=True)
class _Rename(ModulePass):
    """Names the module."""

    name: ClassVar[str] = "rename"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.sym_name = StringAttr("renamed")


@dataclass(frozen=True)
class _Break(ModulePass):
    """Leaves an invalid module."""

    name: ClassVar[str] = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for operation in list(op.walk()):
            if isinstance(operation, ReturnOp):
                operation.detach()


@dataclass(frozen=True)
class _Fail(ModulePass):
    """Fails as a pass should."""

    name: ClassVar[str] = "fail"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("not today")


@dataclass(frozen=True)
class _Crash(ModulePass):
    """Fails as no pass should."""

    name: ClassVar[str] = "crash"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("some\nkey")


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adds passes that go wrong in different ways."""
    for module_pass in (_Rename, _Break, _Fail, _Crash):
        monkeypatch.setitem(XTILE_UNIVERSE.all_passes, module_pass.name, lambda p=module_pass: p)


@pytest.mark.usefixtures("passes")
def test_passes_run_in_order(opt: Opt, kernel: Path) -> None:
    path = write("a.mlir", "func.func @f() {\n  func.return\n}\n")
    result = opt(path, "-p", "rename,canonicalize", "--print-between-passes", "--time-passes")
    body = "module @renamed {\n  func.func @f() {\n    return\n  }\n}\n"
    assert result.out == body
    assert f"// after pass 'rename':\n{body}" in result.err
    assert "rename: 0.0" in result.err
    assert "canonicalize: 0.0" in result.err


@pytest.mark.usefixtures("passes")
def test_a_pass_that_leaves_an_invalid_module(opt: Opt, kernel: Path) -> None:
    path = write("a.mlir", "func.func @f() {\n  func.return\n}\n")
    result = opt(path, "-p", "break")
    assert result.code == 1
    assert result.err == (
        "a.mlir:1.1-3.1: error: 'func.func' has an empty block, which must end with a terminator\n"
        "func.func @f() {\n"
        "~~~~~~~~~~~~~~~~\n"
        "note: found after pass 'break'\n"
    )


@pytest.mark.usefixtures("passes")
def test_a_pass_that_fails(opt: Opt, kernel: Path) -> None:
    assert opt(kernel, "-p", "rename,fail") == Result(
        1, "", "kernel.ir: error: pass 'fail' failed: not today\n"
    )


@pytest.mark.usefixtures("passes")
def test_a_defect_shows_no_trace_unless_asked(
    opt: Opt, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = (
        "xtile-opt: internal error: KeyError: 'some\\nkey'\n"
        "This is a defect of xtile. Set XTILE_TRACE=1 to see where it happened.\n"
    )
    assert opt(kernel, "-p", "crash") == Result(3, "", message)
    monkeypatch.setenv("XTILE_TRACE", "1")
    result = opt(kernel, "-p", "crash")
    assert result.code == 3
    assert result.err.startswith("Traceback")
    assert result.err.endswith(message)


def test_an_interrupt_ends_quietly(opt: Opt, kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(XtileOptMain, "execute", interrupt)
    assert opt(kernel) == Result(130, "", "")


def test_the_verifying_pass(opt: Opt, kernel: Path) -> None:
    assert opt(kernel, "-p", "tensorlang-verify").code == 0
    path = write("bad.ir", "func @f(%A: memref<f32x4>) {\n    axpby %A, %A, %A, %A\n}\n")
    result = opt(path, "--disable-verify", "-p", "tensorlang-verify")
    assert result.code == 1
    assert result.err.startswith("bad.ir:2.11-12: error: ")


# Stock xDSL


def xdsl_opt(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("xdsl-opt")), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_stock_xdsl_opt_reads_and_prints_the_dialect(kernel: Path) -> None:
    path = write("kernel.mlir", KERNEL_AS_MLIR)
    result = xdsl_opt(str(path))
    assert result.stderr == ""
    assert result.stdout.strip() == f"builtin.{KERNEL_AS_MLIR}".strip()


def test_stock_xdsl_opt_has_the_pass_and_the_target(kernel: Path) -> None:
    path = write("kernel.mlir", KERNEL_AS_MLIR)
    result = xdsl_opt("-p", "tensorlang-verify", "-t", "tensorlang", str(path))
    assert (result.stdout, result.stderr) == (KERNEL, "")


def test_stock_xdsl_opt_sees_a_failed_pass(kernel: Path) -> None:
    path = write("bad.mlir", KERNEL_AS_MLIR.replace("%A, %one", "%one, %one"))
    result = xdsl_opt(
        "--disable-verify", "--verify-diagnostics", "-p", "tensorlang-verify", str(path)
    )
    assert result.returncode == 0
    assert "error: " in result.stdout


def test_standard_input_tells_its_language(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = b"func @f() {\n}\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["-t", "tensorlang"]) == 0
    assert capsys.readouterr().out == "func @f() {\n}\n"
