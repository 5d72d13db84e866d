"""What NVIDIA's Python package exports is read, and written again."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import UnknownLoc

from tests.dialects.cuda_tile.bytecode.cutile_kernels import EXPORTS, exported
from tests.dialects.cuda_tile.bytecode.texts import body, nameless, printed, read
from tests.tile_tools import assembled, disassembled
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.dialects.cuda_tile.debug_info import DILocAttr
from xtile.dialects.cuda_tile.versions import VERSIONS, Version

NAMES = sorted(EXPORTS)

export = cache(exported)


def module_of(disassembly: str) -> str:
    """The text of a module: aliases stand after it."""
    lines = disassembly.splitlines(keepends=True)
    inside = "".join(line for line in lines if not line.startswith("#"))
    after = "".join(line for line in lines if line.startswith("#"))
    return f"cuda_tile.module @kernels {{\n{inside}}}\n{after}"


@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_export(name: str, version: Version) -> None:
    """The text is the disassembler's, and what is written again means the same.

    It is not the same bytes: the package numbers types, strings and locations in the order in which
    its compiler meets them, which the file does not tell, and orders the sections otherwise.
    """
    data = export(name, version)
    module = decode(data)
    again = encode(module, version)
    assert nameless(body(printed(decode(data)))) == nameless(disassembled(data))
    assert disassembled(again, debug_info=True) == disassembled(data, debug_info=True)
    assert encode(decode(again), version) == again


@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_debug_information(name: str, version: Version) -> None:
    """The disassembler's text with all locations is read as the same module, and so is ours.

    It is not written as the same bytes: the text leaves out the widths of integers in hints, and
    the locations of terminators that it leaves out.
    """
    data = export(name, version)
    expected = disassembled(data, debug_info=True)
    theirs = read(module_of(expected))
    assert disassembled(encode(theirs, version), debug_info=True) == expected
    ours = read(printed(decode(data), locations=True))
    assert disassembled(encode(ours, version), debug_info=True) == expected


def test_places() -> None:
    """A location has its line, and the kernel as scope."""
    module = decode(export("add", VERSIONS[2]))
    positions = {operation.name: operation.location for operation in module.walk()}
    position = positions["cuda_tile.addf"]
    assert isinstance(position, DILocAttr)
    assert position.source_location.filename.data.endswith("cutile_kernels.py")
    lines = Path(position.source_location.filename.data).read_text("utf-8").splitlines()
    assert "tile=x + y" in lines[position.source_location.line.data - 1]
    assert "di_subprogram<file = " in str(position.scope)
    assert isinstance(positions["cuda_tile.return"], UnknownLoc)


@pytest.mark.parametrize("name", NAMES)
def test_assembler(name: str) -> None:
    """What is written again is compiled by NVIDIA's assembler."""
    for version in VERSIONS:
        assembled(encode(decode(export(name, version)), version), "sm_100")
