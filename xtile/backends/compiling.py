"""Compiling kernels to files that devices run without the kernels' source: `xtile compile`."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from xtile.backends.machine_code import HSACO
from xtile.command import EXIT_INPUT_WRONG, EXIT_OK, EXIT_USAGE_WRONG, Messages
from xtile.dialects.reading import UnknownLanguageError, parse_source, read_source, show_warnings
from xtile.targets import AMD, INTEL, NVIDIA, OptionError, check_chip, find_target
from xtile.text.diagnostics import Diagnostic, Diagnostics, Severity

if TYPE_CHECKING:
    from xtile.backends.triton.layouts import Through


@dataclass(frozen=True)
class _Options:
    """How kernels are compiled; what is None is the format's own choice.

    Attributes:
        chip: The architecture.
        level: How much NVIDIA's assembler optimizes.
        warps: The warps of a program, for Triton.
        stages: The stages of pipelined loops, for Triton.
        through: What Triton gets, "ttir" or "amdg".
        seconds: How long the assembler or Triton may take.
        may_overlap: Whether arguments may overlap although a kernel writes to one of them.
        exact: Whether products of f32 stay fused multiply-adds.
        launch_checks: Whether launches check what the sidecar says.
    """

    chip: str | None
    level: int | None
    warps: int | None
    stages: int | None
    through: Through | None
    seconds: float | None
    may_overlap: bool
    exact: bool
    launch_checks: bool


def compile(
    kernel: ModuleOp | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    chip: str | None = None,
    entry: str | None = None,
    level: int | None = None,
    warps: int | None = None,
    stages: int | None = None,
    through: Through | None = None,
    build_seconds: float | None = None,
    may_overlap: bool = False,
    exact: bool = False,
    launch_checks: bool = False,
    diagnostics: Diagnostics | None = None,
) -> None:
    """Compiles kernels to a file, which `run` takes on a device that runs it.

    Args:
        kernel: A module, or a path or a text that `parse` reads.
        output: The file. Its name ends with `.cubin` for machine code of NVIDIA's GPUs, beside
            which a sidecar with the signatures is written; with `.hsaco` for that of AMD's or
            with `.spv` for SPIR-V, with a sidecar, too; or with `.tileirbc` for bytecode of CUDA
            Tile IR.
        chip: The architecture; None is that of the device here, or `sm_90` for NVIDIA's GPUs,
            `gfx942` for AMD's and `pvc` for SPIR-V where there is none. A kernel of Triton that
            has layouts is for the chip that it names.
        entry: The only kernel to compile; None compiles all. Triton, which makes machine code for
            AMD's GPUs, compiles one kernel of a file.
        level: How much NVIDIA's assembler optimizes, from 0 to 3; None is 3.
        warps: The warps of a program that Triton compiles; None is what the kernel says, or 4.
        stages: The stages of loops that Triton pipelines; None is what the kernel says, or 2.
        through: What Triton gets for an hsaco: "ttir" for a kernel without layouts, for which it
            finds them itself, "amdg" for one with the layouts and buffer operations of xtile. None
            is "amdg" for a kernel that can have them, and else "ttir", with a remark.
        build_seconds: How long the assembler or Triton may take; None is 300.
        may_overlap: Whether arguments may overlap although a kernel writes to one of them, where
            its language or its attributes exclude it. Such a kernel is slower, and keeps the order
            of all accesses.
        exact: Whether products of f32 stay fused multiply-adds where a chip of NVIDIA's has faster
            products of parts of them.
        launch_checks: Whether the code may rely on what each launch checks by the sidecar, as those
            of xtile do: that offsets do not wrap around, for example. Bytecode of CUDA Tile IR has
            no sidecar.
        diagnostics: Collects warnings and remarks. Without it, warnings are Python warnings.

    Raises:
        ArgumentError: There is no such kernel.
        DeviceError: The assembler or Triton is missing or fails.
        DiagnosticError: The kernel has errors, or cannot be compiled for the architecture.
        OSError: The file cannot be written.
        OptionError: The name of the file ends with something else, or the architecture is none
            that such a file is for, or nothing beside such a file says what launches check, or
            an option is for other files.
    """
    path = os.fspath(output)
    write = _WRITERS.get(os.path.splitext(path)[1])
    if write is None:
        raise OptionError(f"{path}: expected a file ending with one of {', '.join(_WRITERS)}")
    collected = Diagnostics() if diagnostics is None else diagnostics
    module = _read(kernel, collected)
    if launch_checks and not path.endswith(_HAS_SIDECAR):
        raise OptionError(
            f"{path}: no file beside it would say what launches check; expected "
            f"one of {', '.join(_HAS_SIDECAR)}"
        )
    options = _Options(
        chip, level, warps, stages, through, build_seconds, may_overlap, exact, launch_checks
    )
    _check_options(path, options)
    from xtile.arguments.kernel import kernels_only

    write(kernels_only(module, entry), path, options, collected)
    if diagnostics is None:
        show_warnings(collected)


def _read(kernel: ModuleOp | str | os.PathLike[str], diagnostics: Diagnostics) -> ModuleOp:
    if isinstance(kernel, ModuleOp):
        return kernel
    source, language = read_source(kernel)
    return parse_source(source, language, diagnostics)


def _write_cubin(module: ModuleOp, path: str, options: _Options, diagnostics: Diagnostics) -> None:
    from xtile.backends.nvidia.compilation import compile_to_cubin
    from xtile.backends.sidecar import write_machine_code

    cubin = compile_to_cubin(
        module,
        _nvidia_chip(options.chip),
        diagnostics,
        level=options.level,
        seconds=options.seconds,
        may_overlap=options.may_overlap,
        exact=options.exact,
        launch_checks=options.launch_checks,
    )
    write_machine_code(path, cubin)


def _write_bytecode(
    module: ModuleOp, path: str, options: _Options, diagnostics: Diagnostics
) -> None:
    from xtile.backends.nvidia.compilation import compile_program

    chip = _nvidia_chip(options.chip)
    program = compile_program(
        module,
        chip,
        diagnostics,
        may_overlap=options.may_overlap,
        may_wrap=True,
        exact=options.exact,
    )
    Path(path).write_bytes(program.bytecode)


def _nvidia_chip(chip: str | None) -> str:
    if chip is not None:
        return check_chip(chip, "CUDA Tile IR", NVIDIA)
    from xtile.backends.nvidia.cuda.device import available_devices

    devices = available_devices()
    return (devices[0].chip if devices else None) or NVIDIA.default


def _write_spirv(module: ModuleOp, path: str, options: _Options, diagnostics: Diagnostics) -> None:
    from xtile.arguments.kernel import signatures_of
    from xtile.backends.intel.compiler import compile_kernels
    from xtile.backends.intel.files import SpirvFile, write_spirv
    from xtile.targets.lanes import for_spirv

    target = for_spirv(find_target(_intel_chip(options.chip)))
    signatures = signatures_of(module, may_overlap=options.may_overlap)
    program = compile_kernels(
        module,
        target,
        diagnostics,
        may_overlap=options.may_overlap,
        may_wrap=not options.launch_checks,
    )
    write_spirv(path, SpirvFile(program, target.name, signatures))


def _intel_chip(chip: str | None) -> str:
    if chip is not None:
        return check_chip(chip, "SPIR-V", INTEL)
    from xtile.backends.intel.opencl.setup import available_devices

    devices = available_devices()
    return devices[0].target.name if devices else INTEL.default


def _check_options(path: str, options: _Options) -> None:
    """Checks that options are for a file.

    Raises:
        OptionError: One is for others.
    """
    if not path.endswith(HSACO.extension):
        if any(each is not None for each in (options.warps, options.stages, options.through)):
            raise OptionError(
                f"{path}: warps, stages and through are for Triton, which makes {HSACO.name}s"
            )
        return
    if options.may_overlap:
        raise OptionError(
            f"{path}: Triton takes different arguments for different memory, so they cannot overlap"
        )
    if options.warps is not None and options.warps not in _WARPS:
        raise OptionError(f"expected warps as one of {_WARPS}, given {options.warps}")
    if options.through == "amdg" and options.stages is not None:
        raise OptionError("the layouts of xtile have stages of their own; leave out stages")


_WARPS = (1, 2, 4, 8, 16, 32)
"""The warps that a program can have; chips may have room for fewer."""


def _write_hsaco(module: ModuleOp, path: str, options: _Options, diagnostics: Diagnostics) -> None:
    from xtile.backends.sidecar import write_machine_code
    from xtile.backends.triton.compilation import compile_with_triton
    from xtile.backends.triton.layouts import Options

    chip = None if options.chip is None else check_chip(options.chip, "an hsaco", AMD)
    made = compile_with_triton(
        module,
        chip or _amd_chip(module),
        diagnostics,
        options=Options(options.warps, options.stages, options.through),
        seconds=options.seconds,
        launch_checks=options.launch_checks,
    )
    write_machine_code(path, made)


def _amd_chip(module: ModuleOp) -> str:
    """The chip that a kernel is made for, or that of a GPU here."""
    from xtile.dialects.triton.module_attributes import own_chip

    own = own_chip(module)
    return own if own is not None and own in AMD.chips else AMD.default


_HAS_SIDECAR = (".cubin", ".hsaco", ".spv")

_WRITERS: Mapping[str, Callable[[ModuleOp, str, _Options, Diagnostics], None]] = {
    ".cubin": _write_cubin,
    ".hsaco": _write_hsaco,
    ".spv": _write_spirv,
    ".tileirbc": _write_bytecode,
}
"""What writes a file, by how its name ends."""


# --- the command ---


def run_compile(options: Namespace) -> int:
    """Compiles kernels as the command line says; returns the exit code."""
    messages = Messages(as_json=options.json)
    directory = os.path.dirname(options.output)
    if directory and not os.path.isdir(directory):
        problem = f"-o {options.output}: there is no directory {directory}"
        return messages.fail(problem, EXIT_USAGE_WRONG)
    return messages.answer(lambda: _write(options, messages))


def _write(options: Namespace, messages: Messages) -> int:
    try:
        messages.show(_written(options))
    except OSError as error:
        reason = error.strerror or str(error)
        return messages.fail(f"cannot write {options.output}: {reason}", EXIT_INPUT_WRONG)
    except UnknownLanguageError:
        return messages.fail(
            f"{options.kernel}: expected a file ending with .ir, .mlir, .ttir, .ttgir or .tileirbc",
            EXIT_USAGE_WRONG,
        )
    return messages.end(EXIT_OK, {"output": options.output})


def _written(options: Namespace) -> list[Diagnostic]:
    """Writes the file; returns what is to be said of it."""
    diagnostics = Diagnostics()
    compile(
        Path(options.kernel),
        options.output,
        chip=options.chip,
        entry=options.entry,
        level=options.level,
        warps=options.num_warps,
        stages=options.num_stages,
        through=options.through,
        build_seconds=options.build_seconds,
        may_overlap=options.may_overlap,
        exact=options.exact,
        launch_checks=options.launch_checks,
        diagnostics=diagnostics,
    )
    return [each for each in diagnostics if options.remarks or each.severity is not Severity.REMARK]
