"""Damaged files are errors at a byte: no other exception, no hang, no flood of memory."""

from __future__ import annotations

import re
import sys
import tracemalloc
from functools import cache
from random import Random

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.dialects.cuda_tile.bytecode.kernels import KERNELS
from tests.dialects.cuda_tile.bytecode.texts import body, nameless, printed, read
from tests.samples import one_of
from tests.tile_tools import disassembled
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.dialects.cuda_tile.bytecode.byte_streams import write_table, write_varint
from xtile.dialects.cuda_tile.bytecode.constants import MAXIMUM_BYTES
from xtile.dialects.cuda_tile.bytecode.container import write_section
from xtile.dialects.cuda_tile.bytecode.tables import Section
from xtile.dialects.cuda_tile.versions import V13_5, VERSIONS
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import DiagnosticError, Diagnostics

pytestmark = pytest.mark.slow

LOCATED = re.compile(r"damaged\.tileirbc: error: byte \d+ \(\w+\): ")

FILES = 250
"""How many damaged files each seed is; there are 200 seeds."""

DEBUG_INFO = """
#file = #cuda_tile.di_file<"kernels.py" in "/home/me">
#unit = #cuda_tile.di_compile_unit<file = #file>
#scope = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k",
                                  compileUnit = #unit, scopeLine = 2>
#block = #cuda_tile.di_lexical_block<scope = #scope, file = #file, line = 3, column = 4>
#place = #cuda_tile.di_loc<loc("kernels.py":5:6) in #scope>
#inner = #cuda_tile.di_loc<loc("kernels.py":7:8) in #block>
cuda_tile.module @kernels attributes {producer = "tests"} {
  global @g alignment = 4 <i1: [true, false, true, true]> : tile<4xi1>
  entry @k(%a: tile<f32>) optimization_hints=<sm_90 = {occupancy = 2}> {
    %b = addf %a, %a : tile<f32> loc(#inner)
    %c = mulf %b, %a : tile<f32> loc(callsite(#inner at #place))
    return loc(#place)
  } loc(#place)
}
"""


@cache
def files() -> list[bytes]:
    """Small files of all versions, which hold all kinds of entries."""
    kernels = [
        (DEBUG_INFO, VERSIONS[2]),
        *((kernel.text, kernel.since) for kernel in KERNELS.values()),
    ]
    return [
        encode(read(text), version)
        for text, since in kernels
        for version in VERSIONS
        if version >= since
    ]


def damaged(data: bytes, random: Random) -> bytes:
    """A file with one to four defects; what it returns may be valid by chance."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        position = random.randrange(len(out) or 1)
        match random.randrange(6):
            case 0:
                out[position : position + 1] = bytes([random.randrange(256)])
            case 1:
                out[position : position + 1] = bytes([out[position] ^ 1 << random.randrange(8)])
            case 2:
                del out[position : position + random.randrange(1, 9)]
            case 3:
                out[position:position] = random.randbytes(random.randrange(1, 9))
            case 4:
                out[position : position + 1] = bytes([random.choice((0, 1, 0x7F, 0x80, 0xFF))])
            case _:
                other = random.randrange(len(out) or 1)
                out[position : position + 4] = out[other : other + 4]
        out = out or bytearray(b"\0")
    return bytes(out)


def problem_of(data: bytes) -> str | None:
    """What reading a file says is wrong; None if it is read."""
    try:
        decode(data, "damaged.tileirbc")
    except DiagnosticError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", one_of(2, range(100)))
def test_damaged_files(seed: int) -> None:
    """Each file is read, or refused at a byte of a section."""
    random = Random(seed)
    refused = 0
    for _ in range(FILES):
        problem = problem_of(damaged(random.choice(files()), random))
        if problem is not None:
            assert LOCATED.match(problem)
            refused += 1
    assert FILES // 2 < refused < FILES


@pytest.mark.parametrize("seed", range(4))
def test_files_that_are_valid_by_chance(seed: int) -> None:
    """They are written and printed, and are the same when they are read again."""
    random = Random(seed)
    whole = files()
    valid = 0
    for _ in range(500):
        try:
            module = decode(damaged(random.choice(whole), random))
        except DiagnosticError:
            continue
        root = ModuleOp([module])
        text = printed(root, locations=True)
        diagnostics = Diagnostics()
        verify_module(root, diagnostics)
        if diagnostics.has_errors:
            continue
        valid += 1
        data = encode(root, V13_5)
        assert encode(decode(data), V13_5) == data
        assert printed(decode(encode(read(text), V13_5)), locations=True) == text
    assert valid > 10


@pytest.mark.parametrize("seed", range(2))
def test_disassembler_of_files_that_are_valid_by_chance(seed: int) -> None:
    """NVIDIA's disassembler reads the same in what is accepted here."""
    random = Random(seed)
    valid = 0
    while valid < 25:
        data = damaged(random.choice(files()), random)
        if problem_of(data) is not None:
            continue
        root = ModuleOp([decode(data)])
        diagnostics = Diagnostics()
        verify_module(root, diagnostics)
        if diagnostics.has_errors:
            continue
        valid += 1
        theirs = nameless(disassembled(data))
        assert [line for line in theirs if not line.startswith("// Producer")] == nameless(
            body(printed(root))
        )


