"""What `xtile asm` does: the machine code of a kernel, with the source's lines between."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.errors import DeviceError
from xtile.backends.compiling import compile as compile_kernels
from xtile.command import (
    EXIT_OK,
    Messages,
    write_standard_output,
)
from xtile.dialects.reading import parse_source, read_source
from xtile.ports.machine_code import MachineCode, of_cubin, of_hsaco, of_spirv
from xtile.targets import AMD, NVIDIA, OptionError, find_target, vendor_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of
from xtile.translate.route import Options, translate_to


def run_assembly(options: Namespace) -> int:
    """Prints the machine code of a kernel; returns the exit code."""
    messages = Messages(as_json=options.json)
    return messages.answer(lambda: _show(options, messages))


def _show(options: Namespace, messages: Messages) -> int:
    code, source = _machine_code(options)
    if not options.json:
        write_standard_output("".join(f"{line}\n" for line in _lines(code, source)))
    words = {**code.form.words(), "instructions": code.instructions}
    return messages.end(EXIT_OK, words)


def _machine_code(options: Namespace) -> tuple[MachineCode, Source | None]:
    """The machine code of a kernel for a chip.

    Raises:
        BuildError: A tool failed.
        DeviceError: A tool is missing.
        DiagnosticError: The kernel is wrong, or cannot be translated.
        OptionError: There is no such chip.
    """
    source, language = read_source(options.kernel)
    module = parse_source(source, language, Diagnostics())
    vendor = vendor_of(options.chip)
    if vendor is NVIDIA:
        code = _of_nvidia(module, options)
        tool = "nvdisasm, which pip install nvidia-cuda-nvdisasm brings"
    elif vendor is AMD:
        code, tool = of_hsaco(module, options.chip), ""
    else:
        code = _of_intel(module, options.chip)
        tool = "ocloc, which apt-get install intel-opencl-icd libigc-tools brings"
    if code is None:
        raise DeviceError(f"machine code for {options.chip} needs {tool}")
    return code, source_of(module)


def _of_nvidia(module: ModuleOp, options: Namespace) -> MachineCode | None:
    with tempfile.TemporaryDirectory(prefix="xtile-asm-") as directory:
        path = Path(directory, "kernel.cubin")
        compile_kernels(
            module, path, chip=options.chip, entry=options.entry, diagnostics=Diagnostics()
        )
        return of_cubin(path, source_of(module))


def _of_intel(module: ModuleOp, chip: str) -> MachineCode | None:
    from xtile.backends.intel.compilation import spirv_in
    from xtile.backends.intel.registers import build_options
    from xtile.dialects.spirv import encode

    target = find_target(chip)
    if target.vector_unit is not None:
        raise OptionError(f"the driver makes the machine code for {chip} when it launches")
    made = translate_to(module, "spirv", Options(chip, may_wrap=True), Diagnostics())
    spirv = spirv_in(made)
    return of_spirv(encode(spirv), chip, build_options(spirv, target, target.subgroup_size))


def _lines(code: MachineCode, source: Source | None) -> Iterator[str]:
    """The lines of machine code; in front of those of another line of the source that line."""
    before = 0
    for line, origin in zip(code.form.text.splitlines(), code.form.origins, strict=True):
        if origin and origin != before and source is not None:
            yield f"; {source.name}:{origin}: {source.line_text(origin).strip()}"
            before = origin
        yield line
