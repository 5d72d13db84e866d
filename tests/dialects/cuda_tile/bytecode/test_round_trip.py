"""From text to bytecode and back, for every operation, and what NVIDIA's tools make of it."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.bytecode.kernels import KERNELS
from tests.dialects.cuda_tile.bytecode.texts import body, nameless, printed, read
from tests.tile_tools import assembled, disassembled
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.dialects.cuda_tile.bytecode.records import TOP_LEVEL, operations
from xtile.dialects.cuda_tile.versions import V13_1, V13_3, VERSIONS, Version
from xtile.text.diagnostics import DiagnosticError

NAMES = sorted(KERNELS)


@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name: str, version: Version) -> None:
    """What is written and read is what it was, and is written again as it was."""
    if version < KERNELS[name].since:
        with pytest.raises(DiagnosticError, match=r"needs version 13\.[234] of CUDA Tile IR"):
            encode(read(KERNELS[name].text), version)
        return
    data = encode(read(KERNELS[name].text), version)
    module = decode(data)
    assert data[8:10] == bytes(version)
    assert encode(module, version) == data
    assert printed(module) == printed(read(KERNELS[name].text))


@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_disassembler(name: str, version: Version) -> None:
    """NVIDIA's disassembler writes what we write, and we read what it writes."""
    version = max(version, KERNELS[name].since)
    data = encode(read(KERNELS[name].text), version)
    expected = disassembled(data)
    assert nameless(body(printed(decode(data)))) == nameless(expected)
    assert encode(read(f"cuda_tile.module @kernels {{\n{expected}}}\n"), version) == data


@pytest.mark.parametrize("name", NAMES)
def test_assembler(name: str) -> None:
    """NVIDIA's assembler compiles what is written, in every version."""
    kernel = KERNELS[name]
    for version in VERSIONS:
        if version >= kernel.since:
            assembled(encode(read(kernel.text), version), kernel.chip)


def test_every_operation_is_in_a_kernel() -> None:
    """No operation is forgotten."""
    held = {op.name for kernel in KERNELS.values() for op in read(kernel.text).walk()}
    assert {definition.name for definition in operations()} | set(TOP_LEVEL) <= held


def test_default_version() -> None:
    """Without a version the newest that is described is written."""
    data = encode(read(KERNELS["integers"].text))
    assert data[8:10] == bytes(V13_3) > bytes(V13_1)
