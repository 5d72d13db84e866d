"""Cases of kernels that move elements."""

from __future__ import annotations

import numpy as np

from tests.triton_kernels.case import F16, F32, Case, blank, integers, normal, rounding


def transpose() -> Case:
    x = normal(50, 70, dtype=F16)
    arguments = {"x_ptr": x, "out_ptr": blank(70, 50, dtype=F16), "rows": 50, "columns": 70}
    wanted = {"out_ptr": x.T}
    return Case("rearrangements.transpose", arguments, wanted, (2, 3), {"R": 32, "C": 32})


def permute_rank3() -> Case:
    x = normal(4, 8, 16)
    arguments = {"x_ptr": x, "out_ptr": blank(16, 4, 8)}
    wanted = {"out_ptr": x.transpose(2, 0, 1)}
    constants = {"A": 4, "B": 8, "C": 16}
    return Case("rearrangements.permute_rank3", arguments, wanted, (1,), constants)


def permute_rank4() -> Case:
    x = integers(-99, 99, 2, 4, 8, 16, dtype=np.int16)
    arguments = {"x_ptr": x, "out_ptr": blank(2, 8, 4, 16, dtype=np.int16)}
    wanted = {"out_ptr": x.transpose(0, 2, 1, 3)}
    constants = {"A": 2, "B": 4, "C": 8, "D": 16}
    return Case("rearrangements.permute_rank4", arguments, wanted, (1,), constants)


def pixel_shuffle() -> Case:
    x = normal(2, 2, 8, 16)
    arguments = {"x_ptr": x, "out_ptr": blank(8, 2, 16, 2)}
    wanted = {"out_ptr": x.transpose(2, 0, 3, 1)}
    return Case("rearrangements.pixel_shuffle", arguments, wanted, (1,), {"H": 8, "W": 16})


def join_and_split() -> Case:
    x, y = normal(64), normal(64)
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(64, 2), "sums_ptr": blank(32)}
    wanted = {"out_ptr": np.stack([x, y], axis=1), "sums_ptr": x[::2] - x[1::2]}
    return Case("rearrangements.join_and_split", arguments, wanted, (1,), {"BLOCK": 64})


def concatenated() -> Case:
    x, y = integers(-99, 99, 128, dtype=F32), integers(-99, 99, 128, dtype=F32)
    both = np.concatenate([x, y])
    arguments = {"x_ptr": x, "y_ptr": y, "out_ptr": blank(2)}
    wanted = {"out_ptr": np.array([both.sum(), both.max()])}
    return Case("rearrangements.concatenated", arguments, wanted, (1,), {"BLOCK": 128})


def flipped() -> Case:
    x = normal(4, 32)
    arguments = {"x_ptr": x, "out_ptr": blank(4, 32)}
    wanted = {"out_ptr": x[:, ::-1]}
    return Case("rearrangements.flipped", arguments, wanted, (1,), {"R": 4, "C": 32}, warps=1)


def embedding() -> Case:
    table, ids = normal(30, 40), integers(0, 30, 50, dtype=np.int64)
    arguments = {
        "table_ptr": table,
        "ids_ptr": ids,
        "out_ptr": blank(50, 40),
        "count": 50,
        "width": 40,
    }
    constants = {"BLOCK_I": 16, "BLOCK_W": 32}
    wanted = {"out_ptr": table[ids]}
    return Case("rearrangements.embedding", arguments, wanted, (4, 2), constants)


def embedding_backward() -> Case:
    table, ids, grad = normal(6, 20), integers(0, 6, 15), normal(15, 20)
    sums = table.astype(np.float64)
    np.add.at(sums, ids, grad)
    arguments = {"grad_ptr": grad, "ids_ptr": ids, "table_ptr": table, "width": 20}
    wanted = {"table_ptr": sums}
    constants = {"BLOCK": 32}
    tolerance = rounding(16, F32)
    return Case(
        "rearrangements.embedding_backward", arguments, wanted, (15,), constants, tolerance, warps=1
    )


def scatter() -> Case:
    x, index = normal(100), np.argsort(normal(100)).astype(np.int32)
    index[::7] = -1
    wanted = blank(100)
    wanted[index[index >= 0]] = x[index >= 0]
    arguments = {"x_ptr": x, "index_ptr": index, "out_ptr": blank(100), "n": 100}
    return Case("rearrangements.scatter", arguments, {"out_ptr": wanted}, (2,), {"BLOCK": 64})


