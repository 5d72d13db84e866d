"""SPIR-V files with sidecars run like their sources."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import xtile
from tests.backends.nvidia.cuda.test_launch_checks import KERNEL as STRIDED
from tests.launch.test_spirv_modules import LAUNCHES, TENSOR, Double
from tests.seeds import fresh_generator
from xtile.backends.intel.files import read_spirv
from xtile.backends.sidecar import sidecar_path
from xtile.cli import main
from xtile.launch import ArgumentError
from xtile.text.diagnostics import DiagnosticError


@pytest.fixture(name="path")
def compiled(tmp_path: Path) -> Path:
    path = tmp_path / "k.spv"
    xtile.compile(TENSOR, path, chip="cpu")
    return path


def words_of(path: Path) -> dict[str, Any]:
    return json.loads(sidecar_path(path).read_text())


def change(path: Path, **words: Any) -> None:
    sidecar_path(path).write_text(json.dumps({**words_of(path), **words}))


def error_of(path: Path) -> str:
    with pytest.raises(DiagnosticError) as raised:
        xtile.run(path, [], device="opencl")
    (diagnostic,) = raised.value.diagnostics
    return diagnostic.render()


@pytest.mark.parametrize("language", LAUNCHES)
def test_a_file_takes_the_arguments_of_its_source(tmp_path: Path, language: str) -> None:
    launch, path = Double(*LAUNCHES[language]), tmp_path / "k.spv"
    read = "tensorlang" if language == "tensorlang" else "ttir" if language == "triton" else "mlir"
    xtile.compile(xtile.parse(launch.text, language=read), path, chip="cpu")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["k.spv", "k.spv.json"]
    for device in ("opencl", "auto", "cpu"):
        launch.check(path, device)
    launch.check(str(path))


def test_the_text(path: Path) -> None:
    words = words_of(path)
    assert {name: words[name] for name in ("format", "version", "chip")} == {
        "format": "xtile spv",
        "version": 3,
        "chip": "cpu",
    }
    (kernel,) = words["kernels"]
    assert (kernel["name"], kernel["written"], kernel["checks"]) == ("double", [1], [])
    assert [each["name"] for each in kernel["parameters"]] == ["A", "B"]
    interface = read_spirv(path).program.kernels["double"]
    assert kernel["local_memory"] == interface.local_memory
    assert kernel["work_group_size"] == list(interface.work_group_size or ())


def test_the_command_runs_a_file(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = fresh_generator().standard_normal((7, 5)).astype(np.float32)
    directory = path.parent
    np.save(directory / "a.npy", np.asfortranarray(a))
    np.save(directory / "b.npy", np.full_like(a, np.nan, order="F"))
    command = ["run", str(path), "--device", "opencl", "--arg", f"A={directory / 'a.npy'}"]
    command += ["--arg", f"B={directory / 'b.npy'}", "--out", f"B={directory / 'out.npy'}"]
    assert main([*command, "--quiet"]) == 0, capsys.readouterr().err
    np.testing.assert_array_equal(np.load(directory / "out.npy"), 2 * a)


def test_a_file_for_another_chip(path: Path) -> None:
    xtile.compile(TENSOR, path, chip="pvc")
    message = error_of(path)
    assert message.startswith(f"{path}: error: the SPIR-V module is for pvc, but the device ")
    assert "; compile it again with --chip cpu" in message


def test_other_spirv(path: Path) -> None:
    other = path.with_name("other.spv")
    xtile.compile(TENSOR.replace("2.0", "3.0"), other, chip="cpu")
    path.write_bytes(other.read_bytes())
    assert error_of(path) == (
        f"{path}.json: error: it describes another SPIR-V module: the checksum sha256 differs"
    )


def test_damaged_spirv(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    assert f"{path}: error: byte " in error_of(path)
    path.write_bytes(b"\x7fELF" + bytes(20))
    assert error_of(path) == (
        f"{path}: error: byte 0: SPIR-V begins with the number 0x07230203, got 0x7f454c46"
    )


def test_the_sidecar_of_something_else(path: Path) -> None:
    change(path, format="xtile cubin")
    assert error_of(path) == (
        f'{path}.json: error: expected a file with "format": "xtile spv" and "version": 3'
    )


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("local_memory", -1, "local_memory is no number from 0 on"),
        ("subgroup_size", "16", "subgroup_size is no number from 1 on"),
        ("work_group_size", [1, 1], "work_group_size is no three numbers"),
        ("source_size", [1, 0, 1], "source_size is no number from 1 on"),
        ("lanes_together", 0, "lanes_together is no number from 1 on"),
    ],
)
def test_damaged_words(path: Path, name: str, value: object, reason: str) -> None:
    (kernel,) = words_of(path)["kernels"]
    change(path, kernels=[{**kernel, name: value}])
    assert error_of(path) == f"{path}.json: error: it is damaged: {reason}"
    del kernel[name]
    change(path, kernels=[kernel])
    assert error_of(path) == f"{path}.json: error: it is damaged: '{name}' is missing"


def test_a_launch_that_fails_a_check(tmp_path: Path) -> None:
    path = tmp_path / "k.spv"
    module = xtile.parse(STRIDED, language="ttir")
    xtile.compile(module, path, chip="cpu", launch_checks=True)
    (kernel,) = words_of(path)["kernels"]
    assert kernel["checks"]
    x, out = fresh_generator().random(64, np.float32), np.full(16, np.nan, np.float32)
    xtile.run(path, [x, out, 1, 2], device="opencl")
    np.testing.assert_array_equal(out, x[:32:2])
    with pytest.raises(ArgumentError, match="@k was translated for launches in which"):
        xtile.run(path, [x, out, 65536, 65536], device="opencl")
    xtile.compile(module, path, chip="cpu")
    assert words_of(path)["kernels"][0]["checks"] == []


def test_arguments_that_overlap(path: Path) -> None:
    x = np.asfortranarray(fresh_generator().standard_normal((7, 5)).astype(np.float32))
    with pytest.raises(ArgumentError, match="compile it again with --may-overlap"):
        xtile.run(path, [x, x], device="opencl")
    xtile.compile(TENSOR, path, chip="cpu", may_overlap=True)
    expected = 2 * x
    xtile.run(path, [x, x], device="opencl")
    np.testing.assert_array_equal(x, expected)


def test_a_binary_beside_a_file(path: Path) -> None:
    with pytest.raises(ArgumentError, match="leave the binary out"):
        xtile.run(path, [], device="opencl", binary=path)


@pytest.mark.parametrize("text", [STRIDED, TENSOR], ids=["triton", "tensorlang"])
def test_random_damage(tmp_path: Path, text: str) -> None:
    """Every damaged sidecar is an error, or says the same; nothing else happens."""
    path, random = tmp_path / "k.spv", Random(1)
    language = "ttir" if text is STRIDED else "tensorlang"
    xtile.compile(xtile.parse(text, language=language), path, chip="cpu", launch_checks=True)
    whole, errors = sidecar_path(path).read_text(), list[str]()
    for _ in range(300):
        position = random.randrange(len(whole))
        inserted = random.choice(['"', "{", "]", "0", "", "null", ":", "x", "-"])
        damaged = whole[:position] + inserted + whole[position + random.randrange(12) :]
        sidecar_path(path).write_text(damaged)
        try:
            read_spirv(path)
        except DiagnosticError as error:
            errors.append(str(error))
    # Names and versions of tools may be anything.
    assert len(errors) > 200
    assert all(each.startswith(f"{path}.json:") for each in errors)
