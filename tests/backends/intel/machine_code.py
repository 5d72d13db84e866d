"""The machine code that Intel's offline compiler makes of SPIR-V."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from xtile.backends.intel.compilation import Program
from xtile.backends.tools import find_command

_PREFETCH = re.compile(r"\bload_block2d\S*\s+\(\S+\)\s+null:0\b")
_SPILL = re.compile(r"^//\.spill size (\d+)", re.MULTILINE)


@dataclass(frozen=True)
class MachineCode:
    """How often instructions stand in a kernel's machine code.

    Attributes:
        products: Products on the matrix unit.
        loads: Loads of two-dimensional blocks.
        prefetches: Prefetches of such blocks.
        stores: Stores of such blocks.
        calls: Calls, which are what remains of functions that the compiler does not know.
        spilled: Bytes of registers that did not fit and go through memory.
    """

    products: int
    loads: int = 0
    prefetches: int = 0
    stores: int = 0
    calls: int = 0
    spilled: int = 0


def machine_code(program: Program, chip: str, directory: Path) -> MachineCode:
    """Compiles a program with one kernel for a device, and counts its instructions.

    Args:
        program: The program.
        chip: The device, as `ocloc` calls it.
        directory: An empty directory for its files.

    Raises:
        AssertionError: It cannot be compiled.
    """
    return counted(assembly_of(program.spirv, chip, directory, program.build_options))


def assembly_of(spirv: bytes, chip: str, directory: Path, options: str = "") -> str:
    """The machine code of a module with one kernel, as text.

    Raises:
        AssertionError: It cannot be compiled.
    """
    binary = directory / "kernel.spv"
    binary.write_bytes(spirv)
    ocloc = find_command("ocloc")
    assert ocloc is not None, "apt-get install intel-opencl-icd"
    command = [ocloc, "compile", "-spirv_input", "-file", str(binary)]
    command += ["-device", chip, "-out_dir", str(directory)]
    if options:
        command += ["-options", options]
    dump = {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(directory)}
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | dump
    )
    # The compiler reports success, too, where it leaves out what it does not understand.
    assert "Build succeeded." in result.stdout, result.stdout + result.stderr
    return "".join(_assembly(directory))


def _assembly(directory: Path) -> list[str]:
    """The text of the kernel, and of what was linked to it.

    A kernel that spills is compiled once more, and the attempts are numbered. The last one counts.
    """
    attempts = [_ATTEMPT.fullmatch(file.name) for file in directory.glob("*_simd*.asm")]
    named = [each for each in attempts if each is not None and "Symbol_Table" not in each[0]]
    last = {(each["hash"], each["code"]): each[0] for each in sorted(named, key=_number_of_attempt)}
    return [(directory / name).read_text() for name in last.values()]


_ATTEMPT = re.compile(r"(?P<hash>OCL_asm[0-9a-f]+)(?:_(?P<attempt>\d+))?_(?P<code>simd.*\.asm)")
"""The name of a file: the first attempt has no number."""


def _number_of_attempt(name: re.Match[str]) -> int:
    return int(name["attempt"] or 0)


def counted(text: str) -> MachineCode:
    """How often instructions stand in the text of a kernel."""
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    prefetches = len(_PREFETCH.findall(code))
    return MachineCode(
        products=len(re.findall(r"\bdpas\.", code)),
        loads=len(re.findall(r"\bload_block2d\.", code)) - prefetches,
        prefetches=prefetches,
        stores=len(re.findall(r"\bstore_block2d\.", code)),
        calls=len(re.findall(r"\bcalla?\b", code)),
        spilled=sum(int(size) for size in _SPILL.findall(text)),
    )


_LABEL = re.compile(r"^\s*([A-Za-z_]\w*):\s*$")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def code_and_loops(text: str) -> tuple[list[str], set[tuple[int, int]]]:
    """The instructions of a kernel's machine code, and where loops begin and end among them.

    Args:
        text: The machine code of a kernel.
    """
    starts: dict[str, int] = {}
    code: list[str] = []
    loops: set[tuple[int, int]] = set()
    for line in text.splitlines():
        instruction = line.split("//")[0]
        label = _LABEL.match(instruction)
        if label is not None:
            starts[label[1]] = len(code)
        elif instruction.strip() and not instruction.startswith("."):
            code.append(instruction)
            words = _WORD.findall(instruction)
            loops.update((starts[word], len(code)) for word in words if word in starts)
    return code, loops


def instructions_in_loop(text: str) -> int:
    """How many instructions the innermost loop with products has, its jumps included.

    Args:
        text: The machine code of a kernel.

    Raises:
        ValueError: No loop has products.
    """
    code, loops = code_and_loops(text)
    return min(
        end - start for start, end in loops if any("dpas" in line for line in code[start:end])
    )
