"""Runs host code that a test writes down."""

from __future__ import annotations

import re

import pytest

from xtile.api import parse
from xtile.arguments.kernel import choose_function
from xtile.host.function import run_host


def printed(
    body: str, capsys: pytest.CaptureFixture[str], around: str = "", seed: int | None = None
) -> str:
    """What a host's `main` with this body prints; `around` is what stands beside it."""
    module = parse(program(body, around), language="mlir")
    run_host(choose_function(module, None), seed=seed)
    return capsys.readouterr().out


def program(body: str, around: str = "") -> str:
    """A file with a host's `main`, in which constants %c0 to %c4 and %c16 are known."""
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 16))
    return (
        "module attributes {gpu.container_module} {\n"
        f"{around}\n"
        f"func.func @main() {{\n{constants}\n{body}\nreturn\n}}\n}}\n"
    )


def without_addresses(text: str) -> str:
    """Printed memrefs without the number that says where they lie."""
    return re.sub(r"base@ = 0x[0-9a-f]+", "base@ = ?", text)


PRINT_F32 = "func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}"
"""The declaration of the function that prints memrefs of f32."""


def print_f32(memref: str, type: str) -> str:
    """Prints a memref of f32."""
    return (
        f"%any_{memref} = memref.cast %{memref} : {type} to memref<*xf32>\n"
        f"call @printMemrefF32(%any_{memref}) : (memref<*xf32>) -> ()\n"
    )