# --- files that are built to do harm ---

HEADER = b"\x7fTileIR\x00\x0d\x03\x00\x00"
NO_STRINGS = (Section.STRING, b"\x00")


def file(*sections: tuple[Section, bytes], header: bytes = HEADER) -> bytes:
    """A file of sections."""
    out = bytearray(header)
    for section, contents in sections:
        write_section(out, section, contents)
    return bytes(out) + b"\0"


def table(*entries: bytes, size: int = 4) -> bytes:
    """A table of entries."""
    out = bytearray()
    write_table(out, entries, size)
    return bytes(out)


def function(body: bytes = b"\x5c\x00\x00", *, positions: int = 0, flags: bytes = b"\x02") -> bytes:
    """The section of a function with the name 0 and the type 0."""
    out = bytearray(b"\x01\x00\x00" + flags + bytes([positions]))
    write_varint(out, len(body))
    return bytes(out) + body


STRINGS = (Section.STRING, table(b"k"))
TYPES = (Section.TYPE, table(b"\x10\x00\x00", b"\x07", b"\x0d\x01\x00"))
"""The types of a function without parameters, f32 and tile<f32>."""


def error_of(data: bytes) -> str:
    """What reading a file says is wrong."""
    with pytest.raises(DiagnosticError) as error:
        decode(data, "k.tileirbc")
    return str(error.value)


