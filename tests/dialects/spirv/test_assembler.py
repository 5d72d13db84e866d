"""Text gives the words that spirv-as gives."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.spirv.kernels import copy_kernel
from tests.generators.damaged_text import damaged
from tests.generators.spirv_modules import random_module
from tests.seeds import share_of
from tests.spirv_tools import assembled
from xtile.dialects.spirv import assemble, disassemble, encode
from xtile.text.diagnostics import DiagnosticError
from xtile.text.source import Source

HEAD = """\
OpCapability Addresses
OpCapability Kernel
OpMemoryModel Physical64 OpenCL
"""


def without_generator(data: bytes) -> bytes:
    """A binary without the word that tells what wrote it."""
    return data[:8] + data[12:]


def check(text: str, environment: str = "spv1.4") -> None:
    """Compares the binaries of a text."""
    expected = without_generator(assembled(text, environment))
    assert without_generator(assemble(text)) == expected
    expected = without_generator(assembled(text, environment, "--preserve-numeric-ids"))
    assert without_generator(assemble(text, preserve_numeric_ids=True)) == expected


@settings(max_examples=share_of(40))
@given(st.integers(0, 2**32))
def test_random_modules(seed: int) -> None:
    module = random_module(Random(seed))
    data = encode(module)
    environment = f"spv1.{module.version[1]}"
    check(disassemble(data), environment)
    text = disassemble(data, friendly=False)
    check(text, environment)
    assert assemble(text, preserve_numeric_ids=True) == data


NUMBERS = {
    "half": (
        *("0x1.8p+1", "0.1", "0x1p+16", "-0x1.4p+16", "65504", "1e-8", "0.00006", "-0", "0x0p+0"),
        *("1", "0x1p-24", "0x1p-30", "0x1.fffp+0"),
    ),
    "float": (
        *("0.1", "0x1p-149", "-0x1.0002p+128", "-0.0", "1e30", "16777217.0", "0x1.ffffffp+3"),
        *("0x1.5p-130", "0x0p+0", "0x1p+200", "0x1p-200", "0x10.8p0", "1", ".5", "5.", "1e-40"),
        *("1.00000017881393432617187499", "1.000000178813934326171875", "3.4028235e38"),
    ),
    "double": ("0.1", "1e300", "0x1p-1074", "-2", "0x1.fffffffffffffp+1023", "1e-320"),
    "bf16": ("0x1.8p+1", "1.0", "-0x1p-3"),
    "short": ("-1", "0xffff", "32767", "-32768"),
    "ushort": ("65535", "0xffff"),
    "int": ("-5", "0xffffffff", "0", "-2147483648", "2147483647"),
    "uint": ("4294967295", "0x10", "010", "0"),
    "long": ("-9223372036854775808", "0x8000000000000000", "5"),
    "ulong": ("18446744073709551615", "0xffffffffffffffff"),
}

TYPES = """\
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%bf16 = OpTypeFloat 16 BFloat16KHR
%short = OpTypeInt 16 1
%ushort = OpTypeInt 16 0
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%long = OpTypeInt 64 1
%ulong = OpTypeInt 64 0
"""


def test_numbers() -> None:
    lines = [HEAD, TYPES]
    for type, numbers in NUMBERS.items():
        lines += [f"%c{type}{i} = OpConstant %{type} {n}" for i, n in enumerate(numbers)]
    check("\n".join(lines))


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=20))
def test_decimal_numbers(numbers: list[float]) -> None:
    lines = [HEAD, TYPES]
    lines += [f"%c{i} = OpConstant %float {number!r}" for i, number in enumerate(numbers)]
    lines += [f"%d{i} = OpConstant %double {number!r}" for i, number in enumerate(numbers)]
    small = [number for number in numbers if abs(number) < 65504]
    lines += [f"%h{i} = OpConstant %half {number!r}" for i, number in enumerate(small)]
    check("\n".join(lines))


def test_strings_comments_and_words() -> None:
    check(
        HEAD
        + """
        %text = OpString "a \\"quoted\\" \\\\ \\n back; slash