def gathered_in_block() -> Case:
    x, index = normal(16, 32), integers(0, 32, 16, 32)
    wanted = [np.take_along_axis(x, index, 1), np.take_along_axis(x, index % 16, 0)]
    arguments = {"x_ptr": x, "index_ptr": index, "out_ptr": blank(2, 16, 32)}
    outputs = {"out_ptr": np.stack(wanted)}
    return Case("rearrangements.gathered_in_block", arguments, outputs, (1,), {"R": 16, "C": 32})


def pointers_in_memory() -> Case:
    table, numbers = integers(-(2**31), 2**31, 6, 32), integers(0, 6, 4)
    arguments = {
        "table_ptr": table.view(np.int8),
        "numbers_ptr": numbers,
        "out_ptr": blank(4, 32, dtype=np.int32),
    }
    wanted = {"out_ptr": table[numbers]}
    return Case(
        "rearrangements.pointers_in_memory", arguments, wanted, (4,), {"BLOCK": 32}, warps=1
    )


def max_pool() -> Case:
    x = normal(2, 9, 11)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))[:, ::2, ::2]
    flat = windows.reshape(2, 5, 6, 9)
    best = flat.argmax(axis=-1)
    h, w = np.mgrid[0:5, 0:6] * 2 - 1
    at = (h + best // 3) * 11 + w + best % 3
    arguments = {
        "x_ptr": x,
        "out_ptr": blank(2, 5, 6),
        "at_ptr": blank(2, 5, 6, dtype=np.int32),
        "H": 9,
        "W": 11,
        "OH": 5,
        "OW": 6,
    }
    wanted = {"out_ptr": flat.max(axis=-1), "at_ptr": at}
    constants = {"KERNEL": 3, "BLOCK": 16}
    return Case("rearrangements.max_pool", arguments, wanted, (2, 2), constants, warps=1)


def depthwise_convolution() -> Case:
    x, w = normal(30, 40), normal(40, 4)
    padded = np.pad(x.astype(np.float64), ((3, 0), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 4, 0)
    arguments = {
        "x_ptr": x,
        "w_ptr": w,
        "out_ptr": blank(30, 40),
        "length": 30,
        "channels": 40,
    }
    wanted = {"out_ptr": np.einsum("tck,ck->tc", windows, w)}
    constants = {"K": 4, "BLOCK_T": 16, "BLOCK_C": 32}
    tolerance = rounding(8, F32)
    return Case(
        "rearrangements.depthwise_convolution", arguments, wanted, (2, 2), constants, tolerance
    )


def gathered_along_both() -> Case:
    x, rows, columns = integers(-99, 100, 8, 16), integers(0, 8, 8, 16), integers(0, 16, 8, 16)
    arguments = {
        "x_ptr": x,
        "rows_ptr": rows,
        "columns_ptr": columns,
        "out_ptr": blank(8, 16, dtype=np.int32),
        "counts_ptr": blank(8, dtype=np.int32),
    }
    by_rows = np.take_along_axis(x, rows, axis=0)
    gathered = np.take_along_axis(by_rows, columns, axis=1)
    wanted = {
        "out_ptr": gathered[:, ::-1] + x.reshape(16, 8).T,
        "counts_ptr": np.bincount(rows[rows != 2], minlength=8),
    }
    constants = {"R": 8, "C": 16}
    return Case("rearrangements.gathered_along_both", arguments, wanted, (1,), constants)


def transpose_batches() -> Case:
    x = normal(2, 20, 24)
    arguments = {"x_ptr": x, "out_ptr": blank(2, 24, 20), "B": 2, "M": 20, "N": 24}
    wanted = {"out_ptr": x.transpose(0, 2, 1)}
    constants = {"R": 8, "C": 16}
    return Case("rearrangements.transpose_batches", arguments, wanted, (3,), constants)


CASES = [
    *(transpose, permute_rank3, permute_rank4, pixel_shuffle, join_and_split, concatenated),
    *(flipped, embedding, embedding_backward, scatter, gathered_in_block, pointers_in_memory),
    *(max_pool, depthwise_convolution, gathered_along_both, transpose_batches),
]
"""A case for each kernel."""
