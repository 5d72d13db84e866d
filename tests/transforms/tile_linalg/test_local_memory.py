"""Local memory that is used as a whole becomes tiles, and what these hold beyond it stays there."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from xdsl.dialects.builtin import VectorType

import xtile
from tests.backends.intel.random_arguments import Memory, any_numbers
from tests.transforms.distribute.kernels import printed
from tests.transforms.tile_linalg.from_source import Shape, check, tiled
from xtile.targets import NVIDIA

CHAIN = """
func @k(%alpha: f32, %A: memref<f32x35x20>, %B: memref<f32x20x9>, %C: memref<f32x9x9>,
        %D: memref<f32x35x9>, %v: memref<f32x9>, %s: memref<f32>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    %t = alloca : memref<f32x35x9,local>
    %u = alloca : memref<f32x35x9,local>
    %w = alloca : memref<f32x35,local>
    %total = alloca : memref<f32,local>
    gemm.n.n %alpha, %A, %B, %zero, %t
    gemm.n.n %one, %t, %C, %zero, %u
    axpby.n %alpha, %u, %one, %D
    gemv.n %one, %u, %v, %zero, %w
    sum.n %one, %w, %zero, %total
    %x = load %total[] : f32
    store %x, %s[]
}
"""

LOOP = """
func @k(%n: index, %A: memref<f64x9x9>, %B: memref<f64x9x9>, %is: i32) {
    %zero = constant 0.0 : f64
    %one = constant 1.0 : f64
    %c0 = constant 0 : index
    %c1 = constant 1 : index
    %i0 = constant 0 : i32
    %power = alloca : memref<f64x9x9,local>
    %next = alloca : memref<f64x9x9,local>
    axpby.n %one, %A, %zero, %power
    for %i=%c0,%n,%c1 {
        gemm.n.n %one, %power, %A, %zero, %next
        %yes = equal %is, %i0 : bool
        if %yes {
            axpby.t %one, %next, %zero, %power
        } else {
            axpby.n %one, %next, %one, %power
        }
        %fresh = alloca : memref<f64x9x9,local>
        axpby.n %one, %power, %zero, %fresh
        cumsum %one, %fresh, 1, %one, %B
    }
    hadamard %one, %power, %power, %one, %B
}
"""

PARTS = """
func @k(%A: memref<f32x16x9>, %B: memref<f32x16x9>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    %t = alloca : memref<f32x16x9,local>
    axpby.n %one, %A, %zero, %t
    %part = subview %t[2:5,1:3] : memref<f32x5x3,strided<1,16>,local>
    %target = subview %B[0:5,0:3] : memref<f32x5x3,strided<1,16>>
    axpby.n %one, %part, %one, %target
}
"""

TILES_PARTS = """
func @k(%A: memref<f32x35x9>, %B: memref<f32x35x9>, %C: memref<f32x9x9>,
        %D: memref<f32x56x9>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    %t = alloca : memref<f32x56x9,local>
    axpby.n %one, %D, %zero, %t
    %rows = subview %t[0:35,0:9] : memref<f32x35x9,strided<1,56>,local>
    gemm.n.n %one, %A, %C, %zero, %rows
    %all = subview %t[0:56,0:9] : memref<f32x56x9,strided<1,56>,local>
    axpby.n %one, %all, %zero, %all
    %some = subview %t[16:10,0:9] : memref<f32x10x9,strided<1,56>,local>
    %target = subview %B[3:10,0:9] : memref<f32x10x9,strided<1,35>>
    axpby.n %one, %some, %one, %target
    %columns = subview %t[0:20,4:4] : memref<f32x20x4,strided<1,56>,local>
    %corner = subview %C[0:4,0:4] : memref<f32x4x4,strided<1,9>>
    %other = subview %B[15:20,0:4] : memref<f32x20x4,strided<1,35>>
    gemm.n.n %one, %columns, %corner, %one, %other
}
"""

LARGE = """
func @k(%A: memref<f32x300x200>, %B: memref<f32x200x300>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    %t = alloca : memref<f32x300x200,local>
    axpby.n %one, %A, %zero, %t
    axpby.t %one, %t, %one, %B
}
"""

FACTOR = """
func @k(%A: memref<{type}x56x40>, %B: memref<{type}x40x56>, %C: memref<{type}x56x40>) {{
    %zero = constant {zero} : {type}
    %one = constant {one} : {type}
    %t = alloca : memref<{type}x56x40,local>
    axpby.n %one, %A, %zero, %t
    %rows = subview %t[0:56,0:32] : memref<{type}x56x32,strided<1,56>,local>
    %columns = subview %B[0:32,0:40] : memref<{type}x32x40,strided<1,40>>
    gemm.n.n %one, %rows, %columns, %one, %C
}}
"""
"""Products of a part of local memory that is more than a tile of 32 x 32."""

CASES: dict[str, tuple[str, list[Shape], bool]] = {
    "factor f64": (
        FACTOR.format(type="f64", zero="0.0", one="1.0"),
        [(56, 40), (40, 56), (56, 40)],
        False,
    ),
    "factor i64": (FACTOR.format(type="i64", zero=0, one=1), [(56, 40), (40, 56), (56, 40)], True),
    "chain": (CHAIN, [(35, 20), (20, 9), (9, 9), (35, 9), (9,), ()], False),
    "large": (LARGE, [(300, 200), (200, 300)], True),
    "loop": (LOOP, [(9, 9), (9, 9)], False),
    "parts": (PARTS, [(16, 9), (16, 9)], True),
    "parts of tiles": (TILES_PARTS, [(35, 9), (35, 9), (9, 9), (56, 9)], False),
}
"""Each with shapes, and whether local memory stays memory."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    text, shapes, stays = CASES[name]
    for seed in range(3):
        module = check(text, seed, shapes={"k": shapes})
        assert ("memref.alloca" in printed(module)) == stays


