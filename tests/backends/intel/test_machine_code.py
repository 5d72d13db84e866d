"""Kernels become the instructions of matrix units, as many as their tiles say.

Intel's offline compiler shows the machine code of GPUs that are not there: `apt-get install
intel-opencl-icd libigc-tools`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, VectorType, i32, i64

import xtile
from tests.backends.intel.machine_code import (
    MachineCode,
    assembly_of,
    counted,
    instructions_in_loop,
    machine_code,
)
from tests.seeds import fresh_generator
from tests.translate.cuda_tile_to_core.cutile import attention, case
from tests.triton_kernels.corpus import CASES as OF_TRITON
from tests.triton_releases.judges import NEWEST
from tests.triton_releases.judges import compiled as judge_compiled
from xtile.api import parse
from xtile.backends.intel.compilation import Program, compile_program
from xtile.backends.intel.registers import MANY_REGISTERS_OPTION
from xtile.dialects.spirv import FuncOp as SpirvFuncOp
from xtile.dialects.spirv import ModuleOp as SpirvModuleOp
from xtile.dialects.spirv import PointerType, encode, operation
from xtile.targets import INTEL
from xtile.targets.compilers import XTILE
from xtile.targets.intel import PVC
from xtile.targets.lanes import for_spirv
from xtile.targets.spellings import SPELLINGS
from xtile.translate.route import Options, translate_to

EXAMPLES = Path(__file__).parents[3] / "examples"

REPEAT = 8
"""Rows of C that one product has."""

DEPTH = 16
"""Columns of A that one product has, for elements of 16 bits."""


def compiled(text: str, chip: str, spelling: str | None = None) -> Program:
    """The program of a kernel of the tensor language."""
    target = for_spirv(INTEL.chips[chip], None if spelling is None else SPELLINGS[spelling])
    return compile_program(parse(text, language="tensorlang"), target)


# --- C := A B ---

_GEMM = """
func @gemm(%A: memref<{type}x1024x1024>, %B: memref<{type}x1024x1024>, %C: memref<f32x1024x1024>) {{
    %zero = constant 0.0 : f32
    %one = constant 1.0 : {type}
    gemm %one, %A, %B, %zero, %C
}}
"""


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_gemm_on_pvc(type: str, tmp_path: Path) -> None:
    """A subgroup has a tile of 32 x 32; each step loads 32 x 16 of A and 16 x 32 of B."""
    rows, columns, lanes = 32, 32, 16
    program = compiled(_GEMM.format(type=type), "pvc")
    assert program.build_options == ""
    assert machine_code(program, "pvc", tmp_path) == MachineCode(
        products=rows // REPEAT * columns // lanes,
        loads=rows // REPEAT + columns // lanes,
        # 32 rows of 64 bytes are fetched at once.
        prefetches=1 + 1,
        stores=rows // REPEAT * columns // lanes,
    )


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_gemm_on_dg2(type: str, tmp_path: Path) -> None:
    """A subgroup of 8 lanes has a tile of 32 x 16, and no instructions for blocks."""
    rows, columns, lanes = 32, 16, 8
    program = compiled(_GEMM.format(type=type), "dg2")
    (kernel,) = program.kernels.values()
    assert kernel.subgroup_size == lanes
    assert program.build_options == MANY_REGISTERS_OPTION
    assert machine_code(program, "dg2", tmp_path) == MachineCode(
        products=rows // REPEAT * columns // lanes
    )


_GEMM_OF_BYTES = """
func @gemm(%A: memref<i8x1024x1024>, %B: memref<i8x1024x1024>, %C: memref<i32x1024x1024>) {{
    %zero = constant 0 : i32
    %one = constant 1 : i8
    gemm.{transposes} %one, %A, %B, %zero, %C
}}
"""


@pytest.mark.parametrize(
    ("transposes", "blocks_of_a", "blocks_of_b"),
    # Columns of op(A) that follow each other in memory are loaded in words, 8 x 16 of them at once.
    [("n.n", 4, 2), ("n.t", 2, 2), ("t.n", 4, 2), ("t.t", 2, 2)],
)
def test_gemm_of_bytes_on_pvc(
    transposes: str, blocks_of_a: int, blocks_of_b: int, tmp_path: Path
) -> None:
    """A step is twice as deep as one of 16 bits, and has as many products."""
    rows, columns, lanes = 32, 32, 16
    program = compiled(_GEMM_OF_BYTES.format(transposes=transposes), "pvc")
    assert machine_code(program, "pvc", tmp_path) == MachineCode(
        products=rows // REPEAT * columns // lanes,
        loads=blocks_of_a + blocks_of_b,
        prefetches=2,
        stores=rows // REPEAT * columns // lanes,
    )


@pytest.mark.parametrize("transposes", ["n.n", "n.t", "t.n", "t.t"])
def test_gemm_of_bytes_on_dg2(transposes: str, tmp_path: Path) -> None:
    rows, columns, lanes = 32, 16, 8
    program = compiled(_GEMM_OF_BYTES.format(transposes=transposes), "dg2")
    assert machine_code(program, "dg2", tmp_path) == MachineCode(
        products=rows // REPEAT * columns // lanes
    )


_BYTES_LOOP = """
func @bytes_loop(%A: memref<i8x64x64>, %B: memref<i8x64x64>, %C: memref<i32x64x64>)
        attributes {{subgroup_size={lanes}, work_group_size=[{lanes},1]}} {{
    parallel {{
        %c0 = constant 0 : index
        %n = constant 64 : index
        %step = constant 32 : index
        %zero = constant 0 : coopmatrix<i32x16x16,matrix_acc>
        %sum = for %k=%c0,%n,%step init(%s=%zero) -> (coopmatrix<i32x16x16,matrix_acc>) {{
            %a = cooperative_matrix_load.n %A[%c0,%k] : coopmatrix<i8x16x32,matrix_a>
            %b = cooperative_matrix_load.n %B[%k,%c0] : coopmatrix<i8x32x16,matrix_b>
            %t = cooperative_matrix_mul_add %a, %b, %s : coopmatrix<i32x16x16,matrix_acc>
            yield (%t)
        }}
        cooperative_matrix_store %sum, %C[%c0,%c0]
    }}
}}
"""


@pytest.mark.parametrize("spelling", ["functions-and-visa", "inline-visa"])
def test_cooperative_matrices_of_bytes_on_pvc(spelling: str, tmp_path: Path) -> None:
    code = machine_code(compiled(_BYTES_LOOP.format(lanes=16), "pvc", spelling), "pvc", tmp_path)
    assert code == MachineCode(products=2, loads=3, stores=2)


def test_cooperative_matrices_of_bytes_on_dg2(tmp_path: Path) -> None:
    code = machine_code(compiled(_BYTES_LOOP.format(lanes=8), "dg2"), "dg2", tmp_path)
    assert code == MachineCode(products=4)


@pytest.mark.parametrize("spelling", ["functions-and-visa", "inline-visa"])
def test_small_gemm_in_both_spellings(spelling: str, tmp_path: Path) -> None:
    """One subgroup, one tile of 8 x 32, four steps, which the compiler does not unroll."""
    text = (EXAMPLES / "matrix_unit.ir").read_text()
    code = machine_code(compiled(text, "pvc", spelling), "pvc", tmp_path)
    assert code == MachineCode(products=2, loads=1 + 2, prefetches=1 + 1, stores=2)


_BYTES = """
gpu.module @m {{
gpu.func @k(%a: memref<{lanes}x{left}x{type}>, %b: memref<{lanes}x32x{type}>,
            %c: memref<{lanes}x8xi32>)
    kernel attributes {{intel_reqd_sub_group_size = {lanes} : i32,
                        known_block_size = array<i32: {lanes}, 1, 1>}} {{
  %lane = gpu.lane_id
  %c0 = arith.constant 0 : index
  %x = vector.load %a[%lane, %c0] : memref<{lanes}x{left}x{type}>, vector<{left}x{type}>
  %y = vector.load %b[%lane, %c0] : memref<{lanes}x32x{type}>, vector<32x{type}>
  %z = vector.load %c[%lane, %c0] : memref<{lanes}x8xi32>, vector<8xi32>
  %d = xegpu.dpas %x, %y, %z : vector<{left}x{type}>, vector<32x{type}>, vector<8xi32>
    -> vector<8xi32>
  vector.store %d, %c[%lane, %c0] : memref<{lanes}x8xi32>, vector<8xi32>
  gpu.return
}}
}}
"""


@pytest.mark.parametrize(("type", "operand"), [("i8", "b"), ("si8", "b"), ("ui8", "ub")])
@pytest.mark.parametrize(
    ("chip", "lanes", "spelling"),
    [("pvc", 16, "functions"), ("pvc", 16, "inline-visa"), ("dg2", 8, "functions")],
)
def test_products_of_bytes_with_and_without_a_sign(
    type: str, operand: str, chip: str, lanes: int, spelling: str, tmp_path: Path
) -> None:
    text = _BYTES.format(type=type, lanes=lanes, left=REPEAT * 32 // lanes)
    device = for_spirv(INTEL.chips[chip], SPELLINGS[spelling])
    program = compile_program(parse(text, language="mlir"), device)
    code = assembly_of(program.spirv, chip, tmp_path, program.build_options)
    # Both factors have this type; the sums are signed words.
    factors = re.findall(r"\bdpas\.8x8 .*?:(\w+)\s+\S+?:d\s+\S+?:(\w+)\s+\S+?:(\w+)", code)
    assert factors == [("d", operand, operand)]


# --- C := alpha A B + beta C on cooperative matrices ---


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_cooperative_matrices(type: str, tmp_path: Path) -> None:
    """The example, with what blocks need to be known of its arguments.

    Full tiles and those at the edges have code of their own: each loads 32 x 16 of A and 16 x 32 of
    B in a step, and 32 x 32 of C.
    """
    tile, lanes = 32, 16
    text = (EXAMPLES / "coopmatrix_gemm.ir").read_text().replace("f16x", f"{type}x")
    for name, align in (("A", 32), ("B", 32), ("C", 16)):
        element = "f32" if name == "C" else type
        known = f"{{shape_gcd=[{align},1], stride_gcd=[1,{align}]}}"
        text = text.replace(
            f"%{name}: memref<{element}x?x?>", f"%{name}: memref<{element}x?x?> {known}"
        )
    code = machine_code(compiled(text, "pvc"), "pvc", tmp_path)
    blocks = tile // REPEAT * tile // lanes
    assert code == MachineCode(
        products=2 * blocks,
        loads=2 * (tile // REPEAT + tile // lanes + blocks),
        stores=2 * blocks,
    )


_F32_LOOP = """
func @f32_loop(%A: memref<f32x64x64>, %B: memref<f32x64x64>, %C: memref<f32x64x64>, %n: index)
        attributes {subgroup_size=16, work_group_size=[16,1]} {
    parallel {
        %c0 = constant 0 : index
        %step = constant 8 : index
        %zero = constant 0.0 : coopmatrix<f32x16x16,matrix_acc>
        %sum = for %k=%c0,%n,%step init(%s=%zero) -> (coopmatrix<f32x16x16,matrix_acc>) {
            %a = cooperative_matrix_load.n %A[%c0,%k] : coopmatrix<f32x16x8,matrix_a>
            %b = cooperative_matrix_load.n %B[%k,%c0] : coopmatrix<f32x8x16,matrix_b>
            %t = cooperative_matrix_mul_add %a, %b, %s : coopmatrix<f32x16x16,matrix_acc>
            yield (%t)
        }
        cooperative_matrix_store %sum, %C[%c0,%c0]
    }
}
"""


@pytest.mark.parametrize("spelling", ["functions", "functions-and-visa", "inline-visa"])
def test_a_loop_that_carries_several_vectors(spelling: str, tmp_path: Path) -> None:
    """The sums of an f32 product are two vectors that each iteration builds from numbers."""
    code = machine_code(compiled(_F32_LOOP, "pvc", spelling), "pvc", tmp_path)
    # This compiler leaves functions for blocks as calls.
    if spelling != "functions":
        assert code == MachineCode(products=0, loads=1, stores=2)


# --- flash attention ---


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_flash_attention_on_pvc(type: str, tmp_path: Path) -> None:
    """The example: 64 x 16 of the output in each subgroup, blocks of 32 keys and values."""
    d, keys, queries, lanes = 64, 32, 16, 16
    text = (EXAMPLES / "flash_attention.ir").read_text().replace("f16", type)
    program = compiled(text, "pvc")
    assert program.build_options == MANY_REGISTERS_OPTION
    # Products have the queries as rows. The loop over d is unrolled: its steps are 32.
    scores = queries // REPEAT * keys // lanes * d // DEPTH
    outputs = queries // REPEAT * d // lanes * keys // DEPTH
    # Four subgroups share the copies of keys and values to local memory.
    copies = 2 * keys // REPEAT * d // 4 // lanes
    assert machine_code(program, "pvc", tmp_path) == MachineCode(
        products=scores + outputs,
        loads=copies + queries // REPEAT * d // lanes,
        stores=queries // REPEAT * d // lanes,
    )


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_flash_attention_on_dg2(type: str, tmp_path: Path) -> None:
    """The example in dg2's shapes: 8 lanes, 8 queries in each subgroup, blocks of 16 keys."""
    d, keys, queries, lanes = 64, 16, 8, 8
    text = (EXAMPLES / "flash_attention.ir").read_text().replace("f16", type)
    for old, new in (
        ("subgroup_size=16, work_group_size=[16,", "subgroup_size=8, work_group_size=[8,"),
        ("$keys = 32", f"$keys = {keys}"),
        ("$queries = 16", f"$queries = {queries}"),
        (" attributes {unroll=true}", ""),
    ):
        assert old in text
        text = text.replace(old, new)
    program = compiled(text, "dg2")
    # The loop over d has steps of as many as there are keys.
    scores = queries // REPEAT * keys // lanes * keys // DEPTH
    outputs = queries // REPEAT * d // lanes * keys // DEPTH
    assert machine_code(program, "dg2", tmp_path) == MachineCode(products=scores + outputs)


