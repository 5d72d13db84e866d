"""NVIDIA's tools for CUDA Tile IR, of the packages that the tests install."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from xtile.backends.build_error import BuildError
from xtile.backends.nvidia.tools import find_tool
from xtile.backends.tools import run_limited

SECONDS = 200
"""The assembler took 23 for a random kernel alone, and over 120 beside other work."""


def disassembled(bytecode: bytes, *, debug_info: bool = False) -> str:
    """What `tileirdisasm` makes of bytecode: the operations of the module without the module.

    Raises:
        ValueError: It refuses the bytecode; the message is its own.
    """
    options = ["--print-debug-info"] if debug_info else []
    # 13.4 calls pow by another name, and its disassembler does so in files of every version.
    return _run("tileirdisasm", bytecode, options).replace(" = fpowf ", " = pow ")


def assembled(bytecode: bytes, chip: str, level: int = 0) -> None:
    """Has `tileiras` compile bytecode.

    Raises:
        ValueError: It refuses the bytecode; the message is its own.
    """
    _run("tileiras", bytecode, ["--gpu-name", chip, f"-O{level}", "-o", "kernel.cubin"])


def machine_code(bytecode: bytes, chip: str) -> str:
    """What `tileiras` compiles bytecode to, as text."""
    with TemporaryDirectory() as directory:
        cubin = Path(directory) / "kernel.cubin"
        _run("tileiras", bytecode, ["--gpu-name", chip, "-O3", "-o", str(cubin)])
        tool = find_tool("nvdisasm")
        assert tool is not None, "nvdisasm is in the package nvidia-cuda-nvdisasm"
        return subprocess.run(
            [str(tool.path), "-c", str(cubin)],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout


def _run(name: str, bytecode: bytes, options: list[str]) -> str:
    tool = find_tool(name)
    assert tool is not None, f"{name} is in the package nvidia-cuda-tileiras"
    with TemporaryDirectory() as directory:
        (Path(directory) / "kernel.tileirbc").write_bytes(bytecode)
        command = ["env", f"--chdir={directory}", str(tool.path), *options, "kernel.tileirbc"]
        try:
            # It stops what the tool itself has started, too.
            return run_limited(command, {**tool.environment(), "TMPDIR": directory}, SECONDS)
        except BuildError as error:
            raise ValueError(error.log or str(error)) from None
