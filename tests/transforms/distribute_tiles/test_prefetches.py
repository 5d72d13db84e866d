"""Subgroups share what a work-group prefetches: all that the next iteration reads, and once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from xdsl.ir import Operation

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute_tiles.distributed import distributed, tile_kernel
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.block import PrefetchNdOp
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.memory import Index, View
from xtile.semantics.state import State
from xtile.semantics.xegpu import table
from xtile.semantics.xegpu.descriptors import BlockDescriptor, Numbers

ROWS, COLUMNS, DEPTH, STEP = 256, 512, 128, 32

Counts = np.ndarray[Any, np.dtype[np.int64]]
_CountsByShape = dict[tuple[Index, ...], Counts]


def _product(tile: int, grid: str, *, is_turned: bool) -> str:
    """C := A B by square tiles; memory may have the transpose of B."""
    strides = [1, DEPTH] if is_turned else [COLUMNS, 1]
    b = f"memref<{DEPTH}x{COLUMNS}xf16, strided<{strides}>>"
    given = f"memref<{'x'.join(map(str, _shape_of_b(is_turned=is_turned)))}xf16>"
    a, c = f"memref<{ROWS}x{DEPTH}xf16>", f"memref<{ROWS}x{COLUMNS}xf32>"
    x, y, sums = (
        f"vector<{tile}x{STEP}xf16>",
        f"vector<{STEP}x{tile}xf16>",
        f"vector<{tile}x{tile}xf32>",
    )
    body = f"""
        %b = memref.reinterpret_cast %given to offset: [0], sizes: [{DEPTH}, {COLUMNS}],
            strides: {strides} : {given} to {b}
        %zero = arith.constant 0.0 : f16
        %zeros = arith.constant dense<0.0> : {sums}
        %tile = arith.constant {tile} : index
        %depth = arith.constant {DEPTH} : index
        %step = arith.constant {STEP} : index
        %i = gpu.block_id x
        %j = gpu.block_id y
        %m = arith.muli %i, %tile : index
        %n = arith.muli %j, %tile : index
        %s = scf.for %k = %c0 to %depth step %step iter_args(%t = %zeros) -> ({sums}) {{
          %x = vector.transfer_read %a[%m, %k], %zero {{in_bounds = [true, true]}} : {a}, {x}
          %y = vector.transfer_read %b[%k, %n], %zero {{in_bounds = [true, true]}} : {b}, {y}
          %p = vector.contract {{indexing_maps = [#lhs, #rhs, #sum],
              iterator_types = ["parallel", "parallel", "reduction"],
              kind = #vector.kind<add>}} %x, %y, %t : {x}, {y} into {sums}
          scf.yield %p : {sums}
        }}
        vector.transfer_write %s, %c[%m, %n] {{in_bounds = [true, true]}} : {sums}, {c}"""
    text = tile_kernel(f"%a: {a}, %given: {given}, %c: {c}", body)
    return text.replace("core.level", f"{grid}core.level")


def _shape_of_b(*, is_turned: bool) -> tuple[int, int]:
    return (COLUMNS, DEPTH) if is_turned else (DEPTH, COLUMNS)


def _counting(counts: _CountsByShape) -> Callable[[Operation, Compiler], Step]:
    """Counts how often each element of a matrix is prefetched; matrices differ by their shapes."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        assert isinstance(operation, PrefetchNdOp)
        descriptor = compiler.slot(operation.TensorDesc)
        offsets = Numbers(operation.mixed_offsets, compiler)
        type_ = tensor_desc(operation.TensorDesc)
        height, width = type_.get_shape()
        shape = height, width * type_.array_length

        def step(state: State) -> None:
            block: BlockDescriptor = state.values[descriptor]
            assert isinstance(block.region, View)
            region = block.region.shape
            counted = counts.setdefault(region, np.zeros(cast("tuple[int, int]", region), np.int64))
            starts = np.broadcast_arrays(*block.moved(offsets.values(state)).offsets)
            for row, column in zip(*(start.ravel() for start in starts), strict=True):
                # What is behind the end of a row is not there.
                counted[row : row + shape[0], column : column + shape[1]] += 1

        return step

    return handler


@pytest.mark.parametrize("is_turned", [False, True], ids=["B", "transposed B"])
@pytest.mark.parametrize(
    ("tile", "grid"),
    # Subgroups have 4 rows of 64 bytes each, 16 rows, and 4 rows.
    [(128, ""), (32, ""), (32, "core.subgroup_grid = array<i64: 4, 2>, ")],
)
def test_next_iteration_is_prefetched_once(
    tile: int, grid: str, *, is_turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: _CountsByShape = {}
    monkeypatch.setitem(table.HANDLERS, "xegpu.prefetch_nd", _counting(counts))
    made = distributed(_product(tile, grid, is_turned=is_turned), "lane")
    assert sum(isinstance(operation, PrefetchNdOp) for operation in walk(made)) == 2
    generator = fresh_generator()
    a, b = (
        generator.integers(-4, 5, shape).astype(np.float16)
        for shape in ((ROWS, DEPTH), _shape_of_b(is_turned=is_turned))
    )
    c = np.full((ROWS, COLUMNS), np.nan, np.float32)
    groups = 2
    xtile.run(made, (a, b, c), (groups, groups, 1))
    side = groups * tile
    expected = a.astype(np.float32) @ (b.T if is_turned else b).astype(np.float32)
    np.testing.assert_array_equal(c[:side, :side], expected[:side, :side])
    # Each work-group in a row of them prefetches the same of A, and in a column the same of B.
    of_a, of_b = counts[a.shape], counts[b.shape].T if is_turned else counts[b.shape]
    wanted_of_a, wanted_of_b = np.zeros_like(of_a), np.zeros_like(of_b)
    wanted_of_a[:side, STEP:] = groups
    wanted_of_b[STEP:, :side] = groups
    np.testing.assert_array_equal(of_a, wanted_of_a)
    np.testing.assert_array_equal(of_b, wanted_of_b)
