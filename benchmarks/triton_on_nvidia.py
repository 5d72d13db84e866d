"""How fast Triton's kernels run on an NVIDIA GPU as CUDA Tile IR: the yardstick is Triton itself.

    python benchmarks/triton_on_nvidia.py --compile DIRECTORY   with Triton and tileiras, no GPU
    python benchmarks/triton_on_nvidia.py --cubins DIRECTORY    on a GPU with PyTorch

Triton compiles each function with `triton.jit` to machine code. xtile takes the text in `tt` of the
same compilation, before tensors have layouts, to CUDA Tile IR, and NVIDIA's assembler makes machine
code of it. Each is recorded in a CUDA graph with several launches. The graphs take turns; figures
are medians. Results are checked against PyTorch in f64.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from measuring import conditions, print_table
from triton_workloads import WORKLOADS, Workload

REPEATS = 15

LAUNCHES = 5
"""Launches in a CUDA graph."""

CHIP = "sm_90"
CAPABILITY = 90

FOLDERS = (Path(__file__).parent, Path(__file__).parent.parent / "tests/triton_kernels/jit")
"""Where the modules with functions are."""

MAKERS = ("triton", "xtile")
"""What comes before `.cubin` in the names of files: who made it."""

WARP = 32

_MOST_DYNAMIC_SHARED = 8
"""`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` of the CUDA Driver API 13.0."""


@dataclass(frozen=True)
class Needs:
    """What a launch of machine code must give it.

    Attributes:
        kernel: The function's name.
        threads: The threads of a block.
        shared: Bytes of shared memory.
        scratch: For each pointer behind the arguments the bytes of memory of each program.
    """

    kernel: str
    threads: int = 1
    shared: int = 0
    scratch: Sequence[int] = ()


def compile_all(directory: Path, only: str) -> None:
    """Compiles each kernel by Triton and by xtile."""
    directory.mkdir(parents=True, exist_ok=True)
    sys.path[:0] = map(str, FOLDERS)
    for workload in WORKLOADS:
        if only in workload.name:
            text = compile_by_triton(workload, directory / f"{workload.file}.triton.cubin")
            compile_by_xtile(workload, text, directory / f"{workload.file}.xtile.cubin")


def compile_by_triton(workload: Workload, path: Path) -> str:
    """Writes Triton's machine code and what it needs; returns the text in `tt`."""
    triton: Any = import_module("triton")
    target = import_module("triton.backends.compiler").GPUTarget("cuda", CAPABILITY, WARP)
    module, name = workload.function.split(".")
    function = getattr(import_module(module), name)
    types = {name: workload.types.get(name, "constexpr") for name in function.arg_names}
    divisible = [
        (index,)
        for index, name in enumerate(function.arg_names)
        if types[name].startswith("*") or workload.numbers.get(name, 1) % 16 == 0
    ]
    source = triton.compiler.ASTSource(
        function,
        types,
        dict(workload.constants),
        {index: [["tt.divisibility", 16]] for index in divisible},
    )
    options = {"num_warps": workload.warps, "num_stages": workload.stages}
    compiled = triton.compile(source, target=target, options=options)
    told = compiled.metadata
    scratch = (told.global_scratch_size, told.profile_scratch_size)
    write(
        path, compiled.asm["cubin"], Needs(told.name, WARP * told.num_warps, told.shared, scratch)
    )
    return str(compiled.asm["ttir"])


def compile_by_xtile(workload: Workload, text: str, path: Path) -> None:
    """Writes the machine code of the same kernel by way of CUDA Tile IR."""
    import xtile
    from xtile.arguments.launch_checks import check_launch
    from xtile.backends.machine_code import CUBIN
    from xtile.backends.sidecar import read_machine_code

    name = workload.function.split(".")[1]
    path.with_suffix(".ttir").write_text(text)
    xtile.compile(xtile.parse(text), path, chip=CHIP, launch_checks=True)
    arguments = [workload.numbers.get(parameter) for parameter in workload.types]
    grid = (*workload.grid, 1, 1)[:3]
    check_launch(name, read_machine_code(path, CUBIN).kernels[name].checks, arguments, grid)
    write(path, path.read_bytes(), Needs(name))


def write(path: Path, code: bytes, needs: Needs) -> None:
    """Writes machine code, and beside it what it needs."""
    path.write_bytes(code)
    path.with_suffix(".json").write_text(json.dumps(asdict(needs)))