newline é" ; a comment "with a quote
        %uint = OpTypeInt 32 0 OpName %uint "on one line"
        %a = OpConstant !0x3 !4 5
        OpExecutionMode %x !17 1 -1 1.5 "text" %y
        !262187 %1 %2 "abc" !327739 %1 %3 6
        OpNop
        """
    )


def test_aliases_and_masks() -> None:
    check(
        HEAD
        + """
        OpDecorateStringGOOGLE %v UserSemantic "a"
        %void = OpTypeVoid
        %float = OpTypeFloat 32
        %ptr = OpTypePointer Function %float
        %ft = OpTypeFunction %void %ptr
        %f = OpFunction %void Pure|Inline %ft
        %v = OpFunctionParameter %ptr
        %l = OpLabel
        %a = OpLoad %float %v Aligned|Volatile 4
        %b = OpLoad %float %v None
        OpReturn
        OpFunctionEnd
        """
    )


def test_switches_and_constant_operations() -> None:
    check(
        HEAD
        + """
        %void = OpTypeVoid
        %long = OpTypeInt 64 1
        %c = OpConstant %long 4
        %d = OpSpecConstantOp %long IAdd %c %c
        %e = OpSpecConstantOp %long CompositeExtract %c 0 1
        %ft = OpTypeFunction %void %long
        %f = OpFunction %void None %ft
        %x = OpFunctionParameter %long
        %l = OpLabel
        OpSwitch %x %m -1 %m 0x7fffffffff %m
        %m = OpLabel
        OpReturn
        OpFunctionEnd
        """
    )


def test_the_version_is_in_the_comment_or_given() -> None:
    assert assemble("; Version: 1.2\nOpNop")[4:8] == bytes([0, 2, 1, 0])
    assert assemble("OpNop")[4:8] == bytes([0, 4, 1, 0])
    assert assemble("; Version: 1.2\nOpNop", version=(1, 6))[4:8] == bytes([0, 6, 1, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("OpLoadd", "1.1-7: error: there is no instruction OpLoadd"),
        ("%a OpTypeVoid", "1.4-13: error: expected '=' after the result %a"),
        ("%a =", "1.4: error: expected an instruction, such as OpLoad"),
        ("%a = Load", "1.6-9: error: expected an instruction, such as OpLoad"),
        ("Load", "1.1-4: error: expected an instruction, such as OpLoad, or its result, got Load"),
        ("OpTypeVoid", "1.1-10: error: OpTypeVoid has a result: %name = OpTypeVoid"),
        ("%a = OpNop", "1.1-2: error: OpNop has no result"),
        ("OpNop 1", "1.7: error: OpNop takes no further operand"),
        ("OpMemoryModel Physical64", "error: OpMemoryModel ends where its MemoryModel is expected"),
        (
            "OpMemoryModel Physical64 OpenGL",
            "error: expected the name of a MemoryModel, got OpenGL",
        ),
        ("%a = OpTypeVector float 4", "1.19-23: error: expected an id, such as %name, got float"),
        ("%a = OpTypeInt 32 -1", "1.19-20: error: an unsigned number cannot be negative, got -1"),
        ("%a = OpTypeInt 32 x", "error: expected an integer, got x"),
        ("%a = OpString text", '1.15-18: error: expected a text in quotes: "text"'),
        ('%a = OpString "text', '1.15-19: error: a literal string has no closing "'),
        ("%a = OpConstant %b 1", "error: the literals of OpConstant need a type of numbers"),
        (
            "%a = OpTypeInt 8 0\n%b = OpConstant %a 256",
            "2.20-22: error: the number does not fit 8 bits that are unsigned, got 256",
        ),
        (
            "%a = OpTypeFloat 32\n%b = OpConstant %a 1e39",
            "2.20-23: error: the number is too large for 32 bits, got 1e39",
        ),
        (
            "%a = OpTypeFloat 16\n%b = OpConstant %a 70000",
            "2.20-24: error: the number is too large for 16 bits, got 70000",
        ),
        ("%a = OpTypeFloat 32\n%b = OpConstant %a 1.5f", "error: expected a number, such as 1.5"),
        ("%a = OpTypeFloat 32\n%b = OpConstant %a 0xp1", "error: expected a number, such as 0x1.8"),
        ("OpName %a !0x100000000", "error: expected a word after '!', such as !0x3c"),
        ("!1 = OpNop", "1.4: error: a word cannot be the instruction after '='"),
        ("%a = OpExtInst %b %c exp", "1.19-20: error: %c is no set of extended instructions"),
        (
            '%c = OpExtInstImport "OpenCL.std"\n%a = OpExtInst %b %c expo',
            "2.22-25: error: there is no instruction expo in OpenCL.std",
        ),
        ("%a = OpSpecConstantOp %b Plus", "error: there is no instruction Plus in the table"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        assemble(Source("k.spvasm", text))
    first = str(error.value).splitlines()[0]
    assert first.startswith("k.spvasm:1." if "\n" not in text else "k.spvasm:2.")
    assert message in first


@pytest.mark.parametrize("seed", range(20))
def test_damaged_text(seed: int) -> None:
    """Damaged text is a located error, or text that is right by chance."""
    random = Random(seed)
    text = disassemble(encode(copy_kernel())).encode()
    for _ in range(100):
        source = Source("k.spvasm", damaged(text, random).decode("utf-8", "replace"))
        try:
            data = assemble(source)
        except DiagnosticError as error:
            located = re.match(r"k\.spvasm:\d+\.\d+(-[\d.]+)?: error: ", str(error))
        else:
            located = re.match(b"\x03\x02\x23\x07", data)
        assert located is not None
