"""Kernels of NVIDIA's Python package, exported as bytecode with debug information."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import cuda.tile as ct
from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._compile import compile_tile
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    export_kernel,
)

from xtile.dialects.cuda_tile.versions import V13_5, Version

CONSTANT = ct.Constant[int]


@ct.kernel
def add(a, b, c, size: CONSTANT):
    """Element by element."""
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(size,))
    y = ct.load(b, index=(i,), shape=(size,))
    ct.store(c, index=(i,), tile=x + y)


@ct.kernel
def softmax(a, c, size: CONSTANT):
    """Reductions, and padding at the edge."""
    i = ct.bid(0)
    x = ct.load(a, index=(i, 0), shape=(1, size), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(x - ct.max(x, axis=1, keepdims=True))
    ct.store(c, index=(i, 0), tile=e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel(num_ctas=ct.ByTarget(sm_100=2), occupancy=2)
def matmul(a, b, c, m: CONSTANT, n: CONSTANT, k: CONSTANT):
    """A loop, and hints."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((m, n), 0, dtype=ct.float32)
    for step in range(ct.cdiv(a.shape[1], k)):
        x = ct.load(a, index=(i, step), shape=(m, k), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(step, j), shape=(k, n), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=acc)


@ct.kernel
def sums(a, c, size: CONSTANT):
    """A scan, atomic updates, a condition, and what is printed."""
    x = ct.load(a, index=(0,), shape=(size,))
    if ct.bid(0) == 1:
        ct.printf("block %d\n", ct.bid(0))
    y = ct.cumsum(x, axis=0)
    ct.atomic_add(c, ct.arange(size, dtype=ct.int32), y)


def array(dtype: Any, rank: int, divisor: int = 1) -> ArrayConstraint:
    """An array whose last dimension is contiguous; strides and rows are multiples of a divisor."""
    return ArrayConstraint(
        dtype,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(None,) * (rank - 1) + (1,),
        stride_divisible_by=(divisor,) * (rank - 1) + (1,),
        shape_divisible_by=(1,) * (rank - 1) + (divisor,),
        base_addr_divisible_by=16,
    )


EXPORTS: dict[str, tuple[Any, Sequence[Any]]] = {
    "add": (add, [*[array(ct.float32, 1)] * 3, 128]),
    "softmax": (softmax, [*[array(ct.float32, 2)] * 2, 256]),
    "matmul": (matmul, [*[array(ct.bfloat16, 2)] * 2, array(ct.float32, 2), 64, 64, 32]),
    "sums": (sums, [*[array(ct.float32, 1)] * 2, 128]),
}
"""The kernels, and what their parameters are."""


def exported(name: str, version: Version) -> bytes:
    """The bytecode of a kernel."""
    kernel, parameters = EXPORTS[name]
    signature = KernelSignature(parameters, CallingConvention.cutile_python_v1())
    if version >= V13_5:
        # What the package knows of this version it does not offer yet.
        result = compile_tile(
            kernel._annotated_function,
            [signature],
            sm_arch="sm_100",
            compiler_options=kernel._compiler_options,
            bytecode_version=BytecodeVersion.V_13_5,
            return_bytecode=True,
            return_cubin=False,
        )
        assert result.bytecode is not None
        return bytes(result.bytecode)
    output = BytesIO()
    export_kernel(
        kernel,
        [signature],
        output,
        gpu_code="sm_100",
        output_format="tileir_bytecode",
        bytecode_version=str(version),
    )
    return output.getvalue()
