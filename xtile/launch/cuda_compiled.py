"""Kernels as machine code for NVIDIA's GPUs: from a text, from the cache, or from a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import cast

from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Signature, choose_entry
from xtile.backends.cache import Cache, make_key
from xtile.backends.compiler import Compiler
from xtile.backends.nvidia.compilation import Cubin, Program
from xtile.backends.nvidia.compiler import compiler_for
from xtile.backends.nvidia.cubins import build_cubin
from xtile.backends.nvidia.sidecar import (
    EXTENSION,
    SIDECAR,
    encode,
    read_code,
    read_cubin,
    sidecar_path,
)
from xtile.backends.nvidia.tools import find_tileiras
from xtile.backends.recently_used import TEXTS, RecentlyUsed
from xtile.launch.compiled import (
    Text,
    compile_text,
    compiled_for,
    read_signatures,
    show,
    text_of,
)
from xtile.launch.executable import Kernel
from xtile.targets import NVIDIA
from xtile.text.diagnostics import Diagnostic


@dataclass(frozen=True)
class MachineCode:
    """A text's kernels as machine code.

    Attributes:
        cubin: The machine code.
        hosts: The names of the functions of the host.
        warnings: What was to say about the text.
        is_from_text: Whether it was compiled here, and so can be in another way.
    """

    cubin: Cubin
    hosts: Sequence[str]
    warnings: Sequence[Diagnostic]
    is_from_text: bool = False


_kept: RecentlyUsed[MachineCode] = RecentlyUsed(TEXTS)
"""What texts became, by the keys of the texts."""

_files: RecentlyUsed[tuple[str, MachineCode]] = RecentlyUsed(TEXTS)
"""What files became that have not changed since, so that they need not be read."""


def _path_of(kernel: Kernel) -> str | None:
    """The path of the file that a kernel is given as; None for a text, a module or a folder."""
    source = kernel.source
    if not isinstance(source, str | os.PathLike):
        return None
    path = os.fspath(cast("str | os.PathLike[str]", source))
    return None if "\n" in path or os.path.isdir(path) else path


def _cubin_path(kernel: Kernel) -> str | None:
    path = _path_of(kernel)
    return path if path is not None and path.endswith(EXTENSION) else None


def machine_code(
    kernel: Kernel, chip: str | None, *, may_overlap: bool = False, may_wrap: bool = False
) -> tuple[str, MachineCode]:
    """The machine code of a kernel, and a key that tells it apart.

    Args:
        kernel: A text, a module, or the path of a cubin.
        chip: The architecture that it is compiled for; None for NVIDIA's default.
        may_overlap: Whether it is compiled for arguments that overlap.
        may_wrap: Whether it is compiled for offsets that wrap around.

    Raises:
        ArgumentError: What is given does not belong together.
        DeviceError: There is no assembler, or it fails.
        DiagnosticError: The text has errors or cannot be compiled, or a file is damaged.
    """
    stamp = _stamp(kernel)
    if stamp is None:
        key, ready = _made(kernel, chip, may_overlap, may_wrap)
    else:
        position = (stamp, chip, kernel.entry, may_overlap, may_wrap)
        key, ready = _files.get(position, lambda: _made(kernel, chip, may_overlap, may_wrap))
    if ready.warnings:
        show(ready.warnings, kernel)
    return key, ready


def _stamp(kernel: Kernel) -> tuple[object, ...] | None:
    """What changes when a file changes that a kernel comes from; None where it is no file."""
    path = _path_of(kernel)
    if path is None:
        return None
    if kernel.binary is None:
        return (_state(path), _state(path + SIDECAR)) if path.endswith(EXTENSION) else _state(path)
    binary = os.fspath(kernel.binary)
    return _state(path), _state(binary), _state(binary + SIDECAR)


def _state(path: str) -> tuple[object, ...]:
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return (path,)
    return path, state.st_mtime_ns, state.st_size, state.st_ino


def _made(
    kernel: Kernel, chip: str | None, may_overlap: bool, may_wrap: bool
) -> tuple[str, MachineCode]:
    path = _cubin_path(kernel)
    if path is not None:
        return _from_file(kernel, path)
    text = text_of(kernel)
    architecture = chip or NVIDIA.default
    compiler = compiler_for(architecture, may_overlap=may_overlap, may_wrap=may_wrap)
    if kernel.binary is None:

        def made(text: Text, key: str) -> tuple[str, MachineCode]:
            make = partial(_assembled, text, key, architecture, compiler, kernel)
            return key, _kept.get(key, make)

        return compiled_for(kernel.entry, text, compiler.name, made)
    code = read_code(kernel.binary)
    digest, program = sha256(code).hexdigest(), text.key(compiler.name)
    key = make_key("binary", program=program, data=digest, entry=kernel.entry or "")
    return key, _with_binary(text, code, kernel.binary, architecture, kernel)


def _assembled(
    text: Text, key: str, chip: str, compiler: Compiler[Program], kernel: Kernel
) -> MachineCode:

    cache = Cache()
    compiled = compile_text(text, key, compiler, cache)
    program = compiled.program
    code = build_cubin(
        program.bytecode, chip, cache, seconds=kernel.build_seconds, source=text.source
    )
    signatures = program.signatures(compiled.signatures)
    cubin = Cubin(code, chip, str(find_tileiras()), signatures, program.kernels)
    return MachineCode(cubin, compiled.hosts, compiled.warnings, is_from_text=True)


def _from_file(kernel: Kernel, path: str) -> tuple[str, MachineCode]:
    """A cubin with its sidecar, which needs no source."""
    if kernel.binary is not None:
        raise ArgumentError("a cubin is given as the kernel; leave the binary out")
    cubin = read_cubin(path)
    return make_key("binary", data=cubin.code, sidecar=encode(cubin)), MachineCode(cubin, (), ())


def _with_binary(
    text: Text, code: bytes, path: str | os.PathLike[str], chip: str, kernel: Kernel
) -> MachineCode:
    """A kernel of a text, as machine code that was compiled before, perhaps by something else.

    Raises:
        ArgumentError: The sidecar, if there is one, says something else than the text.
        DiagnosticError: The text has errors, or the sidecar is damaged.
    """
    signatures, warnings = read_signatures(text)
    if not sidecar_path(path).exists():
        return MachineCode(Cubin(code, chip, "", signatures, {}), (), warnings)
    cubin = read_cubin(path)
    name = choose_entry(list(signatures), [], kernel.entry)
    described = cubin.signatures.get(name)
    if described is None or _types(described) != _types(signatures[name]):
        raise ArgumentError(
            f"the sidecar of {os.fspath(path)} has no kernel @{name} with the parameters of the "
            "kernel's source; compile it again with `xtile compile`"
        )
    signature = signatures[name].with_checks(described.checks)
    if not any(parameter.is_noalias for parameter in described.parameters):
        signature = signature.with_overlaps()
    signatures = {**signatures, name: signature}
    return MachineCode(Cubin(code, cubin.chip, cubin.tool, signatures, cubin.kernels), (), warnings)


def _types(signature: Signature) -> list[object]:
    return [parameter.type for parameter in signature.parameters]


def compilation_note(kernel: Kernel, cubin: Cubin) -> str:
    """What to say of a kernel that is compiled but cannot be launched."""
    if _cubin_path(kernel) is not None or kernel.binary is not None:
        return f"the cubin is for {cubin.chip}"
    return (
        f"the kernel compiles for {cubin.chip}, and `xtile compile {_path_of(kernel) or 'KERNEL'} "
        f"--chip {cubin.chip} -o k.cubin` writes the cubin"
    )
