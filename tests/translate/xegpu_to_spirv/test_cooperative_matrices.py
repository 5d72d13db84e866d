"""Matrices of a whole subgroup become the instructions of SPV_KHR_cooperative_matrix."""

from __future__ import annotations

import pytest
from xdsl.ir import SSAValue

from xtile.api import parse
from xtile.dialects.spirv import Instruction, PointerType, encode
from xtile.dialects.spirv import ModuleOp as SpirvModuleOp
from xtile.targets.intel import CPU, CPU_AMX
from xtile.targets.lanes import LaneTarget, for_spirv
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.xegpu_to_spirv import translate_module

A = "!core.cooperative_matrix<16x32xbf16, matrix_a>"
B = "!core.cooperative_matrix<32x16xbf16, matrix_b>"
C = "!core.cooperative_matrix<16x16xf32, accumulator>"

PRODUCT = f"""
%zero = arith.constant 0.0 : f32
%none = core.cooperative_matrix_fill %zero : f32 -> {C}
%sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%before = %none) -> ({C}) {{
  %p = arith.divui %k, %c2 : index
  %x = core.cooperative_matrix_load %a[%c16, %k] : memref<64x64xi16> -> {A}
  %y = core.cooperative_matrix_load packed %b[%p, %c16] : memref<32x48xi32> -> {B}
  %r = core.cooperative_matrix_multiply_add %x, %y, %before : {A}, {B}, {C} -> {C}
  scf.yield %r : {C}
}}
core.cooperative_matrix_store %sum, %c[%c16, %c0] : {C}, memref<64x?xf32>
"""

INTEGERS = """
%x = core.cooperative_matrix_load packed %b[%c16, %c0]
    : memref<32x48xi32> -> !core.cooperative_matrix<16x64xi8, matrix_a>
%y = core.cooperative_matrix_load packed %b[%c0, %c0]
    : memref<32x48xi32> -> !core.cooperative_matrix<64x16xi8, matrix_b>
%z = core.cooperative_matrix_load %b[%c0, %c0]
    : memref<32x48xi32> -> !core.cooperative_matrix<16x16xi32, accumulator>
%r = core.cooperative_matrix_multiply_add %x, %y, %z
    : !core.cooperative_matrix<16x64xi8, matrix_a>, !core.cooperative_matrix<64x16xi8, matrix_b>,
      !core.cooperative_matrix<16x16xi32, accumulator>
    -> !core.cooperative_matrix<16x16xi32, accumulator>
core.cooperative_matrix_store %r, %b[%c0, %c0]
    : !core.cooperative_matrix<16x16xi32, accumulator>, memref<32x48xi32>
"""

SMALL = """
%x = core.cooperative_matrix_load %a[%c0, %c0]
    : memref<64x64xi16> -> !core.cooperative_matrix<8x16xbf16, matrix_a>
%y = core.cooperative_matrix_load packed %b[%c0, %c0]
    : memref<32x48xi32> -> !core.cooperative_matrix<16x16xbf16, matrix_b>
%z = core.cooperative_matrix_load %c[%c0, %c0]
    : memref<64x?xf32> -> !core.cooperative_matrix<8x16xf32, accumulator>
%r = core.cooperative_matrix_multiply_add %x, %y, %z
    : !core.cooperative_matrix<8x16xbf16, matrix_a>, !core.cooperative_matrix<16x16xbf16, matrix_b>,
      !core.cooperative_matrix<8x16xf32, accumulator>
    -> !core.cooperative_matrix<8x16xf32, accumulator>
"""


_CPU_AMX = for_spirv(CPU_AMX)


def translated(body: str, device: LaneTarget = _CPU_AMX) -> SpirvModuleOp:
    constants = "\n".join(f"%c{i} = arith.constant {i} : index" for i in (0, 2, 16, 32, 64))
    text = f"""gpu.module @m {{
    gpu.func @k(%a: memref<64x64xi16>, %b: memref<32x48xi32>, %c: memref<64x?xf32>) kernel
        attributes {{core.level = "lane", known_block_size = array<i32: 1, 1, 1>}} {{
      {constants}
      {body}
      gpu.return
    }}
    }}"""
    module = translate_module(parse(text, language="mlir"), device)
    module.verify()
    spirv = module.body.block.first_op
    assert isinstance(spirv, SpirvModuleOp)
    return spirv


