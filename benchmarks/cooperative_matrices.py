"""Kernels on cooperative matrices on OpenCL's CPU device, and numpy for the same.

python benchmarks/cooperative_matrices.py

The kernel's time is the device's own; numpy computes in f32, by calls that return when all is done.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pyopencl as cl
from measuring import conditions, cost_of_call, print_table, seconds

import xtile
from xtile.backends.intel.compilation import compile_program
from xtile.backends.intel.opencl.device import find_devices
from xtile.targets.lanes import LaneTarget

EXAMPLES = Path(__file__).parent.parent / "examples"

REPEATS = 21

Array = np.ndarray[Any, Any]

BF16_GEMM = """\
; C := A B. A work-group of 2 x 2 subgroups has a block of 128 x 128 elements of C.
func @bf16_gemm(%A: memref<bf16x?x?>, %B: memref<bf16x?x?>, %C: memref<f32x?x?>)
        attributes {subgroup_size=16, work_group_size=[32,2]} {
    %c0 = constant 0 : index
    %c64 = constant 64 : index
    %c128 = constant 128 : index
    %depth = size %A[1] : index
    %x = group_id.x : index
    %y = group_id.y : index
    %first_row = mul %x, %c128 : index
    %first_column = mul %y, %c128 : index
    parallel {
        %si = subgroup_id.x : i32
        %sj = subgroup_id.y : i32
        %si_index = cast %si : index
        %sj_index = cast %sj : index
        %i0 = mul %si_index, %c64 : index
        %j0 = mul %sj_index, %c64 : index
        %i = add %first_row, %i0 : index
        %j = add %first_column, %j0 : index
        %none = constant 0.0 : coopmatrix<f32x64x64,matrix_acc>
        %ab = for %k=%c0,%depth,%c64 init(%sum=%none) -> (coopmatrix<f32x64x64,matrix_acc>) {
            %a = cooperative_matrix_load %A[%i,%k] : coopmatrix<bf16x64x64,matrix_a>
            %b = cooperative_matrix_load %B[%k,%j] : coopmatrix<bf16x64x64,matrix_b>
            %next = cooperative_matrix_mul_add %a, %b, %sum : coopmatrix<f32x64x64,matrix_acc>
            yield (%next)
        }
        cooperative_matrix_store %ab, %C[%i,%j]
    }
}
"""


@dataclass(frozen=True)
class Workload:
    """A kernel with its arguments.

    Attributes:
        name: What the table calls it.
        source: The kernel, as text or as a file.
        arguments: Its arguments.
        grid: The work-groups.
        operations: The floating-point operations of its products.
        rival: Computes the same with numpy.
        is_right: Whether a result of the rival's is what the kernel has computed.
    """

    name: str
    source: str | Path
    arguments: Sequence[Any]
    grid: tuple[int, int, int]
    operations: int
    rival: Callable[[], Array]
    is_right: Callable[[Array], bool]


def attention(length: int, heads: int, d: int = 64) -> Workload:
    """Flash attention in f16."""
    random = np.random.default_rng()
    shape = (d, length, heads)
    q, k, v = (np.asfortranarray(random.normal(size=shape).astype(np.float16)) for _ in range(3))
    wide = [
        np.ascontiguousarray(array.transpose(2, 1, 0).astype(np.float32)) for array in (q, k, v)
    ]
    scale = np.float32(1 / math.sqrt(d))
    o = np.full(shape, np.nan, np.float16, order="F")

    def rival() -> Array:
        scores = scale * (wide[0] @ wide[1].transpose(0, 2, 1))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return (weights / weights.sum(axis=-1, keepdims=True)) @ wide[2]

    return Workload(
        f"flash attention f16, d={d}, T={length}, {heads} heads",
        EXAMPLES / "flash_attention.ir",
        [q, k, v, o, float(scale)],
        (-(-length // 64), heads, 1),
        4 * length * length * d * heads,
        rival,
        lambda expected: np.allclose(o.transpose(2, 1, 0), expected, atol=2e-3),
    )


def product(
    name: str, source: str | Path, dtype: Any, size: int, tile: tuple[int, int]
) -> Workload:
    """C := A B of square matrices; two scalars go with the example in f16."""
    random = np.random.default_rng()
    a, b = (
        np.asfortranarray(random.normal(size=(size, size)).astype(np.float32)) for _ in range(2)
    )
    narrow = [np.asfortranarray(matrix.astype(dtype)) for matrix in (a, b)]
    c = np.full((size, size), 0.0, np.float32, order="F")
    has_scalars = isinstance(source, Path)
    arguments = [1.0, *narrow, 0.0, c] if has_scalars else [*narrow, c]
    grid = (-(-size // tile[0]), -(-size // tile[1]), 1)
    exact = narrow[0].astype(np.float32) @ narrow[1].astype(np.float32)
    # Both add up in f32, in another order; the rival multiplies what is not rounded.
    return Workload(
        f"{name} {size}^3",
        source,
        arguments,
        grid,
        2 * size**3,
        lambda: a @ b,
        lambda _: np.allclose(c, exact, atol=1e-3),
    )


def row(workload: Workload, device: LaneTarget, context: cl.Context) -> list[str]:
    """The line of the table for a workload."""

    def compiled() -> bytes:
        return compile_program(xtile.parse(workload.source), device).spirv

    compilation = cost_of_call(compiled, 5)
    spirv = compiled()
    started = time.perf_counter()
    cl.Program(context, spirv).build()
    building = time.perf_counter() - started
    times: list[float] = []
    for _ in range(REPEATS):
        result = xtile.run(workload.source, workload.arguments, workload.grid, device=device.name)
        assert result.seconds is not None
        times.append(result.seconds)
    running = statistics.median(times)
    assert workload.is_right(workload.rival()), workload.name
    rival = cost_of_call(workload.rival, REPEATS)
    return [
        workload.name,
        f"{len(spirv) / 1000:.1f} kB",
        seconds(compilation.cpu),
        seconds(building),
        seconds(running),
        f"{workload.operations / running / 1e9:.0f}",
        f"{workload.operations / rival.wall / 1e9:.0f}",
    ]


def main() -> None:
    """Prints the table."""
    found = next(device for device in find_devices() if device.is_cpu)
    context = cl.Context([found.handle])
    workloads = [
        attention(512, 2),
        product("C := A B f16", EXAMPLES / "coopmatrix_gemm.ir", np.float16, 1024, (128, 64)),
        product("C := A B bf16", BF16_GEMM, ml_dtypes.bfloat16, 1024, (128, 128)),
    ]
    print_table(
        f"Cooperative matrices on {found.target.name}\n{conditions('pyopencl')}",
        ["", "module", "to SPIR-V (CPU)", "build", "run", "GFLOP/s", "numpy f32 GFLOP/s"],
        [row(workload, found.target, context) for workload in workloads],
    )


if __name__ == "__main__":
    main()