# --- what this compiler does not know ---


def test_functions_for_blocks_are_left_as_calls(tmp_path: Path) -> None:
    """The counts would show it: the compiler is older than the functions."""
    text = (EXAMPLES / "matrix_unit.ir").read_text()
    code = machine_code(compiled(text, "pvc", "functions"), "pvc", tmp_path)
    assert code.calls > 0
    assert (code.loads, code.stores) == (0, 0)


# --- what inline assembly means ---

_LOADS = """
gpu.module @m {{
gpu.func @k(%m: memref<64x64x{type}>, %out: memref<16x{count}x{type}>)
    kernel attributes {{intel_reqd_sub_group_size = 16 : i32,
                        known_block_size = array<i32: 16, 1, 1>}} {{
  %lane = gpu.lane_id
  %c0 = arith.constant 0 : index
  %t = xegpu.create_nd_tdesc %m : memref<64x64x{type}> -> !xegpu.tensor_desc<{block}x{type}>
  %v = xegpu.load_nd %t[0, 0] {how} : !xegpu.tensor_desc<{block}x{type}> -> vector<{count}x{type}>
  vector.store %v, %out[%lane, %c0] : memref<16x{count}x{type}>, vector<{count}x{type}>
  gpu.return
}}
}}
"""

_MESSAGE = re.compile(r"\bload_block2d\.(\S+) .*desc:0x([0-9a-f]+)\s", re.IGNORECASE)
_SHAPE = re.compile(r"\bmov \(1\|M0\)\s+r\d+\.7<1>:ud\s+0x([0-9a-f]+):uw", re.IGNORECASE)


