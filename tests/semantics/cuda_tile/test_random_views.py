"""Random views against the specification's formula, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator, share_of
from tests.semantics.cuda_tile.entries import run

PADDING = -7


@dataclass(frozen=True)
class View:
    """A random view of a tensor, and the index of a tile.

    Attributes:
        shape: The tensor's sizes.
        strides: Its strides.
        tile: The tile's sizes.
        order: The dimension of the tensor for each of the tile.
        steps: The distance of neighbouring tiles; None for a gather/scatter view.
        index: The index; for gathered rows a list.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    tile: tuple[int, ...]
    order: tuple[int, ...]
    steps: tuple[int, ...] | None
    index: tuple[Any, ...]

    @property
    def is_partition(self) -> bool:
        return self.steps == self.tile

    def type(self, padding: str = "") -> str:
        """The type of the view."""
        tile, order = "x".join(map(str, self.tile)), list(self.order)
        if self.steps is None:
            sparse = next(i for i, index in enumerate(self.index) if isinstance(index, list))
            text = (
                f"gather_scatter_view<tile=({tile}),{padding} {self.tensor}, sparse_dim={sparse}>"
            )
        elif self.is_partition:
            text = f"partition_view<tile=({tile}),{padding} {self.tensor}, dim_map={order}>"
        else:
            steps = f"traversal_strides={list(self.steps)}"
            text = f"strided_view<tile=({tile}), {steps},{padding} {self.tensor}, dim_map={order}>"
        return text

    @property
    def tensor(self) -> str:
        """The type of the tensor, whose sizes are operands."""
        unknown = "x".join("?" for _ in self.shape)
        strides = ", ".join("?" for _ in self.strides)
        return f"tensor_view<{unknown}xi32, strides=[{strides}]>"

    def elements(self) -> Iterator[tuple[tuple[int, ...], int | None]]:
        """For each element of the tile its place in memory, or None outside of the tensor."""
        for element in product(*map(range, self.tile)):
            position: int | None = 0
            for dimension, i in enumerate(element):
                at = self._coordinate(dimension, i)
                along = self.order[dimension]
                if not 0 <= at < self.shape[along]:
                    position = None
                elif position is not None:
                    position += at * self.strides[along]
            yield element, position

    def _coordinate(self, dimension: int, i: int) -> int:
        index = self.index[dimension]
        if isinstance(index, list):
            return index[i]
        return index * (1 if self.steps is None else self.steps[dimension]) + i


