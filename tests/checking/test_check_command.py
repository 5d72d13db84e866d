"""`xtile check`: exit codes, the table, JSON, and inputs from files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.checking.kernels import rows
from xtile.cli import main

SMALL = ("--device", "reference", "--size", "x=3x16", "--size", "y=3", "--grid", "3")


@pytest.fixture
def kernels(tmp_path: Path) -> tuple[str, str, str]:
    """A source, a port, and a port with a mistake."""
    texts = {"source": rows(), "port": rows(), "wrong": rows(start="1.0")}
    paths = {name: tmp_path / f"{name}.mlir" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text)
    return str(paths["source"]), str(paths["port"]), str(paths["wrong"])


@pytest.mark.slow
def test_exit_codes_and_the_table(
    kernels: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    source, port, wrong = kernels
    assert main(["check", source, port, *SMALL, "--seed", "1"]) == 0
    assert "@k: agrees, seed 1" in capsys.readouterr().out
    assert main(["check", source, wrong, *SMALL, "--seed", "1"]) == 1
    assert "@k: differs, seed 1" in capsys.readouterr().out


@pytest.mark.slow
def test_json(kernels: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    source, _, wrong = kernels
    assert main(["check", source, wrong, *SMALL, "--json"]) == 1
    words = json.loads(capsys.readouterr().out)
    assert words["verdict"] == "differs"
    largest = words["comparisons"][0]["largest_error"]
    assert largest["parameter"] == "y"
    assert largest["wrong_elements"] == largest["elements"]


@pytest.mark.slow
def test_inputs_of_files(
    kernels: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, port, _ = kernels
    np.savez(tmp_path / "i.npz", x=np.ones((3, 16), np.float32), y=np.full(3, np.nan, np.float32))
    script = tmp_path / "i.py"
    script.write_text(
        "import numpy as np\n"
        "def inputs(generator):\n"
        "    x = generator.standard_normal((4, 16)).astype(np.float32)\n"
        "    return {'x': x, 'y': np.full(4, np.nan, np.float32)}, 4\n"
    )
    for path, grid, rows_ in ((tmp_path / "i.npz", "3", 3), (script, "4", 4)):
        options = ["--inputs", str(path), "--device", "reference", "--json"]
        assert main(["check", source, port, *options, "--grid", grid]) == 0
        words = json.loads(capsys.readouterr().out)
        assert words["comparisons"][0]["sizes"] == f"x: ({rows_}, 16), y: ({rows_},)"


def test_a_wrong_name_is_an_error(
    kernels: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    source, port, _ = kernels
    assert main(["check", source, port, "--arg", "z=1"]) == 1
    assert capsys.readouterr().err == (
        "xtile: error: --arg z: the kernel has no such argument; it has: x, y\n"
    )