def _messages(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The kinds and descriptors of a kernel's loads of blocks, and the shapes of the blocks."""
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    return _MESSAGE.findall(code), _SHAPE.findall(code)


def _of_compilers_own_function(name: str) -> bytes:
    """A kernel that calls a function of the compiler which gives a lane 8 words."""
    vector, pair = VectorType(i32, [8]), VectorType(i32, [2])
    pointer = PointerType(vector, "CrossWorkgroup")
    function = SpirvFuncOp("k", FunctionType.from_lists([i64, pointer, pair], []))
    address, out, position = function.entry_block.args
    number = operation("Constant", i32, 255)
    arguments = (address, number, number, number, position)
    words = operation("FunctionCall", vector, name, *arguments)
    function.entry_block.add_ops(
        [words, operation("Store", None, out, words), operation("Return", None)]
    )
    types = FunctionType.from_lists([i64, i32, i32, i32, pair], [vector])
    module = SpirvModuleOp()
    module.block.add_ops(
        [
            number,
            operation("EntryPoint", None, "Kernel", "k", "k"),
            operation("ExecutionMode", None, "k", ("SubgroupSize", 16)),
            SpirvFuncOp(name, types, linkage="Import"),
            function,
        ]
    )
    return encode(module)


@pytest.mark.parametrize(
    ("type", "block", "how", "count", "function"),
    [
        ("f16", "16x16", "<{packed}>", 16, "transform_u16_k16"),
        ("i32", "16x8", "<{transpose = array<i64: 1, 0>}>", 8, "transpose_u32_k8"),
    ],
)
def test_inline_assembly_sends_the_compilers_own_messages(
    type: str, block: str, how: str, count: int, function: str, tmp_path: Path
) -> None:
    text = _LOADS.format(type=type, block=block, how=how, count=count)
    program = compile_program(parse(text, language="mlir"), for_spirv(INTEL.chips["pvc"]))
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    name = f"__builtin_IB_subgroup_block_read_flat_{function}"
    found = _messages(assembly_of(program.spirv, "pvc", ours))
    assert found == _messages(assembly_of(_of_compilers_own_function(name), "pvc", theirs))
    assert [len(part) for part in found] == [1, 1]


# --- tiles that subgroups share ---

_OF_TRITON = """
tt.func public @product(%A: !tt.ptr<{type}> {{tt.divisibility = {divisor} : i32}},
    %B: !tt.ptr<{type}> {{tt.divisibility = {divisor} : i32}},
    %C: !tt.ptr<f32> {{tt.divisibility = {divisor} : i32}}) {{
  %c0 = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %side = arith.constant 128 : i32
  %size = arith.constant 1024 : i32
  %one = arith.constant 1 : i64
  %pitch = arith.constant 1024 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %i = tt.get_program_id x : i32
  %j = tt.get_program_id y : i32
  %m = arith.muli %i, %side : i32
  %n = arith.muli %j, %side : i32
  %a = tt.make_tensor_descriptor %A, [%size, %size], [%pitch, %one]
      : !tt.ptr<{type}>, !tt.tensordesc<tensor<128x32x{type}>>
  %b = tt.make_tensor_descriptor %B, [%size, %size], [%pitch, %one]
      : !tt.ptr<{type}>, !tt.tensordesc<tensor<32x128x{type}>>
  %c = tt.make_tensor_descriptor %C, [%size, %size], [%pitch, %one]
      : !tt.ptr<f32>, !tt.tensordesc<tensor<128x128xf32>>
  %s = scf.for %k = %c0 to %size step %step iter_args(%t = %zero) -> (tensor<128x128xf32>) : i32 {{
    %x = tt.descriptor_load %a[%m, %k]
        : !tt.tensordesc<tensor<128x32x{type}>> -> tensor<128x32x{type}>
    %y = tt.descriptor_load %b[%k, %n]
        : !tt.tensordesc<tensor<32x128x{type}>> -> tensor<32x128x{type}>
    %p = tt.dot %x, %y, %t
        : tensor<128x32x{type}> * tensor<32x128x{type}> -> tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }}
  tt.descriptor_store %c[%m, %n], %s : !tt.tensordesc<tensor<128x128xf32>>, tensor<128x128xf32>
  tt.return
}}
"""

_OF_WORK_GROUPS = """
#a = #xegpu.layout<sg_layout = [8, 4], sg_data = [16, 32]>
#b = #xegpu.layout<sg_layout = [8, 4], sg_data = [32, 32]>
#c = #xegpu.layout<sg_layout = [8, 4], sg_data = [16, 32]>
!a = !xegpu.tensor_desc<128x32x{type}, #a>
!b = !xegpu.tensor_desc<32x128x{type}, #b>
!c = !xegpu.tensor_desc<128x128xf32, #c>
gpu.module @kernels {{
  gpu.func @product(%A: memref<1024x1024x{type}>, %B: memref<1024x1024x{type}>,
                    %C: memref<1024x1024xf32>) kernel
      attributes {{known_block_size = array<i32: 512, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant {{layout_result_0 = #c}} dense<0.0> : vector<128x128xf32>
    %i = gpu.block_id x
    %j = gpu.block_id y
    %m = arith.muli %i, %c128 : index
    %n = arith.muli %j, %c128 : index
    %a = xegpu.create_nd_tdesc %A : memref<1024x1024x{type}> -> !a
    %b = xegpu.create_nd_tdesc %B : memref<1024x1024x{type}> -> !b
    %c = xegpu.create_nd_tdesc %C : memref<1024x1024xf32> -> !c
    %s = scf.for %k = %c0 to %c1024 step %c32 iter_args(%t = %zero) -> (vector<128x128xf32>) {{
      %x = xegpu.load_nd %a[%m, %k] : !a -> vector<128x32x{type}>
      %y = xegpu.load_nd %b[%k, %n] : !b -> vector<32x128x{type}>
      %p = xegpu.dpas %x, %y, %t {{layout_a = #a, layout_b = #b, layout_cd = #c}}
          : vector<128x32x{type}>, vector<32x128x{type}>, vector<128x128xf32> -> vector<128x128xf32>
      scf.yield %p : vector<128x128xf32>
    }}
    xegpu.store_nd %s, %c[%m, %n] : vector<128x128xf32>, !c
    gpu.return
  }}
}}
"""

_OF_CUDA_TILE = """
cuda_tile.module @kernels {{
  entry @product(%A: tile<ptr<{type}>>, %B: tile<ptr<{type}>>, %C: tile<ptr<f32>>) {{
    %a0 = assume div_by<{divisor}>, %A : tile<ptr<{type}>>
    %b0 = assume div_by<{divisor}>, %B : tile<ptr<{type}>>
    %c0 = assume div_by<{divisor}>, %C : tile<ptr<f32>>
    %av = make_tensor_view %a0, shape = [1024, 1024], strides = [1024, 1]
        : tensor_view<1024x1024x{type}, strides=[1024,1]>
    %bv = make_tensor_view %b0, shape = [1024, 1024], strides = [1024, 1]
        : tensor_view<1024x1024x{type}, strides=[1024,1]>
    %cv = make_tensor_view %c0, shape = [1024, 1024], strides = [1024, 1]
        : tensor_view<1024x1024xf32, strides=[1024,1]>
    %at = make_partition_view %av
        : partition_view<tile=(128x32), tensor_view<1024x1024x{type}, strides=[1024,1]>>
    %bt = make_partition_view %bv
        : partition_view<tile=(32x128), tensor_view<1024x1024x{type}, strides=[1024,1]>>
    %ct = make_partition_view %cv
        : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
    %i, %j, %z = get_tile_block_id : tile<i32>
    %first = constant <i32: 0> : tile<i32>
    %last = constant <i32: 32> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<128x128xf32>
    %s = for %k in (%first to %last, step %one) : tile<i32>
        iter_values(%t = %zero) -> (tile<128x128xf32>) {{
      %x, %u = load_view_tko weak %at[%i, %k]
          : partition_view<tile=(128x32), tensor_view<1024x1024x{type}, strides=[1024,1]>>,
          tile<i32> -> tile<128x32x{type}>, token
      %y, %v = load_view_tko weak %bt[%k, %j]
          : partition_view<tile=(32x128), tensor_view<1024x1024x{type}, strides=[1024,1]>>,
          tile<i32> -> tile<32x128x{type}>, token
      %p = mmaf %x, %y, %t : tile<128x32x{type}>, tile<32x128x{type}>, tile<128x128xf32>
      continue %p : tile<128x128xf32>
    }}
    %w = store_view_tko weak %s, %ct[%i, %j] : tile<128x128xf32>,
        partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>,
        tile<i32> -> token
    return
  }}
}}
"""

_TILES: Mapping[str, tuple[Literal["ttir", "mlir"], str]] = {
    "triton": ("ttir", _OF_TRITON),
    "xegpu": ("mlir", _OF_WORK_GROUPS),
    "cuda_tile": ("mlir", _OF_CUDA_TILE),
}
"""Products of 1024 x 1024 by tiles of 128 x 128, 32 deep, in each language of tiles."""

_PARTS = {"triton": (32, 32), "xegpu": (16, 32), "cuda_tile": (32, 32)}
"""The rows and columns of such a tile that a subgroup has on `pvc`."""


@pytest.mark.parametrize(
    ("language", "type", "divisor"),
    [("triton", "bf16", 64), ("triton", "f16", 16), ("xegpu", "f16", 64), ("cuda_tile", "f16", 16)],
)
def test_products_of_tiles_on_pvc(language: str, type: str, divisor: int, tmp_path: Path) -> None:
    """A subgroup has 32 x 32 of a tile, whose step needs 32 x 32 of A and of B.

    The kernel of XeGPU says itself that 8 x 4 subgroups have 16 x 32 each. Triton's launcher
    promises addresses that are multiples of 16 bytes only.
    """
    (rows, columns), depth, lanes = _PARTS[language], 32, 16
    form, text = _TILES[language]
    text = text.format(type=type, divisor=divisor)
    program = compile_program(parse(text, language=form), for_spirv(PVC))
    (kernel,) = program.kernels.values()
    assert kernel.subgroup_size == lanes
    assert machine_code(program, "pvc", tmp_path) == MachineCode(
        products=rows // REPEAT * columns // lanes * depth // DEPTH,
        loads=rows // REPEAT * depth // DEPTH + columns // lanes * depth // DEPTH,
        # Each subgroup has a few rows of either factor, of 64 bytes.
        prefetches=1 + 1,
        stores=rows // REPEAT * columns // lanes,
    )


_OF_OTHER_WAYS = {(16, 32): 97, (32, 32): 89}
"""Instructions in a loop with 8 products, by the rows and columns of C that a subgroup has.

By commit 9071ad9 and the same compiler: 16 x 32 in cooperative matrices, without prefetches, and 32
x 32 by `gemm`, with prefetches.
"""

_MOST_OF_TILES = 1.1
"""How many instructions tiles may take for one of those, prefetches included."""


@pytest.mark.parametrize("language", _TILES)
def test_loops_of_tiles_are_as_short_as_those_of_other_ways(language: str, tmp_path: Path) -> None:
    form, text = _TILES[language]
    module = parse(text.format(type="f16", divisor=64), language=form)
    program = compile_program(module, for_spirv(PVC))
    code = assembly_of(program.spirv, "pvc", tmp_path, program.build_options)
    most = _MOST_OF_TILES * _OF_OTHER_WAYS[_PARTS[language]]
    assert instructions_in_loop(code) <= most * counted(code).products / 8


@pytest.mark.parametrize("language", _TILES)
def test_products_of_tiles_on_dg2(language: str, tmp_path: Path) -> None:
    """16 x 8 subgroups of 8 lanes have 8 x 16 of a tile each, and no instructions for blocks.

    Rows are loaded as a whole, without a condition for each element: launches check that tiles lie
    inside of the matrices.
    """
    rows, columns, depth, lanes = 8, 16, 32, 8
    form, text = _TILES[language]
    text = text.format(type="f16", divisor=64)
    program = compile_program(parse(text, language=form), for_spirv(INTEL.chips["dg2"]))
    assert program.build_options == ""
    code = assembly_of(program.spirv, "dg2", tmp_path, program.build_options)
    assert counted(code) == MachineCode(products=rows // REPEAT * columns // lanes * depth // DEPTH)
    assert len(re.findall(r"\bgoto\b", code)) <= 4
    # A row of A has 32 numbers, one of B 16; two stores write a row of C.
    assert len(re.findall(r"\bsend\.(?:dc0|dc1|ugm)\b", code)) <= rows + depth + 2 * rows
    # Rows of a matrix share an address, to which their distance is added.
    assert len(re.findall(r"\bshl\b", code)) < rows + depth


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "has_blocks"),
    [("matmul_descriptors", True), ("matmul_f16", False), ("matmul_persistent", False)],
)
def test_products_of_the_corpus_do_not_spill(name: str, has_blocks: bool, tmp_path: Path) -> None:
    """A subgroup has 32 x 32 sums, whose steps are 32 deep.

    Rows of odd sizes are loaded element by element, and stored so; it has 16 x 32 then.
    """
    rows, columns, depth, lanes = 32 if has_blocks else 16, 32, 32, 16
    verdict = judge_compiled(NEWEST, OF_TRITON[name]().source(), "gfx942", "ttir")
    assert verdict.accepted, verdict.said
    program = compile_program(parse(verdict.text, language="ttir"), for_spirv(PVC))
    products = rows // REPEAT * columns // lanes * depth // DEPTH
    of_a, of_b = rows // REPEAT * depth // DEPTH, columns // lanes * depth // DEPTH
    expected = MachineCode(products=products)
    if has_blocks:
        stores = rows // REPEAT * columns // lanes
        expected = replace(expected, loads=of_a + of_b, prefetches=1 + 1, stores=stores)
    assert machine_code(program, "pvc", tmp_path) == expected


