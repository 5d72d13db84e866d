"""Cubins that were cut off are found before the driver reads them."""

from pathlib import Path

import pytest

import xtile
from xtile.backends.elf import MAGIC, find_damage
from xtile.backends.machine_code import CUBIN
from xtile.launch import run
from xtile.text.diagnostics import DiagnosticError

KERNEL = """\
func @double(%x: memref<f32x64>, %y: memref<f32x64>) {
    %two = constant 2.0 : f32
    %zero = constant 0.0 : f32
    axpby %two, %x, %zero, %y
}
"""


@pytest.fixture(scope="module")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("elf") / "double.cubin"
    xtile.compile(KERNEL, path, chip="sm_90")
    return path


def test_a_whole_cubin(cubin: Path) -> None:
    assert find_damage(cubin.read_bytes(), CUBIN) is None


def test_every_part_of_a_cubin(cubin: Path) -> None:
    code = cubin.read_bytes()
    for length in range(64, len(code), 97):
        message = find_damage(code[:length], CUBIN)
        assert message is not None
        assert message.startswith(f"the cubin is damaged: it has {length} bytes, but names bytes ")


@pytest.mark.parametrize("code", [b"", MAGIC, b"\x7fELF\x01\x01" + bytes(100), MAGIC + bytes(100)])
def test_other_files(code: bytes) -> None:
    assert find_damage(code, CUBIN) == "expected a cubin, which is an ELF file for NVIDIA's GPUs"


def test_tables_of_other_entries(cubin: Path) -> None:
    code = bytearray(cubin.read_bytes())
    code[58:60] = (40).to_bytes(2, "little")
    assert find_damage(bytes(code), CUBIN) is not None


def test_a_launch_refuses_it(cubin: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.cubin"
    part.write_bytes(cubin.read_bytes()[:3000])
    with pytest.raises(DiagnosticError, match="the cubin is damaged: it has 3000 bytes"):
        run(part, [None, None], device="cuda")
