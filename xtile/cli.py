"""`xtile`: the command that runs kernels."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from xtile import __version__
from xtile.command import (
    EXIT_OK,
    EXIT_USAGE_WRONG,
    run_command,
    run_in_child,
    write_standard_output,
)
from xtile.interrupts import ending_at_once
from xtile.targets import AMD, INTEL, NVIDIA, VENDORS

# Everything else is imported by the subcommand that needs it, so that `xtile --help` is fast.

_RUN_EPILOG = """\
values of --arg:
  a scalar     2, -1.5, inf, 1+2j; true, false
  an array     A.npy, or zeros, ones, nan, rand and the shape: zeros:16x16; null
  a group      arrays between commas, *n repeats one: A.npy,rand:16x8*3,null; or A.npz

examples:
  xtile run examples/axpby.ir --grid 2 --arg alpha=2.0 --arg beta=0.5 --rand \\
      --size A=33x50 --size B=33x50 --out B=result.npy
  xtile run kernel.ir --grid 4,1,1 --arg A=a.npy --arg D=zeros:16x16 --out D=d.npy --sanitize
  xtile run kernel.ir --device opencl --rand
  xtile run kernel.ir --device cuda --rand
  xtile run examples/xegpu/gemm.mlir
      (host code: @main allocates, launches and prints by itself)
"""


_COMPILE_EPILOG = """\
examples:
  xtile compile examples/axpby.ir -o axpby.cubin --chip sm_90
  xtile run axpby.cubin --device cuda --grid 2 --arg alpha=2.0 --arg beta=0.5 --rand \\
      --size A=33x50 --size B=33x50
  xtile compile examples/axpby.ir -o axpby.hsaco --chip gfx942
"""

_PORT_EPILOG = """\
examples:
  xtile port examples/softmax.ir --to xegpu
  xtile port examples/matrix_unit.ir --to all --chip pvc --chip sm_90 -o out
  xtile port kernels/ --to triton --jobs 4 -o out
"""

_CHECK_EPILOG = """\
examples:
  xtile check examples/axpby.ir axpby.mlir
  xtile check kernel.ttir kernel.mlir --grid 4 --arg n=1000 --size x=1000 --size y=1000
