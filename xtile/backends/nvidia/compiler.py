"""Programs for NVIDIA's GPUs: compiling them, and what the cache keeps of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from xtile.arguments.signature import Signature
from xtile.backends.cache import Header
from xtile.backends.compiler import Compiler
from xtile.backends.nvidia.compilation import KernelInterface, Program, compile_program


def compiler_for(chip: str, *, may_overlap: bool = False) -> Compiler[Program]:
    """The compiler for an architecture, and maybe for arguments that overlap."""
    return Compiler(
        f"{chip}, may overlap" if may_overlap else chip,
        lambda module, diagnostics: compile_program(
            module, chip, diagnostics, may_overlap=may_overlap
        ),
        _encode,
        _decode,
        may_overlap,
    )


def _encode(program: Program) -> tuple[Header, bytes]:
    """What the cache keeps of a program: words, and its bytecode."""
    words = {name: asdict(kernel) for name, kernel in program.kernels.items()}
    return {"kernels": words}, program.bytecode


def _decode(words: Header, content: bytes, signatures: Mapping[str, Signature]) -> Program:
    """The program that was kept."""
    kernels = {name: KernelInterface(**kernel) for name, kernel in words["kernels"].items()}
    return Program(content, kernels)
