"""`--json`: every command prints one object with all that it says, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checking.kernels import rows
from xtile.cli import main
from xtile.opt import main as opt_main

ROOT = Path(__file__).parents[1]

AXPBY = str(ROOT / "examples" / "axpby.ir")

MISTAKES = str(ROOT / "examples" / "wrong" / "mistakes.ir")

LAUNCH = ("--arg", "alpha=2.0", "--arg", "beta=0.5", "--rand", "--size", "A=33x50")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code of a command, and its object; nothing goes to standard error."""
    code = main([*words, "--json"])
    captured = capsys.readouterr()
    assert captured.err == ""
    content = json.loads(captured.out)
    assert (content["version"], content["exit_code"]) == (1, code)
    return code, content


@pytest.mark.parametrize(
    "command",
    [
        ("run", MISTAKES),
        ("compile", MISTAKES, "-o", "k.tileirbc"),
        ("check", MISTAKES, MISTAKES),
        ("port", MISTAKES, "--to", "triton"),
        ("asm", MISTAKES, "--chip", "sm_90"),
    ],
    ids=lambda command: command[0],
)
def test_mistakes_in_a_kernel(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, content = said(capsys, *command)
    assert (code, content["error"]) == (1, None)
    first, *_, fourth, _ = content["diagnostics"]
    expected = {"severity": "error", "file": MISTAKES, "line": 3, "column": 13}
    assert expected.items() <= first.items()
    assert (first["end_line"], first["end_column"]) == (3, 29)
    assert [note["line"] for note in fourth["notes"]] == [5]


def test_errors_that_are_about_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, content = said(capsys, "port", AXPBY, "--to", "fortran")
    assert code == 2
    assert content["error"].startswith("there is no port to 'fortran'")
    code, content = said(capsys, "run", AXPBY, "--arg", "gamma=1")
    assert (code, content["error"][:12]) == (2, "--arg gamma:")


def test_a_launch(capsys: pytest.CaptureFixture[str]) -> None:
    code, content = said(capsys, "run", AXPBY, *LAUNCH, "--size", "B=33x50", "--grid", "2")
    assert (code, content["kernel"], content["device"]) == (0, "axpby", "reference")
    last = content["arguments"][-1]
    assert (last["name"], last["written"], last["shape"]) == ("B", True, "(33, 50)")
    assert content["timing"] is None


def test_launches_that_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", AXPBY, *LAUNCH, "--size", "B=33x50", "--grid", "2", "--repeat", "3")
    code, content = said(capsys, *words, "--flop", "4950")
    timing = content["timing"]
    assert code == 0
    assert len(timing["seconds"]) == 3
    assert timing["median"] == sorted(timing["seconds"])[1] > 0
    # A is read, B is read and written.
    assert timing["bytes"] == 3 * 33 * 50 * 4
    assert timing["flop_per_second"] == pytest.approx(4950 / timing["median"])
    assert main(list(words)) == 0
    assert "3 launches: median " in capsys.readouterr().out


def test_repeated_launches_begin_with_the_same_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is saved is what one launch gives, and so is what each of them computes."""
    out = str(tmp_path / "b.npy")
    words = ["run", AXPBY, *LAUNCH, "--size", "B=33x50", "--grid", "2", "--seed", "1", "--quiet"]
    assert main([*words, "--out", f"B={out}"]) == 0
    once = Path(out).read_bytes()
    assert main([*words, "--out", f"B={out}", "--repeat", "2"]) == 0
    assert Path(out).read_bytes() == once
    capsys.readouterr()


def test_a_port_and_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "kernels" / "rows.mlir"
    kernel.parent.mkdir()
    kernel.write_text(rows())
    options = ("--to", "tensorlang", "--no-check", "-o", str(tmp_path / "out"))
    code, content = said(capsys, "port", str(kernel), *options)
    assert (code, content["ports"][0]["verdict"]) == (0, "not checked")
    (tmp_path / "empty").mkdir()
    code, content = said(capsys, "port", str(tmp_path / "empty"), *options)
    assert (code, content["error"]) == (1, f"{tmp_path}/empty: there is no kernel in the folder")


@pytest.mark.slow
def test_devices(capsys: pytest.CaptureFixture[str]) -> None:
    code, content = said(capsys, "devices")
    assert code == 0
    assert content["devices"][0]["name"] == "reference"
    defaults = [each["name"] for each in content["chips"] if each["is_default"]]
    assert defaults == ["pvc", "sm_90", "gfx942"]


@pytest.mark.slow
def test_machine_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, content = said(capsys, "asm", AXPBY, "--chip", "sm_90")
    assert code == 0
    assert content["instructions"]["EXIT"] > 0
    assert 13 in content["origins"]
    assert main(["asm", AXPBY, "--chip", "sm_90"]) == 0
    assert f"; {AXPBY}:13: axpby.n %alpha, %a, %beta, %b\n" in capsys.readouterr().out
    code, content = said(capsys, "asm", AXPBY, "--chip", "cpu")
    assert (code, content["error"][:30]) == (2, "the driver makes the machine c")


def test_messages_of_xtile_opt(capsys: pytest.CaptureFixture[str]) -> None:
    assert opt_main(["--json", MISTAKES]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(lines) == 5
    assert lines[0]["line"] == 3
