"""Cases of kernels that reduce rows."""

from __future__ import annotations

import math

import numpy as np

from tests.triton_kernels.case import BF16, F16, F32, Array, Case, blank, integers, normal, rounding


def softmax_of(x: Array) -> Array:
    """The softmax of the last axis."""
    weights = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def softmax() -> Case:
    x = normal(6, 100)
    arguments = {
        "x_ptr": x,
        "out_ptr": blank(6, 100),
        "x_stride": 100,
        "out_stride": 100,
        "columns": 100,
    }
    wanted = {"out_ptr": softmax_of(x)}
    return Case("reductions.softmax", arguments, wanted, (6,), {"BLOCK": 128}, rounding(128, F32))


def softmax_persistent() -> Case:
    x = normal(7, 60, dtype=F16)
    arguments = {"x_ptr": x, "out_ptr": blank(7, 60, dtype=F16), "rows": 7, "columns": 60}
    constants = {"BLOCK": 64, "STAGES": 4}
    wanted = {"out_ptr": softmax_of(x.astype(F32))}
    tolerance = rounding(64, F32, F16)
    return Case("reductions.softmax_persistent", arguments, wanted, (2,), constants, tolerance)


def softmax_online() -> Case:
    x = normal(4, 300)
    arguments = {"x_ptr": x, "out_ptr": blank(4, 300), "columns": 300}
    wanted = {"out_ptr": softmax_of(x)}
    tolerance = rounding(300, F32)
    return Case("reductions.softmax_online", arguments, wanted, (4,), {"BLOCK": 128}, tolerance)


def _normalized(x: Array) -> tuple[Array, Array, Array]:
    """Rows with mean 0 and variance 1, their means, and the reciprocals of their deviations."""
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1)
    rstd = 1 / np.sqrt(wide.var(axis=1) + 1e-5)
    return (wide - mean[:, None]) * rstd[:, None], mean, rstd


def layer_norm() -> Case:
    x, w, b = normal(5, 150), normal(150), normal(150)
    xhat, mean, rstd = _normalized(x)
    arguments = {
        "x_ptr": x,
        "w_ptr": w,
        "b_ptr": b,
        "out_ptr": blank(5, 150),
        "mean_ptr": blank(5),
        "rstd_ptr": blank(5),
        "columns": 150,
        "eps": 1e-5,
    }
    wanted = {"out_ptr": xhat * w + b, "mean_ptr": mean, "rstd_ptr": rstd}
    tolerance = rounding(300, F32)
    return Case("reductions.layer_norm", arguments, wanted, (5,), {"BLOCK": 64}, tolerance)


def layer_norm_backward() -> Case:
    x, dy, w = normal(7, 50), normal(7, 50), normal(50)
    xhat, mean, rstd = _normalized(x)
    wdy = w * dy.astype(np.float64)
    c1, c2 = (xhat * wdy).mean(axis=1), wdy.mean(axis=1)
    groups = [slice(i, None, 2) for i in range(2)]
    wanted = {
        "dx_ptr": (wdy - (xhat * c1[:, None] + c2[:, None])) * rstd[:, None],
        "dw_ptr": np.stack([(dy * xhat)[g].sum(axis=0) for g in groups]),
        "db_ptr": np.stack([dy[g].sum(axis=0) for g in groups]),
        "lock_ptr": np.array([0, 0, 1, 1]),
    }
    arguments = {
        "dx_ptr": blank(7, 50),
        "dy_ptr": dy,
        "dw_ptr": blank(2, 50),
        "db_ptr": blank(2, 50),
        "x_ptr": x,
        "w_ptr": w,
        "mean_ptr": mean.astype(F32),
        "rstd_ptr": rstd.astype(F32),
        "lock_ptr": np.zeros(4, np.int32),
        "columns": 50,
    }
    constants = {"GROUP": 2, "BLOCK": 64}
    tolerance = rounding(128, F32)
    return Case("reductions.layer_norm_backward", arguments, wanted, (7,), constants, tolerance)


def column_sums() -> Case:
    x = normal(40, 50)
    arguments = {"parts_ptr": x, "out_ptr": blank(50), "rows": 40, "columns": 50}
    wanted = {"out_ptr": x.astype(np.float64).sum(axis=0)}
    constants = {"R": 16, "C": 32}
    tolerance = rounding(40, F32)
    return Case("reductions.column_sums", arguments, wanted, (2,), constants, tolerance)


