"""Text is the one that spirv-dis writes, character by character."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.spirv.kernels import copy_kernel
from tests.generators.spirv_modules import random_module
from tests.seeds import share_of
from tests.spirv_tools import assembled, disassembled
from xtile.dialects.spirv import disassemble, encode

HEAD = """\
OpCapability Addresses
OpCapability Kernel
OpMemoryModel Physical64 OpenCL
"""


def check(data: bytes) -> None:
    """Compares the texts of a binary."""
    assert disassemble(data) == disassembled(data)
    assert disassemble(data, friendly=False) == disassembled(data, "--raw-id")


@settings(max_examples=share_of(40))
@given(st.integers(0, 2**32))
def test_random_modules(seed: int) -> None:
    check(encode(random_module(Random(seed))))


def test_numbers() -> None:
    lines = [
        HEAD,
        "%half = OpTypeFloat 16\n%float = OpTypeFloat 32\n%double = OpTypeFloat 64",
        "%short = OpTypeInt 16 1\n%int = OpTypeInt 32 1\n%uint = OpTypeInt 32 0",
        "%long = OpTypeInt 64 1\n%ulong = OpTypeInt 64 0\n%bf16 = OpTypeFloat 16 BFloat16KHR",
        "%e4m3 = OpTypeFloat 8 Float8E4M3EXT\n%e5m2 = OpTypeFloat 8 Float8E5M2EXT",
    ]
    numbers = {
        "half": (0, 0x8000, 1, 0x83FF, 0x3C00, 0x3555, 0x7BFF, 0x7C00, 0xFC01, 0x7E00),
        "float": (0, 0x80000000, 1, 0x007FFFFF, 0x3DCCCCCD, 0x3F800000, 0x7F7FFFFF, 0x7F800000),
        "bf16": (0, 0x8000, 1, 0x3F80, 0x7F80, 0xFFC1),
        "e4m3": (0, 0x80, 1, 0x38, 0x7E),
        "e5m2": (0, 0x80, 1, 0x3C, 0x7C, 0xFD),
        "int": (0, 0xFFFFFFFF, 0x80000000, 5),
        "uint": (0, 0xFFFFFFFF, 0x80000000, 5),
        "short": (0xFFFFFFFF, 0xFFFF8000, 5),
    }
    lines += [
        f"%{type}{index} = OpConstant %{type} !{number}"
        for type, found in numbers.items()
        for index, number in enumerate(found)
    ]
    lines += [
        f"%{type}{index} = OpConstant %{type} !{number & 0xFFFFFFFF} !{number >> 32}"
        for type in ("double", "long", "ulong")
        for index, number in enumerate(
            (0, 1, 1 << 63, 0x3FF0000000000000, 0x3FB999999999999A, 0x7FF8000000000001)
        )
    ]
    check(assembled("\n".join(lines)))


@given(st.lists(st.integers(0, 2**32 - 1), min_size=30, max_size=30))
def test_any_single_float(numbers: list[int]) -> None:
    lines = [HEAD, "%f = OpTypeFloat 32"]
    lines += [f"%c{index} = OpConstant %f !{number}" for index, number in enumerate(numbers)]
    check(assembled("\n".join(lines)))


def test_names() -> None:
    text = (
        HEAD
        + """
        OpCapability Pipes
        OpName %a "same"
        OpName %b "same"
        OpName %c "with space and \\"quotes\\""
        OpName %d ""
        OpName %e "7"
        OpName %g "1"
        OpDecorate %id BuiltIn GlobalInvocationId
        OpDecorate %size BuiltIn WorkgroupSize
        OpDecorate %group BuiltIn SubgroupId
        OpDecorate %other BuiltIn SubgroupEqMask
        OpDecorate %last BuiltIn DeviceIndex
        %void = OpTypeVoid
        %bool = OpTypeBool
        %i4 = OpTypeInt 4 0
        %i8 = OpTypeInt 8 1
        %int = OpTypeInt 32 0
        %f = OpTypeFloat 32
        %vec = OpTypeVector %f 4
        %mat = OpTypeMatrix %vec 3
        %n = OpConstant %int 5
        %arr = OpTypeArray %mat %n
        %rt = OpTypeRuntimeArray %f
        %s = OpTypeStruct %f %int
        %p = OpTypePointer Input %s
        %event = OpTypeEvent
        %device = OpTypeDeviceEvent
        %reserve = OpTypeReserveId
        %queue = OpTypeQueue
        %pipe = OpTypePipe ReadOnly
        %opaque = OpTypeOpaque "some thing"
        %storage = OpTypePipeStorage
        %barrier = OpTypeNamedBarrier
        %true = OpConstantTrue %bool
        %false = OpConstantFalse %bool
        %half = OpConstant %f -1.5
        %id = OpVariable %p Input
        %size = OpVariable %p Input
        %group = OpVariable %p Input
        %other = OpVariable %p Input
        %last = OpVariable %p Input
        %a = OpUndef %f
        %b = OpUndef %f
        %c = OpUndef %f
        %d = OpUndef %f
        %e = OpUndef %f
        %g = OpUndef %f
        """
    )
    check(assembled(text))


def test_strings_and_other_sets() -> None:
    text = """
        OpCapability Shader
        OpExtension "SPV_KHR_non_semantic_info"
        %glsl = OpExtInstImport "GLSL.std.450"
        %debug = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"
        %unknown = OpExtInstImport "NonSemantic.Unknown"
        OpMemoryModel Logical GLSL450
        %text = OpString "a \\"b\\" \\\\ ; é
new line"
        %empty = OpString ""
        %four = OpString "four"
        %void = OpTypeVoid
        %none = OpExtInst %void %debug DebugInfoNone
        %other = OpExtInst %void %unknown 12 %none
        %float = OpTypeFloat 32
        %c = OpConstant %float 2
        %d = OpSpecConstantOp %float FAdd %c %c
        %ft = OpTypeFunction %float
        %f = OpFunction %float Inline|Pure %ft
        %l = OpLabel
        %r = OpExtInst %float %glsl Sqrt %c
        OpReturnValue %r
        OpFunctionEnd
        """
    check(assembled(text))


def test_masks_and_their_parameters() -> None:
    text = (
        HEAD
        + """
        OpExecutionMode %f LocalSizeHint 1 2 3
        OpDecorate %p FPFastMathMode NotNaN|NotInf|NSZ|AllowRecip|Fast
        %void = OpTypeVoid
        %bool = OpTypeBool
        %float = OpTypeFloat 32
        %ptr = OpTypePointer Function %float
        %ft = OpTypeFunction %void %ptr %bool
        %f = OpFunction %void None %ft
        %p = OpFunctionParameter %ptr
        %c = OpFunctionParameter %bool
        %l = OpLabel
        OpCopyMemory %p %p Volatile|Aligned 8 Aligned 4
        OpBranch %h
        %h = OpLabel
        OpLoopMerge %m %h DontUnroll|PeelCount 4
        OpBranchConditional %c %h %m 1 2
        %m = OpLabel
        OpReturn
        OpFunctionEnd
        """
    )
    check(assembled(text))


@pytest.mark.parametrize("generator", [0, 6 << 16 | 3, 43 << 16 | 22, 9999 << 16])
def test_generators(generator: int) -> None:
    data = encode(copy_kernel())
    check(data[:8] + generator.to_bytes(4, "little") + data[12:])


def test_a_number_that_is_no_enumerant_is_a_word() -> None:
    text = HEAD + "%void = OpTypeVoid\n%p = OpTypePointer !777 %void\n"
    assert "OpTypePointer !777 %void" in disassemble(assembled(text))