def test_the_parts_of_these_files() -> None:
    """Without harm they are a kernel."""
    module = decode(file(STRINGS, TYPES, (Section.FUNCTION, function())))
    assert "entry @k() {" in printed(module)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "byte 0 (header): CUDA Tile bytecode begins with"),
        (b"BC\xc0\xde", "byte 0 (header): CUDA Tile bytecode begins with"),
        (HEADER[:10], "byte 10 (header): the file ends before the version"),
        (HEADER[:8] + b"\x0d\x00\x00\x00", "byte 8 (header): the version is 13.0"),
        (HEADER[:8] + b"\x0e\x01\x00\x00", "none of 13.1, 13.2, 13.3, 13.4, 13.5"),
        (HEADER[:10] + b"\x01\x00", "byte 10 (header): the version has the tag 0x1 of a preview"),
        (HEADER, "byte 12 (header): expected another byte"),
        (HEADER + b"\0", "there is no String section"),
        (file(NO_STRINGS), "there is no Function section"),
        (file(NO_STRINGS, NO_STRINGS), "(String): there is a second section of this kind"),
        (HEADER + b"\x09\x00", "byte 12 (header): there is no section with the number 9"),
        (HEADER + b"\x80", "byte 12 (header): the end has no alignment"),
        (HEADER + b"\0\0", "byte 13 (header): the file ends here, but 1 more bytes"),
        (HEADER + b"\x01\x00", "(String): expected an alignment of 4 bytes, got 1"),
        (HEADER + b"\x81\x00\x0c", "(String): an alignment is a power of two, got 12"),
        (HEADER + b"\x06\x7f", "(Global): the section is said to have 127 bytes, but only 0"),
        (HEADER + b"\x06" + b"\xff" * 9 + b"\x01", "said to have 18446744073709551615 bytes"),
        (HEADER + b"\x06" + b"\xff" * 10 + b"\x01", "(Global): a number has at most 64 bits"),
    ],
)
def test_containers(data: bytes, message: str) -> None:
    assert message in error_of(data)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ((b"\x0d\x00\x00",), "type 0 contains itself"),
        ((b"\x0d\x01\x00", b"\x0c\x00\x00"), "contains itself"),
        ((b"\x10\x01\x01\x00", b"\x10\x00\x00"), "a function is no parameter of a function"),
        ((b"\x10\x01\x05\x00",), "there is no type 5; there are 1"),
        ((b"\x10\xff\xff\x7f",), "there are said to be 2097151 parameters"),
        ((b"\x07",), "expected a function, got f32"),
        ((b"\x82\x01",), "there is no type with the tag 130"),
        ((b"\x10\x00\x00\x00",), "type 0 ends here, but 1 more bytes belong to it"),
        ((b"\x10\x01\x01\x00", b"\x0d\x02\x01" + b"\3" + b"\0" * 7, b"\x07"), "powers of two"),
    ],
)
def test_types(types: tuple[bytes, ...], message: str) -> None:
    data = file(STRINGS, (Section.TYPE, table(*types)), (Section.FUNCTION, function()))
    error = error_of(data)
    assert message in error
    assert "(Type)" in error or "(Function)" in error


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (function(b"\xff\x01"), "there is no operation with the opcode 0xff"),
        (function(b"\x16"), "there is no operation with the opcode 0x16"),
        (function(b"\x00\x02\x00"), "there is no value 0 here; there are 0"),
        (function(b"\x10\x02\x00"), "there is no constant 0; there are 0"),
        (function(b"\x02\x02\x09\x00"), "the flags of cuda_tile.addf are 0x9; known are 0x1"),
        (function(b"\x02\x02\x00\x09"), "cuda_tile.rounding has no member 9"),
        (function(b"\x5c\xff\xff\x7f"), "there are said to be 2097151 results"),
        (function(b"\x41\x00\x00\x02"), "cuda_tile.loop has 1 regions, got 2"),
        (function(b"\x41\x00\x00\x01\x01\x00\x00"), "the last operation of a block must end it"),
        (function(positions=3), "there is no list of locations 3; there are 0"),
        (function(flags=b"\x12"), "the flags of @k are 0x12; known are 0x7"),
        (function(flags=b"\x00"), "@k is no kernel; only kernels are known"),
        (b"\x01\x00\x00\x06\x00\x0d", "there is no attribute with the tag 13"),
        (b"\x01\x00\x00\x06\x00\x04\x01", "expected optimization hints, got f32"),
        (function() + bytes(8), "after the last function there is more than padding"),
        (b"\xff\xff\xff\x7f", "there are said to be 268435455 functions"),
        (b"\x01\x07\x00\x02\x00\x00", "there is no string 7; there are 1"),
    ],
)
def test_functions(contents: bytes, message: str) -> None:
    error = error_of(file(STRINGS, TYPES, (Section.FUNCTION, contents)))
    assert message in error
    assert "(Function)" in error


def test_deep_regions() -> None:
    """As deep as brackets in text, or as Python's stack allows."""
    body = b"\x41\x00\x00\x01\x01\x00\x01" * 300
    deep = file(STRINGS, TYPES, (Section.FUNCTION, function(body)))
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(10_000)
        assert "regions nest more than 256 deep" in error_of(deep)
        sys.setrecursionlimit(400)
        assert "(Function): regions nest too deeply for Python's stack" in error_of(deep)
    finally:
        sys.setrecursionlimit(limit)


