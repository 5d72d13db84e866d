"""Damaged binaries are errors at a byte: no other exception, no hang, no flood of memory."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from random import Random
from typing import TypeVar

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.dialects.spirv.kernels import copy_kernel
from tests.generators.spirv_damage import damaged
from tests.generators.spirv_modules import random_module
from tests.samples import one_of
from tests.spirv_tools import assembled
from xtile.dialects.spirv import ModuleOp, decode, disassemble, encode
from xtile.text.diagnostics import DiagnosticError

HEAD = """\
OpCapability Addresses
OpCapability Kernel
OpMemoryModel Physical64 OpenCL
%void = OpTypeVoid
%int = OpTypeInt 32 0
%ft = OpTypeFunction %void %int
"""

EXTENDED = """\
%cl = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
%f = OpTypeFloat 32
%x = OpUndef %f
"""

ResultT = TypeVar("ResultT")

LOCATED = re.compile(r"damaged\.spv: error: byte \d+: ")


def error_of(data: bytes) -> str:
    """What reading a binary says is wrong."""
    with pytest.raises(DiagnosticError) as error:
        decode(data, "damaged.spv")
    return str(error.value)


@pytest.mark.parametrize("seed", one_of(2, range(20)))
def test_damaged_modules(seed: int) -> None:
    """Each seed is a module and 100 damaged ones, of which some are valid by chance."""
    random = Random(seed)
    data = encode(random_module(random))
    refused = 0
    for _ in range(100):
        broken = damaged(data, random)
        module = result_of(decode, broken)
        if isinstance(module, str):
            refused += 1
            assert LOCATED.match(module)
        elif is_valid(module):
            written = encode(module)
            assert encode(decode(written)) == written
    assert refused > 50


def result_of(read: Callable[[bytes, str], ResultT], data: bytes) -> ResultT | str:
    """What a reader returns for a binary, or what it says is wrong."""
    try:
        return read(data, "damaged.spv")
    except DiagnosticError as error:
        return str(error)


def is_valid(module: ModuleOp) -> bool:
    """Whether nothing is wrong with a module."""
    try:
        module.verify()
    except VerifyException:
        return False
    return True


@pytest.mark.parametrize("seed", one_of(2, range(10)))
def test_text_of_damaged_modules(seed: int) -> None:
    random = Random(1000 + seed)
    data = encode(random_module(random))
    for _ in range(100):
        text = result_of(disassemble, damaged(data, random))
        assert text.startswith("; SPIR-V\n") or LOCATED.match(text)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "byte 0: SPIR-V begins with 20 bytes of header, got 0 bytes"),
        (bytes(22), "byte 22: SPIR-V consists of words of 4 bytes, got 22 bytes"),
        (bytes(20), "byte 0: SPIR-V begins with the number 0x07230203, got 0x00000000"),
        (
            bytes.fromhex("03022307 00000200 00000000 01000000 00000000"),
            "byte 4: the version is 0x00020000, which is none of 1.0, 1.1",
        ),
    ],
)
def test_headers(data: bytes, message: str) -> None:
    assert message in error_of(data)


def replaced(data: bytes, position: int, word: int) -> bytes:
    """A binary with another word at a position in bytes."""
    return data[:position] + word.to_bytes(4, "little") + data[position + 4 :]


@pytest.mark.parametrize(
    ("position", "word", "message"),
    [
        (20, 0x0000_0011, "byte 20: OpCapability: an instruction has at least one word"),
        (20, 0xFFFF_0011, "byte 20: OpCapability: has 65535 words, but only "),
        (20, 0x0002_FFFE, "byte 20: there is no instruction with opcode 65534"),
        (12, 3, "ids are from 1 to 2 by the header, got "),
    ],
)
def test_words(position: int, word: int, message: str) -> None:
    assert message in error_of(replaced(encode(copy_kernel()), position, word))


def function(body: str) -> str:
    """A module with a function that has a parameter `%x`."""
    return f"{HEAD}%f = OpFunction %void None %ft\n%x = OpFunctionParameter %int\n{body}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%void = OpTypeVoid", "a module needs an OpMemoryModel, and there is none"),
        (HEAD + "%u = OpUndef %int\n%v = OpIAdd %int %u %w", "OpIAdd: %6 is not defined before"),
        (HEAD + "%u = OpUndef %u", "OpUndef: %4 is no type"),
        (HEAD + "OpBranch %l", "OpBranch: stands in no function"),
        (HEAD + 'OpName %n "n"', "OpName: %4 is not defined anywhere"),
        (HEAD + "%c = OpConstant %void !1", "the type of the literal number is no type of numbers"),
        (HEAD + "%a = OpTypeArray %int %int", "OpTypeArray: %2 is no 32-bit integer constant"),
        (
            "OpMemoryModel Physical64 OpenCL\nOpTypeForwardPointer %p Function",
            "OpTypeForwardPointer: types that contain themselves are not supported",
        ),
        (HEAD + "OpGroupDecorate %g %int", "%4 is no OpDecorationGroup that stands before"),
        (HEAD + "%i = OpExtInst %int !1 !3", "is no set of extended instructions"),
        (
            EXTENDED + "%i = OpExtInst %f %cl !19 %x %x",
            "byte 100: OpExtInst: exp takes no further operand",
        ),
        (function(""), "OpFunction: the function has no OpFunctionEnd"),
        (function("OpReturn\nOpFunctionEnd"), "OpReturn: stands in a function but in none of its"),
        (function("%l = OpLabel\nOpFunctionEnd"), "OpLabel: %6 is a block without an end"),
        (
            function("%l = OpLabel\n%m = OpLabel\nOpReturn\nOpFunctionEnd"),
            "OpLabel: stands in a block that has no end yet",
        ),
        (
            function("%l = OpLabel\nOpBranch %l\nOpFunctionEnd"),
            "OpBranch: no branch may go to the first block",
        ),
        (
            function("%l = OpLabel\n%p = OpPhi %int %x %l\nOpReturn\nOpFunctionEnd"),
            "OpPhi: the first block has no branches to it",
        ),
        (
            function(
                "%l = OpLabel\nOpBranch %m\n%m = OpLabel\n%p = OpPhi %int\nOpReturn\nOpFunctionEnd"
            ),
            "OpBranch: OpPhi of %7 has no value for the branch from %6",
        ),
        (
            function(
                "%l = OpLabel\nOpBranch %m\n%m = OpLabel\n"
                "%p = OpPhi %int %x %l %x %m\nOpReturn\nOpFunctionEnd"
            ),
            "OpPhi: %7 does not branch to %7",
        ),
        (
            function(
                "%l = OpLabel\n%a = OpIAdd %int %x %x\n%p = OpPhi %int\nOpReturn\nOpFunctionEnd"
            ),
            "OpPhi: must stand at the start of its block",
        ),
        (
            function("%l = OpLabel\n%x2 = OpIAdd %int %x %x\nOpReturn\nOpFunctionEnd").replace(
                "%x2", "%x"
            ),
            "OpIAdd: %5 is defined twice",
        ),
        (
            function("%l = OpLabel\nOpReturn\nOpFunctionEnd").replace(
                "%ft = OpTypeFunction %void %int", "%ft = OpTypeFunction %int %int"
            ),
            "OpFunction: its result is not that of its type",
        ),
        (
            function("%y = OpFunctionParameter %int\n%l = OpLabel\nOpReturn\nOpFunctionEnd"),
            "OpFunction: its parameters are not those of its type",
        ),
    ],
)
def test_modules(text: str, message: str) -> None:
    error = error_of(assembled(text))
    assert LOCATED.match(error)
    assert message in error


def test_types_that_grow_without_end() -> None:
    lines = [HEAD, "%s0 = OpTypeStruct %int %int"]
    lines += [f"%s{level + 1} = OpTypeStruct %s{level} %s{level}" for level in range(60)]
    error = error_of(assembled("\n".join(lines)))
    assert "OpTypeStruct: declares a type that consists of more than 4096 types" in error


def test_types_that_nest_without_end() -> None:
    lines = [HEAD, "%p0 = OpTypePointer Function %int"]
    lines += [f"%p{level + 1} = OpTypePointer Function %p{level}" for level in range(5000)]
    assert "OpTypePointer: types nest deeper than 64 levels" in error_of(
        assembled("\n".join(lines))
    )


def test_groups_that_multiply() -> None:
    lines = ["OpMemoryModel Physical64 OpenCL"]
    lines += [f"OpDecorate %g Alignment {number}" for number in range(1000)]
    targets = " ".join(f"%v{number}" for number in range(1000))
    lines += ["%g = OpDecorationGroup", f"OpGroupDecorate %g {targets}"]
    assert "groups stand for more than 100000 decorations" in error_of(assembled("\n".join(lines)))


def test_a_huge_bound_takes_no_memory() -> None:
    data = replaced(encode(copy_kernel()), 12, 0xFFFFFFFF)
    tracemalloc.start()
    decode(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_many_functions_of_one_name() -> None:
    count = 2000
    names = "\n".join(f'OpName %f{number} "f"' for number in range(count))
    body = "\n".join(
        f"%f{number} = OpFunction %void None %ft\n%l{number} = OpLabel\nOpReturn\nOpFunctionEnd"
        for number in range(count)
    )
    text = (
        HEAD.replace("%void = ", f"{names}\n%void = ").replace(" %void %int\n", " %void\n") + body
    )
    module = decode(assembled(text))
    functions = [made for made in module.block.ops if made.name == "spirv.func"]
    assert len({str(made.properties["sym_name"]) for made in functions}) == count
