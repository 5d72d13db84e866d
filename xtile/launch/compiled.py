"""Compiled kernels, from the text or from what was kept of an earlier compilation.

The text itself is the key, so that a kernel that was compiled before is neither read nor verified.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from xtile.api import parse_source, read_source, show_warnings, verify
from xtile.backends.cache import Cache, make_key
from xtile.backends.intel.compilation import Program, compile_program
from xtile.backends.intel.devices import Device
from xtile.launch.compiled_entry import decode, encode
from xtile.launch.devices import Kernel
from xtile.launch.errors import ArgumentError, describe_type
from xtile.launch.signature import Signature, choose_entry
from xtile.text.diagnostics import Diagnostic, Diagnostics, Severity
from xtile.text.languages import Language
from xtile.text.source import Source, attach_source, source_of

_MODULE = "module"
"""In place of a language's name, what a module is written in that is no text."""


@dataclass(frozen=True)
class Compiled:
    """What a device needs to launch the kernels of a text.

    Attributes:
        program: The kernels as SPIR-V.
        signatures: Those of the kernels, by name.
        hosts: The names of the functions of the host.
        warnings: What was to say about the text.
    """

    program: Program
    signatures: Mapping[str, Signature]
    hosts: Sequence[str]
    warnings: Sequence[Diagnostic]


@dataclass(frozen=True)
class Text:
    """What is to be compiled, before it is read.

    Attributes:
        source: The text; that of a module only tells modules apart.
        language: What it is written in; None for a module.
        module: The module, if it is none that must be read.
    """

    source: Source
    language: Language | None
    module: ModuleOp | None

    def key(self, device: Device) -> str:
        """Tells apart what it becomes for each device."""
        language = _MODULE if self.language is None else self.language.name
        return make_key("program", text=self.source.text, language=language, device=device.name)


def text_of(kernel: Kernel) -> Text:
    """Finds the text of a kernel.

    Raises:
        ArgumentError: It is neither a path, nor a text, nor a module.
        DiagnosticError: The file cannot be read.
    """
    given = kernel.source
    if isinstance(given, ModuleOp):
        output = StringIO()
        _print_generic(given, output)
        return Text(Source("<module>", output.getvalue()), None, given)
    if not isinstance(given, str | os.PathLike):
        raise ArgumentError(
            f"expected a kernel as a path, a text or a module, given {describe_type(given)}"
        )
    source, language = read_source(cast("str | os.PathLike[str]", given))
    return Text(source, language, None)


def _print_generic(module: ModuleOp, output: StringIO) -> None:
    from xdsl.printer import Printer

    Printer(output, print_generic_format=True).print_op(module)


def compile_text(text: Text, key: str, device: Device, cache: Cache) -> Compiled:
    """Compiles kernels for an architecture, or takes what the cache has of them.

    Args:
        text: The kernels.
        key: The text's key for the architecture.
        device: The architecture.
        cache: Holds what was compiled before.

    Raises:
        DiagnosticError: The text has errors, or cannot be compiled for the architecture.
    """
    entry = cache.get(key)
    if entry is not None:
        return decode(entry, text.source)
    collected = Diagnostics()
    compiled = _compile(_read(text, collected), device, collected)
    cache.put(key, *encode(compiled))
    return compiled


def _read(text: Text, diagnostics: Diagnostics) -> ModuleOp:
    if text.language is not None:
        return parse_source(text.source, text.language, diagnostics)
    assert text.module is not None
    verify(text.module)
    return text.module


def _compile(module: ModuleOp, device: Device, diagnostics: Diagnostics) -> Compiled:
    from xtile.launch.kernel import functions_of, is_host_function, signature_of

    functions = functions_of(module)
    hosts = [name for name, function in functions.items() if is_host_function(function)]
    program = compile_program(_without(hosts, module), device, diagnostics)
    signatures = {
        name: signature_of(function) for name, function in functions.items() if name not in hosts
    }
    return Compiled(program, signatures, hosts, _warnings(diagnostics))


def _warnings(diagnostics: Diagnostics) -> list[Diagnostic]:
    return [found for found in diagnostics if found.severity is Severity.WARNING]


def with_binary(text: Text, data: bytes, name: str, entry: str | None) -> Compiled:
    """A kernel of a text, as another compiler's SPIR-V.

    Args:
        text: The kernels, which tell what their arguments must be.
        data: The SPIR-V, which need not have the others.
        name: What messages call it.
        entry: The name of the kernel; None for the only one.

    Raises:
        ArgumentError: The SPIR-V does not fit the text, or there is no such kernel.
        DiagnosticError: The text has errors, or the SPIR-V is damaged.
    """
    from xtile.backends.intel.binaries import read_program
    from xtile.launch.kernel import functions_of, is_host_function, signature_of

    collected = Diagnostics()
    module = _read(text, collected)
    functions = functions_of(module)
    signatures = {
        name: signature_of(function)
        for name, function in functions.items()
        if not is_host_function(function)
    }
    kernel = choose_entry(list(signatures), [], entry)
    parameters = [parameter.type for parameter in signatures[kernel].parameters]
    try:
        program = read_program(data, name, {kernel: parameters})
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    return Compiled(program, signatures, [], _warnings(collected))


def _without(hosts: Sequence[str], module: ModuleOp) -> ModuleOp:
    """A module without its functions of the host, which the device does not run."""
    if not hosts:
        return module
    kernels = ModuleOp([], module.attributes)
    source = source_of(module)
    if source is not None:
        attach_source(kernels, source)
    for operation in module.body.block.ops:
        if operation.name != "func.func":
            copy = operation.clone()
            kernels.body.block.add_op(copy)
            if source is not None:
                source.record_copy(operation, copy)
    return kernels


def show(warnings: Sequence[Diagnostic], kernel: Kernel) -> None:
    """Shows the warnings about a kernel's text in the way that its caller chose."""
    diagnostics = Diagnostics() if kernel.diagnostics is None else kernel.diagnostics
    for warning in warnings:
        diagnostics.add(warning)
    if kernel.diagnostics is None:
        show_warnings(diagnostics)
