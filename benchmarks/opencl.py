"""How fast kernels of the tensor language run on OpenCL's CPU device: the yardstick is numpy.

python benchmarks/opencl.py

Products are compared with numpy.matmul, kernels that move memory with a copy by the driver. A
kernel and its rival take turns, each after a pause and a call that is not counted. numpy multiplies
batches in one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from workloads import Workload, copy_of, cpu_device, print_rows, random, unwritten

from xtile.backends.intel.opencl.device import OpenclDevice

EXAMPLES = Path(__file__).parent.parent / "examples"

BLOCKED_GEMM = """\
; C := A B. Every work-group computes a block of 256 x 256 elements.
$T = INPUTS
func @blocked(%A: memref<$T x1024x1024>, %B: memref<$T x1024x1024>, %C: memref<f32x1024x1024>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : $T
    %block = constant 256 : index
    %x = group_id.x : index
    %y = group_id.y : index
    %i = mul %x, %block : index
    %j = mul %y, %block : index
    %a = subview %A[%i:256,0:1024] : memref<$T x256x1024,strided<1,1024>>
    %b = subview %B[0:1024,%j:256] : memref<$T x1024x256,strided<1,1024>>
    %c = subview %C[%i:256,%j:256] : memref<f32x256x256,strided<1,1024>>
    gemm.n.n %one, %a, %b, %zero, %c
}
"""

NAIVE_GEMM = """\
; C := A B. Every work-item computes one element.
func @naive(%A: memref<f32x?x?>, %B: memref<f32x?x?>, %C: memref<f32x?x?>)
        attributes {subgroup_size=16, work_group_size=[16,1]} {
    parallel {
        %zero = constant 0 : index
        %one = constant 1 : index
        %block = constant 16 : index
        %depth = size %A[1] : index
        %x = group_id.x : index
        %j = group_id.y : index
        %first = mul %x, %block : index
        %lane = subgroup_local_id : i32
        %lane_index = cast %lane : index
        %i = add %first, %lane_index : index
        %nothing = constant 0.0 : f32
        %ab = for %k=%zero,%depth,%one init(%sum=%nothing) -> (f32) {
            %a = load %A[%i,%k] : f32
            %b = load %B[%k,%j] : f32
            %product = mul %a, %b : f32
            %next = add %sum, %product : f32
            yield (%next)
        }
        store %ab, %C[%i,%j]
    }
}
"""

BATCHED_GEMM = """\
; C_i := A_i B_i. Every work-group multiplies two matrices.
$m = {m}
$n = {n}
$k = {k}
func @batched(%A: memref<{type}x$m x$k x?>, %B: memref<{type}x$k x$n x?>,
              %C: memref<{type}x$m x$n x?>) {{
    %zero = constant 0.0 : {type}
    %one = constant 1.0 : {type}
    %i = group_id.x : index
    %a = subview %A[0:$m,0:$k,%i] : memref<{type}x$m x$k>
    %b = subview %B[0:$k,0:$n,%i] : memref<{type}x$k x$n>
    %c = subview %C[0:$m,0:$n,%i] : memref<{type}x$m x$n>
    gemm.n.n %one, %a, %b, %zero, %c
}}
"""

SOFTMAX = """\
; Y_ij := exp(X_ij - max_i X_ij) / sum_i exp(X_ij - max_i X_ij). Every work-group has 8 columns.
; A column is gone through in parts of 64 rows; exp(x) is 2 to the power of x log2(e).
$rows = 1024
$part = 64
$columns = 8
$values = coopmatrix<f32x$part x1,matrix_acc>
$ones = coopmatrix<f32x$part x1,matrix_a>
$value = coopmatrix<f32x1x1,matrix_acc>
$value_b = coopmatrix<f32x1x1,matrix_b>

