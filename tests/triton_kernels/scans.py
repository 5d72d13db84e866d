"""Cases of scans, sorts, histograms, and atomic operations."""

from __future__ import annotations

import numpy as np

from tests.triton_kernels.case import F16, F32, Case, blank, integers, normal, rounding


def prefix_sums() -> Case:
    x = normal(3, 50)
    wide = x.astype(np.float64)
    arguments = {
        "x_ptr": x,
        "sums_ptr": blank(3, 50),
        "products_ptr": blank(3, 50),
        "columns": 50,
    }
    wanted = {
        "sums_ptr": np.cumsum(wide, axis=1),
        "products_ptr": np.cumprod(wide[:, ::-1], axis=1)[:, ::-1],
    }
    return Case("scans.prefix_sums", arguments, wanted, (3,), {"BLOCK": 64}, rounding(64, F32))


def prefix_sums_2d() -> Case:
    x = integers(-9, 10, 16, 32)
    arguments = {"x_ptr": x, "out_ptr": blank(16, 32, dtype=np.int32)}
    wanted = {"out_ptr": x.cumsum(axis=1).cumsum(axis=0)}
    return Case("scans.prefix_sums_2d", arguments, wanted, (1,), {"R": 16, "C": 32})


def linear_recurrence() -> Case:
    a, b = integers(0, 100, 13, 6, dtype=F32) / F32(100), normal(13, 6)
    h, wanted = np.zeros(6), []
    for row_a, row_b in zip(a.astype(np.float64), b, strict=True):
        h = row_a * h + row_b
        wanted.append(h)
    arguments = {
        "a_ptr": a,
        "b_ptr": b,
        "out_ptr": blank(13, 6),
        "length": 13,
        "channels": 6,
    }
    outputs = {"out_ptr": np.stack(wanted)}
    constants = {"L": 16, "C": 4}
    return Case("scans.linear_recurrence", arguments, outputs, (2,), constants, rounding(32, F32))


def segmented_sums() -> Case:
    x, starts = integers(-9, 10, 64, dtype=F32), integers(0, 5, 64) == 0
    total, wanted = 0.0, []
    for value, start in zip(x, starts, strict=True):
        total = float(value) + (0.0 if start else total)
        wanted.append(total)
    arguments = {"x_ptr": x, "starts_ptr": starts, "out_ptr": blank(64)}
    outputs = {"out_ptr": np.array(wanted)}
    return Case("scans.segmented_sums", arguments, outputs, (1,), {"BLOCK": 64}, warps=1)


def sort_rows() -> Case:
    x = normal(4, 32)
    arguments = {"x_ptr": x, "out_ptr": blank(4, 32)}
    wanted = {"out_ptr": np.sort(x, axis=1)}
    constants = {"R": 4, "C": 32, "DESCENDING": False}
    return Case("scans.sort_rows", arguments, wanted, (1,), constants)


def sort_descending() -> Case:
    x = integers(-(2**31), 2**31, 2, 64)
    arguments = {"x_ptr": x, "out_ptr": blank(2, 64, dtype=np.int32)}
    wanted = {"out_ptr": -np.sort(-x.astype(np.int64), axis=1)}
    constants = {"R": 2, "C": 64, "DESCENDING": True}
    return Case("scans.sort_rows", arguments, wanted, (1,), constants)


def top_k() -> Case:
    return _top_k("top_k")


def top_k_packed() -> Case:
    return _top_k("top_k_packed")


def _top_k(function: str) -> Case:
    x = integers(-20, 20, 3, 60, dtype=F32)
    order = np.argsort(-x, axis=1, kind="stable")[:, :8]
    arguments = {
        "x_ptr": x,
        "values_ptr": blank(3, 8),
        "indices_ptr": blank(3, 8, dtype=np.int32),
        "columns": 60,
    }
    wanted = {"values_ptr": np.take_along_axis(x, order, 1), "indices_ptr": order}
    return Case(f"scans.{function}", arguments, wanted, (3,), {"K": 8, "BLOCK": 64})


def histogram() -> Case:
    x = integers(0, 32, 300)
    arguments = {"x_ptr": x, "out_ptr": np.zeros(32, np.int32), "n": 300}
    wanted = {"out_ptr": np.bincount(x, minlength=32)}
    return Case("scans.histogram", arguments, wanted, (3,), {"BINS": 32, "BLOCK": 128})


