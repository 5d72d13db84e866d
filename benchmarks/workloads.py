"""What benchmarks of OpenCL's CPU device share: kernels that take turns with their rivals.

The rates are by wall clock, that of the device for a kernel and that of a call for its rival, and
by the CPU time of all threads during a call, which other work on the machine disturbs less.
"""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from measuring import Cost, conditions, cost_of_call, print_table, seconds

import xtile
from xtile.backends.intel.compilation import compile_program
from xtile.backends.intel.opencl.device import OpenclDevice, find_devices

REPEATS = 15

SETTLING = 0.1
"""Seconds after which threads of OpenBLAS and of the driver no longer wait for work on a core."""

ALIGNMENT = 128
"""Bytes that the address of a parameter is a multiple of where nothing else is said."""

HEADINGS = [
    "kernel",
    "xtile",
    "rival",
    "ratio",
    "xtile per CPU second",
    "rival per CPU second",
    "to SPIR-V, CPU",
    "build, CPU",
    "module",
]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Workload:
    """A kernel, its arguments and its rival.

    Attributes:
        name: What the table calls it.
        source: The kernel, as text or as a file.
        arguments: Its arguments.
        grid: The work-groups.
        work: The floating-point operations, or the bytes that are read or written.
        unit: What a billion units of work in a second are called.
        rival: Does the same, or copies memory.
        rival_work: The work of the rival.
        is_right: Whether the kernel has computed what it should.
    """

    name: str
    source: str | Path
    arguments: Sequence[Any]
    grid: tuple[int, ...]
    work: int
    unit: str
    rival: Callable[[], object]
    rival_work: int
    is_right: Callable[[], bool]


def empty(*shape: int, dtype: Any = np.float32) -> Array:
    """An array in column-major order, aligned as the tensor language's parameters are."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % ALIGNMENT
    return memory[first : first + size].view(dtype).reshape(shape, order="F")


def random(*shape: int, dtype: Any = np.float32) -> Array:
    """Standard normal numbers."""
    result = empty(*shape, dtype=dtype)
    result.T[...] = np.random.default_rng().standard_normal(shape[::-1], np.float32)
    return result


def unwritten(*shape: int, dtype: Any = np.float32) -> Array:
    """An output; what a kernel forgets to write stays NaN."""
    result = empty(*shape, dtype=dtype)
    result.fill(np.nan)
    return result


def copy_of(array: Array, device: OpenclDevice) -> Callable[[], object]:
    """A copy in the device's memory by the driver, which uses all cores as kernels do."""
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    source, target = (cl.Buffer(context, cl.mem_flags.READ_WRITE, array.nbytes) for _ in range(2))
    cl.enqueue_copy(queue, source, array.ravel(order="K"))
    return lambda: cl.enqueue_copy(queue, target, source).wait()


def row(workload: Workload, device: OpenclDevice) -> list[str]:
    """The line of the table for a workload."""

    def compiled() -> bytes:
        return compile_program(xtile.parse(workload.source), device.target).spirv

    compilation = cost_of_call(compiled, 5)
    spirv = compiled()
    context = cl.Context([device.handle])
    building = cost_of_call(lambda: cl.Program(context, spirv).build(cache_dir=False), 3)

    def launch() -> float:
        result = xtile.run(workload.source, workload.arguments, workload.grid, device="opencl")
        assert result.seconds is not None
        return result.seconds

    def rival() -> float:
        started = time.perf_counter()
        workload.rival()
        return time.perf_counter() - started

    own, others = taking_turns(launch, rival)
    assert workload.is_right(), workload.name
    rates = [
        workload.work / own.wall,
        workload.rival_work / others.wall,
        workload.work / own.cpu,
        workload.rival_work / others.cpu,
    ]
    return [
        f"{workload.name}, {workload.unit}",
        *(f"{rate / 1e9:.0f}" for rate in rates[:2]),
        f"{rates[0] / rates[1]:.2f}",
        *(f"{rate / 1e9:.0f}" for rate in rates[2:]),
        seconds(compilation.cpu),
        seconds(building.cpu),
        f"{len(spirv) / 1000:.1f} kB",
    ]


def taking_turns(*calls: Callable[[], float]) -> list[Cost]:
    """The medians of calls that take turns and return the seconds of wall clock that count.

    Before a call is measured, the other's threads have gone to sleep and its own have woken up.
    """
    walls: list[list[float]] = [[] for _ in calls]
    cpus: list[list[float]] = [[] for _ in calls]
    for _ in range(REPEATS):
        for call, wall, cpu in zip(calls, walls, cpus, strict=True):
            time.sleep(SETTLING)
            call()
            started = time.process_time()
            wall.append(call())
            cpu.append(time.process_time() - started)
    pairs = zip(walls, cpus, strict=True)
    return [Cost(statistics.median(wall), statistics.median(cpu)) for wall, cpu in pairs]


def cpu_device() -> OpenclDevice:
    """OpenCL's CPU device."""
    # The driver's log is never empty.
    warnings.simplefilter("ignore", cl.CompilerWarning)
    return next(found for found in find_devices() if found.is_cpu)


def print_rows(
    device: OpenclDevice, makers: Sequence[Callable[[], Workload]], *packages: str
) -> None:
    """Measures workloads, one after the other, and prints the table."""
    rows = [row(make(), device) for make in makers]
    print_table(f"kernels on {device.target.name}; medians of {REPEATS}", HEADINGS, rows)
    print(conditions("pyopencl", "intel-opencl-rt", *packages))