def rms_norm() -> Case:
    x, w = normal(4, 96, dtype=BF16), normal(96, dtype=BF16)
    wide = x.astype(np.float64)
    rstd = 1 / np.sqrt((wide**2).mean(axis=1) + 1e-6)
    arguments = {
        "x_ptr": x,
        "w_ptr": w,
        "out_ptr": blank(4, 96, dtype=BF16),
        "rstd_ptr": blank(4),
        "columns": 96,
        "eps": 1e-6,
    }
    wanted = {"out_ptr": wide * rstd[:, None] * w.astype(np.float64), "rstd_ptr": rstd}
    tolerance = rounding(100, F32, BF16, BF16)
    return Case("reductions.rms_norm", arguments, wanted, (4,), {"BLOCK": 128}, tolerance)


def rms_norm_backward() -> Case:
    x, dy, w = normal(7, 60), normal(7, 60), normal(60)
    wide = x.astype(np.float64)
    rstd = 1 / np.sqrt((wide**2).mean(axis=1) + 1e-6)
    r, m = rstd[:, None], dy.astype(np.float64) * w
    wanted = {
        "dx_ptr": r * m - r**3 * wide * (m * wide).mean(axis=1, keepdims=True),
        "dw_ptr": (dy * wide * r).sum(axis=0),
    }
    arguments = {
        "dy_ptr": dy,
        "x_ptr": x,
        "w_ptr": w,
        "rstd_ptr": rstd.astype(F32),
        "dx_ptr": blank(7, 60),
        "dw_ptr": np.zeros(60, F32),
        "rows": 7,
        "columns": 60,
    }
    constants = {"PER": 3, "BLOCK": 64}
    tolerance = rounding(100, F32)
    return Case("reductions.rms_norm_backward", arguments, wanted, (3,), constants, tolerance)


def welford() -> Case:
    x = normal(3, 50)
    arguments = {
        "x_ptr": x, "mean_ptr": blank(3), "variance_ptr": blank(3), "columns": 50
    }  # fmt: skip
    wide = x.astype(np.float64)
    wanted = {"mean_ptr": wide.mean(axis=1), "variance_ptr": wide.var(axis=1)}
    return Case("reductions.welford", arguments, wanted, (3,), {"BLOCK": 64}, rounding(128, F32))


def cross_entropy() -> Case:
    logits, labels = normal(5, 70), integers(0, 70, 5, dtype=np.int64)
    labels[2] = -100
    used = labels >= 0
    chosen = np.maximum(labels, 0)
    probabilities = softmax_of(logits)
    wanted = {
        "loss_ptr": np.where(used, -np.log(probabilities[np.arange(5), chosen]), 0),
        "logits_ptr": np.where(used[:, None], probabilities - np.eye(70)[chosen], 0),
    }
    arguments = {
        "logits_ptr": logits,
        "labels_ptr": labels,
        "loss_ptr": blank(5),
        "columns": 70,
        "ignored": -100,
    }
    tolerance = rounding(128, F32)
    return Case("reductions.cross_entropy", arguments, wanted, (5,), {"BLOCK": 32}, tolerance)


def extremes_with_indices() -> Case:
    x = integers(-9, 10, 4, 50, dtype=F32)
    wanted = {
        "values_ptr": np.stack([x.max(axis=1), x.min(axis=1)]),
        "indices_ptr": np.stack([x.argmax(axis=1), x.argmin(axis=1)]),
    }
    arguments = {
        "x_ptr": x,
        "values_ptr": blank(2, 4),
        "indices_ptr": blank(2, 4, dtype=np.int32),
        "rows": 4,
        "columns": 50,
    }
    return Case("reductions.extremes_with_indices", arguments, wanted, (4,), {"C": 64}, warps=2)


def sums_of_blocks() -> Case:
    x = integers(-1000, 1000, 16, 32)
    wanted = {
        "rows_ptr": x.sum(axis=1),
        "columns_ptr": x.max(axis=0),
        "all_ptr": np.array([x.sum(), np.bitwise_xor.reduce(x.ravel()), x.min()]),
    }
    arguments = {
        "x_ptr": x,
        "rows_ptr": blank(16, dtype=np.int32),
        "columns_ptr": blank(32, dtype=np.int32),
        "all_ptr": blank(3, dtype=np.int32),
    }
    return Case("reductions.sums_of_blocks", arguments, wanted, (1,), {"R": 16, "C": 32})