"""

_KERNEL_HELP = (
    "a file with tensor language (.ir), MLIR (.mlir), Triton's languages (.ttir, .ttgir) or CUDA "
    "Tile bytecode (.tileirbc), or a folder that Triton wrote of a kernel"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    0: ok. 1: the input is wrong. 2: the usage is wrong. 3: a device is missing, or a defect.

    Args:
        arguments: The command line without the command's name; None is this process's own.
    """
    return run_command("xtile", lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    parser = _make_parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:
        # argparse has printed the help or the mistake.
        return stop.code if isinstance(stop.code, int) else EXIT_USAGE_WRONG
    run = _COMMANDS.get(options.command)
    if run is None:
        parser.print_help(sys.stderr)
        return EXIT_USAGE_WRONG
    return run(options, arguments is None)


def _compile(options: argparse.Namespace, is_process: bool) -> int:
    from xtile.backends.compiling import run_compile

    return run_compile(options)


def _check(options: argparse.Namespace, is_process: bool) -> int:
    from xtile.checking.command import run_check

    return _in_child(lambda: run_check(options), options.port, is_process=is_process)


def _port(options: argparse.Namespace, is_process: bool) -> int:
    from xtile.ports.command import run_port

    return _in_child(lambda: run_port(options), options.kernel, is_process=is_process)


def _assembly(options: argparse.Namespace, is_process: bool) -> int:
    from xtile.ports.assembly_command import run_assembly

    return run_assembly(options)


def _devices(options: argparse.Namespace, is_process: bool) -> int:
    from xtile.launch.listing import list_devices

    return list_devices(as_json=options.json)


def _language_server(options: argparse.Namespace, is_process: bool) -> int:
    from xtile.language_server import run_language_server

    return run_language_server()


def _completion(options: argparse.Namespace, is_process: bool) -> int:
    from xtile.completion import script
    from xtile.ports.targets import ALL, PORT_TARGETS

    lists = {
        "--chip": tuple(chip for vendor in VENDORS for chip in vendor.chips),
        "--to": (*(target.name for target in PORT_TARGETS), ALL),
    }
    write_standard_output(script(_make_parser(), options.shell, lists))
    return EXIT_OK


def _cache(options: argparse.Namespace, is_process: bool) -> int:
    from xtile.backends.cache import run_cache

    return run_cache(options.action)


def _run_kernel(options: argparse.Namespace, is_process: bool) -> int:
    """Runs a kernel, in a child process where it can end the process that it runs in."""
    with ending_at_once():
        from xtile.launch.command import run_kernel

    can_end_process = options.device != "reference" and hasattr(os, "fork")
    if is_process and can_end_process:
        return run_in_child(lambda: run_kernel(options), partial(_explain, options.kernel))
    return run_kernel(options)


_COMMANDS: Mapping[str, Callable[[argparse.Namespace, bool], int]] = {
    "asm": _assembly,
    "cache": _cache,
    "check": _check,
    "compile": _compile,
    "completion": _completion,
    "devices": _devices,
    "lsp": _language_server,
    "port": _port,
    "run": _run_kernel,
}
"""What each command does; the second argument is whether it is all that its process does."""


def _in_child(body: Callable[[], int], kernel: str, is_process: bool) -> int:
    """Runs what uses devices, in a child process where a device can end the process it is in."""
    if is_process and hasattr(os, "fork"):
        return run_in_child(body, partial(_explain, kernel))
    return body()


def _explain(kernel: str, number: int) -> str:
    return (
        f"xtile: error: {kernel} ended the device's process with signal "
        f"{signal.Signals(number).name}; it may access memory that is not its own, which "
        "`--device reference --sanitize` shows"
    )


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xtile", description="Run GPU tile kernels on arrays, and check them."
    )
    parser.add_argument("--version", action="version", version=f"xtile {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _add_run(
        commands.add_parser(
            "run",
            help="run a kernel on arrays",
            description="Run a kernel and show its arguments and results.",
            epilog=_RUN_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    _add_compile(
        commands.add_parser(
            "compile",
            help="compile kernels for a device",
            description="Compile kernels to a file that runs on a device without their source: a "
            "cubin for NVIDIA's GPUs, an hsaco for AMD's or SPIR-V, with a sidecar that holds the "
            "signatures, or bytecode of CUDA Tile IR.",
            epilog=_COMPILE_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    _add_port(
        commands.add_parser(
            "port",
            help="port a kernel to other languages, and check the ports",
            description="Translate a kernel, compile it where the tools are, run it and its ports "
            "on the same fresh inputs, and write a report. The exit code is 0 only if all agree.",
            epilog=_PORT_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    _add_check(
        commands.add_parser(
            "check",
            help="check that a port computes what its source computes",
            description="Run a kernel and its port on the same fresh inputs on every device that "
            "is here, and compare what they write. The exit code is 0 if they agree and 1 if not.",
            epilog=_CHECK_EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    _add_json(
        commands.add_parser(
            "devices",
            help="list the devices",
            description="List the devices, what each can do, and how to add what is missing.",
        )
    )
    commands.add_parser(
        "lsp",
        help="serve editors",
        description="Answer an editor by the Language Server Protocol over standard input and "
        "output: errors, types and documentation, definitions, formatting (docs/editors.md).",
    )
    _add_assembly(
        commands.add_parser(
            "asm",
            help="show the machine code of a kernel",
            description="Show the machine code of a kernel for a chip, with the lines of the "
            "source between where the tool knows them: nvdisasm for NVIDIA's chips, Triton for "
            "AMD's, ocloc for Intel's GPUs.",
        )
    )
    completion = commands.add_parser(
        "completion",
        help="print a script for a shell",
        description="Print a script with which a shell completes this command.",
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
    cache = commands.add_parser(
        "cache",
        help="show or clear the cache",
        description="Show what the cache of compiled kernels holds, or clear it.",
    )
    cache.add_argument(
        "action", nargs="?", choices=("show", "clear"), default="show", help="default: show"
    )
    return parser


def _add_assembly(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernel", help=_KERNEL_HELP)
    parser.add_argument("--chip", required=True, metavar="NAME", help="the chip")
    parser.add_argument("--entry", metavar="NAME", help="the only kernel, for NVIDIA's chips")
    _add_json(parser)


def _add_port(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kernel", help=f"{_KERNEL_HELP}; or a folder with kernels, each of which is ported"
    )
    parser.add_argument(
        "--to",
        action="append",
        default=[],
        required=True,
        metavar="LANGUAGE",
        help="tensorlang, xegpu, spirv, cuda_tile, triton, amdg, or all; may be repeated",
    )
    parser.add_argument(
        "--chip",
        action="append",
        default=[],
        metavar="NAME",
        help="the chip of a vendor, for the languages that it is for; may be repeated",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="ports",
        metavar="DIRECTORY",
        help="where ports and report.html go (default: ports)",
    )
    parser.add_argument("--no-check", action="store_true", help="do not run anything")
    parser.add_argument(
        "--jobs",
        type=_positive,
        default=1,
        metavar="N",
        help="how many kernels of a folder are ported at once (default: 1)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="port a folder on the workers of a Dask cluster, such as tcp://10.0.0.1:8786",
    )
    _add_json(parser)
    _add_inputs(parser)
    parser.add_argument(
        "--field",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="compare on exact numbers, too, without tolerances (docs/field.md; default: yes)",
    )


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help=_KERNEL_HELP)
    parser.add_argument("port", help="a file with the kernel that must compute the same")
    _add_inputs(parser)
    parser.add_argument(
        "--field",
        action="store_true",
        help="compare on exact numbers, too, without tolerances (docs/field.md)",
    )
    parser.add_argument("--port-entry", metavar="NAME", help="the port's function, if several")
    parser.add_argument(
        "--reproducer",
        metavar="PATH",
        help="write a script that shows the first difference, with its inputs beside it",
    )
    _add_json(parser)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one object of JSON with all that is said (docs/command-line.md)",
    )


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the launches of a check."""
    parser.add_argument("--entry", metavar="NAME", help="the source's function, if several")
    for option, metavar, text in (
        ("--arg", "NAME=VALUE", "the value of an argument, as in xtile run; may be repeated"),
        ("--size", "NAME=SHAPE", "the shape of an array, as in 64x64; may be repeated"),
    ):
        parser.add_argument(
            option, type=_assignment, action="append", default=[], metavar=metavar, help=text
        )
    parser.add_argument(
        "--inputs",
        metavar="FILE",
        help="an .npz with arguments by name, or a Python file with a function inputs(generator) "
        "that returns a dict of them, or a dict and the grid",
    )
    for option, text in (
        ("--grid", "the number of work-groups (default: as many as have something to do)"),
        ("--block", "the work-items of a work-group, for a gpu.func that does not say it"),
    ):
        parser.add_argument(option, type=_grid, metavar="X[,Y[,Z]]", help=text)
    parser.add_argument(
        "--device",
        action="append",
        metavar="NAME",
        help="a device to check on besides the reference device; may be repeated (default: every "
        "device that is here)",
    )
    parser.add_argument("--seed", type=_seed, metavar="N", help="the seed (default: a fresh one)")


def _add_compile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernel", help=_KERNEL_HELP)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="PATH",
        help="where the result goes: a file ending with .cubin, .hsaco, .spv or .tileirbc",
    )
    parser.add_argument(
        "--chip",
        metavar="NAME",
        help="the architecture, as xtile devices names it (default: that of the device here, "
        f"or {NVIDIA.default}, {AMD.default} for hsaco, and {INTEL.default} for SPIR-V)",
    )
    parser.add_argument(
        "--entry", metavar="NAME", help="the only kernel to compile (default: all of the file)"
    )
    parser.add_argument(
        "--level",
        type=int,
        choices=range(4),
        metavar="N",
        help="how much NVIDIA's assembler optimizes, from 0 to 3 (default: 3)",
    )
    parser.add_argument(
        "--num-warps",
        type=int,
        metavar="N",
        help="warps of a program in an hsaco, a power of two (default: what the kernel says, or as "
        "many as its tensors keep busy, and 4 through ttir)",
    )
    parser.add_argument(
        "--num-stages",
        type=int,
        metavar="N",
        help="stages of pipelined loops in an hsaco (default: what the kernel says, or 2)",
    )
    parser.add_argument(
        "--through",
        choices=("ttir", "amdg"),
        help="what Triton gets for an hsaco: a kernel without layouts, or one with xtile's layouts "
        "and buffer operations (default: amdg for a kernel that can have them, else ttir)",
    )
    parser.add_argument(
        "--build-seconds",
        type=_seconds,
        metavar="S",
        help="how long NVIDIA's assembler or Triton may take (default: 300)",
    )
    parser.add_argument(
        "--may-overlap",
        action="store_true",
        help="let arguments overlap although a kernel writes to one of them",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="multiply f32 with fused multiply-adds where an NVIDIA GPU has faster products of "
        "their parts",
    )
    parser.add_argument(
        "--launch-checks",
        action="store_true",
        help="rely on what each launch checks by the sidecar, for faster accesses through pointers",
    )
    parser.add_argument(
        "--remarks",
        action="store_true",
        help="tell what the code relies on and why it is as it is, at its location",
    )
    _add_json(parser)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kernel", help=f"{_KERNEL_HELP}, or a cubin, an hsaco or SPIR-V with its sidecar"
    )
    parser.add_argument(
        "--entry",
        metavar="NAME",
        help="the function, if there are several (default: the host's main)",
    )
    parser.add_argument(
        "--grid",
        type=_grid,
        default=(1, 1, 1),
        metavar="X[,Y[,Z]]",
        help="the number of work-groups (default: 1,1,1)",
    )
    parser.add_argument(
        "--block",
        type=_grid,
        metavar="X[,Y[,Z]]",
        help="the work-items of a work-group, for a gpu.func (default: what it says, or 1,1,1)",
    )
    parser.add_argument(
        "--device",
        default="reference",
        metavar="NAME",
        help="one that xtile devices lists, or auto for a GPU or an OpenCL device where there is "
        "one (default: reference)",
    )
    parser.add_argument(
        "--build-seconds",
        type=_seconds,
        metavar="S",
        help="how long an OpenCL driver or NVIDIA's assembler may take to build the kernel",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        metavar="S",
        help="how long the launch may take; one that takes longer ends with exit code 3",
    )
    parser.add_argument(
        "--binary",
        metavar="PATH",
        help="the kernel as SPIR-V (OpenCL) or as a cubin (CUDA) that was compiled before, to run "
        "instead",
    )
    _add_arguments(parser)
    parser.add_argument("--sanitize", action="store_true", help="look for mistakes while running")
    parser.add_argument(
        "--workers", type=_positive, default=1, metavar="N", help="processes (default: 1)"
    )
    parser.add_argument("--quiet", action="store_true", help="show no table")
    parser.add_argument(
        "--repeat",
        type=_positive,
        metavar="N",
        help="launch N more times with the same arguments, and tell how long that takes",
    )
    parser.add_argument(
        "--flop",
        type=_seconds,
        metavar="N",
        help="the floating-point operations of a launch, such as 2e9, for the rate of --repeat",
    )
    _add_json(parser)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the kernel's arguments and results."""
    for option, metavar, text in (
        ("--arg", "NAME=VALUE", "the value of an argument; may be repeated"),
        ("--size", "NAME=SHAPE", "the shape for --rand, as in 64x64, for a group 16x8*10"),
        ("--out", "NAME=PATH", "save a result as .npy, a group as .npz"),
    ):
        parser.add_argument(
            option, type=_assignment, action="append", default=[], metavar=metavar, help=text
        )
    parser.add_argument(
        "--rand", action="store_true", help="fill arrays that have no --arg with random numbers"
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        metavar="N",
        help="the seed of --rand and of host code (default: a fresh one)",
    )


def _grid(text: str) -> tuple[int, ...]:
    """The type of --grid and --block."""
    modes = text.split(",")
    if not 1 <= len(modes) <= 3 or not all(_is_count(mode) for mode in modes):
        raise argparse.ArgumentTypeError(f"expected up to 3 positive integers, given '{text}'")
    return tuple(int(mode) for mode in modes)


def _positive(text: str) -> int:
    """The type of --workers."""
    if not _is_count(text):
        raise argparse.ArgumentTypeError(f"expected a positive integer, given '{text}'")
    return int(text)


def _seconds(text: str) -> float:
    """The type of --seconds and --build-seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a positive number, given '{text}'")
    return seconds


def _is_count(text: str) -> bool:
    """Whether a text is a positive integer below 10^9."""
    return text.isascii() and text.isdecimal() and len(text) < 10 and int(text) > 0


def _seed(text: str) -> int:
    """The type of --seed."""
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise argparse.ArgumentTypeError(f"expected a number of 0 or more, given '{text}'")
    return int(text)


def _assignment(text: str) -> tuple[str, str]:
    """The type of --arg, --size and --out."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=..., given '{text}'")
    return name.removeprefix("%"), value


if __name__ == "__main__":
    sys.exit(main())
