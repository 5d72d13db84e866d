"""Runs the real mlir-opt, which tests compare xtile with, and finds LLVM's other tools."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from xtile.backends.tools import find_command


@dataclass(frozen=True)
class Result:
    """What mlir-opt answered."""

    returncode: int
    stdout: str
    stderr: str


def run_mlir_opt(text: str, *arguments: str) -> Result:
    """Runs `mlir-opt` of LLVM 22 on a text.

    Args:
        text: MLIR text, given on standard input.
        arguments: The command line arguments.

    Raises:
        FileNotFoundError: It is not installed (Debian package mlir-22-tools).
    """
    command = llvm_tool("mlir-opt")
    done = subprocess.run(
        [command, *arguments], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    return Result(done.returncode, done.stdout, done.stderr)


def llvm_tool(name: str) -> str:
    """The path of a tool of LLVM 22, which is on the PATH or where Debian installs it.

    Raises:
        FileNotFoundError: It is not installed (Debian package mlir-22-tools).
    """
    command = find_command(f"{name}-22") or find_command(f"/usr/lib/llvm-22/bin/{name}")
    if command is None:
        raise FileNotFoundError(f"{name} of LLVM 22 is needed: apt-get install mlir-22-tools")
    return command
