"""What a launch on an OpenCL device costs: the yardstick is pyopencl itself.

python benchmarks/opencl_launch.py
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from measuring import Cost, conditions, cost_of_call, cost_of_command, print_table, seconds

import xtile
from xtile.backends.cache import DIRECTORY_VARIABLE
from xtile.backends.intel.opencl.setup import available_devices

REPEATS = 21

KERNEL = """\
func @add(%A: memref<f32x?>, %B: memref<f32x?>) {
    %zero = constant 0 : index
    %n = size %A[0] : index
    foreach (%i)=(%zero),(%n) {
        %a = load %A[%i] : f32
        %b = load %B[%i] : f32
        %c = add %a, %b : f32
        store %c, %B[%i]
    }
}
"""

GROUP_KERNEL = """\
func @one(%A: group<memref<f32x9x9>x?>) {
    %one = constant 1.0 : f32
    %zero = constant 0 : index
    %i = group_id.x : index
    %a = load %A[%i] : memref<f32x9x9>
    parallel {
        store %one, %a[%zero,%zero]
    }
}
"""

OPENCL_C = """\
kernel void add(global const float *a, long n, global float *b, long m) {
    for (long i = get_global_id(0); i < n; i += get_global_size(0))
        b[i] += a[i];
}
"""

A, B = np.zeros(256, np.float32), np.zeros(256, np.float32)

ENTRIES = 10_000


def launch(kernel: str = KERNEL) -> None:
    """A launch through xtile."""
    xtile.run(kernel, [A, B], device="opencl")


def launch_with_pyopencl() -> Callable[[], None]:
    """A launch of a kernel that is built already, from arguments to the end of the kernel."""
    (device,) = (device.handle for device in available_devices()[:1])
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    kernel = cl.Program(context, OPENCL_C).build().add

    def run() -> None:
        arguments = (cl.SVM(A), np.int64(A.size), cl.SVM(B), np.int64(B.size))
        kernel(queue, (16,), (16,), *arguments).wait()

    return run


def build_with_pyopencl() -> Callable[[], None]:
    """A first launch from OpenCL C: a text that no cache knows, compiled by the driver."""
    (device,) = (device.handle for device in available_devices()[:1])
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    numbers = itertools.count()

    def run() -> None:
        text = f"{OPENCL_C}// {os.getpid()} {next(numbers)}\n"
        kernel = cl.Program(context, text).build(cache_dir=False).add  # type: ignore[arg-type]
        arguments = (cl.SVM(A), np.int64(A.size), cl.SVM(B), np.int64(B.size))
        kernel(queue, (16,), (16,), *arguments).wait()

    return run


def first_launch() -> Callable[[], None]:
    """A launch of a kernel that nothing is known of, with code that the driver has not seen."""
    numbers = itertools.count(1)

    def run() -> None:
        constant = f"    %x = constant {next(numbers)}.5 : f32\n"
        text = KERNEL.replace("        %a", f"    {constant}        %a").replace(
            "add %a, %b", "add %a, %x"
        )
        launch(text)

    return run


def cached_launch() -> Callable[[], None]:
    """A launch of a kernel that is on disk, but not in this process."""
    from xtile.backends.intel.opencl import session
    from xtile.launch import opencl

    def run() -> None:
        opencl._compiled.clear()
        session._sessions.clear()
        launch()

    return run


def launch_of_a_group(entries: Any) -> Callable[[], object]:
    """A launch with many pointers."""
    return lambda: xtile.run(GROUP_KERNEL, [entries], grid=1, device="opencl")


def main() -> None:
    """Measures and prints."""
    # The driver's log is never empty.
    warnings.simplefilter("ignore", cl.CompilerWarning)
    entries = np.zeros((9, 9, ENTRIES), np.float32, order="F")
    with tempfile.TemporaryDirectory() as directory:
        os.environ[DIRECTORY_VARIABLE] = directory
        kernel = Path(directory, "add.ir")
        kernel.write_text(KERNEL)
        command = [
            *(str(Path(sys.executable).parent / "xtile"), "run", str(kernel)),
            *("--device", "opencl", "--rand", "--size", "A=256", "--size", "B=256"),
        ]
        calls: dict[str, Callable[[], object]] = {
            "first launch of a text": first_launch(),
            "first launch of OpenCL C, pyopencl": build_with_pyopencl(),
            "launch from the cache on disk": cached_launch(),
            "launch": launch,
            "launch of a built kernel, pyopencl": launch_with_pyopencl(),
            f"launch, a group of {ENTRIES} in one array": launch_of_a_group(entries),
            f"launch, a group of {ENTRIES} in a list": launch_of_a_group(
                [entries[..., number] for number in range(ENTRIES)]
            ),
        }
        costs: dict[str, Cost] = {name: cost_of_call(call, REPEATS) for name, call in calls.items()}
        costs["xtile run add.ir, in the cache"] = cost_of_command(command, REPEATS)
        cold = ["env", f"{DIRECTORY_VARIABLE}=/nonexistent", *command]
        costs["xtile run add.ir, no cache"] = cost_of_command(cold, REPEATS)
    rows = [[name, seconds(cost.wall), seconds(cost.cpu)] for name, cost in costs.items()]
    print_table(f"launches on OpenCL, median of {REPEATS}", ["what", "wall", "CPU"], rows)
    print(conditions("pyopencl", "intel-opencl-rt"))


if __name__ == "__main__":
    main()