def on_matrices(module: SpirvModuleOp) -> list[str]:
    """The instructions on matrices: their operands and arguments, and the type of the result."""
    found: list[str] = []
    for instruction in module.walk():
        if not isinstance(instruction, Instruction) or "Matrix" not in instruction.name:
            continue
        operands = iter(map(_text_of, instruction.values))
        arguments = [
            next(operands) if each is None else str(each) for each in instruction.arguments
        ]
        types = [str(result.type).partition("<")[2][:-1] for result in instruction.results]
        name = instruction.name.removeprefix("spirv.CooperativeMatrix").removesuffix("KHR")
        found.append(" ".join([name, *arguments, *types]))
    return found


def _text_of(value: SSAValue) -> str:
    """A constant's number, what a pointer points to, and a value's name."""
    if isinstance(value.owner, Instruction) and value.owner.name == "spirv.Constant":
        return str(value.owner.arguments[0])
    if isinstance(value.type, PointerType):
        return f"{value.type.pointee}*"
    return value.name_hint or "?"


def capabilities(binary: bytes) -> set[int]:
    """The numbers of the declared capabilities."""
    words = memoryview(binary).cast("I")
    found: set[int] = set()
    at = 5
    while at < len(words):
        if words[at] & 0xFFFF == 17:
            found.add(words[at + 1])
        at += words[at] >> 16
    return found


def test_product() -> None:
    module = translated(PRODUCT)
    assert on_matrices(module) == [
        "Load i16* 0 64 16x32xi16, Subgroup, MatrixA",
        "Load i16* 2 96 32x16xi16, Subgroup, MatrixB",
        "MulAdd x y before 64 16x16xf32, Subgroup, MatrixAccumulator",
        "Store f32* before 0 c_stride0",
    ]
    # Addresses, Kernel, Int64, Int16 and CooperativeMatrixKHR.
    assert capabilities(encode(module)) == {4, 6, 11, 22, 6022}


def test_integers() -> None:
    signed = "|".join(f"Matrix{each}SignedComponentsKHR" for each in ("A", "B", "C", "Result"))
    assert on_matrices(translated(INTEGERS)) == [
        "Load i8* 0 192 16x64xi8, Subgroup, MatrixA",
        "Load i8* 2 192 64x16xi8, Subgroup, MatrixB",
        "Load i32* 0 48 16x16xi32, Subgroup, MatrixAccumulator",
        f"MulAdd x y z {signed} 16x16xi32, Subgroup, MatrixAccumulator",
        "Store i32* r 0 48",
    ]


def test_rows_of_packed_elements() -> None:
    """The distance of rows is counted in elements, whatever the memory's are."""
    body = f"""
    %x = core.cooperative_matrix_load packed %a[%c0, %c0] : memref<64x64xi16> -> {B}
    %y = core.cooperative_matrix_load packed %b[%c0, %c0] : memref<32x48xi32> -> {B}
    """
    assert on_matrices(translated(body)) == [
        "Load i16* 2 64 32x16xi16, Subgroup, MatrixB",
        "Load i16* 2 96 32x16xi16, Subgroup, MatrixB",
    ]


def test_what_the_device_lacks() -> None:
    with pytest.raises(DiagnosticError, match="cpu has no cooperative matrices; cpu-amx has"):
        translated(PRODUCT, for_spirv(CPU))
    wanted = (
        "cpu-amx has no product of 8 x 16 x 16 elements of bf16; it has 16 x 16 x 32 of bf16, "
        "16 x 16 x 64 of i8"
    )
    with pytest.raises(DiagnosticError, match=wanted):
        translated(SMALL)
    body = f"%x = core.cooperative_matrix_load %a[%c0, %c0] : memref<64x64xi16> -> {B}"
    with pytest.raises(DiagnosticError, match=r"cpu-amx loads .* from packed memory only"):
        translated(body)