def _of_tf32(language: str) -> str:
    """The product of f32 matrices whose factors are rounded to tf32."""
    text = _TILES[language][1].format(type="f32", divisor=16)
    if language == "triton":
        return text.replace("tt.dot %x, %y, %t", "tt.dot %x, %y, %t, inputPrecision = tf32")
    cast = {"cuda_tile": "ftof {0} : tile<{1}xf32> -> tile<{1}xtf32>"}.get(
        language, "arith.truncf {0} : vector<{1}xf32> to vector<{1}xtf32>"
    )
    product = re.search(r" *%p = .*", text)
    assert product is not None
    casts = f"%xt = {cast.format('%x', '128x32')}\n%yt = {cast.format('%y', '32x128')}\n"
    head, tail = text[: product.start()], text[product.start() :]
    tail = tail.replace("%x, %y", "%xt, %yt", 1).replace("128x32xf32", "128x32xtf32", 1)
    return head + casts + tail.replace("32x128xf32", "32x128xtf32", 1)


@pytest.mark.parametrize("language", _TILES)
def test_products_of_tf32_on_pvc(language: str, tmp_path: Path) -> None:
    """The same with factors of tf32, of which a product is 8 deep."""
    rows, columns, depth, lanes, deep = 16, 32, 32, 16, 8
    module = parse(_of_tf32(language), language=_TILES[language][0])
    program = compile_program(module, for_spirv(PVC))
    text = assembly_of(program.spirv, "pvc", tmp_path, program.build_options)
    assert counted(text) == MachineCode(
        products=rows // REPEAT * columns // lanes * depth // deep,
        # Blocks of A have 8 columns, those of B 16 rows.
        loads=depth // deep + columns // lanes * depth // 16,
        # Each subgroup has 8 rows of either factor, of 64 bytes.
        prefetches=1 + 1,
        stores=rows // REPEAT * columns // lanes,
    )
    # One instruction rounds a number in each lane.
    casts = re.findall(r"\bmov \(16\|M0\) +\S+:tf32 +\S+:f\b", text)
    assert len(casts) == (rows + columns) * depth // lanes


