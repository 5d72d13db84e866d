"""`xtile.run`: launches a kernel on arrays."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.binding import bind
from xtile.arguments.errors import ArgumentError, describe_value
from xtile.arguments.launch_checks import check_launch
from xtile.dialects.reading import show_warnings
from xtile.launch.devices import Device, find_device
from xtile.launch.executable import Executable, Grid, Kernel, Launch, LaunchResult, Progress

if TYPE_CHECKING:
    import pyopencl

_GRID_MODES = 3

_LARGEST_MODE = 2**63 - 1
"""Kernels see the grid as numbers of 64 bits; devices have limits of their own."""


def run(
    kernel: str | os.PathLike[str] | ModuleOp,
    args: Sequence[Any] | Mapping[str, Any],
    grid: int | Sequence[int] = (1, 1, 1),
    device: str | pyopencl.CommandQueue | Any = "reference",
    entry: str | None = None,
    *,
    block: int | Sequence[int] | None = None,
    sanitize: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
    build_seconds: float | None = None,
    seconds: float | None = None,
    binary: str | os.PathLike[str] | None = None,
) -> LaunchResult:
    """Launches a kernel and waits until it is done; memory arguments are updated in place.

    Args:
        kernel: The path of a file ending with `.ir`, `.mlir`, `.ttir` or `.ttgir`, a text, or a
            module; on GPUs also the path of a cubin or an hsaco that `compile` made.
        args: The arguments in signature order, or by parameter name.
            Scalars are Python or numpy numbers. A memref takes a numpy array, a torch tensor on
            the CPU, anything with `__dlpack__`, or None for a null pointer. `A` for
            `memref<f32x4x8>` has `A.shape == (4, 8)`, and its first mode is the contiguous one
            (column-major, `order="F"`) unless the type gives other strides. A group takes a list
            of these, an array with a last mode that counts them, an `xtile.launch.Group`, or None
            for a null group. In MLIR's upstream
            dialects, `memref<4x8xf32>` has the shape of the array, and its last mode is the
            contiguous one (row-major, numpy's own order). On an OpenCL device a memref also takes
            pyopencl's arrays, buffers and SVM, and on GPUs tensors of torch, arrays of
            CuPy and whatever else lies on the GPU, which are not copied; on both an
            `xtile.launch.DeviceArray`. A kernel that was translated, and says so in
            `core.signature`, takes the arguments of its source. Any other entry of CUDA Tile IR
            takes an array in place of a pointer and the sizes and strides behind it, or all of
            them one by one.
        grid: The number of work-groups in x, y and z; missing modes are 1.
        device: "reference"; "field" for the same with exact numbers, which are drawn, in place of
            floats (docs/field.md); "cuda" for the first of NVIDIA's GPUs, "cuda:1" for the second;
            "hip" for the first of AMD's; "triton" for the first of either with machine code of
            Triton's; "opencl" for the best of Intel's OpenCL devices; "auto" for the first of
            "cuda", "hip" and "opencl" that is there and can run the kernel, and else "reference";
            the name of an architecture (pvc, bmg, dg2, cpu, cpu-avx2, cpu-amx, sm_90, gfx942 ..)
            for a device of that kind; or a `pyopencl.CommandQueue` or a stream of torch or CuPy,
            in which the kernel is launched.
        entry: The function to launch; needed if the kernel has several.
        block: The number of work-items of a work-group in x, y and z, for a `gpu.func`; missing
            modes are 1. None takes the function's `known_block_size`, or one work-item. A function
            of the tensor language says so itself.
        sanitize: Whether to look for mistakes that produce no wrong text: accesses out of
            bounds, reads of what was never written, races, broken promises and others. The
            launch is slower.
        workers: Processes that share the work-groups.
        progress: Called from time to time with the numbers of done and of all work-groups.
        build_seconds: How long an OpenCL driver may take to build the kernel, which happens in a
            process of its own then, or how long NVIDIA's assembler or Triton may take. None sets a
            limit for these two, and for what is known to hang drivers.
        seconds: How long the launch itself may take; None for any time. What was written stays.
            No driver can stop a kernel, so on a device it goes on, with its arrays, until it or
            the process ends. The same holds after Ctrl-C.
        binary: The path of SPIR-V that another compiler made of the kernel by the same calling
            convention, such as the reference compiler of the tensor language, or of a cubin or an
            hsaco. The
            device runs it instead of compiling the kernel, which then only tells the arguments.

    Returns:
        What ran it and, if the device has a clock, how long that took. Its warnings are shown as
        Python's, too.

    Raises:
        ArgumentError: An argument does not fit the signature, the launch is malformed, or needs
            more than the device has.
        DeviceError: There is no such device, its driver failed, or the launch was not done in
            `seconds`.
        DiagnosticError: The kernel cannot be read, breaks the language's rules, or has an
            instruction that cannot be executed, such as an access out of bounds.
        SanitizerError: With `sanitize`, what was found, unless it is nothing but warnings.
    """
    _check_seconds("build_seconds", build_seconds)
    _check_seconds("seconds", seconds)
    chosen = find_device(device, sanitize=sanitize)
    executable = chosen.load(Kernel(kernel, entry, build_seconds=build_seconds, binary=binary))
    result = launch(
        executable,
        args,
        grid,
        chosen,
        block=block,
        sanitize=sanitize,
        workers=workers,
        progress=progress,
        seconds=seconds,
    )
    if result.warnings:
        show_warnings(result.warnings)
    return result


def launch(
    executable: Executable,
    args: Sequence[Any] | Mapping[str, Any],
    grid: int | Sequence[int],
    device: Device,
    *,
    block: int | Sequence[int] | None = None,
    sanitize: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
    seconds: float | None = None,
) -> LaunchResult:
    """Like `run`, for a function that a device has loaded."""
    if sanitize and not device.can_sanitize:
        raise ArgumentError(f"the device '{device.name}' cannot sanitize")
    if not _is_positive(workers):
        raise ArgumentError(f"expected at least 1 worker, given {describe_value(workers)}")
    checked_grid = checked_sizes("grid", grid)
    checked_block = None if block is None else checked_sizes("block", block)
    checks = executable.signature.checks
    is_plain = not checks and checked_block is None and progress is None and seconds is None
    if not sanitize and is_plain:
        result = executable.launch_given(args, checked_grid)
        if result is not None:
            return result
    # The sanitizer itself reports broken promises, at the location in the kernel.
    arguments = bind(executable.signature, args, check_promises=not sanitize)
    check_launch(executable.signature.name, checks, arguments, checked_grid)
    how = Launch(checked_grid, checked_block, sanitize, workers, progress, seconds)
    return executable.launch(arguments, how)


def _check_seconds(name: str, given: Any) -> None:
    """Raises an ArgumentError if a limit of time is no positive number that clocks can count to."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if given is not None and not (is_number and 0 < given <= threading.TIMEOUT_MAX):
        shown = describe_value(given)
        raise ArgumentError(f"expected {name} as a positive number, given {shown}")


def checked_sizes(what: str, given: Any) -> Grid:
    """Returns the three modes of a grid or a block.

    Raises:
        ArgumentError: A mode is no positive integer, or there are more than three.
    """
    modes = _modes(given)
    if not 1 <= len(modes) <= _GRID_MODES or not all(_is_positive(mode) for mode in modes):
        shown = describe_value(given)
        raise ArgumentError(f"expected a {what} of up to 3 positive integers, given {shown}")
    x, y, z = (*(operator.index(mode) for mode in modes), 1, 1)[:_GRID_MODES]
    if max(x, y, z) > _LARGEST_MODE:
        shown = describe_value(given)
        raise ArgumentError(f"expected a {what} of integers below 2^63, given {shown}")
    return x, y, z


def _modes(given: Any) -> Sequence[Any]:
    """The modes of a grid or block: of a sequence, of an array, or the only one."""
    if hasattr(given, "tolist"):
        given = given.tolist()
    return cast("Sequence[Any]", given) if isinstance(given, list | tuple | range) else [given]


def _is_positive(number: Any) -> bool:
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        return False
    try:
        return operator.index(number) > 0
    except TypeError:
        # numpy's arrays and truth values have the method, and refuse.
        return False
