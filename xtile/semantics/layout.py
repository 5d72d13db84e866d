"""How the components of a cooperative matrix are distributed to the work-items of a subgroup.

With M x N the matrix's shape and S the subgroup size, a matrix is stored in blocks of
I = min(M, S) rows, K = M / I of them, in groups of K_1. Work-item p holds a vector; with
v = w_1 + u K_1 + w_2 K_1 (V / K), its entry v is the component in row p mod I + (w_1 + w_2 K_1) I
and column p / I + u S / I. Where that column is N or more, the entry is padding.

`cooperative_matrix_extract` and `_insert` index this vector, so kernels depend on it. Source:
docs/dev/coopmatrix_layout.rst of the reference implementation; docs/semantics.md, "Cooperative
matrix layout".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from xtile.dialects.tensorlang.attributes import MatrixUse
from xtile.dialects.tensorlang.types import SIZE_IN_BYTES, CoopmatrixType
from xtile.semantics.values import Array


@dataclass(frozen=True)
class Layout:
    """Where components are, for one shape and subgroup size S.

    Attributes:
        length: The number of entries in a work-item's vector.
        rows: Row of each entry, shape (length, S).
        columns: Column of each entry, shape (length, S).
        is_component: Whether an entry is a component and not padding, shape (length, S).
        owners: The work-item that holds each component, shape (M, N).
    """

    length: int
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    is_component: npt.NDArray[np.bool_]
    owners: npt.NDArray[np.int64]


@lru_cache(maxsize=256)
def layout_of(type: CoopmatrixType, subgroup_size: int) -> Layout | None:
    """The layout of a matrix type, or None where the rule above defines none.

    It defines one if M is a multiple of S or S a multiple of M.
    """
    m, n = type.shape
    i_size = min(m, subgroup_size)
    if m % i_size or subgroup_size % i_size:
        return None
    blocks = m // i_size
    columns_at_once = subgroup_size // i_size
    columns = -(-n // columns_at_once)
    length = blocks * columns
    k1_size = _inner_blocks(type, blocks)

    v = np.arange(length)[:, np.newaxis]
    p = np.arange(subgroup_size)[np.newaxis, :]
    w1, u, w2 = v % k1_size, v // k1_size % columns, v // (k1_size * columns)
    row = p % i_size + (w1 + w2 * k1_size) * i_size
    column = p // i_size + u * columns_at_once
    is_component = column < n
    owners = np.zeros((m, n), np.int64)
    lanes = np.broadcast_to(p, row.shape)
    owners[row[is_component], column[is_component]] = lanes[is_component]
    return Layout(length, row, np.where(is_component, column, 0), is_component, owners)


def _inner_blocks(type: CoopmatrixType, blocks: int) -> int:
    """K_1: the reference implementation interleaves blocks of matrix_b with 8-bit components."""
    if type.use != MatrixUse.B or blocks == 1:
        return 1
    inner = max(1, 2 // SIZE_IN_BYTES[type.component_type])
    return inner if blocks % inner == 0 else 1


@lru_cache(maxsize=256)
def owners_of(type: CoopmatrixType, subgroup_size: int) -> npt.NDArray[np.int64]:
    """The work-item that accesses each component, shape (M, N), for any shape.

    Where no layout is defined, components go to the work-items in turn, column by column.
    """
    layout = layout_of(type, subgroup_size)
    if layout is not None:
        return layout.owners
    m, n = type.shape
    return np.arange(m * n).reshape((m, n), order="F") % subgroup_size


def extract(matrix: Array, layout: Layout, entry: int) -> Array:
    """An entry of each work-item's vector, shape (rows, S); padding is 0."""
    chosen = matrix[:, layout.rows[entry], layout.columns[entry]]
    return np.where(layout.is_component[entry], chosen, chosen.dtype.type(0))


def insert(matrix: Array, layout: Layout, entry: int, values: Array, active: Array) -> None:
    """Replaces an entry of each active work-item's vector, in place; padding is dropped."""
    row, lane = np.nonzero(active & layout.is_component[entry])
    i, j = layout.rows[entry][lane], layout.columns[entry][lane]
    matrix[row, i, j] = values[row, lane]
