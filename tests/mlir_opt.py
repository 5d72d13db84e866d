"""Runs the real mlir-opt, which tests compare xtile with."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass


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
    command = _find()
    done = subprocess.run(
        [command, *arguments], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    return Result(done.returncode, done.stdout, done.stderr)


def _find() -> str:
    command = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"
    if shutil.which(command) is None:
        raise FileNotFoundError("mlir-opt of LLVM 22 is needed: apt-get install mlir-22-tools")
    return command
