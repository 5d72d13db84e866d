"""NVIDIA's GPUs, and NVIDIA's assembler, which makes machine code for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from xtile.arguments.launch_checks import check_of, words_of
from xtile.arguments.signature import Signature
from xtile.backends.cache import Header
from xtile.backends.compiler import Compiler
from xtile.backends.gpu.platform import Assembly, Maker, Platform, Variant
from xtile.backends.gpu.session import Session
from xtile.backends.machine_code import CUBIN, KernelInterface, MachineCode, Promises
from xtile.backends.nvidia.compilation import Program, compile_program
from xtile.backends.nvidia.cubins import build_cubin
from xtile.backends.nvidia.cuda.device import CudaDevice, find_devices, runs
from xtile.backends.nvidia.cuda.driver import load_driver
from xtile.backends.nvidia.tools import find_tileiras
from xtile.backends.parameters import numbers_of_memrefs
from xtile.dialects.core.signature import Role


def _compiler_for(variant: Variant) -> Compiler[Program]:
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
            "preferred": [words_of(check) for check in kernel.preferred],
        }
        for name, kernel in program.kernels.items()
    }
    return {"kernels": words}, program.bytecode


def _decode(words: Header, content: bytes, signatures: Mapping[str, Signature]) -> Program:
    """The program that was kept."""
    kernels = {name: _interface(kernel) for name, kernel in words["kernels"].items()}
    return Program(content, kernels)


def _interface(words: dict[str, Any]) -> KernelInterface:
    checks, preferred = (tuple(map(check_of, words[each])) for each in ("checks", "preferred"))
    return KernelInterface(
        *(words["hints"], words["heap"], checks, tuple(words["disjoint"])),
        divisors=tuple(words["divisors"]),
        preferred=preferred,
    )


@cache
def session_of(device: CudaDevice) -> Session:
    """The session of a GPU.

    Raises:
        DeviceError: The GPU cannot be used.
    """
    return Session(device, load_driver())


def _assemble(given: Assembly) -> MachineCode:
    program = given.program
    code = build_cubin(
        program.bytecode, given.chip, given.cache, seconds=given.seconds, source=given.source
    )
    signatures = program.signatures(given.signatures)
    return MachineCode(code, given.chip, str(find_tileiras()), signatures, program.kernels)


PLATFORM = Platform("cuda", CUBIN, find_devices, runs, session_of)
"""NVIDIA's GPUs."""


def _usable(signature: Signature, kernel: KernelInterface) -> Promises:
    """The addresses and strides of memrefs, which decide how hardware copies blocks."""
    return Promises(numbers_of_memrefs(signature, {Role.POINTER, Role.STRIDE}))


TILEIRAS = Maker(
    _compiler_for,
    _assemble,
    compiles_overlaps=True,
    compiles_wrapping=True,
    usable=_usable,
    advice="compile it with `xtile compile --may-overlap`",
)
"""NVIDIA's assembler of CUDA Tile IR."""