def test_causal_attention_of_cutile_on_pvc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 subgroups have 8 of 64 queries each; a loop without the mask goes before one with it.

    Strides are multiples of 16, as those of most tensors are.
    """
    monkeypatch.setattr(case, "array", partial(case.array, divisor=16))
    rows, queries, keys, depth, lanes, loops = 8, 64, 32, 64, 16, 2
    arrays = [np.empty((1, 2, 256, depth), np.float16) for _ in range(4)]
    kernel = replace(
        attention.causal_attention(),
        arguments=[*arrays, 0.25],
        constants=(2, 1, queries, keys, depth),
    )
    file = tmp_path / "attention.tileirbc"
    file.write_bytes(kernel.exported())
    program = compile_program(parse(file), for_spirv(PVC))
    scores = rows // REPEAT * keys // lanes * depth // DEPTH
    outputs = rows // REPEAT * depth // lanes * keys // DEPTH
    # Keys are loaded transposed, 8 words of 32 bits at once.
    of_keys, of_values = keys // lanes * depth // DEPTH, depth // lanes * keys // DEPTH
    assert machine_code(program, "pvc", tmp_path) == MachineCode(
        products=loops * (scores + outputs),
        loads=rows // REPEAT * depth // lanes + loops * (of_keys + of_values),
        stores=rows // REPEAT * depth // lanes,
    )


_WORK_GROUPS = (Path(__file__).parent / "causal_attention.mlir").read_text()
"""Causal attention in base 2 by XeGPU of work-groups: 64 queries, 32 keys in a step."""


def test_causal_attention_of_work_groups_on_pvc(tmp_path: Path) -> None:
    """The same; keys, which the kernel transposes, are loaded so, and both are prefetched."""
    rows, keys, depth, lanes = 8, 32, 64, 16
    program = compile_program(parse(_WORK_GROUPS, language="mlir"), for_spirv(PVC))
    of_keys, of_values = keys // lanes * depth // DEPTH, depth // lanes * keys // DEPTH
    assert machine_code(program, "pvc", tmp_path) == MachineCode(
        products=2 * rows // REPEAT * keys // lanes * depth // DEPTH,
        loads=rows // REPEAT * depth // lanes + of_keys + of_values,
        # Each subgroup has 8 rows of keys or values, of 64 bytes.
        prefetches=1 + 1,
        stores=rows // REPEAT * depth // lanes,
    )


@pytest.mark.slow
def test_causal_attention_of_work_groups_computes_the_same() -> None:
    module = parse(_WORK_GROUPS, language="mlir")
    made = translate_to(module, "lane", Options("pvc", compiler=XTILE))
    queries, count, scale = 64, 2, 0.2
    q, k, v = (fresh_generator().standard_normal((1024, 64)).astype(np.float16) for _ in range(3))
    out = np.full((1024, 64), np.nan, np.float32)
    xtile.run(made, (q, k, v, out, np.float32(scale)), (count, 1, 1))
    seen = queries * count
    q, k, v = (each[:seen].astype(np.float64) for each in (q, k, v))
    scores = np.where(np.tril(np.ones((seen, seen), bool)), q @ k.T * scale, -np.inf)
    weights = np.exp2(scores - scores.max(axis=1, keepdims=True))
    expected = weights / weights.sum(axis=1, keepdims=True) @ v
    # Weights are rounded to f16.
    np.testing.assert_allclose(out[:seen], expected, atol=2**-10 * np.abs(v).max())
    assert np.isnan(out[seen:]).all()


_ROWS = """
gpu.module @kernels {{
  gpu.func @rows(%x: memref<64x2048xf32>, %y: memref<64x2048xf32>) kernel
      attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %none = arith.constant -0.0 : f32
    %least = arith.constant 0xFF800000 : f32
    %i = gpu.block_id x
    %v = vector.transfer_read %x[%i, %c0], %zero {{in_bounds = [true]}}
        : memref<64x2048xf32>, vector<2048xf32>
    {body}
    vector.transfer_write %r, %y[%i, %c0] {{in_bounds = [true]}}
        : vector<2048xf32>, memref<64x2048xf32>
    gpu.return
  }}
}}
"""

_SOFTMAX = """
    %m = vector.multi_reduction <maxnumf>, %v, %least [0] : vector<2048xf32> to f32
    %ms = vector.broadcast %m : f32 to vector<2048xf32>
    %d = arith.subf %v, %ms : vector<2048xf32>
    %e = math.exp %d fastmath<afn> : vector<2048xf32>
    %s = vector.multi_reduction <add>, %e, %none [0] : vector<2048xf32> to f32
    %ss = vector.broadcast %s : f32 to vector<2048xf32>
    %r = arith.divf %e, %ss : vector<2048xf32>
