"""Kernels as machine code for the GPUs that `device=` means: from a text, the cache, or a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Signature, choose_entry
from xtile.backends.cache import Cache, make_key
from xtile.backends.compiler import Compiler
from xtile.backends.gpu.platform import Assembly, Variant
from xtile.backends.machine_code import SPV, MachineCode, format_of
from xtile.backends.recently_used import TEXTS, RecentlyUsed
from xtile.backends.sidecar import (
    SIDECAR,
    encode,
    read_code,
    read_machine_code,
    sidecar_path,
)
from xtile.launch.compiled import (
    Text,
    compile_text,
    compiled_for,
    read_signatures,
    show,
    text_of,
)
from xtile.launch.executable import CUDA_NAME, HIP_NAME, Kernel
from xtile.text.diagnostics import Diagnostic

if TYPE_CHECKING:
    from xtile.backends.gpu.platform import Maker, Platform

_CUDA = "xtile.backends.nvidia.cuda.platform"
_HIP = "xtile.backends.amd.hip.device"
_TRITON = "xtile.backends.triton.compiler"


@dataclass(frozen=True)
class GpuPlatform:
    """GPUs with what makes machine code for them.

    Attributes:
        name: What `device=` calls the first of them.
        platform: The GPUs.
        maker: What makes their machine code.
    """

    name: str
    platform: Platform
    maker: Maker


def platform_named(name: str) -> GpuPlatform:
    """The GPUs of a name: NVIDIA's, AMD's, or those that Triton compiles for.

    Triton makes code for both vendors; where there are GPUs of neither, it is NVIDIA's.
    """
    platform = _platform_of(name)
    maker: Maker = (
        import_module(_CUDA).TILEIRAS if name == CUDA_NAME else import_module(_TRITON).TRITON
    )
    return GpuPlatform(name, platform, maker)


def _platform_of(name: str) -> Platform:
    cuda: Platform = import_module(_CUDA).PLATFORM
    if name == CUDA_NAME:
        return cuda
    hip: Platform = import_module(_HIP).PLATFORM
    is_hip = name == HIP_NAME or (not cuda.available_devices() and bool(hip.available_devices()))
    return hip if is_hip else cuda


@dataclass(frozen=True)
class CompiledKernels:
    """A text's kernels as machine code.

    Attributes:
        made: The machine code.
        hosts: The names of the functions of the host.
        warnings: What was to say about the text.
        is_from_text: Whether it was compiled here, and so can be in another way.
    """

    made: MachineCode
    hosts: Sequence[str]
    warnings: Sequence[Diagnostic]
    is_from_text: bool = False


_kept: RecentlyUsed[CompiledKernels] = RecentlyUsed(TEXTS)
"""What texts became, by the keys of the texts."""

_files: RecentlyUsed[tuple[str, CompiledKernels]] = RecentlyUsed(TEXTS)
"""What files became that have not changed since, so that they need not be read."""


def _code_path(kernel: Kernel) -> str | None:
    """The path of a file with machine code that a kernel is given as."""
    path = kernel.path
    kind = None if path is None else format_of(path)
    return path if kind is not None and kind is not SPV else None


def compiled_kernels(
    kernel: Kernel, variant: Variant, gpus: GpuPlatform
) -> tuple[str, CompiledKernels]:
    """The machine code of a kernel, and a key that tells it apart.

    Args:
        kernel: A text, a module, or the path of machine code.
        variant: How it is compiled.
        gpus: What it is for, and what makes it.

    Raises:
        ArgumentError: What is given does not belong together.
        DeviceError: There is nothing that makes machine code, or it fails.
        DiagnosticError: The text has errors or cannot be compiled, or a file is damaged.
    """
    wanted = _Wanted(gpus, variant)
    stamp = _stamp(kernel)
    if stamp is None:
        key, ready = _made(kernel, wanted)
    else:
        position = (stamp, gpus.name, variant, kernel.entry)
        key, ready = _files.get(position, lambda: _made(kernel, wanted))
    if ready.warnings:
        show(ready.warnings, kernel)
    return key, ready


@dataclass(frozen=True)
class _Wanted:
    """What a kernel is compiled for.

    Attributes:
        gpus: The GPUs, and what makes their machine code.
        variant: How it is compiled.
    """

    gpus: GpuPlatform
    variant: Variant

    @property
    def chip(self) -> str:
        """The architecture."""
        return self.variant.chip

    def compiler(self) -> Compiler[Any]:
        """What makes programs of kernels."""
        return self.gpus.maker.compiler(self.variant)


def _stamp(kernel: Kernel) -> tuple[object, ...] | None:
    """What changes when a file changes that a kernel comes from; None where it is no file."""
    path = kernel.path
    if path is None:
        return None
    if kernel.binary is None:
        return _state(path) if format_of(path) is None else (_state(path), _state(path + SIDECAR))
    binary = os.fspath(kernel.binary)
    return _state(path), _state(binary), _state(binary + SIDECAR)


def _state(path: str) -> tuple[object, ...]:
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return (path,)
    return path, state.st_mtime_ns, state.st_size, state.st_ino


def _made(kernel: Kernel, wanted: _Wanted) -> tuple[str, CompiledKernels]:
    path = _code_path(kernel)
    if path is not None:
        return _from_file(kernel, path, wanted)
    text, compiler = text_of(kernel), wanted.compiler()
    if kernel.binary is None:

        def made(text: Text, key: str) -> tuple[str, CompiledKernels]:
            make = partial(_assembled, text, key, wanted, compiler, kernel)
            return key, _kept.get(key, make)

        return compiled_for(kernel.entry, text, compiler.name, made)
    code = read_code(kernel.binary, wanted.gpus.platform.format)
    digest, program = sha256(code).hexdigest(), text.key(compiler.name)
    key = make_key("binary", program=program, data=digest, entry=kernel.entry or "")
    return key, _with_binary(text, code, kernel.binary, wanted, kernel)


def _assembled(
    text: Text, key: str, wanted: _Wanted, compiler: Compiler[Any], kernel: Kernel
) -> CompiledKernels:
    cache = Cache()
    compiled = compile_text(text, key, compiler, cache)
    made = wanted.gpus.maker.assemble(
        Assembly(
            compiled.program,
            compiled.signatures,
            wanted.chip,
            cache,
            kernel.build_seconds,
            text.source,
        )
    )
    return CompiledKernels(made, compiled.hosts, compiled.warnings, is_from_text=True)


def _from_file(kernel: Kernel, path: str, wanted: _Wanted) -> tuple[str, CompiledKernels]:
    """Machine code with its sidecar, which needs no source."""
    if kernel.binary is not None:
        raise ArgumentError("machine code is given as the kernel; leave the binary out")
    made = read_machine_code(path, wanted.gpus.platform.format)
    key = make_key("binary", data=made.code, sidecar=encode(made))
    return key, CompiledKernels(made, (), ())


def _with_binary(
    text: Text, code: bytes, path: str | os.PathLike[str], wanted: _Wanted, kernel: Kernel
) -> CompiledKernels:
    """A kernel of a text, as machine code that was compiled before, perhaps by something else.

    Raises:
        ArgumentError: The sidecar, if there is one, says something else than the text.
        DiagnosticError: The text has errors, or the sidecar is damaged.
    """
    kind = wanted.gpus.platform.format
    signatures, warnings = read_signatures(text)
    if not sidecar_path(path).exists():
        made = MachineCode(code, wanted.chip, "", signatures, {}, kind)
        return CompiledKernels(made, (), warnings)
    made = read_machine_code(path, kind)
    name = choose_entry(list(signatures), [], kernel.entry)
    described = made.signatures.get(name)
    if described is None or _types(described) != _types(signatures[name]):
        raise ArgumentError(
            f"the sidecar of {os.fspath(path)} has no kernel @{name} with the parameters of the "
            "kernel's source; compile it again with `xtile compile`"
        )
    signature = signatures[name].with_checks(described.checks)
    if not any(parameter.is_noalias for parameter in described.parameters):
        signature = signature.with_overlaps()
    signatures = {**signatures, name: signature}
    return CompiledKernels(replace(made, signatures=signatures), (), warnings)


def _types(signature: Signature) -> list[object]:
    return [parameter.type for parameter in signature.parameters]


def compilation_note(kernel: Kernel, made: MachineCode) -> str:
    """What to say of a kernel that is compiled but cannot be launched."""
    kind = made.format
    if _code_path(kernel) is not None or kernel.binary is not None:
        return f"the {kind.name} is for {made.chip}"
    return (
        f"the kernel compiles for {made.chip}, and `xtile compile {kernel.path or 'KERNEL'} "
        f"--chip {made.chip} -o k{kind.extension}` writes the {kind.name}"
    )