class Launcher:
    """Machine code with arguments, on the GPU of PyTorch."""

    def __init__(self, path: Path, workload: Workload, arrays: Mapping[str, Any]) -> None:
        """Loads machine code into the context that PyTorch made."""
        torch: Any = import_module("torch")
        needs = Needs(**json.loads(path.with_suffix(".json").read_text()))
        self._driver = ctypes.CDLL("libcuda.so.1")
        module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), path.read_bytes())
        name = needs.kernel.encode()
        self._call("cuModuleGetFunction", ctypes.byref(self._function), module, name)
        shared = ctypes.c_int(needs.shared)
        self._call("cuFuncSetAttribute", self._function, _MOST_DYNAMIC_SHARED, shared)
        programs = math.prod(workload.grid)
        self._memory = [
            torch.empty(max(16, size * programs), dtype=torch.uint8, device="cuda")
            for size in needs.scratch
        ]
        values = [_value(type, workload, arrays, name) for name, type in workload.types.items()]
        values += [ctypes.c_void_p(memory.data_ptr()) for memory in self._memory]
        self._values = values
        pointers = [ctypes.addressof(value) for value in values]
        self._parameters = (ctypes.c_void_p * len(values))(*pointers)
        self._grid = (*workload.grid, 1, 1)[:3]
        self._needs = needs

    def enqueue(self, stream: int) -> None:
        """Puts a launch into a stream."""
        stream_handle, none = ctypes.c_void_p(stream), ctypes.c_void_p()
        needs = self._needs
        block = (needs.threads, 1, 1)
        self._call(
            "cuLaunchKernel", self._function, *self._grid, *block, needs.shared, stream_handle,
            self._parameters, none,
        )  # fmt: skip

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._driver, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} fails with the status {status}")


def _value(type: str, workload: Workload, arrays: Mapping[str, Any], name: str) -> Any:
    """An argument as the driver reads it."""
    if type.startswith("*"):
        return ctypes.c_void_p(arrays[name].data_ptr())
    number = workload.numbers[name]
    return ctypes.c_float(number) if type == "fp32" else ctypes.c_int32(int(number))


def graph_of(torch: Any, launcher: Launcher) -> Any:
    """A CUDA graph of several launches."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(LAUNCHES):
                launcher.enqueue(torch.cuda.current_stream().cuda_stream)
    graph.replay()
    torch.cuda.synchronize()
    return graph


def seconds_of(torch: Any, graph: Any) -> float:
    """The time of one launch of a graph."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / LAUNCHES


def measure(torch: Any, workload: Workload, cubins: Path) -> list[str]:
    """A row of the table."""
    arrays = workload.arrays(torch)
    launchers = [
        Launcher(cubins / f"{workload.file}.{maker}.cubin", workload, arrays) for maker in MAKERS
    ]
    errors: list[float] = []
    for launcher in launchers:
        arrays[workload.output].fill_(workload.blank)
        launcher.enqueue(torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()
        errors.append(workload.error(torch, arrays))
    graphs = [graph_of(torch, launcher) for launcher in launchers]
    times: list[list[float]] = [[] for _ in graphs]
    for _ in range(REPEATS):
        for graph, own in zip(graphs, times, strict=True):
            own.append(seconds_of(torch, graph))
    rival, ours = map(statistics.median, times)
    # An error that is NaN is none that is allowed.
    verdicts = ["" if error <= workload.tolerance else " WRONG" for error in errors]
    return [
        workload.name,
        f"{workload.work / rival / 1e12:.3g} {workload.unit}",
        f"{workload.work / ours / 1e12:.3g} {workload.unit}",
        f"{rival / ours:.2f}",
        *(f"{error:.1e}{verdict}" for error, verdict in zip(errors, verdicts, strict=True)),
    ]


def run_all(cubins: Path, only: str) -> None:
    """Prints the table."""
    torch: Any = import_module("torch")
    torch.manual_seed(0)
    rows: list[list[str]] = []
    for workload in WORKLOADS:
        if only in workload.name:
            rows.append(measure(torch, workload, cubins))
            print(*rows[-1], sep=" | ", flush=True)
        torch.cuda.empty_cache()
    name = torch.cuda.get_device_name()
    headings = ["kernel", "Triton", "xtile", "ratio", "error of Triton", "of xtile"]
    print_table(f"{name}, {conditions('torch')}", headings, rows)


def main() -> None:
    """Compiles the kernels, or runs them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", type=Path, metavar="DIRECTORY")
    parser.add_argument("--cubins", type=Path, metavar="DIRECTORY")
    parser.add_argument("--only", default="", help="part of the names of the kernels")
    options = parser.parse_args()
    run: Callable[[Path, str], None] = compile_all if options.compile else run_all
    directory = options.compile or options.cubins
    if directory is None:
        parser.error("one of --compile and --cubins is needed")
    run(directory, options.only)


if __name__ == "__main__":
    main()
