"""Tiles of all tile blocks, or of a loop, are tiles of one view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.transforms.structure.pointer_builder import Kernel, Tile, Writer
from tests.transforms.structure.pointer_kernels import CASES, Launch
from tests.transforms.structure.test_structure import arrays_after, raised, structured, written
from xtile.arguments.errors import ArgumentError
from xtile.dialects.core.attributes import BEGINS_INSIDE_ATTRIBUTE
from xtile.dialects.core.views import ViewOp
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.transforms.structure import structure
from xtile.translate.route import Options, translate

SIZE = 16


def _views_in_loops(module: ModuleOp) -> int:
    return sum(
        isinstance(each, ViewOp) and isinstance(each.parent_op(), scf.ForOp)
        for each in module.walk()
    )


def _reads(module: ModuleOp) -> list[TransferReadOp]:
    return [each for each in module.walk() if isinstance(each, TransferReadOp)]


@pytest.mark.parametrize("name", ["matmul_advancing", "matmul_from_offsets", "matmul_wrapping"])
def test_products_have_their_views_before_the_loop(name: str) -> None:
    module = structure(raised(CASES[name].text()), common_memory=True)
    assert _views_in_loops(module) == 0
    assert [BEGINS_INSIDE_ATTRIBUTE in each.attributes for each in _reads(module)] == [True, True]


# --- sums of tiles that a loop goes through ---


Body: TypeAlias = Callable[[Kernel, Tile, Tile, Tile], "tuple[Tile, Tile | None]"]
"""Pointers and a mask, of a kernel, a pointer, the variable of a loop and a size."""

Bound: TypeAlias = "int | Callable[[Tile], Tile]"
"""A number, or what it is for a size."""


def _sums(body: Body, start: Bound, stop: Bound, step: Bound) -> str:
    """Adds the tiles that a loop loads, of `x` with `n` numbers."""

    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        (n,) = k.integers("n")
        a, b, c = (given(n) if callable(given) else given for given in (start, stop, step))
        zero = k.constant(0, (SIZE,), "f32")
        with k.loop(a, b, c, [zero]) as each:
            pointers, mask = body(k, x, each.variable, n)
            loaded = k.load(pointers) if mask is None else k.load(pointers, mask, 0)
            each.carry(each.carried[0] + loaded)
        k.store(out + k.arange(SIZE), each.results[0])

    return written(write)


def _blocks_of(k: Kernel, x: Tile, i: Tile, n: Tile) -> tuple[Tile, Tile | None]:
    at = i * SIZE + k.arange(SIZE)
    return x + at, at < n


def _all_blocks(k: Kernel, x: Tile, i: Tile, n: Tile) -> tuple[Tile, Tile | None]:
    return x + (i * SIZE + k.arange(SIZE)), None


def _from(k: Kernel, x: Tile, i: Tile, n: Tile) -> tuple[Tile, Tile | None]:
    at = i + k.arange(SIZE)
    return x + at, at < n


def _rows(k: Kernel, x: Tile, i: Tile, n: Tile) -> tuple[Tile, Tile | None]:
    return x + (i * 2 * SIZE + k.arange(SIZE) * 2), None


def _blocks(n: Tile) -> Tile:
    return (n + (SIZE - 1)) // SIZE


SHARED: dict[str, str] = {
    "blocks": _sums(_blocks_of, start=0, stop=_blocks, step=1),
    "without masks": _sums(_all_blocks, start=0, stop=lambda n: n // SIZE, step=1),
    "from and to": _sums(_from, start=0, stop=lambda n: n, step=SIZE),
    "from the second block": _sums(_from, start=SIZE, stop=lambda n: n, step=SIZE),
    "every second block": _sums(_from, start=0, stop=lambda n: n, step=2 * SIZE),
    "every second number": _sums(_rows, start=0, stop=lambda n: n // (2 * SIZE), step=1),
}
"""Loops whose tiles are those of one view."""

OWN: dict[str, str] = {
    "less than a block further": _sums(_from, start=0, stop=lambda n: n, step=SIZE // 2),
    "as often as it may": _sums(_blocks_of, start=0, stop=5, step=1),
    "one block too many": _sums(_blocks_of, start=0, stop=lambda n: _blocks(n) + 1, step=1),
    "blocks of another size": _sums(
        _blocks_of, start=0, stop=lambda n: (n + (SIZE // 2 - 1)) // (SIZE // 2), step=1
    ),
    "a step that is not known": _sums(_from, start=0, stop=lambda n: n, step=lambda n: n // 3 + 1),
    "backwards": _sums(
        lambda k, x, i, n: (x + ((n - SIZE) - i * SIZE + k.arange(SIZE)), None),
        start=0,
        stop=lambda n: n // SIZE,
        step=1,
    ),
    "squares": _sums(
        lambda k, x, i, n: (x + (i * i * SIZE + k.arange(SIZE)), i * i * SIZE + k.arange(SIZE) < n),
        start=0,
        stop=4,
        step=1,
    ),
}
"""Loops each of whose iterations has a view of its own."""


def _check_values(text: str) -> None:
    before = raised(text)
    after = structured(before)
    for n in (0, 1, 16, 17, 63, 64, 200):
        x = fresh_generator().standard_normal(256).astype(np.float32)
        launch: Launch = ([x, np.full(SIZE, np.nan, np.float32), n], (1, 1, 1))
        wanted = arrays_after(before, launch)[1]
        found = _arrays_after_either(before, after, launch)[1]
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_a_view_before_the_loop(name: str) -> None:
    assert _views_in_loops(structure(raised(SHARED[name]), common_memory=True)) == 0
    _check_values(SHARED[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_a_view_in_each_iteration(name: str) -> None:
    assert _views_in_loops(structure(raised(OWN[name]), common_memory=True)) == 1
    _check_values(OWN[name])


# --- memory of all tile blocks ---


def _number(argument: Any) -> int | None:
    return argument if isinstance(argument, int) else None


def _arrays_after_either(before: ModuleOp, after: ModuleOp, launch: Launch) -> list[Any]:
    """The arrays after a launch, of the kernel that relies on nothing if memory is empty."""
    try:
        return arrays_after(after, launch)
    except ArgumentError as error:
        if "is from 1 to" not in str(error) or 0 not in map(_number, launch[0]):
            raise
    return arrays_after(structure(before, common_memory=True, may_wrap=True), launch)


def _launches_agree(text: str, *launches: Launch) -> ModuleOp:
    """Checks that a kernel computes the same as before; returns it."""
    before = raised(text)
    after = structured(before)
    for launch in launches:
        wanted, found = arrays_after(before, launch), _arrays_after_either(before, after, launch)
        for one, other in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(other, one)
    return after


def _views(module: ModuleOp) -> list[ViewOp]:
    return [each for each in module.walk() if isinstance(each, ViewOp)]


def _is_of_all_blocks(view: ViewOp) -> bool:
    return not view.offsets and list(view.static_offsets.get_values()) == [0]


@pytest.mark.parametrize("name", ["matmul_advancing", "matmul_from_offsets", "matmul_wrapping"])
def test_matrices_of_products_are_views(name: str) -> None:
    views = _views(structure(raised(CASES[name].text()), common_memory=True))
    assert [str(view.result.type) for view in views] == ["memref<?x?xf32, strided<[?, ?]>>"] * 3


def _blocks_kernel(k: Kernel) -> None:
    x, out = k.pointers("x out")
    (n,) = k.integers("n")
    at = k.block() * SIZE + k.arange(SIZE)
    k.store(out + at, k.load(x + at, at < n, 0) + 1, at < n)


def _dealt_out(k: Kernel) -> None:
    """Each of four blocks adds up every fourth tile."""
    x, out = k.pointers("x out")
    (n,) = k.integers("n")
    zero = k.constant(0, (SIZE,), "f32")
    with k.loop(0, (n + (4 * SIZE - 1)) // (4 * SIZE), 1, [zero]) as each:
        at = each.variable * (4 * SIZE) + k.block() * SIZE + k.arange(SIZE)
        each.carry(each.carried[0] + k.load(x + at, at < n, 0))
    k.store(out + k.block() * SIZE + k.arange(SIZE), each.results[0])


@pytest.mark.slow
def test_a_loop_is_split_where_its_tiles_begin_beyond_the_end() -> None:
    before = raised(written(_dealt_out))
    after = structure(before, common_memory=True)
    loops = [each for each in after.walk() if isinstance(each, scf.ForOp)]
    views = [sum(isinstance(each, ViewOp) for each in loop.walk()) for loop in loops]
    assert views == [0, 1]
    x = fresh_generator().standard_normal(256).astype(np.float32)
    launches: list[Launch] = [
        ([x, np.full(4 * SIZE, np.nan, np.float32), n], (4, 1, 1))
        for n in (0, 1, 49, 64, 65, 81, 128, 255, 256)
    ]
    _launches_agree(written(_dealt_out), *launches)


@pytest.mark.slow
def test_blocks_beyond_the_end_access_nothing() -> None:
    x = fresh_generator().standard_normal(40).astype(np.float32)
    launches: list[Launch] = [
        ([x, np.full(40, np.nan, np.float32), n], (grid, 1, 1))
        for n in (0, 1, 16, 40)
        for grid in (1, 3, 7)
    ]
    module = _launches_agree(written(_blocks_kernel), *launches)
    assert all(map(_is_of_all_blocks, _views(module)))
    (store,) = (each for each in module.walk() if isinstance(each, TransferWriteOp))
    assert isinstance(store.parent_op(), scf.IfOp)


def test_what_matters_beyond_the_end_keeps_a_view_of_its_own() -> None:
    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        (n,) = k.integers("n")
        at = k.block() * SIZE + k.arange(SIZE)
        k.store(out + at, k.load(x + at, at < n, 5))

    x = fresh_generator().standard_normal(40).astype(np.float32)
    launches: list[Launch] = [
        ([x, np.full(64, np.nan, np.float32), n], (4, 1, 1)) for n in (0, 1, 16, 40)
    ]
    module = _launches_agree(written(write), *launches)
    assert sorted(map(_is_of_all_blocks, _views(module))) == [False, True]


def _batches(k: Kernel) -> None:
    """Rows of matrices, of which each block has some of one."""
    x, out = k.pointers("x out")
    n, each, row = k.integers("n each row")
    rows, columns = k.block(0) * SIZE + k.arange(SIZE), k.arange(8)
    at = k.block(1) * each + rows[:, None] * row + columns[None, :]
    inside = rows[:, None] < n
    k.store(out + at, k.load(x + at, inside, 0) * 2, inside)


@pytest.mark.slow
def test_parts_of_the_offset_are_indices_along_further_dimensions() -> None:
    x = fresh_generator().standard_normal((3, 40, 10)).astype(np.float32)
    launches: list[Launch] = [
        ([x, np.full(x.shape, np.nan, np.float32), n, 400, 10], (grid, 3, 1))
        for n, grid in ((40, 3), (33, 5), (0, 1))
    ]
    module = _launches_agree(written(_batches), *launches)
    assert [str(view.result.type) for view in _views(module)] == [
        "memref<2147483647x?x8xf32, strided<[?, ?, 1]>>"
    ] * 2


@pytest.mark.slow
def test_a_tile_that_another_block_may_not_have_is_no_substitute() -> None:
    """Block 5 is the first tile of batch 1 if there is one; nothing says that this is memory."""

    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        n, each = k.integers("n each")
        rows = (k.block() // 5) * SIZE + k.arange(SIZE)
        at = (k.block() % 5) * each + rows
        k.store(out + at, k.load(x + at, rows < n, 0), rows < n)

    x = fresh_generator().standard_normal(200).astype(np.float32)
    launch: Launch = ([x, np.full(200, np.nan, np.float32), 20, 40], (10, 1, 1))
    module = _launches_agree(written(write), launch)
    assert sorted(map(_is_of_all_blocks, _views(module))) == [False, True]


@pytest.mark.slow
def test_a_condition_of_a_block() -> None:
    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        n, stride = k.integers("n stride")
        row, columns = k.block(), k.arange(8)
        inside = k.broadcast(k.reshape(row < n, (1,)), (8,)) & (columns < 7)
        at = row * stride + columns
        k.store(out + at, k.load(x + at, inside, 0), inside)

    x = fresh_generator().standard_normal((4, 10)).astype(np.float32)
    launches: list[Launch] = [
        ([x, np.full((4, 10), np.nan, np.float32), n, 10], (grid, 1, 1))
        for n, grid in ((4, 4), (3, 9), (0, 2))
    ]
    module = _launches_agree(written(write), *launches)
    # A load must not touch the memory of a row that is not there; a store is left out.
    assert sorted(map(_is_of_all_blocks, _views(module))) == [False, True]


def test_long_rows_stay_tiles_of_pointers_where_these_are_faster() -> None:
    module = raised(written(_blocks_kernel))
    for longest, views in ((None, 2), (SIZE, 2), (SIZE - 1, 0)):
        assert len(_views(structure(module, longest_row=longest))) == views


@pytest.mark.slow
def test_descriptors_of_triton_are_views_of_whole_tensors() -> None:
    text = """
    tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %m: i32, %n: i32) {
      %c1 = arith.constant 1 : i64
      %c16 = arith.constant 16 : i32
      %c8 = arith.constant 8 : i32
      %stride = arith.extsi %n : i32 to i64
      %a = tt.make_tensor_descriptor %x, [%m, %n], [%stride, %c1] : <f32>, <16x8xf32>
      %b = tt.make_tensor_descriptor %out, [%m, %n], [%stride, %c1] : <f32>, <16x8xf32>
      %p = tt.get_program_id x : i32
      %q = tt.get_program_id y : i32
      %i = arith.muli %p, %c16 : i32
      %j = arith.muli %q, %c8 : i32
      %t = tt.descriptor_load %a[%i, %j] : !tt.tensordesc<16x8xf32> -> tensor<16x8xf32>
      %u = arith.addf %t, %t : tensor<16x8xf32>
      tt.descriptor_store %b[%i, %j], %u : !tt.tensordesc<16x8xf32>, tensor<16x8xf32>
      tt.return
    }"""
    before = translate(xtile.parse(text, language="ttir"), "triton-to-core")
    after = structured(before)
    assert all(map(_is_of_all_blocks, _views(after)))
    for m, n in ((40, 20), (16, 8), (1, 4)):
        x = fresh_generator().standard_normal((m, n)).astype(np.float32)
        for grid in ((-(-m // 16), -(-n // 8), 1), (4, 4, 1)):
            launch: Launch = ([x, np.full((m, n), np.nan, np.float32), m, n], grid)
            np.testing.assert_array_equal(arrays_after(after, launch)[1], x + x)
            np.testing.assert_array_equal(arrays_after(before, launch)[1], x + x)


def test_a_kernel_of_triton_relies_on_arrays_that_do_not_overlap() -> None:
    text = """
    tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
      %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
      %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %from = tt.addptr %xs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %value = tt.load %from : tensor<16x!tt.ptr<f32>>
      %outs = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %to = tt.addptr %outs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      tt.store %to, %value : tensor<16x!tt.ptr<f32>>
      tt.return
    }"""
    module = xtile.parse(text, language="ttir")
    relying = translate(module, "triton-to-cuda_tile")
    assert "token =" not in xtile.to_text(relying, "mlir")
    x = np.arange(16, dtype=np.float32)
    with pytest.raises(ArgumentError, match="writes to 'out', which overlaps 'x'"):
        xtile.run(relying, [x, x], device="opencl")
    other = translate(module, "triton-to-cuda_tile", Options("sm_90", may_overlap=True))
    assert "token =" in xtile.to_text(other, "mlir")
    xtile.run(other, [x, x], device="opencl")


def _dealt_out_in_turn(k: Kernel) -> None:
    """Each block adds 1 to tiles of a matrix, from its own one on in steps of the blocks."""
    m, n = k.integers("m n")
    with k.loop(k.block(), _tiles_of(m, SIZE) * _tiles_of(n, 8), 3, []) as each:
        columns = _tiles_of(n, 8)
        _add_one(k, m, n, each.variable // columns, each.variable % columns)


def _dealt_out_in_groups(k: Kernel) -> None:
    """The same in groups of two rows of tiles, of which the last one may have one row.

    As in Triton's tutorial, the tile that is written is counted a second time.
    """
    m, n = k.integers("m n")
    block = k.block()
    with k.loop(block, _tiles_of(m, SIZE) * _tiles_of(n, 8), 3, [block - 3]) as each:
        i = each.carried[0] + 3
        each.carry(i)
        of_group = _tiles_of(n, 8) * 2
        first = (i // of_group) * 2
        height = k.binary("min", _tiles_of(m, SIZE) - first, 2, " signed")
        _add_one(k, m, n, first + i % height, (each.variable % of_group) // height)
    (out,) = k.pointers("out")
    k.store(out, k.cast("itof", each.results[0], "f32"))


def _tiles_of(size: Tile, tile: int) -> Tile:
    return (size + (tile - 1)) // tile


def _add_one(k: Kernel, m: Tile, n: Tile, i: Tile, j: Tile) -> None:
    x, y = k.pointers("x y")
    row, column = (i * SIZE + k.arange(SIZE))[:, None], (j * 8 + k.arange(8))[None, :]
    at, inside = row * n + column, (row < m) & (column < n)
    k.store(y + at, k.load(x + at, inside, 0) + 1, inside)


@pytest.mark.slow
@pytest.mark.parametrize("write", [_dealt_out_in_turn, _dealt_out_in_groups])
def test_tiles_that_blocks_take_in_turn_begin_inside(write: Writer) -> None:
    x = fresh_generator().standard_normal(70 * 20).astype(np.float32)
    in_groups = write is _dealt_out_in_groups
    last = [np.full(1, np.nan, np.float32)] if in_groups else []
    launches: list[Launch] = [
        ([m, n, x, np.full(70 * 20, np.nan, np.float32), *last], (grid, 1, 1))
        for m, n, grid in ((int(in_groups), 8, 3), (16, 20, 3), (33, 17, 3), (70, 8, 2))
    ]
    module = _launches_agree(written(write), *launches)
    assert all(map(_is_of_all_blocks, _views(module)))
    assert not any(isinstance(each, scf.IfOp) for each in module.walk())
