"""Programs for NVIDIA's GPUs: compiling them, and what the cache keeps of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xtile.arguments.launch_checks import check_of, words_of
from xtile.arguments.signature import Signature
from xtile.backends.cache import Header
from xtile.backends.compiler import Compiler
from xtile.backends.gpu.platform import Variant
from xtile.backends.machine_code import KernelInterface
from xtile.backends.nvidia.compilation import Program, compile_program


def compiler_for(variant: Variant) -> Compiler[Program]:
    """The compiler for an architecture, and for what launches find."""
    chip, may_overlap, may_wrap = variant.chip, variant.may_overlap, variant.may_wrap
    promises = variant.promises
    names = [chip] + ["may overlap"] * may_overlap + ["may wrap"] * may_wrap
    names.append("16 divides all" if promises is None else str(promises))
    divisible = None if promises is None else promises.divisible
    return Compiler(
        ", ".join(names),
        lambda module, diagnostics: compile_program(
            *(module, chip, diagnostics),
            may_overlap=may_overlap,
            may_wrap=may_wrap,
            divisible=divisible,
        ),
        _encode,
        _decode,
        may_overlap,
    )


def _encode(program: Program) -> tuple[Header, bytes]:
    """What the cache keeps of a program: words, and its bytecode."""
    words = {
        name: {
            "hints": kernel.hints,
            "heap": kernel.heap,
            "checks": [words_of(check) for check in kernel.checks],
            "disjoint": kernel.disjoint,
            "divisors": kernel.divisors,
        }
        for name, kernel in program.kernels.items()
    }
    return {"kernels": words}, program.bytecode


def _decode(words: Header, content: bytes, signatures: Mapping[str, Signature]) -> Program:
    """The program that was kept."""
    kernels = {name: _interface(kernel) for name, kernel in words["kernels"].items()}
    return Program(content, kernels)


def _interface(words: dict[str, Any]) -> KernelInterface:
    checks = tuple(map(check_of, words["checks"]))
    disjoint, divisors = tuple(words["disjoint"]), tuple(words["divisors"])
    return KernelInterface(words["hints"], words["heap"], checks, disjoint, divisors=divisors)
