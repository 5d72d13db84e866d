"""Kernels compiled by xtile, and by the reference compiler of the tensor language (tinytc).

python benchmarks/reference_compiler.py PATH_OF_TINYTC

Both compile the same files, and both binaries run on OpenCL's CPU device with the same arguments.
The reference compiler knows Intel's GPUs only, so its binaries are those for pvc. A run is the
median of the device's own times. A result that is not the reference device's is marked as wrong.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyopencl as cl
from measuring import conditions, cost_of_call, cost_of_command, print_table, seconds

import xtile
from xtile.backends.intel.compilation import compile_program
from xtile.backends.intel.opencl.device import OpenclDevice, find_devices
from xtile.launch import DeviceError

EXAMPLES = Path(__file__).parent.parent / "examples"

REPEATS = 21

Array = np.ndarray[tuple[int, ...], np.dtype[np.floating]]


@dataclass(frozen=True)
class Workload:
    """A launch of an example.

    Attributes:
        kernel: The name of the file.
        arguments: Arrays and scalars; the last of the arrays is the output.
        output: Which argument is written.
        start: What it holds before; NaN shows what is not written.
        grid: The work-groups.
        tolerance: How far a result may be from the reference device's, which differs in the order
            of sums and in rounding to f16.
    """

    kernel: str
    arguments: Sequence[Array | float]
    output: int
    grid: tuple[int, int, int]
    tolerance: float
    start: float = np.nan

    @property
    def path(self) -> Path:
        """The file."""
        return EXAMPLES / f"{self.kernel}.ir"


def workloads() -> list[Workload]:
    """Launches of kernels that both compile."""
    generator = np.random.default_rng()

    def array(*shape: int, type: type[np.floating] = np.float32) -> Array:
        return np.asfortranarray(generator.standard_normal(shape).astype(type))

    half = np.float16
    heads = [array(64, 512, 2, type=half) for _ in range(4)]
    gemm = [array(512, 512, type=half), array(512, 512, type=half)]
    return [
        Workload("axpby", [2.0, array(512, 64), 0.0, array(512, 64)], 3, (2, 1, 1), 1e-5, 0.0),
        Workload("softmax", [array(64, 64), array(64, 64)], 1, (8, 1, 1), 1e-5),
        Workload("coopmatrix_gemm", [1.0, *gemm, 0.0, array(512, 512)], 4, (4, 8, 1), 1e-2, 0.0),
        Workload("flash_attention", [*heads, 0.125], 3, (8, 2, 1), 2e-3),
    ]


def line(
    compiler: str,
    workload: Workload,
    binary: Path,
    compilation: float,
    device: OpenclDevice,
    expected: Array,
) -> list[str]:
    """The line of the table for a binary."""
    context = cl.Context([device.handle])
    started = time.perf_counter()
    cl.Program(context, binary.read_bytes()).build()
    building = time.perf_counter() - started
    output = workload.arguments[workload.output]
    assert isinstance(output, np.ndarray)
    output.fill(workload.start)
    times: list[float] = []
    for _ in range(REPEATS):
        result = xtile.run(
            workload.path, workload.arguments, workload.grid, device="opencl", binary=binary
        )
        assert result.seconds is not None
        times.append(result.seconds)
    is_right = np.allclose(output, expected, rtol=0, atol=workload.tolerance)
    return [
        workload.kernel,
        compiler,
        seconds(compilation),
        f"{binary.stat().st_size / 1000:.1f} kB",
        seconds(building),
        seconds(statistics.median(times)),
        "right" if is_right else "WRONG",
    ]


def lines(workload: Workload, compiler: str, device: OpenclDevice, folder: Path) -> list[list[str]]:
    """Both lines of the table for a workload."""
    output = workload.arguments[workload.output]
    assert isinstance(output, np.ndarray)
    output.fill(workload.start)
    xtile.run(workload.path, workload.arguments, workload.grid)
    expected = output.copy()

    own = folder / "own.spv"
    cost = cost_of_call(lambda: compile_program(xtile.parse(workload.path), device.target), 5)
    own.write_bytes(compile_program(xtile.parse(workload.path), device.target).spirv)
    other = folder / "reference.spv"
    command = [compiler, str(workload.path)]
    with other.open("wb") as file:
        subprocess.run(command, check=True, stdout=file)
    process = cost_of_command(command, REPEATS)
    result = [line("xtile", workload, own, cost.wall, device, expected)]
    started = time.perf_counter()
    try:
        result.append(line("tinytc", workload, other, process.wall, device, expected))
    except (cl.Error, DeviceError):
        refused = f"fails after {seconds(time.perf_counter() - started)}"
        size = f"{other.stat().st_size / 1000:.1f} kB"
        result.append([workload.kernel, "tinytc", seconds(process.wall), size, refused, "", ""])
    return result


def main() -> None:
    """Prints the table."""
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/reference_compiler.py PATH_OF_TINYTC")
    device = next(device for device in find_devices() if device.is_cpu)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row
            for workload in workloads()
            for row in lines(workload, sys.argv[1], device, Path(folder))
        ]
    print_table(
        f"The same kernels by two compilers on {device}\n{conditions('pyopencl')}",
        ["kernel", "compiler", "to SPIR-V", "module", "driver's build", "run", "result"],
        rows,
    )


if __name__ == "__main__":
    main()
