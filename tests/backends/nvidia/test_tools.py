"""Finding NVIDIA's tools."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from xtile.arguments.errors import DeviceError
from xtile.backends.nvidia import tools
from xtile.backends.nvidia.tools import Tool, find_tileiras, find_tool, mismatch

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    find_tileiras.cache_clear()
    yield
    find_tileiras.cache_clear()


@pytest.fixture(name="no_tools")
def hide_tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Neither packages nor a toolkit; returns a directory for tools."""
    monkeypatch.setattr(tools, "find_spec", lambda name: None)  # pyright: ignore
    monkeypatch.setattr(tools, "_TOOLKIT", tmp_path / "none")
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path


def make_tool(directory: Path, version: str, name: str = "tileiras") -> Path:
    """A script that tells a version."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release 1.2, V{version}'\n")
    path.chmod(0o755)
    return path


def test_the_package() -> None:
    tool = find_tileiras()
    assert tool.is_packaged
    assert tool.version.startswith("13.5.")
    assert str(tool) == f"tileiras {tool.version}"
    assert (tool.path.parent / "ptxas").exists()
    disassembler = find_tool("tileirdisasm")
    assert disassembler is not None
    assert disassembler.path.parent == tool.path.parent


def test_a_packaged_tool_sees_no_other_toolkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", "/elsewhere")
    monkeypatch.setenv("XTILE_TEST", "1")
    environment = Tool(Path("tileiras"), "13.5.1", is_packaged=True).environment()
    assert "CUDA_HOME" not in environment
    assert environment["XTILE_TEST"] == "1"
    environment = Tool(Path("tileiras"), "13.5.1", is_packaged=False).environment()
    assert environment["CUDA_HOME"] == "/elsewhere"


def test_the_newest_package(no_tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for toolkit, version in (("cu9", "9.1.1"), ("cu13", "13.4.1"), ("cu14", "14.0.2")):
        make_tool(no_tools / "nvidia" / toolkit / "bin", version)
        make_tool(no_tools / "nvidia" / toolkit / "bin", version, "ptxas")
    spec = type("Spec", (), {"submodule_search_locations": [str(no_tools / "nvidia")]})
    monkeypatch.setattr(tools, "find_spec", lambda name: spec)  # pyright: ignore
    assert find_tileiras().version == "14.0.2"


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH"])
def test_a_toolkit(no_tools: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    path = make_tool(no_tools / "toolkit" / "bin", "13.6.3")
    make_tool(no_tools / "path", "13.4.1")
    monkeypatch.setenv(variable, str(no_tools / "toolkit"))
    assert find_tileiras() == Tool(path, "13.6.3", is_packaged=False)


def test_the_search_path(no_tools: Path) -> None:
    path = make_tool(no_tools / "path", "13.4.1")
    assert find_tileiras() == Tool(path, "13.4.1", is_packaged=False)


def test_what_does_not_run_is_passed_over(no_tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tool(no_tools / "toolkit" / "bin", "13.6.3").write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("CUDA_HOME", str(no_tools / "toolkit"))
    assert find_tool("tileiras") is None
    path = make_tool(no_tools / "path", "13.4.1")
    found = find_tool("tileiras")
    assert found is not None
    assert found.path == path


def test_none(no_tools: Path) -> None:
    with pytest.raises(DeviceError) as raised:
        find_tileiras()
    assert str(raised.value) == (
        "NVIDIA's assembler tileiras is not here; install it with: pip install 'xtile[nvidia]'"
    )


def test_a_package_without_ptxas(no_tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tool(no_tools / "nvidia" / "cu13" / "bin", "13.4.1")
    spec = type("Spec", (), {"submodule_search_locations": [str(no_tools / "nvidia")]})
    monkeypatch.setattr(tools, "find_spec", lambda name: spec)  # pyright: ignore
    with pytest.raises(DeviceError, match=r"tileiras 13\.4\.1 has no ptxas beside it"):
        find_tileiras()


def test_an_old_toolkit(no_tools: Path) -> None:
    path = make_tool(no_tools / "path", "13.2.86")
    with pytest.raises(DeviceError) as raised:
        find_tileiras()
    assert str(raised.value) == (
        f"tileiras 13.2.86 of {path} is older than 13.3; install it with: pip install "
        "'xtile[nvidia]'"
    )


def test_versions_that_do_not_belong_together(tmp_path: Path) -> None:
    tool = Tool(make_tool(tmp_path, "13.5.1"), "13.5.1", is_packaged=True)
    assert mismatch(tool) == ""
    make_tool(tmp_path, "13.5.99", "ptxas")
    assert mismatch(tool) == ""
    make_tool(tmp_path, "13.4.1", "ptxas")
    assert mismatch(tool) == (
        "\nits ptxas is of version 13.4.1, but both must be of one minor version; install it with: "
        "pip install 'xtile[nvidia]'"
    )


def test_pip_installs_one_minor_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    nvidia = [package for package in extras["nvidia"] if package.startswith("nvidia-")]
    packages = ("nvidia-cuda-tileiras", "nvidia-cuda-nvcc", "nvidia-nvvm")
    assert nvidia == [f"{package}==13.5.*" for package in packages]
    assert "xtile[nvidia]" in extras["test"]
