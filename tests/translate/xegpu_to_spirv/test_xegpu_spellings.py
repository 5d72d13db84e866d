"""Products and blocks in each spelling: the text, and what LLVM 22 prints for the same kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.translate.xegpu_to_spirv.lane_kernels import validate as validate_with_tool
from xtile.backends.intel.compilation import spirv_in
from xtile.dialects.spirv import ModuleOp as SpirvModuleOp
from xtile.dialects.spirv import encode
from xtile.dialects.spirv.decoder import decode
from xtile.dialects.spirv.disassembler import disassemble
from xtile.targets import INTEL
from xtile.targets.lanes import for_spirv
from xtile.targets.spellings import SPELLINGS
from xtile.text.diagnostics import Diagnostics
from xtile.translate.xegpu_to_spirv import translate_module

_KERNEL = """
gpu.module @m {{
gpu.func @k({parameters}) kernel attributes {{intel_reqd_sub_group_size = {lanes} : i32,
                                              known_block_size = array<i32: {lanes}, 1, 1>}} {{
  {body}
  gpu.return
}}
}}
"""


def kernel(parameters: str, body: str, lanes: int = 16) -> str:
    """A kernel as text."""
    return _KERNEL.format(parameters=parameters, body=body, lanes=lanes)


def translated(
    text: str, spelling: str, chip: str = "pvc", diagnostics: Diagnostics | None = None
) -> SpirvModuleOp:
    """A kernel as SPIR-V, which is checked."""
    device = for_spirv(INTEL.chips[chip], SPELLINGS[spelling])
    module = xtile.parse(text, language="mlir")
    spirv = spirv_in(translate_module(module, device, diagnostics))
    spirv.verify()
    data = encode(spirv)
    assert encode(decode(data)) == data
    return spirv


def assembly(text: str, spelling: str, chip: str = "pvc") -> str:
    """A kernel in the form of the SPIR-V assembler."""
    return disassemble(encode(translated(text, spelling, chip)))


BLOCKS = kernel(
    "%a: memref<64x64xbf16>, %b: memref<64x64xi32>, %c: memref<64x64xf32>",
    """%none = arith.constant dense<0.0> : vector<8xf32>
  %ta = xegpu.create_nd_tdesc %a : memref<64x64xbf16> -> !xegpu.tensor_desc<8x16xbf16>
  %tb = xegpu.create_nd_tdesc %a : memref<64x64xbf16> -> !xegpu.tensor_desc<16x16xbf16>
  %tt = xegpu.create_nd_tdesc %b : memref<64x64xi32> -> !xegpu.tensor_desc<16x8xi32>
  %tc = xegpu.create_nd_tdesc %c : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
  %ti = xegpu.create_nd_tdesc %b : memref<64x64xi32> -> !xegpu.tensor_desc<8x16xi32>
  xegpu.prefetch_nd %ta[8, 32] : !xegpu.tensor_desc<8x16xbf16>
  %va = xegpu.load_nd %ta[24, 16] : !xegpu.tensor_desc<8x16xbf16> -> vector<8xbf16>
  %vb = xegpu.load_nd %tb[32, 48] <{packed}> : !xegpu.tensor_desc<16x16xbf16> -> vector<16xbf16>
  %vt = xegpu.load_nd %tt[16, 40] <{transpose = array<i64: 1, 0>}>
    : !xegpu.tensor_desc<16x8xi32> -> vector<8xi32>
  %d = xegpu.dpas %va, %vb, %none
    : vector<8xbf16>, vector<16xbf16>, vector<8xf32> -> vector<8xf32>
  xegpu.store_nd %d, %tc[48, 16] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  xegpu.store_nd %vt, %ti[56, 0] : vector<8xi32>, !xegpu.tensor_desc<8x16xi32>""",
)
"""Every access that LLVM 22 names as drivers do; it calls those of bytes otherwise."""

# --- functions ---

_CALL = re.compile(r"OpFunctionCall\s+\S+\s+(%\S+)\s+(.*)")

Call = tuple[str, tuple[int | None, ...]]
"""A function, and its arguments that are constants."""


def calls_in(text: str) -> list[Call]:
    """The calls in an assembler text."""
    names = dict(re.findall(r'OpDecorate (%\S+) LinkageAttributes "(\w+)" Import', text))
    constants: dict[str, tuple[int, ...]] = {}
    for name, number in re.findall(r"(%\S+) = OpConstant %\S+ (\d+)", text):
        constants[name] = (int(number),)
    for name in re.findall(r"(%\S+) = OpConstantNull", text):
        constants[name] = (0,)
    for name, parts in re.findall(
        r"(%\S+) = Op(?:ConstantComposite|CompositeConstruct) %\S+ (.*)", text
    ):
        if all(part in constants for part in parts.split()):
            constants[name] = tuple(constants[part][0] for part in parts.split())
    return [
        (
            names[name],
            tuple(n for argument in arguments.split() for n in constants.get(argument, (None,))),
        )
        for name, arguments in _CALL.findall(text)
    ]


def _llvm_assembly(text: str) -> str:
    """What LLVM 22 compiles a kernel to."""
    pipeline = "xegpu-op-level=lane zebin-chip=pvc binary-format=isa"
    result = run_mlir_opt(text, f"--gpu-lower-to-xevm-pipeline={pipeline}")
    assert result.returncode == 0, result.stderr
    (found,) = re.findall(r'assembly = "(.*?)\\00"', result.stdout, re.DOTALL)
    return found.replace("\\0A", "\n").replace("\\09", " ").replace("\\22", '"')


def test_functions_are_those_of_llvm() -> None:
    ours, theirs = assembly(BLOCKS, "functions"), _llvm_assembly(BLOCKS)
    blocks, llvm_blocks = (
        [call for call in calls_in(text) if "2d_block" in call[0]] for text in (ours, theirs)
    )
    assert blocks == llvm_blocks
    assert len(blocks) == 6
    products, llvm_products = (
        [name for name, _ in calls_in(text) if "mad" in name] for text in (ours, theirs)
    )
    assert products == llvm_products
    assert len(products) == 1


def test_functions_are_valid() -> None:
    validate_with_tool(encode(translated(BLOCKS, "functions")))


@pytest.mark.parametrize(
    ("factor", "sum_", "rows", "name"),
    [
        ("f16", "f32", 8, "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
        ("f16", "f32", 4, "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv4_sDv8_iDv4_f"),
        ("f16", "f32", 1, "_Z38intel_sub_group_f16_f16_matrix_mad_k16sDv8_if"),
        ("f16", "f16", 8, "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_Dh"),
        ("bf16", "f32", 2, "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv2_sDv8_iDv2_f"),
        ("bf16", "bf16", 8, "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iS_"),
        ("i8", "i32", 8, "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_iS0_"),
        ("si8", "i32", 8, "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_iS0_"),
        ("ui8", "i32", 8, "_Z36intel_sub_group_u8_u8_matrix_mad_k32Dv8_tDv8_jDv8_i"),
        ("f32", "f32", 8, "_Z39intel_sub_group_tf32_tf32_matrix_mad_k8Dv4_fDv8_fS0_"),
    ],
)
def test_functions_for_products(factor: str, sum_: str, rows: int, name: str) -> None:
    assert [call for call, _ in calls_in(assembly(product(factor, sum_, rows), "functions"))] == [
        name
    ]


@pytest.mark.parametrize(
    ("factor", "name"),
    [
        ("f16", "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f"),
        ("bf16", "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_iS_Dv8_f"),
    ],
)
def test_functions_for_products_of_8_lanes(factor: str, name: str) -> None:
    text = assembly(product(factor, "f32", 8, lanes=8), "functions", "dg2")
    assert [call for call, _ in calls_in(text)] == [name]


_DEPTHS = {"f32": 8, "f16": 16, "bf16": 16, "i8": 32, "si8": 32, "ui8": 32}


def product(factor: str, sum_: str, rows: int, lanes: int = 16) -> str:
    """A kernel with a product."""
    depth = _DEPTHS[factor]
    a, b, c = (
        f"{n}x{type}"
        for n, type in ((rows * depth // lanes, factor), (depth, factor), (rows, sum_))
    )
    return kernel(
        f"%a: memref<{a}>, %b: memref<{b}>, %c: memref<{c}>",
        f"""%c0 = arith.constant 0 : index
        %x = vector.load %a[%c0] : memref<{a}>, vector<{a}>
        %y = vector.load %b[%c0] : memref<{b}>, vector<{b}>
        %z = vector.load %c[%c0] : memref<{c}>, vector<{c}>
        %d = xegpu.dpas %x, %y, %z : vector<{a}>, vector<{b}>, vector<{c}> -> vector<{c}>
        vector.store %d, %c[%c0] : memref<{c}>, vector<{c}>""",
        lanes,
    )


# --- inline assembly ---


def assemblies_in(text: str) -> Mapping[str, str]:
    """The constraints of each inline assembly in an assembler text."""
    return dict(re.findall(r'OpAsmINTEL %\S+ %\S+ %\S+ "(.*?)" "(.*?)"', text, re.DOTALL))


_SHARED = ",".join(["rw.u"] * 6)


def test_inline_assembly() -> None:
    text = assembly(BLOCKS, "inline-visa")
    assert assemblies_in(text) == {
        "lsc_load_block2d.ugm.ca.ca (M1,1) %null:d16.16x8nn flat[$0,$1,$2,$3,$4,$5]": _SHARED,
        "lsc_load_block2d.ugm (M1,1) $0:d16.16x8nn flat[$1,$2,$3,$4,$5,$6]": f"=rw,{_SHARED}",
        "lsc_load_block2d.ugm (M1,1) $0:d16.16x16nt flat[$1,$2,$3,$4,$5,$6]": f"=rw,{_SHARED}",
        "lsc_load_block2d.ugm (M1,1) $0:d32.8x16tn flat[$1,$2,$3,$4,$5,$6]": f"=rw,{_SHARED}",
        "lsc_store_block2d.ugm (M1,1) flat[$0,$1,$2,$3,$4,$5] $6:d32.16x8nn": f"{_SHARED},rw",
        (
            "{\n"
            ".decl left v_type=G type=ud num_elts=64 align=wordx32 alias=<$1,0>\n"
            ".decl right v_type=G type=ud num_elts=128 align=wordx32 alias=<$2,0>\n"
            "dpas.bf.bf.8.8 (M1,16) $0.0 $3.0 right.0 left(0,0)\n"
            "}"
        ): "=rw,rw,rw,rw",
    }
    # The store of i32 has a function type of its own; width, height and pitch are less 1.
    assert text.count("OpAsmCallINTEL") == 7
    assert "SPV_INTEL_inline_assembly" in text
    assert text.count("SideEffectsINTEL") == 6


def test_long_loads_are_cut_for_inline_assembly() -> None:
    """A register of SPIR-V has 16 elements at most."""
    text = assembly(
        kernel(
            "%a: memref<64x64xbf16>, %out: memref<32x64xbf16>",
            """%t = xegpu.create_nd_tdesc %a : memref<64x64xbf16>
              -> !xegpu.tensor_desc<32x16xbf16, #xegpu.block_tdesc_attr<array_length = 2>>
            %v = xegpu.load_nd %t[0, 0]
              : !xegpu.tensor_desc<32x16xbf16, #xegpu.block_tdesc_attr<array_length = 2>>
              -> vector<64xbf16>
            %c0 = arith.constant 0 : index
            vector.store %v, %out[%c0, %c0] : memref<32x64xbf16>, vector<64xbf16>""",
        ),
        "inline-visa",
    )
    (load,) = assemblies_in(text)
    assert "d16.16x16nn" in load
    numbers = {name: int(n) for name, n in re.findall(r"(%\S+) = OpConstant %\S+ (\d+)", text)}
    locations = re.findall(r"OpAsmCallINTEL %\S+ %\S+ %\S+ %\S+ %\S+ %\S+ (%\S+) (%\S+)", text)
    # Block after block, and the rows of each in two parts.
    assert [(numbers[x], numbers[y]) for x, y in locations] == [(0, 0), (0, 16), (16, 0), (16, 16)]


def test_products_as_functions_with_blocks_in_inline_assembly() -> None:
    text = assembly(BLOCKS, "functions-and-visa")
    assert [name for name, _ in calls_in(text)] == [
        "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f"
    ]
    assert not any("dpas" in code for code in assemblies_in(text))
    assert len(assemblies_in(text)) == 5


# --- extensions ---


def test_extensions() -> None:
    text = assembly(BLOCKS, "extensions")
    numbers = {name: int(n) for name, n in re.findall(r"(%\S+) = OpConstant %\S+ (\d+)", text)}
    found = [
        (name, [numbers[word] for word in words.split()[:4]])
        for name, words in re.findall(r"OpSubgroup2DBlock(\w+)INTEL (.*)", text)
    ]
    # Bytes of an element, columns, rows, blocks.
    assert found == [
        ("Prefetch", [2, 16, 8, 1]),
        ("Load", [2, 16, 8, 1]),
        ("LoadTransform", [2, 16, 16, 1]),
        ("LoadTranspose", [4, 8, 16, 1]),
        ("Store", [4, 16, 8, 1]),
        ("Store", [4, 16, 8, 1]),
    ]
    (product,) = re.findall(r"OpSubgroupMatrixMultiplyAccumulateINTEL (.*)", text)
    _, depth, *_, masks = product.split()
    assert numbers[depth] == 16
    assert masks == "MatrixAPackedBFloat16INTEL|MatrixBPackedBFloat16INTEL"
    for extension in ("SPV_INTEL_subgroup_matrix_multiply_accumulate", "SPV_INTEL_2d_block_io"):
        assert f'OpExtension "{extension}"' in text
    for capability in (
        "SubgroupMatrixMultiplyAccumulateINTEL",
        "Subgroup2DBlockIOINTEL",
        "Subgroup2DBlockTransformINTEL",
        "Subgroup2DBlockTransposeINTEL",
    ):
        assert f"OpCapability {capability}" in text


@pytest.mark.parametrize(
    ("factor", "sum_", "masks"),
    [
        ("f16", "f32", {"MatrixAPackedFloat16INTEL", "MatrixBPackedFloat16INTEL"}),
        ("f32", "f32", {"MatrixATF32INTEL", "MatrixBTF32INTEL"}),
        (
            "i8",
            "i32",
            {
                "MatrixASignedComponentsINTEL",
                "MatrixBSignedComponentsINTEL",
                "MatrixAPackedInt8INTEL",
                "MatrixBPackedInt8INTEL",
            },
        ),
        (
            "bf16",
            "bf16",
            {
                "MatrixAPackedBFloat16INTEL",
                "MatrixBPackedBFloat16INTEL",
                "MatrixCBFloat16INTEL",
                "MatrixResultBFloat16INTEL",
            },
        ),
    ],
)
def test_operands_of_the_extension(factor: str, sum_: str, masks: set[str]) -> None:
    text = assembly(product(factor, sum_, 8), "extensions")
    (found,) = re.findall(r"OpSubgroupMatrixMultiplyAccumulateINTEL .* (\S+)", text)
    assert set(found.split("|")) == masks


# --- rows ---


def test_rows_are_read_and_written_together() -> None:
    text = assembly(
        kernel(
            "%a: memref<64x64xf16>, %c: memref<64x64xf32>",
            """%t = xegpu.create_nd_tdesc %a[3, 16]
              : memref<64x64xf16> -> !xegpu.tensor_desc<32xf16>
            %u = xegpu.create_nd_tdesc %c[3, 32] : memref<64x64xf32> -> !xegpu.tensor_desc<32xf32>
            %v = xegpu.load_nd %t : !xegpu.tensor_desc<32xf16> -> vector<4xf16>
            %w = arith.extf %v : vector<4xf16> to vector<4xf32>
            xegpu.store_nd %w, %u : vector<4xf32>, !xegpu.tensor_desc<32xf32>""",
            lanes=8,
        ),
        "functions",
        "dg2",
    )
    assert re.search(r"OpSubgroupBlockReadINTEL %v4ushort", text)
    assert text.count("OpSubgroupBlockWriteINTEL") == 1
    assert "OpCapability SubgroupBufferBlockIOINTEL" in text
    numbers = {name: int(n) for name, n in re.findall(r"(%\S+) = OpConstant %\S+ (\d+)", text)}
    locations = re.findall(r"OpInBoundsPtrAccessChain %\S+ %\S+ (%\S+)", text)
    assert [numbers[location] for location in locations] == [3 * 64 + 16, 3 * 64 + 32]


# --- what has no instruction ---


@pytest.mark.parametrize(
    ("parameters", "create", "load", "reason"),
    [
        (
            "memref<64x64xf16>",
            "!xegpu.tensor_desc<8x32xf16>",
            "vector<16xf16>",
            "there is no load of a block of 8x32 elements of 16 bits",
        ),
        (
            "memref<64x24xf16>",
            "!xegpu.tensor_desc<8x16xf16>",
            "vector<8xf16>",
            "the pitch is 48 bytes, less than 64",
        ),
        (
            "memref<64x64xf16>",
            "!xegpu.tensor_desc<16x8xf16>",
            "vector<8xf16>",
            "there is no load of a block of 16x8 elements of 16 bits",
        ),
    ],
)
def test_blocks_without_an_instruction(
    parameters: str, create: str, load: str, reason: str
) -> None:
    text = kernel(
        f"%a: {parameters}, %out: memref<16xf16>",
        f"""%t = xegpu.create_nd_tdesc %a : {parameters} -> {create}
        %v = xegpu.load_nd %t[0, 0] : {create} -> {load}
        %c0 = arith.constant 0 : index
        vector.store %v, %out[%c0] : memref<16xf16>, {load}""",
    )
    diagnostics = Diagnostics()
    spirv = translated(text, "functions", "pvc", diagnostics)
    assert [d.message for d in diagnostics] == [f"loads element by element: {reason}"]
    validate_with_tool(encode(spirv))


@pytest.mark.parametrize(
    ("text", "chip", "reason"),
    [
        (product("f16", "f32", 8, lanes=32), "pvc", "it needs subgroups of 16 lanes"),
        (product("f16", "f16", 8, lanes=8), "dg2", "it has no products of f16 with sums of f16"),
        (product("f16", "f32", 16), "pvc", "it has no products with 16 rows"),
        (product("f16", "f32", 8), "cpu", "cpu has none"),
    ],
)
def test_products_without_an_instruction(text: str, chip: str, reason: str) -> None:
    diagnostics = Diagnostics()
    translated(text, "functions", chip, diagnostics)
    assert [d.message for d in diagnostics] == [f"multiplies without the matrix unit: {reason}"]
