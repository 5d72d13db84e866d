"""Machine code of ports as text, where a tool is here that shows it, with lines of the source."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xtile.backends.build_error import BuildError
from xtile.backends.tools import run_limited
from xtile.ports.measures import by_frequency
from xtile.ports.steps import Form
from xtile.text.source import Source, source_of

SECONDS = 60.0
"""How long a tool may take."""

_NVIDIA_LINE = re.compile(r'//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
_NVIDIA_INSTRUCTION = re.compile(
    r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(?P<name>[A-Z][A-Z0-9_]+)[A-Z0-9_.]*"
)

_AMD_LINE = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)")
_AMD_FILE = re.compile(r'\s*\.file\s+(?P<number>\d+)\s+(?:"[^"]*"\s+)?"(?P<name>[^"]*)"')
_AMD_INSTRUCTION = re.compile(r"\s+(?P<name>[a-z]+_[a-z0-9_]+)(?:\s|$)")

_INTEL_INSTRUCTION = re.compile(r"\s*(?:\([^)]*\)\s*)?(?P<name>[a-z]\w*)(?:\.\w+)*\s*\(\d+\|M\d+\)")


@dataclass(frozen=True)
class MachineCode:
    """Machine code of a port.

    Attributes:
        form: Its text, whose lines know those of the source where the tool tells them.
        instructions: How often each instruction is there.
    """

    form: Form
    instructions: dict[str, int]


def of_cubin(path: Path, source: Source | None) -> MachineCode | None:
    """The machine code of a cubin, as nvdisasm shows it; None where that is not here.

    Raises:
        BuildError: nvdisasm failed.
    """
    from xtile.backends.nvidia.tools import find_tool

    tool = find_tool("nvdisasm")
    if tool is None:
        return None
    began = time.perf_counter()
    command = [str(tool.path), "-g", "-c", str(path)]
    text = run_limited(command, {**os.environ, **tool.environment()}, SECONDS)
    origins: list[int] = []
    line = 0
    for each in text.splitlines():
        found = _NVIDIA_LINE.search(each)
        if found is not None:
            line = int(found["line"]) if source is None or found["file"] == source.name else 0
        is_code = _NVIDIA_INSTRUCTION.search(each) is not None
        origins.append(line if is_code or found is not None else 0)
    return _made("machine code", began, text, origins, _NVIDIA_INSTRUCTION)


def of_hsaco(module: ModuleOp, chip: str) -> MachineCode:
    """The machine code of an hsaco that was made of a module, as LLVM's assembler takes it.

    Raises:
        DeviceError: Triton is missing or fails.
        DiagnosticError: It cannot be compiled for the chip.
    """
    from xtile.backends.cache import Cache
    from xtile.backends.triton.compilation import build_program, compile_program

    began = time.perf_counter()
    source = source_of(module)
    # It was built for the hsaco before, so this reads the cache.
    built = build_program(compile_program(module, chip), chip, Cache(), SECONDS, source)
    text = built.stages["amdgcn"].decode()
    files = {found["number"]: found["name"] for found in _AMD_FILE.finditer(text)}
    name = None if source is None else Path(source.name).name
    origins: list[int] = []
    line = 0
    for each in text.splitlines():
        found = _AMD_LINE.match(each)
        if found is not None:
            line = int(found["line"]) if files.get(found["file"]) == name else 0
        is_code = _AMD_INSTRUCTION.match(each) is not None
        origins.append(line if is_code or found is not None else 0)
    return _made("machine code", began, text, origins, _AMD_INSTRUCTION)


def of_spirv(words: bytes, chip: str, options: str) -> MachineCode | None:
    """The machine code that Intel's compiler makes of SPIR-V; None where ocloc is not here.

    Args:
        words: The module.
        chip: One of Intel's GPUs.
        options: What the compiler is told.

    Raises:
        BuildError: ocloc failed.
    """
    from xtile.backends.tools import find_command

    ocloc = find_command("ocloc")
    if ocloc is None:
        return None
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="xtile-port-") as directory:
        binary = Path(directory, "kernel.spv")
        binary.write_bytes(words)
        command = [ocloc, "compile", "-spirv_input", "-file", str(binary)]
        command += ["-device", chip, "-out_dir", directory]
        command += ["-options", options] if options else []
        dump = {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": directory}
        said = run_limited(command, {**os.environ, **dump}, SECONDS)
        text = "".join(_dumped(Path(directory)))
    if not text:
        raise BuildError("ocloc showed no machine code", said)
    return _made("machine code", began, text, [0] * len(text.splitlines()), _INTEL_INSTRUCTION)


def _dumped(directory: Path) -> Iterator[str]:
    """The texts that Intel's compiler wrote: of kernels, without lists of their symbols."""
    for path in sorted(directory.glob("*_simd*.asm")):
        if "Symbol_Table" not in path.name:
            yield path.read_text()


def _made(
    name: str, began: float, text: str, origins: list[int], instruction: re.Pattern[str]
) -> MachineCode:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("//", ";")))
    matches = (instruction.search(line) for line in lines)
    counts = Counter(match["name"] for match in matches if match is not None)
    seconds = time.perf_counter() - began
    form = Form(name, seconds, text, tuple(origins), is_of_a_tool=True)
    return MachineCode(form, by_frequency(counts))
