"""Accesses of cooperative matrices to memory: one block of a matrix memref for each subgroup.

Source: tensor language reference, sections "Cooperative matrix load" and "Cooperative matrix
store".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xtile.semantics.memory import Index, Memref, View, as_index, strided, uniform_integers
from xtile.semantics.state import State, per_row
from xtile.semantics.values import Array, Value


@dataclass(frozen=True)
class Shape:
    """What an instruction says about the blocks it accesses.

    Attributes:
        rows: Rows of the matrix.
        columns: Columns of the matrix.
        is_transposed: Whether the matrix's rows run along the memref's second mode.
        rows_checked: Whether rows outside of the memref are left out.
        columns_checked: Whether columns outside of the memref are left out.
    """

    rows: int
    columns: int
    is_transposed: bool
    rows_checked: bool
    columns_checked: bool


@dataclass(frozen=True, slots=True)
class Block:
    """The part of a matrix that one subgroup accesses.

    Attributes:
        row: The subgroup; None if the block is the same for all.
        rows: The matrix's rows that lie in memory, from (inclusive) and to (exclusive).
        columns: The matrix's columns that lie in memory.
        position: The memref's index of the matrix's first row and column, in the matrix's order.
        shape: The memref's shape, in the matrix's order.
        offset: The position in the buffer of the first element of the part.
        strides: Strides along the matrix's rows and columns, in elements.
        view: The memref.
    """

    row: int | None
    rows: tuple[int, int]
    columns: tuple[int, int]
    position: tuple[int, int]
    shape: tuple[int, int]
    offset: int
    strides: tuple[int, int]
    view: View

    @property
    def is_empty(self) -> bool:
        """Whether all of the matrix lies outside."""
        return self.rows[0] >= self.rows[1] or self.columns[0] >= self.columns[1]

    @property
    def part(self) -> tuple[slice, slice]:
        """The part of the matrix that lies in memory, as an index."""
        return slice(*self.rows), slice(*self.columns)

    def array(self) -> Array:
        """The part in memory.

        Raises:
            UnlocatedError: It lies outside of the buffer.
        """
        m, n = self.rows[1] - self.rows[0], self.columns[1] - self.columns[0]
        last = self.offset + (m - 1) * self.strides[0] + (n - 1) * self.strides[1]
        buffer = self.view.buffer
        if self.offset < 0 or last >= buffer.data.shape[0]:
            buffer.check(self.offset)
            buffer.check(last)
        return strided(buffer, self.offset, (m, n), self.strides)

    def positions(self) -> npt.NDArray[np.int64]:
        """The positions in the buffer of the part's elements, in column order."""
        i = np.arange(self.rows[1] - self.rows[0])[np.newaxis, :]
        j = np.arange(self.columns[1] - self.columns[0])[:, np.newaxis]
        return (self.offset + i * self.strides[0] + j * self.strides[1]).ravel()


def blocks(
    state: State, memref: Memref, x: Value, y: Value, shape: Shape, is_shared: bool
) -> Iterator[Block]:
    """The blocks of the active subgroups, in ascending order.

    Args:
        state: The running work-group.
        memref: The memref.
        x: The index of the block in the first mode.
        y: The index of the block in the second mode.
        shape: What the instruction says.
        is_shared: Whether one block is enough where all subgroups access the same.
    """
    if isinstance(memref, View):
        numbers = _numbers(state, memref, x, y)
        if is_shared and all(isinstance(number, int) for number in numbers):
            yield _block(None, memref, shape, *uniform_integers(numbers))
            return
        entries = {0: _rows(state, numbers)}
        views, keys = {0: memref}, [0] * state.rows
    else:
        views = memref.views
        entries = {k: _rows(state, _numbers(state, view, x, y)) for k, view in views.items()}
        keys = [key for (key,) in _rows(state, [_per_row_index(memref.selector, state)])]
    active = state.active_rows()
    for row, key in enumerate(keys):
        if active is None or active[row]:
            yield _block(row, views[key], shape, *entries[key][row])


def _numbers(state: State, view: View, x: Value, y: Value) -> list[Index]:
    """Offset, shape, strides and position of the blocks, each as one number or one per row."""
    values = (view.offset, *view.shape, *view.strides, as_index(x), as_index(y))
    return [_per_row_index(value, state) for value in values]


def _rows(state: State, numbers: list[Index]) -> list[tuple[int, ...]]:
    """For each row its numbers."""
    columns = [
        [number] * state.rows
        if isinstance(number, int)
        else np.broadcast_to(number, (state.rows, 1))[:, 0].tolist()
        for number in numbers
    ]
    return list(zip(*columns, strict=True))


def _per_row_index(value: Index, state: State) -> Index:
    if isinstance(value, int):
        return value
    chosen = per_row(value, state)
    return int(chosen[0, 0]) if chosen.size == 1 else chosen


def _block(
    row: int | None,
    view: View,
    shape: Shape,
    offset: int,
    size0: int,
    size1: int,
    stride0: int,
    stride1: int,
    x: int,
    y: int,
) -> Block:
    if shape.is_transposed:
        x, y, size0, size1, stride0, stride1 = y, x, size1, size0, stride1, stride0
    rows, columns = (0, shape.rows), (0, shape.columns)
    if shape.rows_checked:
        rows = (max(0, -x), min(shape.rows, size0 - x))
    if shape.columns_checked:
        columns = (max(0, -y), min(shape.columns, size1 - y))
    position = offset + (x + rows[0]) * stride0 + (y + columns[0]) * stride1
    return Block(row, rows, columns, (x, y), (size0, size1), position, (stride0, stride1), view)