def random_view(kind: str) -> View:
    """A view of a kind, at an index in its index space."""
    choose = fresh_generator().integers
    rank = int(choose(1, 4))
    shape = tuple(int(size) for size in choose(1, 9, rank))
    order = tuple(int(i) for i in fresh_generator().permutation(rank))
    if kind == "gather_scatter":
        order = tuple(range(rank))
    tile = tuple(int(2**i) for i in choose(0, 3, rank))
    strides = [0] * rank
    stride = 1
    # Any dimension may be the contiguous one, and rows may lie apart.
    for dimension in fresh_generator().permutation(rank):
        strides[dimension] = stride
        stride *= shape[dimension] + int(choose(0, 3))
    steps: tuple[int, ...] | None = tile
    if kind == "strided":
        steps = tuple(int(step) for step in choose(1, 6, rank))
    if kind == "gather_scatter":
        steps = None
    index: list[Any] = []
    for dimension in range(rank):
        step = 1 if steps is None else steps[dimension]
        index.append(int(choose(0, -(-shape[order[dimension]] // step))))
    if steps is None:
        sparse = int(choose(0, rank))
        rows = [int(row) for row in choose(-2, shape[sparse] + 3, tile[sparse])]
        index[sparse] = rows
    return View(shape, tuple(strides), tile, order, steps, tuple(index))


def prelude(view: View, padding: str = "") -> tuple[str, str]:
    """Operations that make `%view` and the operands of an access, and the access's index."""
    names: list[str] = []
    types: list[str] = []
    lines: list[str] = []
    for dimension, index in enumerate(view.index):
        is_sparse = isinstance(index, list)
        types.append(f"tile<{len(index)}xi32>" if is_sparse else "tile<i32>")
        names.append(f"%i{dimension}")
        lines.append(f"%i{dimension} = constant <i32: {index}> : {types[-1]}")
    for i, number in enumerate((*view.shape, *view.strides)):
        lines.append(f"%n{i} = constant <i32: {number}> : tile<i32>")
    rank = len(view.shape)
    sizes = ", ".join(f"%n{i}" for i in range(rank))
    strides = ", ".join(f"%n{i}" for i in range(rank, 2 * rank))
    kind = view.type().partition("<")[0]
    operands = f"shape = [{sizes}], strides = [{strides}] : tile<i32>"
    lines += [
        f"%t = make_tensor_view %a, {operands} -> {view.tensor}",
        f"%view = make_{kind} %t : {view.type(padding)}",
    ]
    # A view with gathered rows has a type for each index.
    index_types = ", ".join(types) if view.steps is None else types[0]
    return "\n".join(lines), f"%view[{', '.join(names)}]|{view.type(padding)}, {index_types}"


def memory_of(view: View) -> Any:
    """Memory that just holds the tensor, of different numbers."""
    last = sum((size - 1) * stride for size, stride in zip(view.shape, view.strides, strict=True))
    return np.arange(1, last + 2, dtype=np.int32)


def flat_target(view: View) -> tuple[str, str]:
    """Operations that make `%q`, pointers to all elements of %b in the shape of the tile."""
    tile = "x".join(map(str, view.tile))
    ones = "x".join("1" for _ in view.tile)
    lines = [
        f"%b1 = reshape %b : tile<ptr<i32>> -> tile<{ones}xptr<i32>>",
        f"%b2 = broadcast %b1 : tile<{ones}xptr<i32>> -> tile<{tile}xptr<i32>>",
        f"%k = iota : tile<{int(np.prod(view.tile))}xi32>",
        f"%k2 = reshape %k : tile<{int(np.prod(view.tile))}xi32> -> tile<{tile}xi32>",
        f"%q = offset %b2, %k2 : tile<{tile}xptr<i32>>, tile<{tile}xi32> -> tile<{tile}xptr<i32>>",
    ]
    return "\n".join(lines), tile


PARAMETERS = "%a: tile<ptr<i32>>, %b: tile<ptr<i32>>"

KINDS = ("partition", "strided", "gather_scatter")

VIEWS = 6
"""How many views of each kind a test tries."""


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_loads(kind: str, sanitize: bool) -> None:
    for _ in range(share_of(VIEWS)):
        view = random_view(kind)
        a = memory_of(view)
        before, access = prelude(view, " padding_value = zero,")
        target, tile = flat_target(view)
        position, types = access.split("|")
        body = f"""{before}\n{target}
        %x, %l = load_view_tko weak {position} : {types} -> tile<{tile}xi32>, token
        %s = store_ptr_tko weak %q, %x : tile<{tile}xptr<i32>>, tile<{tile}xi32> -> token
        """
        b = np.full(view.tile, PADDING, np.int32)
        run(PARAMETERS, body, a, b, sanitize=sanitize)
        expected = np.zeros(view.tile, np.int32)
        for element, at in view.elements():
            expected[element] = 0 if at is None else a[at]
        np.testing.assert_array_equal(b, expected, err_msg=str(view))


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_stores(kind: str, sanitize: bool) -> None:
    for _ in range(share_of(VIEWS)):
        view = random_view(kind)
        a = memory_of(view)
        before, access = prelude(view)
        target, tile = flat_target(view)
        position, types = access.split("|")
        body = f"""{before}\n{target}
        %x, %l = load_ptr_tko weak %q : tile<{tile}xptr<i32>> -> tile<{tile}xi32>, token
        %s = store_view_tko weak %x, {position} : tile<{tile}xi32>, {types} -> token
        """
        # Rows that are stored twice have the same numbers, so that no order of them shows.
        b = np.full(view.tile, PADDING, np.int32)
        expected = a.copy()
        for _, at in view.elements():
            if at is not None:
                expected[at] = PADDING
        run(PARAMETERS, body, a, b, sanitize=sanitize)
        np.testing.assert_array_equal(a, expected, err_msg=str(view))


@pytest.mark.parametrize("kind", KINDS[:2])
def test_atomic_updates(kind: str) -> None:
    for _ in range(share_of(VIEWS)):
        view = random_view(kind)
        a = memory_of(view)
        before, access = prelude(view)
        target, tile = flat_target(view)
        position, types = access.split("|")
        body = f"""{before}\n{target}
        %x, %l = load_ptr_tko weak %q : tile<{tile}xptr<i32>> -> tile<{tile}xi32>, token
        %s = atomic_red_view_tko relaxed device {position}, add, %x
          : tile<{tile}xi32>, {types} -> token
        """
        b = fresh_generator().integers(-99, 99, view.tile).astype(np.int32)
        expected = a.copy()
        for element, at in view.elements():
            if at is not None:
                expected[at] += b[element]
        run(PARAMETERS, body, a, b)
        np.testing.assert_array_equal(a, expected, err_msg=str(view))