"""

_LAYER_NORM = """
    %n = arith.constant dense<2048.0> : vector<2048xf32>
    %s = vector.multi_reduction <add>, %v, %none [0] : vector<2048xf32> to f32
    %ss = vector.broadcast %s : f32 to vector<2048xf32>
    %mean = arith.divf %ss, %n : vector<2048xf32>
    %d = arith.subf %v, %mean : vector<2048xf32>
    %q = arith.mulf %d, %d : vector<2048xf32>
    %t = vector.multi_reduction <add>, %q, %none [0] : vector<2048xf32> to f32
    %ts = vector.broadcast %t : f32 to vector<2048xf32>
    %variance = arith.divf %ts, %n : vector<2048xf32>
    %one = math.rsqrt %variance : vector<2048xf32>
    %r = arith.mulf %d, %one : vector<2048xf32>
"""


@pytest.mark.parametrize("body", [_SOFTMAX, _LAYER_NORM], ids=["softmax", "layer_norm"])
def test_rows_that_subgroups_share_on_pvc(body: str, tmp_path: Path) -> None:
    """4 subgroups have 512 elements each; what they reduce goes through local memory."""
    program = compile_program(parse(_ROWS.format(body=body), language="mlir"), for_spirv(PVC))
    assert machine_code(program, "pvc", tmp_path) == MachineCode(products=0)
