"""A kernel that is one product of blocks of memory gives each subgroup twice as many sums."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute_tiles.distributed import distributed, tile_kernel
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.walk import walk

SIZE, TILE, STEP = 128, 64, 32

_SUMS = f"vector<{TILE}x{TILE}xf32>"


def _product(
    pitch: int = SIZE, alignment: int = 64, after: str = "", element: str = "f16", order: str = ""
) -> str:
    """C := A B by square tiles.

    Args:
        pitch: From one row of A to the next.
        alignment: What divides the addresses of the matrices.
        after: What makes %r, which is stored, of the sums %s; nothing stores these.
        element: The type of A and B.
        order: Another order of the dimensions in which B is read.
    """
    a = f"memref<{SIZE}x{SIZE}x{element}, strided<[{pitch}, 1]>>"
    b, c = f"memref<{SIZE}x{SIZE}x{element}>", f"memref<{SIZE}x{SIZE}xf32>"
    x, y = f"vector<{TILE}x{STEP}x{element}>", f"vector<{STEP}x{TILE}x{element}>"
    at = "[%n, %k]" if order else "[%k, %n]"
    views = "\n".join(
        f"""%{name}_1 = core.assume %{name} divisible_by {alignment} : !core.ptr<{type_}>
        %{name}_2 = core.view %{name}_1 to offset: [0], sizes: [{SIZE}, {SIZE}],
            strides: [{step}, 1] : !core.ptr<{type_}> to {memref}"""
        for name, type_, step, memref in (
            ("a", element, pitch, a),
            ("b", element, SIZE, b),
            ("c", "f32", SIZE, c),
        )
    )
    body = f"""{views}
        %zero = arith.constant 0.0 : {element}
        %zeros = arith.constant dense<0.0> : {_SUMS}
        %tile = arith.constant {TILE} : index
        %size = arith.constant {SIZE} : index
        %step = arith.constant {STEP} : index
        %i = gpu.block_id x
        %j = gpu.block_id y
        %m = arith.muli %i, %tile : index
        %n = arith.muli %j, %tile : index
        %s = scf.for %k = %c0 to %size step %step iter_args(%t = %zeros) -> ({_SUMS}) {{
          %x = vector.transfer_read %a_2[%m, %k], %zero {{in_bounds = [true, true]}} : {a}, {x}
          %y = vector.transfer_read %b_2{at}, %zero {{in_bounds = [true, true]{order}}} : {b}, {y}
          %p = vector.contract {{indexing_maps = [#lhs, #rhs, #sum],
              iterator_types = ["parallel", "parallel", "reduction"],
              kind = #vector.kind<add>}} %x, %y, %t : {x}, {y} into {_SUMS}
          scf.yield %p : {_SUMS}
        }}
        {after}
        vector.transfer_write {"%r" if after else "%s"}, %c_2[%m, %n] {{in_bounds = [true, true]}}
            : {_SUMS}, {c}"""
    pointers = ", ".join(
        f"%{name}: !core.ptr<{type_}>"
        for name, type_ in (("a", element), ("b", element), ("c", "f32"))
    )
    return tile_kernel(pointers, body)


def _block(text: str, chip: str = "pvc") -> int:
    """The work-items of a work-group."""
    (kernel,) = (each for each in walk(distributed(text, chip=chip)) if isinstance(each, FuncOp))
    assert kernel.known_block_size is not None
    return kernel.known_block_size.get_values()[0]


@pytest.mark.parametrize(
    ("text", "subgroups"),
    [
        # Parts of 32 x 32.
        (_product(), 4),
        (_product(alignment=16), 4),
        # Parts of 16 x 32.
        (_product(pitch=SIZE + 1), 8),
        (_product(alignment=2), 8),
        (_product(after=f"%r = arith.mulf %s, %s : {_SUMS}"), 8),
        (_product(element="f32"), 8),
        (_product(order=", permutation_map = affine_map<(d0, d1) -> (d1, d0)>"), 8),
    ],
    ids=["blocks", "16 bytes", "odd pitch", "odd address", "squared", "f32", "transposed"],
)
def test_subgroups_of_a_product(text: str, subgroups: int) -> None:
    lanes = 16
    assert _block(text) == lanes * subgroups


def test_a_chip_without_blocks_has_no_product_alone() -> None:
    """8 lanes, each of which holds a column of 8 x 16 sums of 128, twice."""
    assert _block(_product(), "dg2") == 8 * TILE * TILE // 128


@pytest.mark.parametrize("level", ["subgroup", "lane"])
def test_a_product_alone_computes_the_same(level: str) -> None:
    made = distributed(_product(), level)
    generator = fresh_generator()
    a, b = (generator.integers(-4, 5, (SIZE, SIZE)).astype(np.float16) for _ in range(2))
    c = np.full((SIZE, SIZE), np.nan, np.float32)
    xtile.run(made, (a, b, c), (SIZE // TILE, SIZE // TILE, 1))
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