def histogram_by_atomics() -> Case:
    x = integers(0, 10, 200)
    arguments = {"x_ptr": x, "out_ptr": np.zeros(10, np.int32), "n": 200}
    wanted = {"out_ptr": np.bincount(x, minlength=10)}
    return Case("scans.histogram_by_atomics", arguments, wanted, (2,), {"BLOCK": 128})


def atomic_integers() -> Case:
    x = integers(-(2**31), 2**31, 96)
    start = np.array([0, -(2**31), 2**31 - 1, -1, 0, 0], np.int32)
    bits = x.view(np.uint32)
    wanted = {
        "out_ptr": np.array(
            [
                *(x.sum(dtype=np.int32), x.max(), x.min(), np.bitwise_and.reduce(x)),
                *(np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)),
            ]
        ),
        "unsigned_ptr": np.array([bits.max(), bits.min()]),
    }
    arguments = {
        "x_ptr": x, "out_ptr": start, "unsigned_ptr": np.array([0, 2**32 - 1], np.uint32)
    }  # fmt: skip
    return Case("scans.atomic_integers", arguments, wanted, (3,), {"BLOCK": 32}, warps=1)


def atomic_floats() -> Case:
    x = integers(-99, 100, 3, 64, dtype=F32)
    start = np.concatenate([np.full(64, -np.inf, F32), np.full(64, np.inf, F32)])
    wanted = {
        "out_ptr": np.concatenate([x.max(axis=0), x.min(axis=0)]),
        "half_ptr": x.sum(axis=0),
    }
    arguments = {"x_ptr": x, "out_ptr": start, "half_ptr": np.zeros(64, F16)}
    return Case("scans.atomic_floats", arguments, wanted, (3,), {"BLOCK": 64}, warps=1)


def tickets() -> Case:
    arguments = {
        "order_ptr": np.zeros(9, np.int32),
        "counter_ptr": np.zeros(1, np.int32),
        "out_ptr": blank(1, dtype=np.int32),
    }
    wanted = {"order_ptr": np.ones(9), "counter_ptr": np.array([9]), "out_ptr": np.array([9])}
    return Case("scans.tickets", arguments, wanted, (9,), warps=1)


def spin_lock() -> Case:
    x = integers(-99, 100, 5, 64)
    arguments = {
        "lock_ptr": np.zeros(1, np.int32), "total_ptr": np.zeros(64, np.int32), "x_ptr": x
    }  # fmt: skip
    wanted = {"lock_ptr": np.zeros(1), "total_ptr": x.sum(axis=0)}
    return Case("scans.spin_lock", arguments, wanted, (5,), {"BLOCK": 64}, warps=1)


def maximum_by_cas() -> Case:
    x = normal(8)
    start = np.array([-np.inf], F32).view(np.int32)
    arguments = {"x_ptr": x, "out_ptr": start}
    wanted = {"out_ptr": np.array([x.max()]).view(np.int32)}
    return Case("scans.maximum_by_cas", arguments, wanted, (8,), warps=1)


def scan_of_three() -> Case:
    a, b, c = integers(0, 100, 16, 8, dtype=F32) / F32(100), normal(16, 8), normal(16, 8)
    h, rows = np.zeros(8), []
    for row_a, row_b in zip(a[::-1].astype(np.float64), b[::-1], strict=True):
        h = row_a * h + row_b
        rows.append(h)
    arguments = {"a_ptr": a, "b_ptr": b, "c_ptr": c, "h_ptr": blank(16, 8), "top_ptr": blank(16, 8)}
    wanted = {
        "h_ptr": np.stack(rows[::-1]),
        "top_ptr": np.maximum.accumulate(c[::-1], axis=0)[::-1],
    }
    constants = {"R": 16, "C": 8}
    return Case("scans.scan_of_three", arguments, wanted, (1,), constants, rounding(32, F32))


CASES = [
    *(prefix_sums, prefix_sums_2d, linear_recurrence, segmented_sums, sort_rows, sort_descending),
    *(top_k, top_k_packed, histogram, histogram_by_atomics, atomic_integers, atomic_floats),
    *(tickets, spin_lock, maximum_by_cas, scan_of_three),
]
"""A case for each kernel."""
