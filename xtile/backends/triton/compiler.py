"""Triton as what makes machine code for GPUs: compiling, and what the cache keeps."""

from __future__ import annotations

from collections.abc import Mapping

from xtile.arguments.signature import Signature
from xtile.backends.cache import Header
from xtile.backends.compiler import Compiler
from xtile.backends.gpu.platform import Assembly, Maker, Variant
from xtile.backends.machine_code import NO_PROMISES, KernelInterface, MachineCode, Promises
from xtile.backends.parameters import values_of
from xtile.backends.triton.compilation import (
    Program,
    build_program,
    compile_program,
    machine_code,
)
from xtile.backends.triton.installed import find_triton


def compiler_for(variant: Variant) -> Compiler[Program]:
    """The compiler to Triton's text for an architecture, and for what launches find."""
    chip, promises = variant.chip, variant.promises or NO_PROMISES
    return Compiler(
        f"{chip}, {find_triton()}, {promises}",
        lambda module, diagnostics: compile_program(module, chip, diagnostics, promises=promises),
        _encode,
        _decode,
    )


def _encode(program: Program) -> tuple[Header, bytes]:
    interface = program.interface
    words = {
        "extension": program.extension,
        "kernel": program.kernel,
        "options": program.options,
        "parameters": program.parameters,
        "without_layouts": program.without_layouts,
        "interface": {
            "disjoint": interface.disjoint,
            "divisors": interface.divisors,
            "in_reach": interface.in_reach,
        },
    }
    return words, program.text.encode()


def _decode(words: Header, content: bytes, signatures: Mapping[str, Signature]) -> Program:
    given = words["interface"]
    interface = KernelInterface(
        disjoint=tuple(given["disjoint"]),
        divisors=tuple(given["divisors"]),
        in_reach=tuple(given["in_reach"]),
    )
    return Program(
        content.decode(),
        words["extension"],
        words["kernel"],
        words["options"],
        interface,
        words["parameters"],
        words["without_layouts"],
    )


def _assemble(given: Assembly) -> MachineCode:
    program: Program = given.program
    built = build_program(program, given.chip, given.cache, given.seconds, given.source)
    return machine_code(program, built, given.chip, program.signatures(given.signatures))


def _usable(signature: Signature, kernel: KernelInterface) -> Promises:
    """All of its parameters; but a kernel that was written for Triton says it itself."""
    numbers = frozenset(range(len(list(values_of(signature)))) if kernel.disjoint else ())
    return Promises(numbers, numbers)


TRITON = Maker(
    compiler_for,
    _assemble,
    compiles_overlaps=False,
    compiles_wrapping=False,
    usable=_usable,
    advice="Triton takes different arguments for different memory",
)
"""The Triton of this environment."""
