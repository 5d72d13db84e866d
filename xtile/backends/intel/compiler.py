"""Programs for Intel's devices: compiling them, and what the cache keeps of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.launch_checks import check_of, words_of
from xtile.arguments.signature import Signature
from xtile.backends.cache import Header
from xtile.backends.compiler import Compiler
from xtile.backends.intel.compilation import KernelInterface, Program, compile_program
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics


def compiler_for(
    target: LaneTarget, *, may_overlap: bool = False, may_wrap: bool = False
) -> Compiler[Program]:
    """The compiler for a chip and what its driver takes.

    Args:
        target: Both.
        may_overlap: Whether it compiles for arguments that overlap.
        may_wrap: Whether it compiles for offsets that wrap around.
    """
    names = [f"{target.name} {target.spelling.name}"]
    names += ["may overlap"] * may_overlap + ["may wrap"] * may_wrap
    return Compiler(
        ", ".join(names),
        lambda module, diagnostics: compile_kernels(
            module, target, diagnostics, may_overlap=may_overlap, may_wrap=may_wrap
        ),
        encode,
        decode,
        may_overlap,
    )


def compile_kernels(
    module: ModuleOp,
    target: LaneTarget,
    diagnostics: Diagnostics | None = None,
    *,
    may_overlap: bool = False,
    may_wrap: bool = False,
) -> Program:
    """Like `compile_program`, for kernels that may be SPIR-V already."""
    if not any(each.name == "spirv.module" for each in module.body.ops):
        return compile_program(
            module, target, diagnostics, may_overlap=may_overlap, may_wrap=may_wrap
        )
    from xtile.backends.intel.binaries import program_of

    return program_of(module, target)


def encode(program: Program) -> tuple[Header, bytes]:
    """What the cache keeps of a program: words, and its SPIR-V."""
    words = {
        "kernels": {name: _interface_words(kernel) for name, kernel in program.kernels.items()},
        "build_options": program.build_options,
        "is_risky": program.is_risky,
    }
    return words, program.spirv


def decode(words: Header, content: bytes, signatures: Mapping[str, Signature]) -> Program:
    """The program that was kept."""
    kernels = {
        name: _interface(kernel, signatures[name]) for name, kernel in words["kernels"].items()
    }
    return Program(content, kernels, words["build_options"], words["is_risky"])


def _interface_words(interface: KernelInterface) -> dict[str, Any]:
    return {
        "work_group_size": interface.work_group_size,
        "subgroup_size": interface.subgroup_size,
        "local_memory": interface.local_memory,
        "lanes_together": interface.lanes_together,
        "source_size": interface.source_size,
        "ignores_block": interface.ignores_block,
        "checks": [words_of(check) for check in interface.checks],
    }


def _interface(words: dict[str, Any], signature: Signature) -> KernelInterface:
    return KernelInterface(
        signature.name,
        tuple(parameter.type for parameter in signature.parameters),
        _size(words["work_group_size"]),
        words["subgroup_size"],
        words["local_memory"],
        words["lanes_together"],
        _size(words["source_size"]),
        words["ignores_block"],
        tuple(map(check_of, words["checks"])),
    )


def _size(words: list[int] | None) -> tuple[int, int, int] | None:
    return None if words is None else (words[0], words[1], words[2])