def infinite_numbers(
    random: np.random.Generator, dtype: np.dtype[np.generic], count: int
) -> Memory:
    """Positive numbers, of which few are infinite: so are sums of products."""
    numbers = np.abs(any_numbers(random, dtype, count))
    return np.where(random.random(count) < 0.01, np.inf, numbers).astype(dtype)


@pytest.mark.parametrize("seed", range(10))
def test_what_is_beyond_the_end_stays_out_of_products(seed: int) -> None:
    """An infinite number times the zeros beyond the end would be NaN, which sums would keep."""
    text, shapes, _ = CASES["chain"]
    check(text, seed, numbers=infinite_numbers, shapes={"k": shapes})


def test_what_is_not_written_may_be_read() -> None:
    """The result is not defined, but there is one."""
    text = """func @k(%B: memref<f32x9x9>) {
        %zero = constant 0.0 : f32
        %one = constant 1.0 : f32
        %t = alloca : memref<f32x9x9,local>
        axpby.n %one, %t, %zero, %B
    }"""
    module = tiled(xtile.parse(text, language="tensorlang"))
    assert "memref.alloca" not in printed(module)


@pytest.mark.parametrize(
    "instruction",
    [
        "gemv.n %one, %A, %v, %zero, %t",
        "gemv.t %one, %A, %v, %zero, %t",
        "sum.n %one, %A, %zero, %t",
        "sum.t %one, %A, %zero, %t",
        "axpby.n %one, %A, %zero, %u",
        "axpby.t %one, %A, %zero, %u",
        "cumsum %one, %A, 0, %zero, %u",
        "cumsum %one, %A, 1, %zero, %u",
        "ger %one, %v, %v, %zero, %u",
        "hadamard %one, %A, %A, %zero, %u",
    ],
)
def test_what_is_whole_leaves_less_room_for_the_rest(instruction: str) -> None:
    """Tiles are no larger than the device's row says, also where they hold local memory."""
    text = f"""
    func @k(%A: memref<c32x?x?>, %v: memref<c32x?>, %x: memref<c32x100>, %y: memref<c32x50x60>) {{
        %zero = constant [0.0, 0.0] : c32
        %one = constant [1.0, 0.0] : c32
        %t = alloca : memref<c32x100,local>
        %u = alloca : memref<c32x50x60,local>
        {instruction}
        axpby.n %one, %t, %zero, %x
        axpby.n %one, %u, %zero, %y
    }}
    """
    module = tiled(xtile.parse(text, language="tensorlang"))
    types = {value.type for op in module.walk() for value in op.results}
    shapes = {tuple(type.get_shape()) for type in types if isinstance(type, VectorType)}
    assert shapes & {(128,), (64, 64)}
    sizes = {math.prod(shape) for shape in shapes}
    assert max(sizes - {64 * 64}) <= NVIDIA.chips["sm_90"].tiles.sum_elements


@pytest.mark.parametrize("chip", ["sm_90", "sm_100"])
def test_products_beside_allocated_memory_have_small_tiles(chip: str) -> None:
    """One warp has no registers for the sums of large ones: tileiras takes minutes for them."""
    text = """
        func @k(%a: memref<i8x512x512>, %b: memref<i8x512x512>, %c: memref<i32x512x512>,
                %x: memref<f32x64>, %i: index) {
            %one = constant 1 : i8
            %zero = constant 0 : i32
            gemm.n.n %one, %a, %b, %zero, %c
            ALLOCATION
        }
    """
    allocation = """
            %t = alloca : memref<f32x256x256,local>
            %v = subview %t[%i:64,0] : memref<f32x64,local>
            %z = constant 0.0 : f32
            %f = constant 1.0 : f32
            axpby %f, %x, %z, %v
            axpby %f, %v, %f, %x
    """

    def largest(given: str) -> int:
        made = xtile.translate(text.replace("ALLOCATION", given), "cuda_tile", chip=chip)
        found = re.findall(r"mmai .*, tile<(\d+)x(\d+)xi32>", xtile.to_text(made, "mlir"))
        return max(int(rows) * int(columns) for rows, columns in found)

    assert largest("") >= 128 * 128
    assert largest(allocation) <= 64 * 64
