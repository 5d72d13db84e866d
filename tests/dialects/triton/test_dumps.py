"""Folders that Triton wrote of compiled kernels, and the JSON in them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import DictionaryAttr

import xtile
from tests.seeds import fresh_generator
from xtile.cli import main
from xtile.dialects.triton_dumps import kernel_file, options_text
from xtile.text.diagnostics import DiagnosticError, Diagnostics, Severity

ROOT = Path(__file__).parents[3]

TTIR = """module {
  tt.func public @set(%x: !tt.ptr<f32>) {
    %one = arith.constant 1.0 : f32
    tt.store %x, %one : !tt.ptr<f32>
    tt.return
  }
}
"""

TTGIR = TTIR.replace(
    "module {",
    'module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, '
    'ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {',
)

JSON: dict[str, Any] = {
    "hash": "0",
    "target": {"backend": "hip", "arch": "gfx942", "warp_size": 64},
    "num_warps": 4,
    "num_ctas": 1,
    "maxnreg": None,
    "matrix_instr_nonkdim": 16,
    "shared": 512,
    "backend_name": "hip",
    "name": "set",
}


def folder(at: Path, **files: str) -> Path:
    """A folder with files whose names are `set` and an ending."""
    at.mkdir(parents=True, exist_ok=True)
    for ending, text in files.items():
        (at / f"set.{ending}").write_text(text)
    return at


def errors_of(function: Any, *arguments: Any) -> str:
    """The errors that a function raises, as they are shown."""
    with pytest.raises(DiagnosticError) as error:
        function(*arguments)
    return "\n".join(each.render() for each in error.value.diagnostics)


# --- which file is the kernel ---


def test_the_first_stage_is_taken(tmp_path: Path) -> None:
    folder(tmp_path / "cache" / "KEY", ttgir=TTGIR, ttir=TTIR, llir="", json="{}")
    assert kernel_file(str(tmp_path / "cache")) == str(tmp_path / "cache" / "KEY" / "set.ttir")
    only = folder(tmp_path / "dump", ttgir=TTGIR)
    assert kernel_file(str(only)) == str(only / "set.ttgir")
    assert kernel_file("elsewhere.ttir") == "elsewhere.ttir"


def test_a_folder_without_kernels(tmp_path: Path) -> None:
    empty = folder(tmp_path / "empty", llir="")
    assert errors_of(kernel_file, str(empty)) == (
        f"{empty}: error: the folder has no .ttir or .ttgir of a kernel"
    )


def test_a_folder_with_several_kernels(tmp_path: Path) -> None:
    for number in range(10):
        folder(tmp_path / str(number), ttir=TTIR, ttgir=TTGIR)
    listed = [str(tmp_path / str(number) / "set.ttir") for number in range(8)]
    assert errors_of(kernel_file, str(tmp_path)).splitlines() == [
        f"{tmp_path}: error: the folder has several kernels; name one of",
        *(f"  {each}" for each in [*listed, "and 2 more"]),
    ]


def test_folders_are_kernels_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder(tmp_path / "triton" / "0" / "KEY", ttir=TTIR, json=json.dumps(JSON))
    monkeypatch.chdir(tmp_path)
    x = np.full(1, np.nan, np.float32)
    xtile.run("triton", {"x": x})
    xtile.run(path, {"x": x})
    assert x == 1
    saved = ("--arg", "x=nan:1", "--out", "x=x.npy")
    assert main(["run", "triton", *saved]) == 0
    title = " ".join(capsys.readouterr().out.partition("┏")[0].split())
    assert title == (
        "@set, compiled for hip:gfx942, num_warps = 4, num_ctas = 1, matrix_instr_nonkdim = 16, "
        "shared = 512"
    )
    assert np.load("x.npy") == 1
    empty = folder(tmp_path / "empty")
    assert main(["run", "empty", "--arg", "x=nan:1"]) != 0
    assert "the folder has no .ttir or .ttgir of a kernel" in capsys.readouterr().err
    assert errors_of(xtile.parse, empty).endswith("the folder has no .ttir or .ttgir of a kernel")


# --- what the JSON says ---


def parsed(path: Path, file: str = "set.ttgir") -> tuple[Any, Diagnostics]:
    diagnostics = Diagnostics()
    return xtile.parse(path / file, diagnostics=diagnostics), diagnostics


def test_what_the_json_says_stays_with_the_module(tmp_path: Path) -> None:
    path = folder(tmp_path, ttir=TTIR, ttgir=TTGIR, llir="", json=json.dumps(JSON))
    for file in ("set.ttir", "set.ttgir"):
        module, diagnostics = parsed(path, file)
        assert list(diagnostics) == []
        options = module.attributes["xtile.triton"]
        assert isinstance(options, DictionaryAttr)
        assert str(options) == (
            '{target = "hip:gfx942", num_warps = 4 : i32, num_ctas = 1 : i32, '
            "matrix_instr_nonkdim = 16 : i32, shared = 512 : i32}"
        )


def test_a_missing_json_is_remarked_beside_what_a_compiler_wrote(tmp_path: Path) -> None:
    path = folder(tmp_path, ttgir=TTGIR)
    assert list(parsed(path)[1]) == []
    folder(tmp_path, llir="")
    (remark,) = parsed(path)[1]
    assert remark.severity is Severity.REMARK
    assert remark.render() == (
        f"{path}/set.ttgir: remark: there is no set.json beside this file, as in a folder of "
        "TRITON_CACHE_DIR: what it was compiled with is known only as far as the text says it"
    )
    assert options_text(str(path / "set.ttgir")) == ""


WRONG: dict[str, tuple[str, str, str]] = {
    "no JSON": ('{"name": "set",', "1.16", "this is no JSON: "),
    "no object": ("[1]", "", "expected an object, as Triton writes it"),
    "no integer": (
        json.dumps({**JSON, "num_warps": "four"}, indent=0),
        "8.1-19",
        "expected an integer of 32 bits for num_warps",
    ),
    "a number that is too large": (
        json.dumps({**JSON, "shared": 2**31}, indent=0),
        "12.1-20",
        "expected an integer of 32 bits for shared",
    ),
    "deep": ("[" * 100_000, "", "this is no JSON: "),
    "no target": (
        json.dumps({**JSON, "target": {"backend": "hip"}}, indent=0),
        "3.1-5.1",
        'expected "target" with a "backend" and an "arch"',
    ),
    "nothing at all": ("{}", "", 'expected "target" with a "backend" and an "arch"'),
    "another kernel": (
        json.dumps({**JSON, "name": "get"}, indent=0),
        "14.1-13",
        (
            "the kernel is called @get here, and @set in the text; one of the two files is of "
            "another compilation"
        ),
    ),
    "another chip": (
        json.dumps({**JSON, "target": {**JSON["target"], "arch": "gfx950"}}, indent=0),
        "3.1-7.1",
        (
            "target is hip:gfx950 here, and ttg.target is hip:gfx942 in the text; one of the two "
            "files is of another compilation"
        ),
    ),
    "other warps": (
        json.dumps({**JSON, "num_warps": 8}, indent=0),
        "8.1-14",
        (
            "num_warps is 8 here, and ttg.num-warps is 4 in the text; one of the two files is of "
            "another compilation"
        ),
    ),
    "another size of warps": (
        json.dumps({**JSON, "target": {**JSON["target"], "warp_size": 32}}, indent=0),
        "6.1-15",
        (
            "warp_size is 32 here, and ttg.threads-per-warp is 64 in the text; one of the two "
            "files is of another compilation"
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_json(name: str, tmp_path: Path) -> None:
    text, span, message = WRONG[name]
    path = folder(tmp_path, ttgir=TTGIR, json=text)
    first, *rest = errors_of(xtile.parse, path / "set.ttgir").splitlines()
    position = f":{span}" if span else ""
    assert first.startswith(f"{path}/set.json{position}: error: {message}")
    if "in the text" in message:
        assert any(
            re.fullmatch(rf"{path}/set.ttgir:\d+.*: note: the text is here", r) for r in rest
        )


def test_warps_that_are_specialized_count_in_the_json_only(tmp_path: Path) -> None:
    body = """    ttg.warp_specialize(%x)
    default {
      ttg.warp_yield
    }
    partition0(%y: !tt.ptr<f32>) num_warps(4) {
      ttg.warp_return
    } : (!tt.ptr<f32>) -> ()
    tt.return"""
    text = TTGIR.replace("    tt.return", body)
    path = folder(tmp_path, ttgir=text, json=json.dumps({**JSON, "num_warps": 8}))
    module, _ = parsed(path)
    assert "num_warps" in module.attributes["xtile.triton"].data


# --- the documentation ---


def shell(command: str, directory: Path, **variables: str) -> str:
    """What a command prints, with this Python's commands on the PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=directory,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_porting_a_dump_as_the_documentation_shows(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "triton.md").read_text()
    section = text.partition("## Porting a dump")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(# compile_add\.py.*?)```", section, re.DOTALL)
    (tmp_path / "compile_add.py").write_text(code)
    blocks: list[str] = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 2
    dumped = {"TRITON_KERNEL_DUMP": "1", "TRITON_DUMP_DIR": str(tmp_path / "dump")}
    for block in blocks:
        shown = [line for line in block.splitlines() if not line.startswith("$ ")]
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        printed = "".join(shell(command, tmp_path, **dumped) for command in commands)
        assert [line.rstrip() for line in printed.splitlines()] == shown
    written = {path.name for path in tmp_path.iterdir()}
    assert {"add.mlir", "add.spv", "add.cubin", "add.cubin.json"} <= written
    # The dump is the same kernel, without a JSON.
    module, diagnostics = parsed(Path(kernel_file(str(tmp_path / "dump"))).parent, "add.ttir")
    assert [each.severity for each in diagnostics] == [Severity.REMARK]
    assert "xtile.triton" not in module.attributes
    generator = fresh_generator()
    x, y = (generator.random(1000, np.float32) for _ in range(2))
    out = np.full(1000, np.nan, np.float32)
    xtile.run(module, {"x": x, "y": y, "out": out, "n": 1000}, grid=4)
    np.testing.assert_array_equal(out, x + y)
