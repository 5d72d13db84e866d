"""Cubins and their sidecars."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import pytest

import xtile
from xtile.arguments.kernel import signatures_of
from xtile.backends.machine_code import CUBIN, KernelInterface, MachineCode
from xtile.backends.sidecar import (
    decode,
    encode,
    read_code,
    read_machine_code,
    sidecar_path,
    write_machine_code,
)
from xtile.text.diagnostics import DiagnosticError
from xtile.text.source import Source

KERNELS = """
func @first(%a: f32, %A: memref<f32x?x4> {alignment=64, shape_gcd=[4]}, %G: group<memref<i8x4>x?>) {
    parallel {
        %zero = constant 0 : index
        store %a, %A[%zero,%zero]
    }
}
func @second(%B: memref<i8x4>, %c: c64) {
}
"""

CODE = b"\x7fELF\x02\x01" + bytes(12) + (190).to_bytes(2, "little") + bytes(100)
"""What begins as a cubin begins."""


def make_cubin(code: bytes = CODE) -> MachineCode:
    signatures = signatures_of(xtile.parse(KERNELS))
    signatures["first"] = signatures["first"].with_overlaps()
    kernels = {"first": KernelInterface("#hints", 4096), "second": KernelInterface()}
    return MachineCode(code, "sm_90", "tileiras 13.5.37", signatures, kernels)


def error_of(path: Path) -> str:
    with pytest.raises(DiagnosticError) as raised:
        read_machine_code(path, CUBIN)
    (diagnostic,) = raised.value.diagnostics
    return diagnostic.render()


@pytest.fixture(name="path")
def written(tmp_path: Path) -> Path:
    path = tmp_path / "k.cubin"
    write_machine_code(path, make_cubin())
    return path


def change(path: Path, **words: Any) -> None:
    sidecar = sidecar_path(path)
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), **words}))


def kernel_words(path: Path) -> Any:
    return json.loads(sidecar_path(path).read_text())["kernels"]


def test_everything_comes_back(path: Path) -> None:
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["k.cubin", "k.cubin.json"]
    assert read_machine_code(path, CUBIN) == make_cubin()


def test_nothing_is_left_out() -> None:
    names = [field.name for field in dataclasses.fields(MachineCode)]
    assert names == ["code", "chip", "tool", "signatures", "kernels", "format"]


def test_the_text() -> None:
    words = json.loads(encode(make_cubin()))
    assert {name: words[name] for name in ("format", "version", "tool", "chip")} == {
        "format": "xtile cubin",
        "version": 3,
        "tool": "tileiras 13.5.37",
        "chip": "sm_90",
    }
    first, second = words["kernels"]
    assert (first["name"], first["written"], first["hints"]) == ("first", [1], "#hints")
    # f32; pointer, size and stride; pointer and count.
    assert first["slots"] == "0:4 8:8 16:8 24:8 32:8 40:8"
    assert first["heap"] == 4096
    alone = [[each["is_noalias"] for each in words["parameters"]] for words in (first, second)]
    assert alone == [[False, False, False], [True, False]]
    assert (second["name"], second["slots"], second["hints"]) == ("second", "0:8 8:8 16:8", "")


def test_no_sidecar(path: Path) -> None:
    sidecar_path(path).unlink()
    assert error_of(path) == (
        f"{path}: error: its sidecar k.cubin.json is missing, which `xtile compile` writes beside "
        "it; without it, run the kernel's source with --binary"
    )


def test_no_file(tmp_path: Path) -> None:
    assert "cannot read the file" in error_of(tmp_path / "k.cubin")


@pytest.mark.parametrize("code", [b"", b"\x7fELF", CODE[:18] + b"\x3e\x00" + CODE[20:], b"func"])
def test_what_is_no_cubin(tmp_path: Path, code: bytes) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(code)
    with pytest.raises(DiagnosticError) as raised:
        read_code(path, CUBIN)
    assert raised.value.diagnostics[0].message == (
        "expected a cubin, which is an ELF file for NVIDIA's GPUs"
    )


def test_another_cubin(path: Path) -> None:
    path.write_bytes(CODE + b"\0")
    assert error_of(path) == (
        f"{path}.json: error: it describes another cubin: the checksum sha256 differs"
    )


@pytest.mark.parametrize("words", [{"format": "other"}, {"version": 1}, {"format": None}])
def test_another_format(path: Path, words: dict[str, Any]) -> None:
    change(path, **words)
    assert error_of(path) == (
        f'{path}.json: error: expected a file with "format": "xtile cubin" and "version": 3'
    )


def test_a_damaged_place(path: Path) -> None:
    sidecar_path(path).write_text('{\n "format": ,\n}')
    assert error_of(path) == (
        f'{path}.json:2.12: error: expected JSON: Expecting value\n "format": ,\n           ~'
    )


def test_deeply_nested(path: Path) -> None:
    sidecar_path(path).write_text("[" * 200_000)
    assert "error: expected JSON" in error_of(path)


def test_no_object(path: Path) -> None:
    sidecar_path(path).write_text("[]")
    assert error_of(path).endswith("error: expected a JSON object")


def test_what_is_missing(path: Path) -> None:
    kernels = kernel_words(path)
    del kernels[0]["written"]
    change(path, kernels=kernels)
    assert error_of(path).endswith("error: it is damaged: 'written' is missing")


@pytest.mark.parametrize("heap", [-1, "1", None, 0.5])
def test_a_heap_that_is_no_size(path: Path, heap: Any) -> None:
    kernels = kernel_words(path)
    kernels[1]["heap"] = heap
    change(path, kernels=kernels)
    assert error_of(path).endswith("error: it is damaged: heap is no number from 0 on")


def test_a_wrong_type(path: Path) -> None:
    kernels = kernel_words(path)
    kernels[0]["parameters"][0]["type"] = "memref<4x"
    change(path, kernels=kernels)
    assert "error: a type of kernel 'first' cannot be read: " in error_of(path)


def test_parameters_that_are_elsewhere(path: Path) -> None:
    kernels = kernel_words(path)
    kernels[0]["parameters"][0]["type"] = "f64"
    change(path, kernels=kernels)
    assert error_of(path).endswith(
        "error: the parameters of kernel 'first' lie at '0:8 8:8 16:8 24:8 32:8 40:8' by its "
        "signature, but its slots are '0:4 8:8 16:8 24:8 32:8 40:8'"
    )


def test_random_damage() -> None:
    """Every damaged sidecar is an error, or says the same; nothing else happens."""
    text = encode(make_cubin())
    generator = random.Random(1)
    errors = 0
    for _ in range(400):
        position = generator.randrange(len(text))
        inserted = generator.choice(['"', "{", "]", "0", "", "null", ":", "x"])
        damaged = text[:position] + inserted + text[position + generator.randrange(12) :]
        try:
            decode(Source("k.cubin.json", damaged), CODE, CUBIN)
        except DiagnosticError:
            errors += 1
    # Names and versions of tools may be anything.
    assert errors > 250