def has_nan() -> Case:
    x = np.where(integers(0, 30, 20, 25) == 0, F32(math.nan), normal(20, 25))
    arguments = {"x_ptr": x, "out_ptr": blank(20, dtype=bool), "rows": 20, "columns": 25}
    wanted = {"out_ptr": np.isnan(x).any(axis=1)}
    return Case("reductions.has_nan", arguments, wanted, (2,), {"R": 16, "C": 32})


def kl_divergence() -> Case:
    p, q = (softmax_of(normal(4, 90)).astype(F32) for _ in range(2))
    total = (p * (np.log(p.astype(np.float64)) - np.log(q.astype(np.float64)))).sum() / 4
    arguments = {
        "p_ptr": p, "q_ptr": q, "out_ptr": np.zeros(1, F32), "rows": 4, "columns": 90
    }  # fmt: skip
    wanted = {"out_ptr": np.array([total])}
    tolerance = rounding(400, F32)
    return Case("reductions.kl_divergence", arguments, wanted, (4,), {"BLOCK": 64}, tolerance)


def inductor_persistent_reduction() -> Case:
    x, y = normal(10, 20, dtype=F16), normal(20, dtype=F16)
    added = x.astype(np.float64) + y
    rstd = 1 / np.sqrt((added**2).mean(axis=1, keepdims=True) + 1e-5)
    arguments = {
        "in_ptr0": x,
        "in_ptr1": y,
        "out_ptr0": blank(10, 20, dtype=F16),
        "out_ptr1": blank(10, 1),
        "xnumel": 10,
        "rnumel": 20,
    }
    wanted = {"out_ptr0": added * rstd, "out_ptr1": rstd}
    return Case(
        "reductions.inductor_persistent_reduction", arguments, wanted, (2,),
        {"XBLOCK": 8, "RBLOCK": 32}, rounding(32, F32, F16),
    )  # fmt: skip


def inductor_reduction() -> Case:
    x = normal(6, 100)
    largest = x.max(axis=1, keepdims=True)
    wanted = {
        "out_ptr0": largest,
        "out_ptr1": np.exp(x.astype(np.float64) - largest).sum(axis=1, keepdims=True),
    }
    arguments = {
        "in_ptr0": x,
        "out_ptr0": blank(6, 1),
        "out_ptr1": blank(6, 1),
        "xnumel": 6,
        "rnumel": 100,
    }
    return Case(
        "reductions.inductor_reduction", arguments, wanted, (2,), {"XBLOCK": 4, "RBLOCK": 64},
        rounding(128, F32),
    )  # fmt: skip


def inductor_outer_reduction() -> Case:
    x = normal(30, 32)
    arguments = {"in_ptr0": x, "out_ptr0": blank(32), "xnumel": 32, "rnumel": 30}
    wanted = {"out_ptr0": x.astype(np.float64).mean(axis=0)}
    return Case(
        "reductions.inductor_outer_reduction", arguments, wanted, (2,),
        {"XBLOCK": 16, "RBLOCK": 32}, rounding(32, F32),
    )  # fmt: skip


def slices_of_a_cube() -> Case:
    x = integers(-9, 10, 4, 8, 16)
    arguments = {
        "x_ptr": x,
        "sums_ptr": blank(4, 16, dtype=np.int32),
        "rest_ptr": blank(4, 8, 16, dtype=np.int32),
        "least_ptr": blank(8, 16, dtype=np.int32),
        "at_ptr": blank(8, 16, dtype=np.int32),
    }
    wanted = {
        "sums_ptr": x.sum(axis=1),
        "rest_ptr": x[:, ::-1].cumsum(axis=1)[:, ::-1],
        "least_ptr": x.min(axis=0),
        "at_ptr": x.argmin(axis=0),
    }
    constants = {"A": 4, "B": 8, "C": 16}
    return Case("reductions.slices_of_a_cube", arguments, wanted, (1,), constants)


CASES = [
    *(softmax, softmax_persistent, softmax_online, layer_norm, layer_norm_backward, column_sums),
    *(rms_norm, rms_norm_backward, welford, cross_entropy, extremes_with_indices, sums_of_blocks),
    *(has_nan, kl_divergence, inductor_persistent_reduction, inductor_reduction),
    *(inductor_outer_reduction, slices_of_a_cube),
]
"""A case for each kernel."""
