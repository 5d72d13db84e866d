"""What is left in the innermost loop of a matrix product: loads, products and addresses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.scf import ForOp

import xtile
from xtile.translate.route import translate

EXAMPLES = Path(__file__).parents[3] / "examples"

GEMM = """
func @f(%alpha: {type}, %A: memref<{type}x{a}>, %B: memref<{type}x{b}>, %beta: f32,
        %C: memref<f32x128x128>) {{
    gemm.{transpose_a}.{transpose_b} %alpha, %A, %B, %beta, %C
}}
"""

# An f16 product of 32 x 16 by 16 x 32 takes 4 x 2 of 8 x 16 by 16 x 16. Of the left operand (B,
# because the core form transposes) a block load fetches 8 x 16, a transposed one 16 x 16 in words
# of two; of the right one it is 16 x 16. A prefetch has up to 32 rows of 64 bytes: all of a factor.
GEMM_LOOPS = {
    "nn": {"xegpu.load_nd": 6, "xegpu.prefetch_nd": 2, "arith.addi": 1},
    "nt": {
        "xegpu.load_nd": 4,
        "xegpu.prefetch_nd": 2,
        "arith.addi": 1,
        "vector.extract_strided_slice": 4,
        "vector.bitcast": 2,
    },
    "tn": {
        "xegpu.load_nd": 6,
        "xegpu.prefetch_nd": 2,
        "arith.addi": 1,
        "arith.shrsi": 1,
        "vector.bitcast": 2,
    },
    "tt": {
        "xegpu.load_nd": 4,
        "xegpu.prefetch_nd": 2,
        "arith.addi": 1,
        "arith.shrsi": 1,
        "vector.extract_strided_slice": 4,
        "vector.bitcast": 4,
    },
}
"""By the transposes of A and B the operations of the loop besides 8 products and its end."""

BFLOAT16_BITCASTS = {"nn": 0, "nt": 2 + 4, "tn": 2 + 2, "tt": 4 + 4 + 2}
"""Of words as bits of bf16, and of those as bf16: free, as registers have no type."""


def _loops_with_products(module: ModuleOp) -> list[Counter[str]]:
    """For each innermost loop with products the operations in it; numbers must be addresses."""
    result: list[Counter[str]] = []
    for loop in module.walk():
        if not isinstance(loop, ForOp):
            continue
        body = list(loop.body.block.ops)
        names = Counter(operation.name for operation in body)
        if "xegpu.dpas" not in names:
            continue
        for operation in body:
            is_number = operation.dialect_name() == "arith"
            assert not is_number or isinstance(operation.results[0].type, IndexType)
        result.append(names)
    return result


@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize("transposes", GEMM_LOOPS)
def test_gemm(type: str, transposes: str) -> None:
    text = GEMM.format(
        type=type,
        transpose_a=transposes[0],
        transpose_b=transposes[1],
        a="128x64" if transposes[0] == "n" else "64x128",
        b="64x128" if transposes[1] == "n" else "128x64",
    )
    module = translate(xtile.parse(text, language="tensorlang"), "tensorlang-to-xegpu")
    expected = {**GEMM_LOOPS[transposes], "xegpu.dpas": 8, "scf.yield": 1}
    if type == "bf16" and BFLOAT16_BITCASTS[transposes]:
        expected["vector.bitcast"] = BFLOAT16_BITCASTS[transposes]
    assert _loops_with_products(module) == [Counter(expected)]


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_cooperative_matrices(type: str) -> None:
    """The example with static sizes: inside of the matrices and at their edges."""
    text = (EXAMPLES / "coopmatrix_gemm.ir").read_text()
    for old, new in {
        "%A: memref<f16x?x?>": "%A: memref<f16x1024x256>",
        "%B: memref<f16x?x?>": "%B: memref<f16x256x512>",
        "%C: memref<f32x?x?>": "%C: memref<f32x1024x512>",
        "f16": type,
    }.items():
        text = text.replace(old, new)
    module = translate(xtile.parse(text, language="tensorlang"), "tensorlang-to-xegpu")
    expected = Counter({"xegpu.load_nd": 6, "xegpu.dpas": 8, "scf.yield": 1})
    assert _loops_with_products(module) == [expected, expected]
