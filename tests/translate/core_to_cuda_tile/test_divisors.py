"""What divides sizes and strides: CUDA Tile IR can say powers of two only."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import printed
from tests.transforms.tile_linalg.from_source import reversed_modes
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    entry_of,
    functions_of,
    launch_entry,
    verify,
)
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics.arguments import MemrefArgument, ScalarArgument
from xtile.translate.route import Options, translate

PROMISED = """
func @f(%A: memref<f32x?x?> {{shape_gcd=[{0},{1}], stride_gcd=[1,{0}]}},
        %B: memref<f32x?x?> {{shape_gcd=[{0},{1}], stride_gcd=[1,{0}]}}, %n: index) {{
    %alpha = constant 2.0 : f32
    %beta = constant 3.0 : f32
    axpby %alpha, %A, %beta, %B
}}
"""

COMPUTED = """
func @f(%A: memref<f32x?x?>, %B: memref<f32x?x?>, %n: index) {{
    %alpha = constant 2.0 : f32
    %beta = constant 3.0 : f32
    %c0 = constant 0 : index
    %rows = constant {0} : index
    %columns = constant {1} : index
    %h = mul %n, %rows : index
    %w = mul %n, %columns : index
    %a = subview %A[%c0:%h,%c0:%w] : memref<f32x?x?,strided<1,?>>
    %b = subview %B[%c0:%h,%c0:%w] : memref<f32x?x?,strided<1,?>>
    axpby %alpha, %a, %beta, %b
}}
"""

DIVISORS = [(7, 24), (24, 7), (1, 12), (28, 3), (16, 48), (5, 1), (6, 2**40)]


def _powers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"div_by<(\d+)", text)]


@pytest.mark.parametrize("program", [PROMISED, COMPUTED])
@pytest.mark.parametrize(("rows", "columns"), DIVISORS)
def test_the_power_of_two_in_a_divisor_is_promised(program: str, rows: int, columns: int) -> None:
    module = xtile.parse(program.format(rows, columns), language="tensorlang")
    result = translate(module, "tensorlang-to-cuda_tile", Options("sm_90"))
    verify(result)
    powers = {number & -number for number in (rows, columns)} - {1}
    promised = set(_powers(printed(result)))
    assert all(number & (number - 1) == 0 for number in promised)
    if program is PROMISED:
        assert powers <= promised
    if columns < 2**31:
        _check_numbers(module, result, rows, columns)


def test_assemblers_take_it() -> None:
    for program in (PROMISED, COMPUTED):
        module = xtile.parse(program.format(7, 24), language="tensorlang")
        assemble_for_all(translate(module, "tensorlang-to-cuda_tile", Options("sm_90")), ["sm_90"])


def _check_numbers(module: ModuleOp, result: ModuleOp, rows: int, columns: int) -> None:
    """Both compute the same for matrices of twice these sizes."""
    random = fresh_generator()
    a, b = (random.standard_normal((2 * columns, 2 * rows)).astype(np.float32) for _ in range(2))
    expected = 2 * a + 3 * b
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    (signature,) = functions_of(translate(module, "tensorlang-to-core"))
    shape, strides = (2 * rows, 2 * columns), (1, 2 * rows)
    given = [MemrefArgument(each.ravel(), shape, strides) for each in (a, b)]
    arguments = [*given, ScalarArgument(np.int64(2))]
    launch_entry(signature, entry_of(result, "f"), reversed_modes(function, arguments))
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-5)