def test_deep_attributes() -> None:
    """Arrays in arrays."""
    flags = b"\x06"
    contents = b"\x01\x00\x00" + flags + b"\x00" + b"\x06\x01" * 1000
    error = error_of(file(STRINGS, TYPES, (Section.FUNCTION, contents)))
    assert "attributes nest more than 64 deep" in error


def error_of_calls(*calls: bytes) -> str:
    """What is wrong with call sites, the entries from 5 on; the last is a function's location."""
    file_entry, unit = b"\x02\x00\x00", b"\x01\x01"
    scope = b"\x05\x01\x01\x00\x00\x02\x01"
    position = b"\x04\x03\x00\x01\x01"
    entries = table(file_entry, unit, scope, position, *calls)
    last = 4 + len(calls)
    head = b"\x01\xcb\xcb\xcb" + bytes(4) + b"\x01" + b"\xcb" * 7 + last.to_bytes(8, "little")
    # The table begins at a multiple of 4 bytes plus 1, as it does alone.
    assert len(head) % 4 == 0
    debug = (Section.DEBUG, head + entries)
    error = error_of(file(STRINGS, TYPES, debug, (Section.FUNCTION, function(positions=1))))
    assert "(Debug)" in error
    return error


def test_calls_that_double() -> None:
    """Call sites that name the one before twice each would be more than any memory holds."""
    calls = [bytes([6, number, number]) for number in range(4, 40)]
    assert "consists of more than 10000 entries" in error_of_calls(*calls)


def test_calls_that_contain_themselves() -> None:
    assert "entry 5 contains itself" in error_of_calls(b"\x06\x05\x04")
    assert "entry 6 contains itself" in error_of_calls(b"\x06\x06\x04", b"\x06\x05\x04")


def test_calls_that_nest_deeply() -> None:
    """Python's stack may end before the limit is reached."""
    calls = []
    for number in range(4, 300):
        call = bytearray(b"\x06")
        write_varint(call, number)
        calls.append(bytes(call) + b"\x04")
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(10_000)
        assert "nests more than 256 deep" in error_of_calls(*calls)
        sys.setrecursionlimit(400)
        assert "entries nest too deeply for Python's stack" in error_of_calls(*calls)
    finally:
        sys.setrecursionlimit(limit)


def test_constants_that_fill_the_memory() -> None:
    """One byte can stand for all elements of a tile; what a file may hold is bounded."""
    size = (1 << 24).to_bytes(8, "little")
    types = table(b"\x10\x00\x00", b"\x09", b"\x0d\x01\x01" + size)
    constants = table(*[b"\x08" + bytes([n]) * 8 for n in range(20)], size=8)
    body = b"".join(b"\x10\x02" + bytes([n]) for n in range(20))
    sections = [STRINGS, (Section.TYPE, types), (Section.CONSTANT, constants)]
    tracemalloc.start()
    try:
        error = error_of(file(*sections, (Section.FUNCTION, function(body))))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "the constants of the file take more than" in error
    assert peak < 2 * MAXIMUM_BYTES


@pytest.mark.parametrize("size", [0, 1, 3, 5, 16])
def test_sizes_of_constants(size: int) -> None:
    """A constant is one element or all of them."""
    types = table(b"\x10\x00\x00", b"\x07", b"\x0d\x01\x01" + b"\x02" + b"\0" * 7)
    constants = table(bytes([size]) + bytes(size), size=8)
    sections = [STRINGS, (Section.TYPE, types), (Section.CONSTANT, constants)]
    error = error_of(file(*sections, (Section.FUNCTION, function(b"\x10\x02\x00"))))
    assert f"constant 0 has {size} bytes, which is neither one element nor 2 of f32" in error


def test_strings() -> None:
    """A string is UTF-8, and lies in its section."""
    rest = (TYPES, (Section.FUNCTION, function()))
    assert "string 0 is no UTF-8" in error_of(file((Section.STRING, table(b"\xff")), *rest))
    outside = b"\x01\xcb\xcb\xcb\xff\x00\x00\x00k"
    assert "string 0 has -254 bytes" in error_of(file((Section.STRING, outside), *rest))