func @softmax(%X: memref<f32x$rows x?>, %Y: memref<f32x$rows x?>)
        attributes {subgroup_size=16, work_group_size=[16,1]} {
    parallel {
        %zero = constant 0 : index
        %one = constant 1 : index
        %rows = constant $rows : index
        %part = constant $part : index
        %columns = constant $columns : index
        %all_columns = size %X[1] : index
        %group = group_id.x : index
        %first = mul %group, %columns : index
        %end = add %first, %columns : index
        %last = min %end, %all_columns : index
        %log2e = constant 1.44269504088896340736 : f32
        %nothing = constant 0.0 : $values
        %lowest = constant -inf : $values
        %ones = constant 1.0 : $ones
        %minus_ones = constant -1.0 : $ones
        for %j=%first,%last,%one {
            %maxima = for %i=%zero,%rows,%part init(%m=%lowest) -> ($values) {
                %x = cooperative_matrix_load %X[%i,%j] : $values
                %next = max %m, %x : $values
                yield (%next)
            } attributes{unroll=false}
            %maximum = cooperative_matrix_reduce_max.column %maxima : $value
            %maximum_b = cast %maximum : $value_b
            %shift = cooperative_matrix_mul_add %minus_ones, %maximum_b, %nothing : $values
            %sums = for %i=%zero,%rows,%part init(%s=%nothing) -> ($values) {
                %x = cooperative_matrix_load %X[%i,%j] : $values
                %shifted = add %x, %shift : $values
                %y = cooperative_matrix_apply (%r,%c,%value)=%shifted -> $values {
                    %value2 = mul %value, %log2e : f32
                    %power = exp2 %value2 : f32
                    yield (%power)
                }
                cooperative_matrix_store %y, %Y[%i,%j]
                %next = add %s, %y : $values
                yield (%next)
            } attributes{unroll=false}
            %sum = cooperative_matrix_reduce_add.column %sums : $value
            %certain = constant 1.0 : $value
            %scale = div %certain, %sum : $value
            %scale_b = cast %scale : $value_b
            %scales = cooperative_matrix_mul_add %ones, %scale_b, %nothing : $values
            for %i=%zero,%rows,%part {
                %y = cooperative_matrix_load %Y[%i,%j] : $values
                %result = mul %y, %scales : $values
                cooperative_matrix_store %result, %Y[%i,%j]
            } attributes{unroll=false}
        }
    }
}
"""


def product(
    name: str, source: str | Path, size: int, grid: tuple[int, int], dtype: Any = np.float32
) -> Workload:
    """C := A B of square matrices, with a result in f32; numpy multiplies f32."""
    a, b = (random(size, size, dtype=dtype) for _ in range(2))
    c = unwritten(size, size)
    left, right = (np.ascontiguousarray(matrix.astype(np.float32)) for matrix in (a, b))
    expected = np.empty_like(left)
    arguments = [1.0, a, b, 0.0, c] if isinstance(source, Path) else [a, b, c]

    def is_right() -> bool:
        # Each of the two adds up the products in an order of its own.
        bound = 2 * size * np.finfo(np.float32).eps * np.max(np.abs(left) @ np.abs(right))
        return bool(np.max(np.abs(c - left @ right)) <= bound)

    work = 2 * size**3
    return Workload(
        name,
        source,
        arguments,
        grid,
        work,
        "GFLOP/s",
        lambda: np.matmul(left, right, out=expected),
        work,
        is_right,
    )


def batch(type: str, m: int, n: int, k: int, count: int) -> Workload:
    """C_i := A_i B_i of many small matrices, which are packed one behind the other."""
    dtype = {"f32": np.float32, "f64": np.float64}[type]
    a, b = random(m, k, count, dtype=dtype), random(k, n, count, dtype=dtype)
    c = unwritten(m, n, count, dtype=dtype)
    # numpy's batches have the matrices in the last two dimensions, row by row.
    left, right = (np.ascontiguousarray(array.transpose(2, 0, 1)) for array in (a, b))
    expected = np.empty((count, m, n), dtype)

    def is_right() -> bool:
        bound = 2 * k * np.finfo(dtype).eps * np.max(np.abs(left) @ np.abs(right))
        return bool(np.max(np.abs(c.transpose(2, 0, 1) - left @ right)) <= bound)

    work = 2 * m * n * k * count
    return Workload(
        f"{count} gemm {type} {m}x{n}x{k}",
        BATCHED_GEMM.format(type=type, m=m, n=n, k=k),
        [a, b, c],
        (count,),
        work,
        "GFLOP/s",
        lambda: np.matmul(left, right, out=expected),
        work,
        is_right,
    )


def axpby(rows: int, columns: int, device: OpenclDevice) -> Workload:
    """B := alpha A + beta B; it reads two arrays and writes one."""
    a, b = random(rows, columns), random(rows, columns)
    return Workload(
        f"axpby f32, {a.nbytes >> 20} MiB",
        EXAMPLES / "axpby.ir",
        [1.5, a, 0.5, b],
        (-(-columns // 32),),
        3 * a.nbytes,
        "GB/s",
        copy_of(a, device),
        2 * a.nbytes,
        # After some launches b is 1.5 a / (1 - 0.5), but for what is left of the first b.
        lambda: np.allclose(b[:, :64], 3 * a[:, :64], atol=1e-3),
    )


def softmax(columns: int, device: OpenclDevice) -> Workload:
    """The softmax of columns; it reads one array and writes another."""
    x = random(1024, columns)
    y = unwritten(1024, columns)

    def is_right() -> bool:
        some = x[:, :64].astype(float)
        powers = np.exp(some - some.max(axis=0))
        return bool(np.allclose(y[:, :64], powers / powers.sum(axis=0), rtol=1e-5))

    copy = copy_of(x, device)
    name = f"softmax f32, {x.nbytes >> 20} MiB"
    size = 2 * x.nbytes
    return Workload(name, SOFTMAX, [x, y], (-(-columns // 8),), size, "GB/s", copy, size, is_right)


def main() -> None:
    """Measures and prints."""
    device = cpu_device()
    makers: list[Callable[[], Workload]] = [
        lambda: product("gemm f32 1024^3", BLOCKED_GEMM.replace("INPUTS", "f32"), 1024, (4, 4)),
        lambda: product(
            "gemm bf16 1024^3",
            BLOCKED_GEMM.replace("INPUTS", "bf16"),
            1024,
            (4, 4),
            ml_dtypes.bfloat16,
        ),
        lambda: product("gemm f32 1024^3 of any size", EXAMPLES / "gemm.ir", 1024, (4, 4)),
        lambda: product("naive gemm f32 1024^3", NAIVE_GEMM, 1024, (64, 1024)),
        *(
            lambda type=type, size=size: batch(type, *size)
            for type in ("f32", "f64")
            for size in (
                (9, 9, 9, 20000),
                (56, 9, 9, 10000),
                (16, 16, 16, 20000),
                (64, 64, 64, 2000),
            )
        ),
        lambda: axpby(1024, 65536, device),
        lambda: softmax(65536, device),
    ]
    print_rows(device, makers)


if __name__ == "__main__":
    main()
