"""SPIR-V of other compilers runs by the signature of the kernel's source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.dialects.spirv import assemble
from xtile.launch import ArgumentError
from xtile.text.diagnostics import DiagnosticError

SOURCE = """\
func @add(%A: memref<f32x?>, %B: memref<f32x?>) {
    %one = constant 1.0 : f32
    axpby %one, %A, %one, %B
}
"""

BINARY = """\
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Linkage
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %f "add" %id
OpExecutionMode %f LocalSize 4 1 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %id Constant
%void = OpTypeVoid
%float = OpTypeFloat 32
%long = OpTypeInt 64 0
%long3 = OpTypeVector %long 3
%input = OpTypePointer Input %long3
%global = OpTypePointer CrossWorkgroup %float
%type = OpTypeFunction %void %global %long %global %long
%id = OpVariable %input Input
%f = OpFunction %void None %type
%A = OpFunctionParameter %global
%A_size = OpFunctionParameter %long
%B = OpFunctionParameter %global
%B_size = OpFunctionParameter %long
%label = OpLabel
%ids = OpLoad %long3 %id Aligned 32
%i = OpCompositeExtract %long %ids 0
%from = OpInBoundsPtrAccessChain %global %A %i
%to = OpInBoundsPtrAccessChain %global %B %i
%a = OpLoad %float %from Aligned 4
%b = OpLoad %float %to Aligned 4
%sum = OpFAdd %float %a %b
OpStore %to %sum Aligned 4
OpReturn
OpFunctionEnd
"""


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    """The path of a binary whose work-groups add four elements each."""
    path = tmp_path / "add.spv"
    path.write_bytes(assemble(BINARY))
    return path


def _arrays() -> tuple[np.ndarray, np.ndarray]:
    generator = fresh_generator()
    return generator.random(12, np.float32), generator.random(12, np.float32)


def test_the_binary_runs_instead_of_the_source(binary: Path) -> None:
    a, b = _arrays()
    expected = b.copy()
    # The source would add everything in one work-group, the binary adds four elements.
    expected[:8] += a[:8]
    xtile.run(SOURCE, [a, b], 2, device="opencl", binary=binary)
    np.testing.assert_array_equal(b, expected)


def test_another_binary_at_the_same_place_is_another_program(binary: Path) -> None:
    a, b = _arrays()
    xtile.run(SOURCE, [a, b], 3, device="opencl", binary=binary)
    binary.write_bytes(assemble(BINARY.replace("OpFAdd", "OpFSub")))
    before = b.copy()
    xtile.run(SOURCE, [a, b], 3, device="opencl", binary=binary)
    np.testing.assert_array_equal(b, a - before)


def test_a_binary_without_the_kernel(binary: Path) -> None:
    binary.write_bytes(assemble(BINARY.replace('"add"', '"sub"')))
    with pytest.raises(ArgumentError, match=r"add\.spv has no kernel 'add'; it has 'sub'"):
        xtile.run(SOURCE, list(_arrays()), 3, device="opencl", binary=binary)


TWO_KERNELS = SOURCE + SOURCE.replace("@add", "@sub")


def test_a_binary_with_one_of_the_kernels(binary: Path) -> None:
    a, b = _arrays()
    expected = a + b
    xtile.run(TWO_KERNELS, [a, b], 3, device="opencl", entry="add", binary=binary)
    np.testing.assert_array_equal(b, expected)
    with pytest.raises(ArgumentError, match=r"add\.spv has no kernel 'sub'; it has 'add'"):
        xtile.run(TWO_KERNELS, [a, b], 3, device="opencl", entry="sub", binary=binary)


def test_a_binary_of_several_kernels_needs_an_entry(binary: Path) -> None:
    with pytest.raises(ArgumentError, match="choose entry from 'add', 'sub'"):
        xtile.run(TWO_KERNELS, list(_arrays()), 3, device="opencl", binary=binary)


def test_a_binary_of_another_signature(binary: Path) -> None:
    message = (
        "kernel 'add' takes 4 arguments, 2 of them pointers, but its source has 2 by the calling "
        "convention, 2 of them pointers"
    )
    with pytest.raises(ArgumentError, match=message):
        xtile.run(SOURCE.replace("x?>", "x12>"), list(_arrays()), 3, device="opencl", binary=binary)


def test_a_damaged_binary(binary: Path) -> None:
    binary.write_bytes(binary.read_bytes()[:-8])
    with pytest.raises(DiagnosticError, match=r"add\.spv"):
        xtile.run(SOURCE, list(_arrays()), 3, device="opencl", binary=binary)


def test_the_reference_device_runs_no_binaries(binary: Path) -> None:
    with pytest.raises(ArgumentError, match="the device 'reference' runs no binaries"):
        xtile.run(SOURCE, list(_arrays()), 3, binary=binary)
